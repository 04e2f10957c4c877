//! Tests of the parser: declarations and attributes.

use super::*;

#[test]
fn variables() {
    all(&[
        ("let a = 1, b: Int", "(let (binding a (= 1)) (binding b :Int))"),
        ("var a, b: Double", "(var (binding var:a :Double) (binding var:b :Double))"),
        ("var x: Int { 1 }", "(var var:x :Int (get 1))"),
        ("var x: Int { get { 1 } set(v) { y = v } }", "(var var:x :Int (get 1) (set v (= y v)))"),
        (
            "var x: Int { @differentiable get { 1 } nonmutating set { } }",
            "(var var:x :Int (@differentiable get 1) (nonmutating set))",
        ),
        ("var x = 1 { didSet { f() } }", "(var var:x (= 1) (didSet (call f)))"),
        ("var x = f() { willSet(n) { } didSet { } }", "(var var:x (= (call f)) (willSet n) (didSet))"),
        ("let f = g { $0 }", "(let f (= (call g (trailing (closure $0)))))"),
        (
            "let f: @differentiable(linear) (Float, @noDerivative Int) -> Float = g",
            "(let f :@differentiable(linear) (Float, @noDerivative Int) -> Float (= g))",
        ),
        ("let g: (inout A, B...) throws -> () -> C? = h", "(let g :(inout A, B...) throws -> () -> C? (= h))"),
        ("let x: Foo<Bar<Int>>=y", "(let x :Foo<Bar<Int>> (= y))"),
        (
            "let x: any P & Q, y: [A: B]!, z: A.B<C>.Type",
            "(let (binding x :any P & Q) (binding y :[A: B]!) (binding z :A.B<C>.Type))",
        ),
    ]);
}

#[test]
fn functions() {
    all(&[
        ("func f(x, y) { x }", "(func f (params x y) (do x))"),
        ("func f(_ x: Int = 1, at y: inout T, in z: T...) -> Int", "(func f (params (_ x:Int 1) at y:inout T in z:T...) (-> Int))"),
        ("func f<T: P & Q, U>(_: T) throws -> some P where T.A == U, U: P { }", "(func f (generics T:P & Q U (where T.A == U U: P)) (params _ _:T) throws (-> some P) (do))"),
        ("static func == <T>(a: T, b: T) -> Bool { a.x == b.x }", "(static func == (generics T) (params a:T b:T) (-> Bool) (do (== (. a x) (. b x))))"),
        ("func ==<T>(a: T) { }", "(func == (generics T) (params a:T) (do))"),
        ("func < (a: T) { }", "(func < (params a:T) (do))"),
        ("prefix func -(x: T) -> T { x }", "(prefix func - (params x:T) (-> T) (do x))"),
        ("prefix func √(x: T) -> T { x }", "(prefix func √ (params x:T) (-> T) (do x))"),
        ("func ·(a: T, b: T) -> T { a }", "(func * (params a:T b:T) (-> T) (do a))"),
        ("func _(x: T) {}", "(func _ (params x:T) (do))"),
        ("func f(_ g: @escaping @differentiable (T) -> S, @noDerivative k: Int) -> @differentiable (T) -> R { }", "(func f (params _ g:@escaping @differentiable (T) -> S k:@noDerivative Int) (-> @differentiable (T) -> R) (do))"),
        ("/// Doc\n/// more\n@inlinable public func f() {}", "(@inlinable public func f (documentation \"Doc\\nmore\") (params) (do))"),
    ]
    .map(|(text, expected)| (text, expected)));
}

#[test]
fn types() {
    all(&[
        (
            "struct S<T: P>: @memberwise Differentiable, Q where T: R { var a: Int; let b = 1 }",
            "(struct S (generics T:P (where T: R)) (: @memberwise Differentiable Q) (var var:a :Int) (let b (= 1)))",
        ),
        (
            "indirect enum E<V>: Int { case leaf(V), node(E, x: V), none = 1 }",
            "(indirect enum E (generics V) (: Int) (case (leaf V) (node E x:V) (none (= 1))))",
        ),
        ("enum E { indirect case a(E); case b }", "(enum E (indirect case (a E)) (case b))"),
        (
            "final class C: D { override init() { super.init() }\n deinit { }\n class func f() {} }",
            "(final class C (: D) (override init (params) (do (call (. super init)))) (deinit (do)) (class func f (params) (do)))",
        ),
        (
            "protocol P: Q where A: B { associatedtype A: C = D where A.X == Y\n var x: Int { get set }\n func f(_ x: A) -> Self\n init?(x: Int)\n subscript(i: Int) -> A { get } }",
            "(protocol P (: Q) (where A: B) (associatedtype A :C (= D) (where A.X == Y)) (var var:x :Int (get) (set)) (func f (params _ x:A) (-> Self)) (init ? (params x:Int)) (subscript (params _ i:Int) (-> A) (get)))",
        ),
        (
            "extension Array: P where Element == Double { static let x = 1 }",
            "(extension Array (: P) (where Element == Double) (static let x (= 1)))",
        ),
        ("typealias F<T> = (T) -> T where T: P", "(typealias F (generics T (where T: P)) (T) -> T)"),
        (
            "struct S { subscript(i: Int, at j: Int) -> T { get { 1 } set { } } }",
            "(struct S (subscript (params _ i:Int at j:Int) (-> T) (get 1) (set)))",
        ),
        (
            "struct S { lazy var x = 1; private(set) var y = 2; weak var z: C? }",
            "(struct S (lazy var var:x (= 1)) (private(set) var var:y (= 2)) (weak var var:z :C?))",
        ),
        ("struct S { subscript(i: Int) -> Int { i } }", "(struct S (subscript (params _ i:Int) (-> Int) (get i)))"),
    ]);
}

#[test]
fn attributes() {
    all(&[
        (
            "@differentiable(reverse, wrt: (self, x) where T: P, T == T.TangentVector) func f() {}",
            "(@differentiable(reverse, wrt: (self, x) where T: P, T == T.TangentVector) func f (params) (do))",
        ),
        ("@differentiable(linear where T: P) func f() {}", "(@differentiable(linear where T: P) func f (params) (do))"),
        ("@differentiable(where T: P) func f() {}", "(@differentiable(where T: P) func f (params) (do))"),
        (
            "@differentiable(wrt: x where T: P) func f() {}",
            "(@differentiable(wrt: (x) where T: P) func f (params) (do))",
        ),
        (
            "@derivative(of: foo(_:y:), wrt: (0, 2)) func _() {}",
            "(@derivative(of: foo(_:y:), wrt: (0, 2)) func _ (params) (do))",
        ),
        (
            "@derivative(of: Tensor<T>.init(x:)) func _() {}",
            "(@derivative(of: Tensor<T>.init(x:)) func _ (params) (do))",
        ),
        ("@derivative(of: subscript.get) func _() {}", "(@derivative(of: subscript.get) func _ (params) (do))"),
        ("@transpose(of: Float.+, wrt: 0) func _() {}", "(@transpose(of: Float.+, wrt: (0)) func _ (params) (do))"),
        ("@transpose(of: *, wrt: self) func _() {}", "(@transpose(of: *, wrt: (self)) func _ (params) (do))"),
        (
            "@differentiable(reverse, withRespectTo: (self, .0), adjoint: dTanh) func f() {}",
            "(@differentiable(reverse, wrt: (self, 0), adjoint: dTanh) func f (params) (do))",
        ),
        (
            "@primitive(\"sin\") func sin(_ x: Double) -> Double",
            "(@primitive(\"sin\") func sin (params _ x:Double) (-> Double))",
        ),
        ("@slider(-3...3) let a = 1.0", "(@slider(-3...3) let a (= 1.0))"),
    ]);
}

#[test]
fn operators_and_imports() {
    all(&[
        (
            "precedencegroup G { higherThan: AdditionPrecedence\n lowerThan: MultiplicationPrecedence; associativity: left }\ninfix operator <+>: G\na + b <+> c * d <+> e",
            "(precedencegroup G (higherThan AdditionPrecedence) (lowerThan MultiplicationPrecedence) left) (operator infix <+> G) (+ a (<+> (<+> b (* c d)) e))",
        ),
        ("postfix operator %\n50% + 1", "(operator postfix %) (+ (postfix% 50) 1)"),
        ("prefix operator ¬\n¬a", "(operator prefix ¬) (prefix¬ a)"),
        ("import TensorFlow", "(import TensorFlow)"),
        ("import func Glibc.sinf", "(import func Glibc.sinf)"),
        ("import \"file.dscript\"", "(import \"file.dscript\")"),
        (
            "func foo(_ a: Float) -> Float {\n  return a\n  adjoint let seed wrt a { return 3 * seed }\n}",
            "(func foo (params _ a:Float) (-> Float) (do (return a) (adjoint seed (wrt a) (do (return (* 3 seed))))))",
        ),
    ]);
}
