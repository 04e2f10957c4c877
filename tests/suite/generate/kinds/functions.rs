//! Templates for functions, differentials and pullbacks that are stored and called later.

use super::Kind;

pub const FUNCTION: Kind = Kind {
    prefix: "function",
    makes: &[
        "var $ = adder(#1)",
        "var $ = counter(#1)",
        "var $ = { (@1: Double) -> Double in sin(@1) * #1 }",
        "var $: (Double) -> Double = ?1 ? adder(#1) : tanh",
    ],
    changes: &[
        "$ = adder(#1)",
        "$ = composed($, adder(#1))",
        "$ = composed(counter(#1), $)",
        "$ = ?1 ? $ : counter(#1)",
        "checkpoint { $ = composed($, counter(#1)) }",
        "checkpoint { _ = $(#1) }",
    ],
    reads: &["$(#1)", "apply(#1, $)", "[0.5, #1].map($).reduce(0.0, +)", "Holder(body: $, scale: #1)(0.5)"],
    opens: &[],
    kept: "$(0.5)",
};

pub const RECURSION: Kind = Kind {
    prefix: "recursion",
    makes: &[
        "var $: (Double, Int) -> Double = { t, _ in t }\n$ = { [@1 = #1] t, n in n <= 0 ? t : sin($(0.5 * t, n - 1) + @1) }",
        "var $ = fixed { [@1 = #1] again, t, n in n <= 0 ? @1 * t : tanh(again(t + 0.25, n - 1)) }",
        "func @1(_ t: Double, _ n: Int) -> Double { n <= 0 ? t : sin(@2(t * 0.5, n - 1)) }\nfunc @2(_ t: Double, _ n: Int) -> Double { n <= 0 ? 0.5 : @1(t + 0.25, n - 1) * t }\nvar $: (Double, Int) -> Double = @1",
    ],
    changes: &[
        "let @1 = $\n$ = { t, n in n <= 0 ? t : tanh(@1(t, n - 1)) + 0.25 }",
        "$ = fixed { [@1 = #1] again, t, n in n <= 0 ? t : @1 + sin(again(t, n - 1)) }",
        "let @1 = $, @2 = #1\n$ = { t, n in @1(sin(t + @2), n) }",
    ],
    reads: &["$(#1, 2)", "$(#1, 0)", "($(#1, 1) * $(0.5, 3))", "gradient(at: #1, in: { t in $(t, 2) })"],
    opens: &[],
    kept: "$(0.5, 2)",
};

pub const SHARED: Kind = Kind {
    prefix: "shared",
    makes: &[
        "let @1 = Cell(#1)\nlet $ = [{ (t: Double) -> Double in\n    @1.bump(t)\n    return @1.value\n}, { (t: Double) -> Double in @1.read(t) }]",
        "var @1 = #1, @2 = [#2, 0.5]\nlet $ = [{ (t: Double) -> Double in\n    @1 = sin(@1 + t)\n    return @1\n}, { (t: Double) -> Double in\n    @2[0] = tanh(@2[0] + t)\n    @2.swapAt(0, 1)\n    return @1 + @2[0]\n}]",
        "var @1 = Pair(a: #1, b: #2)\nlet $ = [{ (t: Double) -> Double in\n    tug(&@1, t)\n    return @1.a\n}, { (t: Double) -> Double in\n    @1.b *= t\n    return @1.mix(t)\n}]",
    ],
    changes: &[
        "_ = $[0](#1)",
        "_ = $[1](#1)",
        "for @1 in $ { _ = @1(#1) }",
        "checkpoint { _ = $[0](#1) }",
        "let @1 = $[0]\n_ = @1($[1](#1))",
    ],
    reads: &["$[0](#1)", "$[1](#1)", "$.reduce(#1) { s, g in sin(g(s)) }", "composed($[0], $[1])(#1)"],
    opens: &[],
    kept: "($[0](0.5) + $[1](0.25))",
};

pub static PULLBACK: Kind = Kind {
    prefix: "pullback",
    makes: &[
        "var $: (Double) -> Double = pullback(at: #1, in: { t in sin(t) * #2 })",
        "var $: (Double) -> Double = differential(at: #1, in: { t in t * bell(t + #2) })",
        "let (@1, @2) = valueWithPullback(at: #1, in: { t in tanh(t * t + #2) })\nvar $: (Double) -> Double = { t in @2(t) * @1 }",
        "var $: (Double) -> Double = transpose(of: differential(at: #1, in: { t in soft(t) * t }))",
    ],
    changes: &[
        "$ = pullback(at: #1, in: { t in bell(t) })",
        "let @1 = $\n$ = { t in @1(@1(t)) }",
        "$ = differential(at: #1, in: { t in t * sin(t) })",
        "let @1 = $, @2 = pullback(at: #1, in: { t in @1(t) * t })\n$ = { t in @2(t) + @1(0.5) }",
        "let @2 = $, @1 = differential(at: #1, in: { t in @2(t) * t })\n$ = { t in @1(t) }",
    ],
    reads: &[
        "$(#1)",
        "($(#1) + $(0.5) * $(#1))",
        "derivative(at: #1, in: { t in $(t * t) })",
        "gradient(at: #1, in: { t in $(sin(t)) * t })",
        "pullback(at: #1, in: { t in $(t) })(0.75)",
        "[$, $].map({ g in g(#1) }).reduce(0.0, +)",
    ],
    opens: &[],
    kept: "$(0.5)",
};

pub const SWEEP: Kind = Kind {
    prefix: "sweep",
    makes: &[
        "let $ = pullback(at: #1, #2, in: { p, q in p * sin(q) + q })",
        "let (_, $) = valueWithPullback(at: #1, #2, in: { p, q in blend(p, q, p) })",
        "let @1 = Pair(a: #1, b: #2), @2 = pullback(at: @1, in: { p in p.mix(0.5) * p.a })\nlet $ = { (t: Double) -> (Double, Double) in (@2(t).a, @2(t).b) }",
        "let @1 = pullback(at: [#1, #2], in: { v in v[0] * sin(v[1]) + v.reduce(0.0, +) })\nlet $ = { (t: Double) -> (Double, Double) in (@1(t)[0], @1(t)[1]) }",
        "let @1 = Cell(#1)\nlet @2 = pullback(at: #2, 0.5, in: { p, q in\n    @1.bump(p)\n    return @1.read(q)\n})\nlet $ = { (t: Double) -> (Double, Double) in @2(t) }",
    ],
    changes: &["_ = $(#1)"],
    reads: &[
        "$(#1).0",
        "$(#1).1",
        "($(#1).0 * $(0.5).1)",
        "derivative(at: #1, in: { t in $(t).0 * $(t * t).1 })",
        "gradient(at: #1, in: { t in $(sin(t)).1 + t })",
    ],
    opens: &[],
    kept: "($(0.5).0 + $(0.25).1)",
};
