//! Tests of the parser: statements, patterns and conditional compilation.

use super::*;

#[test]
fn control_flow() {
    all(&[
        ("if a { b } else if c, d { e } else { f }", "(if a (then b) (else (if (all c d) (then e) (else (block f)))))"),
        ("if let x = f(y), var z, x > 0 { }", "(if (all (let x (call f y)) (var var:z) (> x 0)) (then))"),
        ("if let x: Int = y { }", "(if (let x : Int y) (then))"),
        ("if x == y { }", "(if (== x y) (then))"),
        ("if f { } \n-x", "(if f (then)) (prefix- x)"),
        ("if xs.contains(where: { $0 > 1 }) { }", "(if (call (. xs contains) (where: (closure (> $0 1)))) (then))"),
        ("while x { break }", "(while x (do (break)))"),
        ("outer: while true { continue outer }", "(outer: while true (do (continue outer)))"),
        ("repeat { } while x < 5\nf { }", "(repeat (do) (< x 5)) (call f (trailing (closure)))"),
        ("for i in 0..<3 where i > 1 { }", "(for i (..< 0 3) (where (> i 1)) (do))"),
        ("for (i, x) in xs.enumerated() { }", "(for (tuple i x) (call (. xs enumerated)) (do))"),
        ("for _ in xs { }", "(for _ xs (do))"),
        ("for case let x? in xs { }", "(for (some x) xs (do))"),
        ("for x: Int in xs { }", "(for (: x Int) xs (do))"),
        ("guard let x = y else { return }", "(guard (let x y) (else (return)))"),
        ("defer { f() }", "(defer (call f))"),
        ("throw E.a", "(throw (. E a))"),
        (
            "do { } catch let e as E where e.x { } catch { f(error) }",
            "(do (catch (as e E) (where (. e x)) (do)) (catch (do (call f error))))",
        ),
        ("do { x } catch E.a(let x) { }", "(do x (catch (E.a x) (do)))"),
        ("return\nlet x = 1", "(return) (let x (= 1))"),
        ("{ return\n  x + 1 }", "(closure (return (+ x 1)))"),
        ("return if a { 1 } else { 2 }", "(return (if a (then 1) (else (block 2))))"),
        ("a; b ;; c", "a b c"),
        ("let v = if a { 1 } else { 2 }", "(let v (= (if a (then 1) (else (block 2)))))"),
        ("out: if a { break out }", "(out: (if a (then (break out))))"),
    ]);
}

#[test]
fn patterns() {
    all(&[
        (
            "switch t { case let .a(x, _) where x > 0, .b: 1; default: 2 }",
            "(switch t (case (where (.a x _) (> x 0)) .b (do 1)) (default (do 2)))",
        ),
        (
            "switch t {\ncase is Int:\n f()\n fallthrough\ncase let z as Int: 2\n}",
            "(switch t (case (is Int) (do (call f) fallthrough)) (case (as z Int) (do 2)))",
        ),
        (
            "switch t { case 1...3, ..<0, \"a\": break }",
            "(switch t (case (~= (... 1 3)) (~= (prefix..< 0)) (~= \"a\") (do (break))))",
        ),
        (
            "switch t { case (let a, 0): a\n case (_, var b?): b }",
            "(switch t (case (tuple a (~= 0)) (do a)) (case (tuple _ (some var:b)) (do b)))",
        ),
        ("switch t { case .node(.leaf(let x), label: _): x }", "(switch t (case (.node (.leaf x) (label: _)) (do x)))"),
        (
            "switch t { case Tree<Int>.leaf(let x): x\n case Tree.none: 1 }",
            "(switch t (case (Tree<Int>.leaf x) (do x)) (case (~= (. Tree none)) (do 1)))",
        ),
        ("if case .a(let x) = f(), case let y? = z { }", "(if (all (case (.a x) (call f)) (case (some y) z)) (then))"),
        ("if case 0..<10 = x { }", "(if (case (~= (..< 0 10)) x) (then))"),
        ("let x = switch a { case 1: 2\n default: 3 }", "(let x (= (switch a (case (~= 1) (do 2)) (default (do 3)))))"),
        ("let (a, (b, _)) = t", "(let (tuple a (tuple b _)) (= t))"),
    ]);
}

#[test]
fn conditional_compilation() {
    all(&[
        ("#if canImport(Darwin)\nimport Darwin }\n#else\nimport Glibc\n#endif\nx", "(import Glibc) x"),
        ("#if DEBUG\n#if os(Linux)\na\n#endif\nb\n#elseif os(Linux)\nc\n#else\nd\n#endif", "c"),
        ("#if swift(>=5.9) && !false\na\n#endif", "a"),
        ("#!/usr/bin/env dscript\nx // {\n/* a /* b */ } */ y", "x y"),
    ]);
}
