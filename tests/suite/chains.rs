//! Lost tangents: an integer or a string that was computed from a number, and becomes a number again, has no derivative,
//! regardless of the intermediate operations. An integer that only selects a value has one.

use crate::sink::Sink;
use dscript::session::{Input, Options, Outcome, Session, Status};

/// The declarations that the bodies use.
const BEFORE: &str = r#"
class Holder { var a = [0, 0]; var n = 0; var t = ""; init() {} }
struct S { var k: Int; var name: String; var xs: [Int] }
struct Big { var a: Int; var b: [Int]; var c: Double }
indirect enum E { case int(Int), list([Int]), pair(Int, E), none }
var globalInts = [0, 0]
var globalN = 0
protocol Scale { func apply(_ n: Int) -> Double; func total(_ xs: [Int]) -> Double }
struct P1: Scale { func apply(_ n: Int) -> Double { Double(n) }; func total(_ xs: [Int]) -> Double { Double(xs[0]) } }
class Base { func apply(_ n: Int) -> Double { 1 }; init() {} }
class Derived: Base { override func apply(_ n: Int) -> Double { Double(n) } }
func g(_ n: Int) -> Double { Double(n) }
func twice(_ n: Int) -> Int { n + n }
func ints(_ x: Double) -> [Int] { [3, Int(x)] }
func firstOf(_ xs: [Int]) -> Double { Double(xs[0]) }
func lastOf(_ xs: [Int]) -> Double { var s = 0.0; for n in xs { s += Double(n) }; return s }
func generic<T: BinaryInteger>(_ n: T) -> Double { Double(n) }
func change(_ n: inout Int, _ x: Double) { n = Int(x) }
func changeAll(_ xs: inout [Int], _ x: Double) { xs[0] = Int(x); xs.append(Int(x)) }
func describeMe(_ s: String) -> Double { Double(s)! }
func opt(_ n: Int?) -> Double { if let n { return Double(n) } else { return 0 } }
func rec(_ n: Int, _ k: Int) -> Double { k == 0 ? Double(n) : rec(n, k - 1) }
func dflt(_ n: Int, scale: Double = 2) -> Double { Double(n) * scale }
func variadic(_ xs: Int...) -> Double { Double(xs[0]) }
let table = [10.0, 20, 30, 40, 50, 60]
final class Node { var v: Int; var next: Node?; init(_ v: Int) { self.v = v } }
class Gen<T> { var x: T; init(_ x: T) { self.x = x } }
struct Wide { var a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, n = 0, o = 0, p = 0, q = 0, r = 0, s = 0, t = 0, u = 0, v = 0, w = 0, x = 0, y = 0, z = 0 }
protocol Named { var k: Int { get } ; func val() -> Double }
struct N1: Named { var k: Int; func val() -> Double { Double(k) } }
extension Named { func dbl() -> Double { Double(k) * 2 } }
struct Stack<T> { var items: [T] = []; mutating func push(_ t: T) { items.append(t) }; mutating func pop() -> T { items.removeLast() } ; subscript(k: Int) -> T { get { items[k] } set { items[k] = newValue } } }
enum Statics { static var n = 0; static var list: [Int] = [] }
@propertyWrapper struct Clamped { private var v = 0; var wrappedValue: Int { get { v } set { v = newValue } } }
struct W { @Clamped var n: Int }
struct Obs { var n = 0 { didSet { m = n } }; var m = 0 }
func tup(_ x: Double) -> (Int, [Int], Double) { (Int(x), [Int(x)], x) }
func thr(_ n: Int) throws -> Double { if n > 100 { throw Err.bad }; return Double(n) }
enum Err: Error { case bad, code(Int) }
func ap(_ f: (Int) -> Int, _ n: Int) -> Int { f(n) }
func compose<A, B, C>(_ f: @escaping (A) -> B, _ g: @escaping (B) -> C) -> (A) -> C { { g(f($0)) } }
func makeIt(_ x: Double) -> any Named { N1(k: Int(x)) }
func some(_ x: Double) -> some Named { N1(k: Int(x)) }
func swapThem(_ a: inout Int, _ b: inout Int) { let t = a; a = b; b = t }
class Counter { var total = 0; func add(_ n: Int) { total += n }; var dbl: Double { Double(total) } }
class Sub: Counter { override func add(_ n: Int) { super.add(n * 2) } }
func memo(_ n: Int, _ c: inout [Int: Int]) -> Int { if let k = c[n] { return k }; c[n] = n * 2; return n * 2 }
indirect enum Tree { case leaf(Int), node(Tree, Tree) }
func sumTree(_ t: Tree) -> Double { switch t { case .leaf(let n): return Double(n); case .node(let a, let b): return sumTree(a) + sumTree(b) } }
let tbl = [10.0, 20, 30, 40, 50, 60, 70]
func g3(_ n: Int) -> Double { Double(n) }
struct Key: Hashable { var k: Int; static func == (a: Key, b: Key) -> Bool { a.k == b.k }; func hash(into h: inout Hasher) { h.combine(k % 7) } }
struct R: Differentiable { var y: Double; @noDerivative var n: Int }
func h(_ x: Double, _ n: Int) -> Double { x * Double(n) }
@derivative(of: h, wrt: x) func vh(_ x: Double, _ n: Int) -> (value: Double, pullback: (Double) -> Double) { (h(x, n), { v in v * Double(n) }) }
struct Model: Differentiable { var w: Double; @noDerivative var steps: [Int] = []; mutating func note(_ x: Double) { steps.append(Int(x)) } }
func hs(_ x: Double, _ ns: [Int], _ s: String) -> Double { x * Double(ns[0]) * Double(s)! }
@derivative(of: hs, wrt: x) func vhs(_ x: Double, _ ns: [Int], _ s: String) -> (value: Double, pullback: (Double) -> Double) { (hs(x, ns, s), { v in v }) }
func chosen(_ x: Double, _ n: Int) -> Double { n > 1 ? x * x : x }
@derivative(of: chosen, wrt: x) func vchosen(_ x: Double, _ n: Int) -> (value: Double, pullback: (Double) -> Double) { (chosen(x, n), { v in v * 2 * x }) }
func dh(_ x: Double, _ n: Int) -> Double { x * Double(n) }
@derivative(of: dh, wrt: x) func vdh(_ x: Double, _ n: Int) -> (value: Double, differential: (Double) -> Double) { (x * Double(n), { d in d * Double(n) }) }
struct Line { var n: Int; func at(_ x: Double) -> Double { x * Double(n) }
    @derivative(of: at, wrt: x) func vat(_ x: Double) -> (value: Double, pullback: (Double) -> Double) { (at(x), { v in v * Double(n) }) } }
let toInt: [(Double) -> Int] = [{ x in Int(x) }]
enum Mode: Int { case a = 1, b = 2, c = 3 }
struct Matrix { var rows: [[Int]]; subscript(i: Int, j: Int) -> Int { get { rows[i][j] } set { rows[i][j] = newValue } } }
class Box<T> { var v: T; init(_ v: T) { self.v = v } ; func map<U>(_ f: (T) -> U) -> Box<U> { Box<U>(f(v)) } }
protocol Visitor { mutating func visit(_ n: Int); var result: Double { get } }
struct Sum: Visitor { var t = 0; mutating func visit(_ n: Int) { t += n }; var result: Double { Double(t) } }
func walk<V: Visitor>(_ v: inout V, _ x: Double) { v.visit(Int(x)) }
func iter(_ n: Int) -> AnySequence<Int> { AnySequence([n]) }
let table0 = [1.0, 2, 3]
"#;

/// Bodies of functions of `x` whose results have no derivative, one per line.
#[rustfmt::skip]
const BROKEN: &[&str] = &[
    r#"return h(x, toInt[0](x))"#,
    r#"var s = 0.0; for i in (Int(x)...Int(x)).reversed() { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for i in (Int(x)..<10).reversed() { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for i in (toInt[0](x)..<10).reversed() { s += x * Double(i) }; return s"#,
    r#"return dh(x, toInt[0](x))"#,
    r#"var n = 0; change(&n, x); return h(x, n)"#,
    r#"globalN = Int(x); return h(x, globalN)"#,
    r#"return hs(x, [toInt[0](x)], "2")"#,
    r#"return hs(x, [3], "\(toInt[0](x))")"#,
    r#"return Line(n: toInt[0](x)).at(x)"#,
    r#"let f = [h]; return f[0](x, toInt[0](x))"#,
    r#"let f = [dh]; return f[0](x, toInt[0](x))"#,
    r#"let f: @differentiable (Double, @noDerivative Int) -> Double = h; return f(x, toInt[0](x))"#,
    r#"let n = toInt[0](x); return gradient(at: x) { y in h(y, n) }"#,
    r#"let n = toInt[0](x); return derivative(at: x) { y in dh(y, n) }"#,
    r#"let n = toInt[0](x); return derivative(at: x) { y in Line(n: n).at(y) }"#,
    r#"var a = [0, 0]; a[1] = Int(x); return Double(a[1])"#,
    r#"let m = [1.0, 2].map { Int($0 * x) }; return Double(m[0])"#,
    r#"return Double([1.0, 2].map { Int($0 * x) }.reduce(0, +))"#,
    r#"return Double(Set([Int(x)]).first!)"#,
    r#"var s = 0.0; for (_, n) in ["a": Int(x)] { s += Double(n) }; return s"#,
    r#"return Double(["a": 1, "k": Int(x)]["k"]!)"#,
    r#"var d = ["k": 1]; d["k", default: 0] += Int(x); return Double(d["k"]!)"#,
    r#"return Double(ints(x)[1])"#,
    r#"let f = [ints]; return Double(f[0](x)[1])"#,
    r#"let h = Holder(); h.a[1] = Int(x); return Double(h.a[1])"#,
    r#"let h = Holder(); h.n = Int(x); return Double(h.n)"#,
    r#"globalInts[0] = Int(x); return Double(globalInts[0])"#,
    r#"globalInts = [Int(x)]; return Double(globalInts[0])"#,
    r#"var a = [0]; let f = { a[0] = Int(x) }; f(); return Double(a[0])"#,
    r#"var a: [Int] = []; let f = { a.append(Int(x)) }; f(); return Double(a[0])"#,
    r#"let n = Int(x); let f = { Double(n) }; return f()"#,
    r#"let n = Int(x); let fs: [() -> Double] = [{ Double(n) }, { 1 }]; return fs[0]()"#,
    r#"let s = S(k: Int(x), name: "a", xs: []); return Double(s.k)"#,
    r#"let s = S(k: 1, name: "a", xs: [Int(x)]); return Double(s.xs[0])"#,
    r#"let ss = [S(k: Int(x), name: "a", xs: []), S(k: 2, name: "b", xs: [])]; return Double(ss[0].k)"#,
    r#"let e = E.int(Int(x)); if case .int(let n) = e { return Double(n) }; return x"#,
    r#"let e = E.list([Int(x)]); if case .list(let n) = e { return Double(n[0]) }; return x"#,
    r#"let e = E.pair(1, E.int(Int(x))); if case .pair(_, .int(let n)) = e { return Double(n) }; return x"#,
    r#"let n: Int? = Int(x); return Double(n!)"#,
    r#"let n: [Int?] = [Int(x), nil]; return Double(n[0]!)"#,
    r#"let t = [(1, Int(x))]; return Double(t[0].1)"#,
    r#"let t = [[1], [Int(x)]]; return Double(t[1][0])"#,
    r#"var t = [[1], [2]]; t[1][0] = Int(x); return Double(t[1][0])"#,
    r#"let t = [9, Int(x)].sorted(); return Double(t[0])"#,
    r#"let t = [9, Int(x)].filter { $0 < 5 }; return Double(t[0])"#,
    r#"let t = [9, Int(x)].reversed(); return Double(Array(t)[0])"#,
    r#"var t: [Int] = []; t.append(Int(x)); return Double(t[0])"#,
    r#"var t = [7]; t.insert(Int(x), at: 0); return Double(t[0])"#,
    r#"var t = [7, Int(x)]; t.swapAt(0, 1); return Double(t[0])"#,
    r#"let t = [7, Int(x)]; return Double(t[1...].first!)"#,
    r#"let t = [7, Int(x)]; return Double(Array(t[1..<2])[0])"#,
    r#"let t = [x].reduce(into: [Int]()) { $0.append(Int($1)) }; return Double(t[0])"#,
    r#"let t = [x].reduce(into: [Int: Int]()) { $0[1] = Int($1) }; return Double(t[1]!)"#,
    r#"var s = 0.0; for (a, b) in zip([Int(x)], [1.0]) { s += Double(a) * b }; return s"#,
    r#"var s = 0.0; for (_, b) in [Int(x)].enumerated() { s += Double(b) }; return s"#,
    r#"return firstOf([Int(x)])"#,
    r#"return lastOf([1, Int(x)])"#,
    r#"let t = [String(x)]; return Double(t[0])!"#,
    r#"let t = ["\(x)"]; return Double(t[0])!"#,
    r#"return describeMe("\(x)")"#,
    r#"let d = ["a": "\(x)"]; return Double(d["a"]!)!"#,
    r#"let t = "\(x),1"; return Double(t.split(separator: ",")[0])!"#,
    r#"let s = S(k: 1, name: "\(x)", xs: []); return Double(s.name)!"#,
    r#"return Double("\(Int(x))")!"#,
    r#"return Double(Int("\(Int(x))")!)"#,
    r#"return g(Int(x))"#,
    r#"return Double(twice(Int(x)))"#,
    r#"return g(twice(Int(x)))"#,
    r#"let f: [(Int) -> Double] = [g]; return f[0](Int(x))"#,
    r#"let p: any Scale = P1(); return p.apply(Int(x))"#,
    r#"let p: any Scale = P1(); return p.total([Int(x)])"#,
    r#"let b: Base = Derived(); return b.apply(Int(x))"#,
    r#"return generic(Int(x))"#,
    r#"var n = 0; change(&n, x); return Double(n)"#,
    r#"var n = [0]; changeAll(&n, x); return Double(n[0]) + Double(n[1])"#,
    r#"return opt(Int(x))"#,
    r#"return rec(Int(x), 3)"#,
    r#"return dflt(Int(x))"#,
    r#"return variadic(Int(x), 2)"#,
    r#"let f = { (n: Int) -> Double in Double(n) }; return f(Int(x))"#,
    r#"return [Int(x)].map(g)[0]"#,
    r#"return [Int(x)].map { Double($0) }[0]"#,
    r#"return [x].map { Int($0) }.map { $0 * 2 }.map { Double($0) }.reduce(0, +)"#,
    r#"return [x].compactMap { Int($0) }.map { Double($0) }.reduce(0, +)"#,
    r#"return [[Int(x)], [2]].flatMap { $0 }.map { Double($0) }.reduce(0, +)"#,
    r#"return Double([Int(x), 1].max()!)"#,
    r#"var t = 0; for k in 0..<3 { t += Int(x) * k }; return Double(t)"#,
    r#"let d = ["a": x].mapValues { Int($0) }; return Double(d["a"]!)"#,
    r#"let d = [Int(x): 1.0]; return Double(d.keys.first!)"#,
    r#"let d = [1: Int(x)]; return Double(Array(d.values)[0])"#,
    r#"return Set([Int(x), 9]).map { Double($0) }.reduce(0, +)"#,
    r#"let a: Any = Int(x); return Double(a as! Int)"#,
    r#"let a: [Any] = [Int(x), "b"]; return Double(a[0] as! Int)"#,
    r#"return Double(Array(repeating: Int(x), count: 2)[1])"#,
    r#"let t = [1] + [Int(x)]; return Double(t[1])"#,
    r#"var t = [1, Int(x)]; return Double(t.removeLast())"#,
    r#"var t = [Int(x)]; return Double(t.remove(at: 0))"#,
    r#"var t = [1, Int(x)]; return Double(t.popLast()!)"#,
    r#"let n = Int32(x); let a = [n]; return Double(a[0])"#,
    r#"let a = [UInt8(x)]; return Double(a[0])"#,
    r#"let a = [Int(x)]; return Double(Float(a[0]))"#,
    r#"let a = [Int(x), 2]; var b = a; b[1] = 7; return Double(b[0]) + Double(a[0])"#,
    r#"var st = [Int(x)]; var s = 0.0; while let n = st.popLast() { s += Double(n); if n > 5 { break } }; return s"#,
    r#"let big = Big(a: Int(x), b: [1], c: x); return Double(big.a) * big.c"#,
    r#"func h(_ x: Double) throws -> [Int] { [Int(x)] }; return Double((try? h(x))![0])"#,
    r#"let parts = ["1", "\(Int(x))"]; return Double(parts.joined(separator: ""))!"#,
    r#"func put(_ a: inout [Int]) { a[0] = Int(x) }; var a = [0]; put(&a); return Double(a[0])"#,
    r#"var s = 0.0; for n in stride(from: Int(x), to: 10, by: 3) { s += Double(n) }; return s"#,
    r#"let n = x > 2 ? Int(x) : 0; let a = [n]; return Double(a[0])"#,
    r#"let n: Int; switch x { case 0..<1: n = 0; default: n = Int(x) }; return Double(n)"#,
    r#"let s = S(k: Int(x), name: "", xs: []); return Double(s[keyPath: \S.k])"#,
    r#"return Double([9, Int(x)].first { $0 < 5 }!)"#,
    r#"return Double([9, Int(x)].min { $0 < $1 }!)"#,
    r#"let d = Dictionary(grouping: [Int(x)], by: { _ in 1 }); return Double(d[1]![0])"#,
    r#"var acc = [0]; for k in 1...3 { acc.append(acc[k - 1] + Int(x * Double(k))) }; return Double(acc[3])"#,
    r#"var m = Array(repeating: Array(repeating: 0, count: 2), count: 2); m[1][0] = Int(x); return Double(m[1][0])"#,
    r#"return Double("\(x)".utf8.first!)"#,
    r#"return Double(Array("\(x)")[0].wholeNumberValue!)"#,
    r#"let h: Holder? = Holder(); h?.n = Int(x); return Double(h!.n)"#,
    r#"var n = 0; let set = { (v: Int) in n = v }; set(Int(x)); return Double(n)"#,
    r#"func make(_ n: Int) -> () -> Double { { Double(n) } }; return make(Int(x))()"#,
    r#"func make() -> (Double) -> Int { var t = 0; return { t += Int($0); return t } }; let c = make(); _ = c(x); return Double(c(x))"#,
    r#"return Double(bitPattern: x.bitPattern)"#,
    r#"let (q, r) = Int(x * 10).quotientAndRemainder(dividingBy: 3); return Double(q + r)"#,
    r#"let v = SIMD2<Int>(Int(x), 1); return Double(v[0])"#,
    r#"return Double("\([x])".dropFirst().dropLast())!"#,
    r#"let n = Node(Int(x)); n.next = Node(3); return Double(n.v)"#,
    r#"let n = Node(1); n.next = Node(Int(x)); return Double(n.next!.v)"#,
    r#"return Double(Gen(Int(x)).x)"#,
    r#"return Double(Gen([Int(x)]).x[0])"#,
    r#"var w = Wide(); w.q = Int(x); return Double(w.q)"#,
    r#"var w = [Wide()]; w[0].q = Int(x); return Double(w[0].q)"#,
    r#"let p: any Named = N1(k: Int(x)); return p.val()"#,
    r#"let p: any Named = N1(k: Int(x)); return Double(p.k)"#,
    r#"return makeIt(x).dbl()"#,
    r#"return some(x).val()"#,
    r#"let ps: [any Named] = [N1(k: 1), N1(k: Int(x))]; return ps.map { $0.val() }.reduce(0, +)"#,
    r#"var s = Stack<Int>(); s.push(Int(x)); return Double(s.pop())"#,
    r#"var s = Stack(items: [1, 2]); s[1] = Int(x); return Double(s[1])"#,
    r#"Statics.n = Int(x); return Double(Statics.n)"#,
    r#"Statics.list = []; Statics.list.append(Int(x)); return Double(Statics.list[0])"#,
    r#"var w = W(); w.n = Int(x); return Double(w.n)"#,
    r#"var w = Obs(); w.n = Int(x); return Double(w.m)"#,
    r#"let (a, _, _) = tup(x); return Double(a)"#,
    r#"let (_, b, _) = tup(x); return Double(b[0])"#,
    r#"return (try? thr(Int(x))) ?? 0"#,
    r#"do { return try thr(Int(x)) } catch { return 0 }"#,
    r#"do { throw Err.code(Int(x)) } catch Err.code(let n) { return Double(n) } catch { return 0 }"#,
    r#"return Double(ap({ $0 + 1 }, Int(x)))"#,
    r#"let h = compose({ (y: Double) in Int(y) }, { (n: Int) in Double(n) }); return h(x)"#,
    r#"let h = compose({ (y: Double) in [Int(y)] }, { (n: [Int]) in Double(n[0]) }); return h(x)"#,
    r#"var a = Int(x); var b = 0; swapThem(&a, &b); return Double(b)"#,
    r#"var a = Int(x); var b = 0; swap(&a, &b); return Double(b)"#,
    r#"let c = Counter(); c.add(Int(x)); return c.dbl"#,
    r#"let c: Counter = Sub(); c.add(Int(x)); return c.dbl"#,
    r#"var c: [Int: Int] = [:]; return Double(memo(Int(x), &c))"#,
    r#"return sumTree(.node(.leaf(1), .leaf(Int(x))))"#,
    r#"var d: [String: [Int]] = [:]; d["a", default: []].append(Int(x)); return Double(d["a"]![0])"#,
    r#"var d = ["a": [1]]; d["a"]!.append(Int(x)); return Double(d["a"]![1])"#,
    r#"var d = ["a": [1]]; d["a"]![0] += Int(x); return Double(d["a"]![0])"#,
    r#"var d = ["a": Int(x)]; return Double(d.removeValue(forKey: "a")!)"#,
    r#"var d = ["a": 1]; d.merge(["a": Int(x)]) { $0 + $1 }; return Double(d["a"]!)"#,
    r#"var d = ["a": 1]; d.updateValue(Int(x), forKey: "a"); return Double(d["a"]!)"#,
    r#"let d = ["b": Int(x), "a": 1]; return d.sorted { $0.key < $1.key }.map { Double($0.value) }.reduce(0, +)"#,
    r#"let d = ["b": Int(x), "a": 1].filter { $0.value > 1 }; return Double(d["b"]!)"#,
    r#"let s = Set([1]).union([Int(x)]); return s.map { Double($0) }.reduce(0, +)"#,
    r#"var s: Set<Int> = []; s.insert(Int(x)); return Double(s.first!)"#,
    r#"return Double(Set([Int(x), 7]).sorted()[0])"#,
    r#"return Double([Int(x), 5].prefix(1)[0])"#,
    r#"return Double(Array([5, Int(x)].suffix(1))[0])"#,
    r#"return Double([Int(x), 5].dropLast()[0])"#,
    r#"var a = [1, 2, 3]; a[1...] = [Int(x)]; return Double(a[1])"#,
    r#"var a = [1, 2, 3]; a.replaceSubrange(0..<1, with: [Int(x)]); return Double(a[0])"#,
    r#"var a = [5, Int(x)]; a.sort(); return Double(a[0])"#,
    r#"var a = [5, Int(x)]; a.sort { $0 > $1 }; return Double(a[1])"#,
    r#"var a = [Int(x)]; a.shuffle(); return Double(a[0])"#,
    r#"return zip([1, Int(x)], [2, 3]).map { Double($0 * $1) }.reduce(0, +)"#,
    r#"var a = [9, Int(x)]; let p = a.partition { $0 > 5 }; return Double(a[0]) + Double(p)"#,
    r#"return [x].enumerated().map { (i, v) in i + Int(v) }.map(Double.init).reduce(0, +)"#,
    r#"return [Int(x)].map(Double.init)[0]"#,
    r#"return [x].lazy.map { Int($0) }.map { Double($0) }.reduce(0, +)"#,
    r#"var it = [Int(x)].makeIterator(); return Double(it.next()!)"#,
    r#"var s = 0.0; for n in sequence(first: Int(x), next: { $0 < 10 ? $0 * 2 : nil }) { s += Double(n) }; return s"#,
    r#"let r = 0..<Int(x); return Double(r.upperBound)"#,
    r#"let n = Int(x); return Double(n & 3) + Double(n << 1)"#,
    r#"return Double(abs(Int(x)))"#,
    r#"return Double(max(Int(x), 0))"#,
    r#"return Double(-Int(x))"#,
    r#"var p = 1; for _ in 0..<3 { p *= Int(x) }; return Double(p)"#,
    r#"return Double(Int(UInt16(Int32(Int(x)))))"#,
    r#"return Double(exactly: Int(x))!"#,
    r#"let n = Int(x) as Int; let m: Int64 = Int64(n); return Double(m)"#,
    r#"return x - Double(Int(x) % 2)"#,
    r#"let f = { (n: Int) in n > 1 ? Double(n) : 0 }; let fs = [f]; return fs[0](Int(x))"#,
    r#"return [1, 2].map { $0 * Int(x) }.map { Double($0) }.reduce(0, +)"#,
    r#"let n = Int(x); return [1.0].map { y in [2.0].map { z in Double(n) * y * z }[0] }[0]"#,
    r#"var fs: [() -> Int] = []; fs.append { Int(x) }; return Double(fs[0]())"#,
    r#"var t = 0; [1.0, 2].forEach { t += Int($0 * x) }; return Double(t)"#,
    r#"var t = 0; var k = 0; while k < 3 { t = t + Int(x); k += 1 }; return Double(t)"#,
    r#"return Double(Int(String(Int(x)))!)"#,
    r#"return Double(String("\(Int(x))".reversed()))!"#,
    r#"var s = ""; for c in "\(x)" { s.append(c) }; return Double(s)!"#,
    r#"return Double("\(x)".uppercased())!"#,
    r#"return Double("1" + "\(Int(x))")!"#,
    r#"var t = "1"; t += "\(Int(x))"; return Double(t)!"#,
    r#"func p(_ s: String) -> Double { Double(s)! }; let ps = [p]; return ps[0]("\(x)")"#,
    r#"func t(_ x: Double) -> String { "\(x)" }; func u(_ x: Double) -> String { t(x) }; return Double(u(x))!"#,
    r#"func t(_ x: Double) -> [String] { ["\(x)"] }; return Double(t(x)[0])!"#,
    r#"let g = Gen("\(x)"); return Double(g.x)!"#,
    r#"let g = { "\(x)" }; let h = [g]; return Double(h[0]())!"#,
    r#"var d: [String: String] = [:]; d["a"] = "\(x)"; return Double(d["a"]!)!"#,
    r#"let s: String? = "\(x)"; return Double(s!)!"#,
    r#"return Double("  \(x) ".split(separator: " ")[0])!"#,
    r#"return Double("\(x)".prefix(3))!"#,
    r#"return Double(x.description)!"#,
    r#"return Double(String(describing: x))!"#,
    r#"return Double("\([x])".dropFirst().dropLast())!"#,
    r#"return Double(String(format: "%.3f", x))!"#,
    r#"let a: Any = [Int(x)]; return Double((a as! [Int])[0])"#,
    r#"let a: [String: Any] = ["k": Int(x)]; return Double(a["k"] as! Int)"#,
    r#"let a: Any = N1(k: Int(x)); return Double((a as! N1).k)"#,
    r#"let r: Result<Int, Err> = .success(Int(x)); if case .success(let n) = r { return Double(n) }; return 0"#,
    r#"var n = 0; do { defer { n = Int(x) }; n = 1 }; return Double(n)"#,
    r#"guard let n = Optional(Int(x)) else { return 0 }; return Double(n)"#,
    r#"return Optional(Int(x)).map { Double($0) }!"#,
    r#"let n: Int? = nil; return Double(n ?? Int(x))"#,
    r#"var s = N1(k: 0); s[keyPath: \.k] = Int(x); return Double(s.k)"#,
    r#"let f = { (a: Int) in { (b: Int) in Double(a + b) } }; return f(1)(Int(x))"#,
    r#"let c = Counter(); let f = { (n: Int) in c.add(n) }; f(Int(x)); return Double(c.total)"#,
    r#"var fs: [() -> Void] = []; var n = 0; fs.append { n = Int(x) }; for f in fs { f() }; return Double(n)"#,
    r#"return derivative(at: 1.0) { y in y * Double(Int(x)) }"#,
    r#"let n = Int(x); return derivative(at: 1.0) { y in y * Double(n) }"#,
    r#"let n = [Int(x)]; return gradient(at: 1.0) { y in y * Double(n[0]) }"#,
    r#"var a = [0]; let d = derivative(at: 1.0) { y in a[0] = Int(x); return y }; return d * Double(a[0])"#,
    r#"let c = Counter(); let d = gradient(at: 1.0) { y in c.add(Int(x)); return y }; return d * c.dbl"#,
    r#"let h = [g3]; return valueWithGradient(at: 1.0) { y in h[0](Int(x)) * y }.gradient"#,
    r#"let d = [Key(k: Int(x)): 1.0]; return d.keys.map { Double($0.k) }.reduce(0, +)"#,
    r#"var d = [Key(k: 1): 0]; d[Key(k: 1)] = Int(x); return Double(d[Key(k: 1)]!)"#,
    r#"let d: Set<Key> = [Key(k: Int(x))]; return d.map { Double($0.k) }.reduce(0, +)"#,
    r#"let r = R(y: x, n: Int(x)); return r.y * Double(r.n)"#,
    r#"let r = valueWithPullback(at: x) { R(y: $0, n: Int($0)) }.value; return Double(r.n)"#,
    r#"return Double(x.hashValue % 7)"#,
    r#"return h(2.0, Int(x))"#,
    r#"return Double(x.exponent)"#,
    r#"var m = Model(w: 2); m.note(x); return Double(m.steps[0])"#,
    r#"var m = Matrix(rows: [[1, 2], [3, 4]]); m[1, 0] += Int(x); return Double(m[1, 0])"#,
    r#"return Box(x).map { Int($0) }.map { Double($0) }.v"#,
    r#"var s = Sum(); walk(&s, x); return s.result"#,
    r#"var s: any Visitor = Sum(); s.visit(Int(x)); return s.result"#,
    r#"return Double(Int(truncatingIfNeeded: Int(x)))"#,
    r#"return Double(Int8(clamping: Int(x)))"#,
    r#"var t: [(name: String, n: Int)] = []; t.append((name: "a", n: Int(x))); t.sort { $0.n < $1.n }; return Double(t[0].n)"#,
    r#"var d: [Int: [Int]] = [:]; for k in 0..<2 { d[k, default: []].append(Int(x) * k) }; return d.values.flatMap { $0 }.map { Double($0) }.reduce(0, +)"#,
    r#"func gen(_ x: Double) -> () -> Int? { var k = 0; return { k += 1; return k < 3 ? Int(x) * k : nil } }; let g = gen(x); var s = 0.0; while let n = g() { s += Double(n) }; return s"#,
    r#"var memo: [Int: Int] = [:]; func fib(_ n: Int) -> Int { if n < 2 { return n }; if let k = memo[n] { return k }; let r = fib(n - 1) + fib(n - 2); memo[n] = r; return r }; return Double(fib(Int(x * 3)) + Int(x))"#,
    r#"func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }; return Double(gcd(Int(x * 4), 4))"#,
    r#"var n = Int(x * 100); var s = 0; while n > 0 { s += n % 10; n /= 10 }; return Double(s)"#,
    r#"return Double(String(Int(x), radix: 2))!"#,
    r#"return Double(Int(String(Int(x)).map { String($0) }.joined())!)"#,
    r#"let a: [Int]? = [Int(x)]; return Double(a?.first ?? 0)"#,
    r#"if let n = [Int(x)].first, n > 1 { return Double(n) }; return 0"#,
    r#"var a = [1, 2]; func set(_ n: inout Int) { n = Int(x) }; set(&a[1]); return Double(a[1])"#,
    r#"var a = ["k": 2]; func set(_ n: inout Int) { n += Int(x) }; set(&a["k"]!); return Double(a["k"]!)"#,
    r#"let b = Box(1); func set(_ n: inout Int) { n += Int(x) }; set(&b.v); return Double(b.v)"#,
    r#"var s = 0.0; var a: [Int] = []; for k in 0..<300 { a.append(Int(x) + k) }; for n in a { s += Double(n) }; return s"#,
    r#"var s = 0.0; var a: [Int: Int] = [:]; for k in 0..<300 { a[k] = Int(x) + k }; for (_, n) in a { s += Double(n) }; return s"#,
    r#"var a = [1: Int(x), 2: 3, 4: 5]; a[2] = nil; a[4] = nil; return a.values.map { Double($0) }.reduce(0, +)"#,
    r#"var a: Set<Int> = [Int(x), 7, 9]; a.remove(7); return a.map { Double($0) }.reduce(0, +)"#,
    r#"let b = Box(Int(x)); let f = { [weak b] in b?.v ?? 0 }; return Double(f())"#,
    r#"return iter(Int(x)).map { Double($0) }.reduce(0, +)"#,
    r#"let s = "\(Int(x))abc"; let i = s.firstIndex(of: "a")!; return Double(s[..<i])!"#,
    r#"let k = x > 100 ? 3 : Int(x); return Double([k, 1][0])"#,
    r#"let f: (Int) -> Int = { $0 }; let gs = [f, f]; return Double(gs[1](Int(x)))"#,
    r#"struct C { var re: Int; var im: Int }; var cs = [C(re: 1, im: 2)]; cs[0].im = Int(x); let c = cs.map { C(re: $0.im, im: $0.re) }; return Double(c[0].re)"#,
    r#"let n = checkpoint { Int(x * 10) }; return Double(n) * x"#,
    r#"let n = checkpoint { Int(x * 10) + 0 }; return Double(n) * x"#,
    r#"let a = checkpoint { [Int(x * 10)] }; return Double(a[0]) * x"#,
    r#"let (n, y) = checkpoint { (Int(x * 10), 2 * x) }; return Double(n) * y"#,
    r#"var n = 0; checkpoint { n = Int(x * 10) }; return Double(n) * x"#,
    r#"var n = 0; checkpoint for i in 0..<3 { n = Int(x * 10) + i }; return Double(n) * x"#,
    r#"let h = Holder(); checkpoint { h.n = Int(x * 10) }; return Double(h.n) * x"#,
    r#"let h = Holder(); checkpoint { h.a[1] = Int(sin(x) * 10) }; return Double(h.a[1]) * x"#,
    r#"checkpoint { globalN = Int(x * 10) }; return Double(globalN) * x"#,
    r#"let d = checkpoint { ["a": Int(x * 10)] }; return Double(d["a"]!) * x"#,
    r#"let s = checkpoint { S(k: Int(x * 10), name: "a", xs: []) }; return Double(s.k) * x"#,
    r#"let n = checkpoint { Int([x * 2, 3].reduce(0, +)) }; return Double(n) * x"#,
    r#"let n = checkpoint { Int(h(x, 3)) }; return Double(n) * x"#,
    r#"let n = checkpoint { Int(gradient(at: x) { y in y * y * y }) }; return Double(n) * x"#,
    r#"let n = checkpoint { Int(Double(Int(x * 10)) * 2) }; return Double(n) * x"#,
    r#"let n = checkpoint { checkpoint { Int(x * 10) } + 1 }; return Double(n) * x"#,
    r#"let t = checkpoint { "\(x * 10)" }; return Double(t)! * x"#,
    r#"do { try checkpoint { throw Err.code(Int(x * 10)) } } catch Err.code(let n) { return Double(n) * x } catch { return x }; return x"#,
    r#"func t(_ x: Double) throws -> Double { throw Err.code(Int(x * 10)) }; do { return try checkpoint { try t(x) } } catch Err.code(let n) { return Double(n) * x } catch { return x }"#,
    r#"return Double((0...Int(x * 10)).max()!) * x"#,
    r#"return Double((0..<Int(x * 10)).max()!) * x"#,
    r#"return Double((Int(x * 10)...90).min()!) * x"#,
    r#"return Double((0...Int(x * 10)).last!) * x"#,
    r#"return Double((0..<Int(x * 10)).upperBound) * x"#,
    r#"let n = Int(x * 10); return Double(Int.random(in: n...n)) * x"#,
    r#"let n = Int(x * 10); return Double(Int.random(in: 0..<n)) * x"#,
    r#"let n = Int(x * 10); return Double((n...n).randomElement()!) * x"#,
    r#"let n = Int32(x * 10); return Double(Int32.random(in: n...n)) * x"#,
    r#"let r = 0...Int(x * 10); let rs = [r]; return Double(rs[0].max()!) * x"#,
];

/// Bodies of functions of `x` in which integers and strings only select values, one per line.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    r#"var d: [Int: Int] = [:]; for k in 0..<4 { d[Int(x) + k % 2, default: 0] += 1 }; return Double(d[2]!) * x"#,
    r#"var c = [0, 0, 0, 0]; c[Int(x)] += 1; c[1] += 1; return Double(c[2]) * x"#,
    r#"let v = [x, 1.0, 3 * x]; let order = v.indices.sorted { v[$0] < v[$1] }; return v[order[0]] * Double(order[0] + 1) + x"#,
    r#"let v = [x, 1.0, 3 * x]; var best = 0; for k in v.indices { if v[k] > v[best] { best = k } }; return Double(best) * x"#,
    r#"let v = [x, 1.0, 3 * x]; return Double(v.filter { Int($0) > 1 }.count) * x"#,
    r#"return table[Int(x)] * x"#,
    r#"var cache: [Int: Double] = [:]; let k = Int(x); if cache[k] == nil { cache[k] = x * x }; return cache[k]!"#,
    r#"let v = [1.0, 2, 3, 4]; var lo = 0; var hi = 4; while lo < hi { let m = (lo + hi) / 2; if v[m] < x { lo = m + 1 } else { hi = m } }; return Double(lo) * x"#,
    r#"var s = 0.0; for k in 0..<Int(x) { s += Double(k) * x }; return s"#,
    r#"var b: [[Double]] = [[], [], [], []]; for y in [x, x / 2, x + 1] { b[Int(y)].append(y) }; return b.flatMap { $0 }.reduce(0, +) * Double(b[1].count)"#,
    r#"let t = "\(x)"; print(t.isEmpty); return x * Double(t.count)"#,
    r#"let a = [withoutDerivative(at: Int(x))]; return Double(a[0]) * x"#,
    r#"let a = withoutDerivative(at: [Int(x)]); return Double(a[0]) * x"#,
    r#"var a = [3, 0]; a[1] = Int(x); return Double(a[0]) * x"#,
    r#"var n = Int(x); n = 2; return Double(n) * x"#,
    r#"var n = 0; let f = { n = Int(x) }; f(); n = 2; return Double(n) * x"#,
    r#"return g(3) * x + table[Int(x)]"#,
    r#"return Int(x) > 1 ? x * x : x"#,
    r#"let d = [1: x, 2: 3 * x]; return d[Int(x)]!"#,
    r#"return Set([1, 2]).contains(Int(x)) ? x : 2 * x"#,
    r#"return [3, 1, 2].sorted().map { Double($0) }.reduce(0, +) * x + Double([Int(x)].count)"#,
    r#"print("value \(Int(x)) \(x)"); return x"#,
    r#"func pick(_ k: Int) -> Double { table[k] }; return pick(Int(x)) * x"#,
    r#"let a = Array(repeating: 1, count: Int(x)); return Double(a.count) * x + Double(a.reduce(0, +)) * x"#,
    r#"switch Int(x) { case 2: return 5 * x; default: return x }"#,
    r#"var n = 0; var y = x; while y > 1 { y = y / 2; n += 1 }; return Double(n) * y"#,
    r#"var d: [String: Double] = [:]; d["\(Int(x))"] = x; return d["2"]! * 2"#,
    r#"var s = 0.0; for (i, y) in [x, x * x].enumerated() { s += Double(i) * y }; return s + table[Int(x)]"#,
    r#"return x.rounded(.down) * x"#,
    r#"return [Int(x), 3].max()! > 2 ? x : 2 * x"#,
    r#"let k = [Int(x)]; return tbl[k[0]] * x"#,
    r#"let k = ["a": Int(x)]; return tbl[k["a"]!] * x"#,
    r#"return Double(Set([Int(x), 1]).count) * x"#,
    r#"return Double(["a": Int(x)].count) * x"#,
    r#"return Double([3, Int(x)].firstIndex(of: 3)!) * x + x"#,
    r#"var s = 0.0; for i in 0..<3 { for j in 0...i { s += Double(i + j) * x } }; return s + tbl[Int(x)]"#,
    r#"let ids = [0, 1, Int(x)]; return ids.map { tbl[$0] * x }.reduce(0, +)"#,
    r#"var c = [0.0, 0, 0, 0, 0]; for y in [x, x + 1] { c[Int(y)] += y }; return c.reduce(0, +)"#,
    r#"var c = [0, 0, 0, 0, 0]; for y in [x, x + 1] { c[Int(y)] += 1 }; return c.enumerated().map { Double($0.offset) * Double($0.element) * x }.reduce(0, +)"#,
    r#"let g = Dictionary(grouping: [x, x + 1], by: { Int($0) }); return g.values.map { $0.reduce(0, +) * Double($0.count) }.reduce(0, +)"#,
    r#"let k = Int(x); let t = x - withoutDerivative(at: Double(k)); return tbl[k] * (1 - t) + tbl[k + 1] * t"#,
    r#"let v = [3 * x, x, 2 * x]; return v.indices.sorted { v[$0] < v[$1] }.enumerated().map { Double($0.offset) * v[$0.element] }.reduce(0, +)"#,
    r#"let v = [3 * x, x, 2 * x]; var rank = [0, 0, 0]; for (k, i) in v.indices.sorted(by: { v[$0] < v[$1] }).enumerated() { rank[i] = k }; return zip(rank, v).map { Double($0) * $1 }.reduce(0, +)"#,
    r#"var seen: Set<Int> = []; var s = 0.0; for y in [x, x, x + 1] where seen.insert(Int(y)).inserted { s += y }; return s"#,
    r#"enum St { case lo, hi }; let st: St = Int(x) > 1 ? .hi : .lo; switch st { case .lo: return x; case .hi: return 3 * x }"#,
    r#"var n = 0; for y in [x, 2 * x] { if y > 3 { n += 1 } }; return Double(n) * x"#,
    r#"print([Int(x), 2], "\([x])".isEmpty); return x"#,
    r#"precondition(Int(x) < 10, "bad \(x)"); return x * x"#,
    r#"var n = 0; var y = x; while abs(y) > 1e-3 && n < 5 { y = y / 2; n += 1 }; return y * Double(n)"#,
    r#"let flags = [x > 1, x > 2]; return Double(flags.filter { $0 }.count) * x"#,
    r#"var c: [Int: Int] = [:]; for y in [x, x] { c[Int(y), default: 0] += 1 }; return Double(c[2]!) * x"#,
    r#"let a = [5, 4, 3, 2, 1, 0]; return Double(a[Int(x)]) * x"#,
    r#"var n = 0; for _ in 0..<Int(x) { n += 1 }; return Double(n) * x"#,
    r#"var d: [Int: Double] = [:]; for y in [x, x + 1] { d[Int(y), default: 0] += y }; return d[2]! + d[3]!"#,
    r#"let d = [Key(k: 2): x]; return d[Key(k: Int(x))]!"#,
    r#"return h(x, 3)"#,
    r#"return chosen(x, toInt[0](x))"#,
    r#"var s = 0.0; for i in (0..<Int(x)).reversed() { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for i in (0...Int(x)).reversed() { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for (k, i) in (0..<toInt[0](x)).reversed().enumerated() { s += x * Double(i + k) }; return s"#,
    r#"var s = 0.0; for (j, i) in zip(0..<Int(x), (0..<Int(x)).reversed()) { s += x * Double(i + j) }; return s"#,
    r#"return x * (0..<Int(x)).reversed().map { Double($0) }.reduce(0, +)"#,
    r#"var s = 0.0; for i in Array((0..<Int(x)).reversed()) { s += x * Double(i) }; return s"#,
    r#"let r = (0..<toInt[0](x)).reversed(); var s = 0.0; for i in r { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for i in Array(repeating: 1.0, count: Int(x)).indices.reversed() { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for i in stride(from: 0, to: Int(x), by: 1).reversed() { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for i in stride(from: 0, through: toInt[0](x), by: 1) { s += x * Double(i) }; return s"#,
    r#"var s = 0.0; for (k, i) in (0..<toInt[0](x)).enumerated() { s += x * Double(i + k) }; return s"#,
    r#"var s = 0.0; for i in (0..<toInt[0](x)).indices { s += x * Double(i) }; return s"#,
    r#"let f = [chosen]; return f[0](x, toInt[0](x))"#,
    r#"let f = [h]; return f[0](x, 3)"#,
    r#"return hs(x, [3], "2")"#,
    r#"return hs(x, [3, toInt[0](x)].filter { $0 == 3 }.map { _ in 3 }, "2")"#,
    r#"return h(x, withoutDerivative(at: toInt[0](x)))"#,
    r#"return Mode(rawValue: Int(x)) == .b ? x : 2 * x"#,
    r#"var m = Model(w: 2); m.note(x); return m.w * x * Double(m.steps.count)"#,
    r#"return [x: 2.0][x]! * x"#,
    r#"let n = Int(x); let a = Array(repeating: x, count: n); return a.reduce(0, +) * Double(a.count)"#,
    r#"var y = x; var k = 0; while k < 10 && abs(y * y - x) > 1e-9 { y = (y + x / y) / 2; k += 1 }; return y"#,
    r#"let k = Int(x); let v = [1.0, 2, 4, 8]; return v[k] + (v[k + 1] - v[k]) * (x - withoutDerivative(at: Double(k)))"#,
    r#"var best = [0.0, 0, 0]; var from = [0, 0, 0]; for k in 1..<3 { for j in 0..<k { let c = best[j] + x * Double(k - j); if c > best[k] { best[k] = c; from[k] = j } } }; return best[2] + Double(from[2]) * x"#,
    r#"var h = [3, 1, 2]; h.sort(); var t = 0.0; for k in h { t += Double(k) * x }; return t * table0[Int(x)]"#,
    r#"let n = checkpoint { Int(x * 10) }; return Double([1, 2, 3].count) * x + tbl[n % 3] * x"#,
    r#"var n = 0; checkpoint { var y = x * 2; while y > 1 { y = y / 2; n += 1 } }; return Double(n) * x"#,
    r#"let (n, y) = checkpoint { (Int(x * 10), 2 * x) }; return n > 3 ? y : x"#,
    r#"let n = checkpoint { withoutDerivative(at: Int(x * 10)) }; return Double(n) * x"#,
    r#"let y = checkpoint { var s = 0.0; for i in 0..<Int(x * 2) { s += Double(i) * x }; return s }; return y * x"#,
    r#"let (n, y) = checkpoint { (3, 2 * x + tbl[Int(x)]) }; return Double(n) * y"#,
    r#"var l = 0.0; for i in 0...Int(x) { l = Double(i) }; return l * x"#,
    r#"let a = Array(0...Int(x)); return Double(a[1]) * x"#,
    r#"return tbl[Int.random(in: 0...Int(x))] * x"#,
    r#"return tbl[(0...Int(x)).max()!] * x"#,
    r#"return Double([5, 7].randomElement()!) * x"#,
];

/// Differentiated closures for which the compiler cannot decide whether a tangent is lost.
const UNCERTAIN: &[&str] = &[
    "print(gradient(at: 2.5) { x in elementOf([Int(x), 3], 1) * x })",
    "print(gradient(at: 2.5) { x in read([\"\\(x)\", \"3\"], 1) * x })",
    "print(gradient(at: 2.5) { x in (0..<Int(x)).map { Double($0) * x }.reduce(0, +) })",
    "print(gradient(at: 2.5) { x in numberOf(3) * x + table[Int(x)] })",
];

/// Derivatives of a function in `known`, which is not analyzed before the program runs.
const WAYS: &[&str] = &[
    "print(derivative(at: 2.5) { x in known[0](x) })",
    "print(pullback(at: 2.5) { x in known[0](x) }(1))",
    "print(differential(at: 2.5) { x in known[0](x) }(1))",
    "print(valueWithGradient(at: 2.5) { x in known[0](x) })",
    "print(derivative(at: 2.5) { y in gradient(at: y) { x in known[0](x) * y } })",
    "print(gradient(at: 2.5) { y in derivative(at: y) { x in known[0](x) * y } })",
    "print(gradient(at: 2.5) { y in derivative(at: 1) { z in known[0](y) * z } })",
    "print(gradient(at: 2.5) { x in checkpoint { known[0](x) } })",
    "print(jacobian(at: [2.5]) { v in [known[0](v[0])] })",
    "print(taylor(of: { x in known[0](x) }, at: 2.5, order: 2).coefficients)",
];

fn session() -> Session {
    let timeout = Some(std::time::Duration::from_secs(60));
    Session::new(Options { timeout, ..Options::default() }, Box::new(Sink::default()))
}

fn program(body: &str, line: &str) -> String {
    format!("{BEFORE}func f(_ x: Double) -> Double {{ {body} }}\nlet known: [(Double) -> Double] = [f]\n{line}\n")
}

fn run(text: &str) -> Outcome {
    session().run(&[Input { name: "program", text }])
}

fn run_compiled(text: &str) -> Outcome {
    match session().build(&[Input { name: "program", text }]) {
        Ok((bytes, _)) => session().run_compiled("program.dsc", &bytes),
        Err(outcome) => outcome,
    }
}

/// Returns `Ok` if the program was stopped with a diagnostic about its derivative, otherwise a description of its end.
fn refusal(outcome: &Outcome) -> Result<(), String> {
    match outcome.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        Some(error) if error.message.contains("differentia") => Ok(()),
        Some(error) => Err(error.message.clone()),
        None => Err("there is a derivative".into()),
    }
}

/// Checks the gradient of each body, and for some bodies one of the other operators; returns the failures.
fn wrong(bodies: &[&str], check: fn(&Outcome) -> Result<(), String>) -> Vec<String> {
    let gradient = "print(gradient(at: 2.5) { x in known[0](x) })";
    let mut wrong = vec![];
    for (k, body) in bodies.iter().enumerate() {
        let way = (k % 2 == 0).then_some(WAYS[k / 2 % WAYS.len()]);
        for line in [gradient].into_iter().chain(way) {
            if let Err(why) = check(&run(&program(body, line))) {
                wrong.push(format!("{body}\n    {line}: {why}"));
            }
        }
    }
    wrong
}

#[test]
fn lost_tangents_are_reported() {
    let wrong = wrong(BROKEN, refusal);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn selections_have_derivatives() {
    let is_done = |outcome: &Outcome| match outcome.status {
        Status::Done => Ok(()),
        _ => Err(format!("{:?}", outcome.diagnostics)),
    };
    let wrong = wrong(WHOLE, is_done);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn uncertain_losses_are_not_rejected() {
    let before = "func elementOf(_ a: [Int], _ k: Int) -> Double { Double(a[k]) }
        func numberOf(_ n: Int) -> Double { Double(n) }
        func read(_ a: [String], _ k: Int) -> Double { Double(a[k])! }
        let table = [10.0, 20, 30]\n";
    for line in UNCERTAIN {
        let outcome = run(&format!("{before}{line}"));
        assert_eq!(outcome.status, Status::Done, "{line}\n{:?}", outcome.diagnostics);
    }
}

#[test]
fn closures_at_the_call_are_rejected() {
    let mut wrong = vec![];
    for body in BROKEN.iter().step_by(3) {
        let line = format!("print(gradient(at: 2.5) {{ (x: Double) -> Double in {body} }})");
        if let Err(why) = refusal(&run(&program("x", &line))) {
            wrong.push(format!("{body}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn compiled_programs_report_lost_tangents() {
    let mut wrong = vec![];
    for body in BROKEN.iter().step_by(5) {
        if let Err(why) = refusal(&run_compiled(&program(body, WAYS[0]))) {
            wrong.push(format!("{body}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_of_earlier_inputs_are_analyzed() {
    let options = Options { interactive: true, ..Options::default() };
    let mut session = Session::new(options, Box::new(Sink::default()));
    let mut enter = |text: &str| session.enter("text", text);
    let before = "func g(_ n: Int, _ x: Double) -> Double { Double(n) * x }
        let h = [g]
        print(gradient(at: 2.0) { x in h[0](3, x) })";
    assert_eq!(enter(before).status, Status::Done);
    assert_eq!(enter("print(gradient(at: 2.0) { x in h[0](Int(x), 1) })").status, Status::Failed);
}
