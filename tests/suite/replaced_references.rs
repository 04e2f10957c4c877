//! Programs that replace references of all kinds in a loop, in the same registers and in all places that store references.

/// The declarations of each program.
const DECLARATIONS: &str = r#"
import TensorFlow
final class Obj { var n: Int; var items: [Int] = []; var next: Obj?; var name = "o"; init(_ n: Int) { self.n = n }; deinit { if n % 1999 == 7 { print("end", n) } } }
protocol Shape { func area(_ k: Double) -> Double; var tag: Int { get } }
struct Sq: Shape { var s: Double; func area(_ k: Double) -> Double { s * k }; var tag: Int { 1 } }
struct Named: Shape { var name: String; var list: [Double]; func area(_ k: Double) -> Double { list[0] * k }; var tag: Int { name.count } }
class Base: Shape { var v = 2; func area(_ k: Double) -> Double { Double(v) * k }; var tag: Int { v } }
final class Der: Base { override func area(_ k: Double) -> Double { 3 * k }; override var tag: Int { 5 } }
struct Rec { var a: Int; var list: [Int]; var name: String; var obj: Obj?; mutating func add(_ x: Int) { list.append(x); if list.count > 4 { list.removeFirst() } } }
indirect enum Ch { case end, link(Int, Ch), text(String) }
var gList = [1, 2, 3]
var gObj: Obj? = nil
var gRec = Rec(a: 1, list: [], name: "g", obj: nil)
var gDict: [String: Int] = [:]
func use(_ t: Tensor<Double>) -> Int { t.rank }
func size(_ a: [Int]) -> Int { a.count }
func len(_ s: String) -> Int { s.count }
"#;

/// The variables of the function of each program.
const VARIABLES: &str = r#"
    var obj = Obj(1)
    var list = [1, 2, 3]
    var rows = [[1], [2, 3]]
    var text = "t"
    var dict: [Int: Int] = [1: 2]
    var any: Any = 1
    var shape: any Shape = Sq(s: 2)
    var rec = Rec(a: 1, list: [1], name: "r", obj: nil)
    var tensor = Tensor<Double>([1.0, 2.0])
    var f: (Int) -> Int = { $0 + 1 }
    var opt: Obj? = nil
    var chain = Ch.end
    var tuples: [(Int, String)] = []
    var shapes: [any Shape] = [Sq(s: 1), Named(name: "n", list: [2]), Base(), Der()]
    var bases: [Base] = [Base(), Der()]
    var t = 0
    let captured = { (x: Int) in t += x; list.append(x); if list.count > 6 { list.removeFirst() } }
"#;

/// The statements of the loop.
pub const STATEMENTS: &[&str] = &[
    "obj = Obj(i)",
    "obj.n += 1",
    "obj.items.append(i); if obj.items.count > 5 { obj.items.removeAll() }",
    "obj.next = opt",
    "opt = obj",
    "opt = nil",
    "opt = i % 2 == 0 ? obj : nil",
    "t += opt?.n ?? 1",
    "list.append(i); if list.count > 6 { list.removeLast() }",
    "list[i % list.count] += i % 3",
    "list.swapAt(0, list.count - 1)",
    "if let x = list.popLast() { t += x; list.append(1) }",
    "rows[i % 2].swapAt(0, rows[i % 2].count - 1)",
    "list = rows[i % 2]",
    "rows[i % 2] = list",
    "rows[i % 2].append(i % 5); if rows[i % 2].count > 5 { rows[i % 2] = [i % 4] }",
    "t += rows[i % 2][0]",
    "text += \"x\"; if text.count > 8 { text = \"s\" }",
    "text = obj.name",
    "obj.name = text",
    "t += len(text)",
    "dict[i % 5, default: 0] += 1",
    "t += dict[i % 5] ?? 0",
    "any = i",
    "any = text",
    "any = list",
    "any = obj",
    "any = shape",
    "any = rec",
    "any = f(i)",
    "if let k = any as? Int { t += k }",
    "if let s = any as? String { t += s.count }",
    "if let o = any as? Obj { t += o.n % 10 }",
    "if let r = any as? Rec { t += r.a }",
    "if let s = any as? any Shape { t += s.tag }",
    "shape = shapes[i % 4]",
    "shape = Sq(s: Double(i % 3))",
    "shape = bases[i % 2]",
    "t += Int(shape.area(2)) + shape.tag",
    "t += bases[i % 2].tag",
    "bases[i % 2].v = i % 7",
    "rec.add(i % 9)",
    "rec.list[0] += 1",
    "rec.obj = obj",
    "rec.obj = nil",
    "rec.name = text",
    "t += rec.list.count + rec.name.count",
    "let copy = rec; rec.a += 1; t += copy.list.count",
    "tensor = tensor + 0",
    "t += use(tensor)",
    "tensor = Tensor<Double>([Double(i % 3)])",
    "t += f(i % 10)",
    "f = { $0 + i % 3 }",
    "f = { [obj] in $0 + obj.n % 5 }",
    "f = i % 2 == 0 ? { $0 * 2 } : { $0 - 1 }",
    "captured(i % 4)",
    "chain = .link(i, chain); if i % 50 == 0 { chain = .end }",
    "if case .link(let v, let rest) = chain { t += v % 3; if i % 3 == 0 { chain = rest } }",
    "chain = .text(text)",
    "tuples.append((i % 7, text)); if tuples.count > 5 { tuples.removeFirst() }",
    "if let last = tuples.last { t += last.0 + last.1.count }",
    "for (k, s) in tuples { t += k + s.count }",
    "gList[i % gList.count] += 1",
    "gList.append(i % 3); if gList.count > 7 { gList.removeFirst() }",
    "gObj = obj",
    "gObj = Obj(i)",
    "gObj = nil",
    "t += gObj?.n ?? 0",
    "gRec.add(i % 4)",
    "gRec.obj = gObj",
    "gRec.list = list",
    "gDict[text, default: 0] += 1; if gDict.count > 6 { gDict = [:] }",
    "t += size(list) + size(gList)",
    "t += list.map { $0 % 3 }.reduce(0, +)",
    "t += shapes.map { $0.tag }.max() ?? 0",
    "shapes[i % 4] = i % 3 == 0 ? Der() : Sq(s: 3)",
    "swap(&list, &gList)",
    "obj.items = list",
    "list = obj.items.isEmpty ? [1] : obj.items",
    "t = t % 1000",
];

/// Returns a program whose loop consists of some of the statements, each with the divisor of the iterations in which it is
/// executed.
pub fn program(statements: &[(usize, usize)]) -> String {
    let statement = |(k, divisor): &(usize, usize)| {
        let text = STATEMENTS[k % STATEMENTS.len()];
        // A declaration would be limited to the body of an `if`.
        if *divisor == 1 {
            format!("        {text}\n")
        } else {
            format!("        if i % {divisor} != 0 {{ {text} }}\n")
        }
    };
    let body: String = statements.iter().map(statement).collect();
    format!(
        "{DECLARATIONS}func run(_ n: Int) -> Int {{{VARIABLES}    for i in 0..<n {{\n{body}    }}\n    \
         t += list.count + text.count + rec.list.count + obj.n % 10\n    return t\n}}\n\
         print(run(3000))\nprint(gList, gObj?.n ?? -1, gRec.list, gDict.count)\n"
    )
}
