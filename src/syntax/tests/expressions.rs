//! Tests of the parser: expressions.

use super::*;

#[test]
fn operators_bind_as_in_swift() {
    all(&[
        ("1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)"),
        ("a ?? b ?? c", "(?? a (?? b c))"),
        ("a && b || c && !d", "(|| (&& a b) (&& c (prefix! d)))"),
        ("a ? b : c ? d : e", "(?: a b (?: c d e))"),
        ("x = y = z", "(= x (= y z))"),
        ("x += a ? 1 : 2", "(+= x (?: a 1 2))"),
        ("0..<n + 1", "(..< 0 (+ n 1))"),
        ("a == b ? c : d", "(?: (== a b) c d)"),
        ("a as? B ?? c", "(?? (as? a B) c)"),
        ("a + b as C == d", "(== (as (+ a b) C) d)"),
        ("a is B && c", "(&& (is a B) c)"),
        ("xs[1...]", "(at xs (postfix... 1))"),
        ("xs[..<n, ...m]", "(at xs (prefix..< n) (prefix... m))"),
        ("x = try a() + b()", "(= x (try (+ (call a) (call b))))"),
        ("try? f() ?? 1", "(try? (?? (call f) 1))"),
        ("try! f(&x)", "(try! (call f (& x)))"),
        ("a\n  + b\n  .c", "(+ a (. b c))"),
        ("a\n-b", "a (prefix- b)"),
        ("a!=b", "(!= a b)"),
        ("a! + b!", "(+ (force a) (force b))"),
        ("f(+, -)", "(call f (operator +) (operator -))"),
        ("a<b", "(< a b)"),
        ("f(a < b, c > d)", "(call f (< a b) (> c d))"),
        ("-x.y", "(prefix- (. x y))"),
        ("~a & b", "(& (prefix~ a) b)"),
    ]);
}

#[test]
fn power_and_products() {
    all(&[
        ("-x^2", "(prefix- (^ x 2))"),
        ("2^-1", "(^ 2 (prefix- 1))"),
        ("2^3^2", "(^ 2 (^ 3 2))"),
        ("2^-x^2 * 3", "(* (^ 2 (prefix- (^ x 2))) 3)"),
        ("-x^2 + -y^2", "(+ (prefix- (^ x 2)) (prefix- (^ y 2)))"),
        ("a * b^2 / c", "(/ (* a (^ b 2)) c)"),
        ("-x²", "(prefix- (^ x 2))"),
        ("x² + y³", "(+ (^ x 2) (^ y 3))"),
        ("x ** 2", "(^ x 2)"),
        ("a · b × c", "(* (* a b) c)"),
        ("a ≤ b", "(<= a b)"),
        ("a≠b", "(!= a b)"),
        ("a ≈ b", "(≈ a b)"),
        ("√x + ∛y", "(+ (prefix√ x) (prefix∛ y))"),
        ("√(x² + y²)", "(prefix√ (paren (+ (^ x 2) (^ y 2))))"),
        ("2x + 3(x + 1)", "(+ (juxtaposed 2 x) (juxtaposed 3 (paren (+ x 1))))"),
        ("2π", "(juxtaposed 2 π)"),
        ("2x²", "(juxtaposed 2 (^ x 2))"),
        ("2x^2", "(juxtaposed 2 (^ x 2))"),
        ("2x * 3y", "(juxtaposed (* (juxtaposed 2 x) 3) y)"),
        ("-2x", "(juxtaposed (prefix- 2) x)"),
        ("2f(x)", "(juxtaposed 2 (call f x))"),
        ("2√x", "(juxtaposed 2 (prefix√ x))"),
        ("2√(x + 1)", "(juxtaposed 2 (prefix√ (paren (+ x 1))))"),
        ("2e3 + 2e + 0x1F", "(+ (+ 2000.0 (juxtaposed 2 e)) 31)"),
        ("2.5x", "(juxtaposed 2.5 x)"),
        ("$0(x) + t.0(x)", "(+ (call $0 x) (call (. t 0) x))"),
        ("2.squareRoot()", "(call (. 2 squareRoot))"),
        ("a*-b", "(* a (prefix- b))"),
        ("f ∘ g", "(∘ f g)"),
        ("∞ + τ", "(+ ∞ τ)"),
    ]);
}

#[test]
fn calculus() {
    all(&[
        ("f'(x)", "(call (prime1 f) x)"),
        ("f'' (0) + g′(1) + h″(2)", "(+ (+ (call (prime2 f) 0) (call (prime1 g) 1)) (call (prime2 h) 2))"),
        ("∇f(1, 2)", "(call (nabla f) 1 2)"),
        ("∇f", "(nabla f)"),
        ("∇m.loss(x)", "(call (nabla (. m loss)) x)"),
        ("∇(f)(1)", "(call (nabla (paren f)) 1)"),
        ("∂(f, x)(1, 2)", "(call (partial f x) 1 2)"),
        ("-∇f(1)", "(prefix- (call (nabla f) 1))"),
        ("f(x) = x", "(formula f (params _ x) x)"),
        ("g(x: [Double], y) = x + y", "(formula g (params _ x:[Double] _ y) (+ x y))"),
        ("f(x)[0] = 1", "(= (at (call f x) 0) 1)"),
        ("h(u: (Double) -> Double) = u(1)", "(formula h (params _ u:(Double) -> Double) (call u 1))"),
        ("k() = 3", "(formula k (params) 3)"),
        ("#gradient(of: cube, wrt: .0)(5, s)", "(call (#gradient (of: cube) (wrt: .0)) 5 s)"),
        ("gradient(at: x, in: f)", "(call gradient (at: x) (in: f))"),
        (
            "f(for: 1, where: 2, default: 3, repeat: 4, in: *)",
            "(call f (for: 1) (where: 2) (default: 3) (repeat: 4) (in: (operator *)))",
        ),
    ]);
}

#[test]
fn generic_arguments() {
    all(&[
        ("Array<Double>.TangentVector([1])", "(call (. Array<Double> TangentVector) (array 1))"),
        ("Foo<Int>()", "(call Foo<Int>)"),
        ("A<B<C>, [D: E?]>(x)", "(call A<B<C>, [D: E?]> x)"),
        ("SIMD4<Float>.zero", "(. SIMD4<Float> zero)"),
        ("f(a<b, c>(d))", "(call f (call a<b, c> d))"),
        ("f(a<b, c>d)", "(call f (< a b) (> c d))"),
        ("a<b>\nc", "a<b> c"),
        ("P<(A) -> B>.self", "(. P<(A) -> B> self)"),
        ("i<n && j>m", "(&& (< i n) (> j m))"),
    ]);
}

#[test]
fn literals() {
    all(&[
        ("[1_000, 0xFF, 0b101, 0o17, 1.5, 1e-5, 0x1.8p1]", "(array 1000 255 5 15 1.5 1e-5 3.0)"),
        ("x.0.1", "(. (. x 0) 1)"),
        ("1.0.rounded()", "(call (. 1.0 rounded))"),
        ("[:]", "(dictionary)"),
        ("[a: 1, b ? c : d: 2,]", "(dictionary (: a 1) (: (?: b c d) 2))"),
        ("[1, 2,]", "(array 1 2)"),
        ("()", "(tuple)"),
        ("(a: 1, 2)", "(tuple (a: 1) 2)"),
        ("(_, x) = t", "(= (tuple _ x) t)"),
        ("[Int]()", "(call (array Int))"),
        ("[Int?]()", "(call (type [Int?]))"),
        ("[String: [Double]]()", "(call (dictionary (: String (array Double))))"),
        ("((Int) -> Int).self", "(. (paren (type (Int) -> Int)) self)"),
        ("(any P).self", "(. (paren (type any P)) self)"),
        ("foo(_:y:)", "foo(_:y:)"),
        ("`class` + $0", "(+ class $0)"),
        ("nil ?? true", "(?? nil true)"),
    ]);
}

#[test]
fn names_are_swifts() {
    all(&[("𝛁loss + ŷ + θ₁ + Δt + 🐶", "(+ (+ (+ (+ 𝛁loss ŷ) θ₁) Δt) 🐶)"), ("y\u{302}", "ŷ"), ("x·y", "(* x y)")]);
    assert_ne!(tree("𝛁f"), tree("∇f"));
}

#[test]
fn strings() {
    all(&[
        (r#""""#, r#""""#),
        (r#""a\n\t\"\\\u{3b1}\0\'""#, r#""a\n\t\"\\α\0'""#),
        (r#""x = \(x + f("y\(z)")) end""#, r#"(string "x = " (\ (+ x (call f (string "y" (\ z))))) " end")"#),
        (r###"#"a\n"\#(x)"#"###, r###"(string "a\\n\"" (\ x))"###),
        ("\"\"\"\n    a\n      b \\\n    c\n\n    \"\"\"", "\"a\\n b c\\n\""),
        ("\"\"\"\n  \\(x)\n  \"\"\"", "(string (\\ x))"),
        ("\"\"\"\n  \"\"\"", "\"\""),
        (r#""\(x, specifier: "%d")""#, r#"(string (\ x (specifier: "%d")))"#),
        ("\"// no comment /*\"", "\"// no comment /*\""),
    ]);
}

#[test]
fn closures() {
    all(&[
        ("{ x in x }", "(closure (params x) x)"),
        ("{ x, y -> Int in x }", "(closure (params x y) (-> Int) x)"),
        ("{ (x: Double, y) throws -> Int in x }", "(closure (params x:Double y) throws (-> Int) x)"),
        ("{ () -> Int in 1 }", "(closure (params) (-> Int) 1)"),
        ("{ [weak self, k = f { 1 }] in k }", "(closure (captures (self weak) (k (call f (trailing (closure 1))))) k)"),
        ("{ $0 + $1 }", "(closure (+ $0 $1))"),
        ("{ (d: inout Double) in d = 1 }", "(closure (params d:inout Double) (= d 1))"),
        ("{ _ in 42 }", "(closure (params _) 42)"),
        ("{ }", "(closure)"),
        ("{ (a, b) }", "(closure (tuple a b))"),
        ("f { $0 }", "(call f (trailing (closure $0)))"),
        ("f(1) { $0 } second: { $1 }", "(call f 1 (trailing (closure $0)) (trailing (second: (closure $1))))"),
        (
            "a.map { x in x }.filter { $0 }",
            "(call (. (call (. a map) (trailing (closure (params x) x))) filter) (trailing (closure $0)))",
        ),
        ("f(1)\n{ }", "(call f 1) (closure)"),
        ("f\n(1)", "f (paren 1)"),
        ("f\n[1]", "f (array 1)"),
    ]);
}

#[test]
fn chains_and_key_paths() {
    all(&[
        ("a?.b?[0]!.c", "(. (force (at (chain (. (chain a) b)) 0)) c)"),
        ("\\.a.b", "(keypath .a .b)"),
        ("\\Model.a[0]?.b!", "(keypath Model .a (at 0) ? .b !)"),
        ("\\.[0].self", "(keypath (at 0) .self)"),
        ("\\Array<Int>.count", "(keypath Array<Int> .count)"),
        (".some(x)", "(call .some x)"),
        ("super.init(x)", "(call (. super init) x)"),
        ("x.init(1).default.Type", "(. (. (call (. x init) 1) default) Type)"),
        ("x as! [Int?]", "(as! x [Int?])"),
        ("x is (A & B)?", "(is x (A & B)?)"),
        ("x as any P", "(as x any P)"),
    ]);
}
