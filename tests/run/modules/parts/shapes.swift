import "numbers.swift"

loaded.append("shapes")

protocol Shape { var area: Double { get } }
struct Square: Shape {
    var side: Double
    var area: Double { side * side }
}
func describe(_ square: Square) -> String { "square of \(square.area)" }

private func secret() -> String { "theirs" }
func told() -> String { secret() }
