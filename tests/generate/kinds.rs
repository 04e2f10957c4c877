//! The kinds of values that programs keep beside numbers: how each is made, changed, read and opened, as templates.
//!
//! `$` is the name of the value, `#1` and `#2` are numbers, `?1` is a condition, `@1` to `@3` are fresh names. What a
//! change puts into a function must not be evaluated when the function is called: it could call itself.

/// One kind.
#[derive(Debug)]
pub struct Kind {
    /// What its names begin with.
    pub prefix: &'static str,
    /// Declarations.
    pub makes: &'static [&'static str],
    /// Statements that change it.
    pub changes: &'static [&'static str],
    /// Numbers that are read from it, with one number.
    pub reads: &'static [&'static str],
    /// Blocks that bind parts of it: the heads of two blocks, and what ends the second one.
    pub opens: &'static [[&'static str; 3]],
    /// A number that all of it goes into.
    pub kept: &'static str,
}

pub const KINDS: &[Kind] = &[
    Kind {
        prefix: "figure",
        makes: &[
            "var $: Figure = ?1 ? .line(#1) : .box(#1, Pair(a: #2, b: 0.5))",
            "var $ = Figure.box(#1, Pair(a: 0.5, b: #2))",
            "var $: Figure = .both(.line(#1), .both(.dot, .line(#2)))",
            "var $: Figure = .dot",
        ],
        changes: &[
            "$ = .line(#1)",
            "$.grow(#1)",
            "checkpoint { $.grow(#1) }",
            "$ = ?1 ? $ : .box(#2, Pair(a: #1, b: #2))",
            "if case .line(let @1) = $ { $ = .box(@1, Pair(a: #1, b: @1)) }",
            "if case .box(let @1, var @2) = $ {\n    @2.push(#1)\n    $ = .box(@1 * 0.5, @2)\n}",
        ],
        reads: &["$.size(#1)", "pick($.size(0.5) < #1, $, Figure.line(#1)).size(0.75)"],
        opens: &[
            ["if case .line(let @1) = $ {", "} else {", "}"],
            ["if case .box(let @1, _) = $, @1 < 0.30078125 {", "} else {", "}"],
            ["switch $ {\ncase .line(let @1), .box(let @1, _):", "case .dot, .both:", "}"],
            ["switch $ {\ncase Figure.box(_, let @2):\n    let @1 = @2.mix(0.5)", "default:", "}"],
        ],
        kept: "$.size(0.5)",
    },
    Kind {
        prefix: "table",
        makes: &["var $ = [\"a\": #1, \"b\": #2]", "var $: [String: Double] = [:]"],
        changes: &[
            "$[\"a\"] = #1",
            "checkpoint {\n    $[\"a\"]? *= #1\n    $[\"d\"] = #2\n}",
            "$[\"b\", default: #1] += #2",
            "$[\"c\"] = ?1 ? #1 : nil",
            "$[\"a\"]? += #1",
            "if $[\"b\"] != nil { $[\"b\"]! *= #1 }",
            "$.removeValue(forKey: \"b\")",
            "if let @1 = $[\"a\"] { $[\"c\"] = @1 * #1 }",
            "var @2 = 0.5\nfor (@3, @1) in $ { @2 = sin(@2 + @1 * Double(@3.count)) }\n$[\"d\"] = @2",
            "let @1 = $\n$[\"a\"] = #1\n$[\"b\"] = @1[\"a\"]",
        ],
        reads: &[
            "($[\"a\"] ?? #1)",
            "$[\"b\", default: #1]",
            "$.values.reduce(#1, +)",
            "$.mapValues({ t in t * 0.5 }).values.reduce(#1, +)",
        ],
        opens: &[["if let @1 = $[\"a\"] {", "} else {", "}"], ["if let @1 = $[\"b\"], $.count > 1 {", "} else {", "}"]],
        kept: "$.values.reduce(0.0, +)",
    },
    Kind {
        prefix: "maybe",
        makes: &["var $: Double? = ?1 ? #1 : nil", "var $: Double? = nil", "var $ = Optional(#1)"],
        changes: &[
            "$ = #1",
            "$ = nil",
            "$ = $.map { @1 in sin(@1 + 0.5) }",
            "if $ != nil { $! += #1 }",
            "$? *= #1",
            "switch $ {\ncase let @1?: $ = sin(@1) * #1\ncase nil: $ = #2\n}",
        ],
        reads: &["($ ?? #1)", "($ != nil ? $! * 0.5 : #1)", "($.map({ t in t * t }) ?? #1)"],
        opens: &[
            ["if let @1 = $ {", "} else {", "}"],
            ["if let @1 = $, @1 < 0.30078125 {", "} else {", "}"],
            ["switch $ {\ncase let @1?:", "case nil:", "}"],
        ],
        kept: "($ ?? 0.25)",
    },
    Kind {
        prefix: "cell",
        makes: &["let $ = Cell(#1)", "let $: Cell = ?1 ? Cell(#1) : Twice(#2)", "let $ = Twice(#1)"],
        changes: &[
            "$.value = #1",
            "$.value += #1",
            "$.bump(#1)",
            "nudge(&$.value, #1)",
            "$.next = Cell(#1)",
            "$.next?.bump(#1)",
            "checkpoint {\n    $.bump(#1)\n    $.next = Twice(#2 * $.value)\n}",
            "let @1 = $\n@1.bump(#1)",
            "if let @1 = $.next { @1.value = #1 * $.value }",
            "if let @1 = $ as? Twice { @1.hidden = #1 }",
        ],
        reads: &["$.read(#1)", "($.value * #1)", "($.next?.read(#1) ?? 0.5)"],
        opens: &[["if let @2 = $.next {\n    let @1 = @2.value", "} else {", "}"]],
        kept: "($.read(0.5) + ($.next?.value ?? 0.25))",
    },
    Kind {
        prefix: "tuple",
        makes: &["var $ = both(#1, #2)", "var $ = (#1, #2)"],
        changes: &[
            "$.0 = #1",
            "$.1 += #1",
            "$ = ($.1, $.0)",
            "($.0, $.1) = (#1, $.0)",
            "nudge(&$.1, #1)",
            "$ = both($.0, #1)",
            "swap(&$.0, &$.1)",
        ],
        reads: &["($.0 * #1)", "$.1", "both($.0, #1).1"],
        opens: &[
            ["do {\n    let (@1, _) = $", "}\nif ?1 {", "}"],
            ["switch $ {\ncase (let @1, 0.30078125...):", "case (_, _):", "}"],
        ],
        kept: "($.0 + $.1)",
    },
    Kind {
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
    },
    Kind {
        prefix: "measured",
        makes: &["var $: any Measured = Ball(radius: #1)", "var $: any Measured = Pair(a: #1, b: #2)"],
        changes: &[
            "$ = Ball(radius: #1)",
            "if ?1 { $ = Pair(a: #1, b: #2) }",
            "if var @1 = $ as? Ball {\n    @1.radius += #1\n    $ = @1\n}",
        ],
        reads: &["$.measure(#1)", "$.twice(#1)", "($.base * #1)", "measured($, #1)"],
        opens: &[["if let @2 = $ as? Pair {\n    let @1 = @2.a", "} else {", "}"]],
        kept: "($.measure(0.5) + $.base)",
    },
    Kind {
        prefix: "bag",
        makes: &["var $ = Bag(items: [#1, 0.5], pair: Pair(a: #2, b: #1))"],
        changes: &[
            "$.items[0] = #1",
            "$.items.append(#1)",
            "checkpoint { $.items.append(#1) }",
            "$.pair.push(#1)",
            "$[1] += #1",
            "$.last = #1",
            "$.last += #1",
            "$.watched = #1",
            "$.watched += #1",
            "nudge(&$[1], #1)",
            "nudge(&$.last, #1)",
            "nudge(&$.pair.a, #1)",
            "nudge(&$.items[0], #1)",
            "nudge(&$.watched, #1)",
            "var @1 = $\n@1.last = #1\n$.items[0] = @1.total",
        ],
        reads: &["$[2]", "($.last * #1)", "$.pair.mix(#1)", "$.total"],
        opens: &[["do {\n    let @1 = $.watched", "}\nif ?1 {", "}"]],
        kept: "$.total",
    },
    Kind {
        prefix: "rows",
        makes: &["var $ = [[#1, 0.5], [#2]]"],
        changes: &[
            "$[0][1] = #1",
            "$[1].append(#1)",
            "$[0].swapAt(0, 1)",
            "nudge(&$[0][0], #1)",
            "$.append([#1, #2])",
            "$ = $.map { @1 in @1.map { @2 in sin(@2) } }",
            "for @1 in $.indices { $[@1][0] += #1 }",
        ],
        reads: &[
            "($[1][0] * #1)",
            "$.map({ row in row.reduce(0.0, +) }).reduce(#1, +)",
            "zip($[0], $[1]).map({ p, q in p * q }).reduce(#1, +)",
        ],
        opens: &[["if let @1 = $[1].last {", "} else {", "}"]],
        kept: "$.map { row in row.reduce(0.0, +) }.reduce(0.0, +)",
    },
];

/// Statements that change a variable that holds a number.
pub const VARIABLE: &[&str] = &[
    "func @1(_ @2: Double) { $ = sin($ + @2 * 0.5) }\n@1(#1)\n@1(#2)",
    "do {\n    defer { $ = tanh($) }\n    $ += #1\n}",
    "do { $ = try attempt(?1, #1) } catch Refusal.refused(let @1) { $ = sin(@1 + $) } catch { $ = 0.25 }",
    "$ += (try? attempt(?1, #1)) ?? #2",
    "for @1 in \"ab\" { $ = sin($ + (@1 == \"a\" ? #1 : #2)) }",
    "nudge(&$, #1)",
    "$ = if ?1 { #1 } else { #2 * $ }",
    "($, _) = both(#1, #2)",
    "$ *= #1",
    "$ -= #1",
    "checkpoint { $ = sin($ + #1) }",
    "checkpoint for @1 in 0..<4 {\n    if @1 == 2 { continue }\n    $ = tanh($ + #1 * Double(@1))\n}",
    "$ = checkpoint {\n    nudge(&$, #1)\n    return checkpoint { $ * 0.5 }\n}",
    "@1: for @2 in 0..<2 {\n    for @3 in 0..<2 {\n        if @2 + @3 > 1 { break @1 }\n        $ = sin($ + #1)\n    }\n}",
    "switch ($ < #1, ?1) {\ncase (true, _): $ = sin($ + #2)\ncase (_, true): $ = #2\ndefault: break\n}",
];
