//! Templates for values of enums, optionals, tuples and structs.

use super::Kind;

pub const FIGURE: Kind = Kind {
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
};

pub const MAYBE: Kind = Kind {
    prefix: "maybe",
    makes: &["var $: Double? = ?1 ? #1 : nil", "var $: Double? = nil", "var $ = Optional(#1)"],
    changes: &[
        "$ = #1",
        "$ = nil",
        "$ = $.map { @1 in sin(@1 + 0.5) }",
        "let @1 = #1\nif $ != nil { $! += @1 }",
        "let @3 = #1\n$? *= @3",
        "switch $ {\ncase let @1?: $ = sin(@1) * #1\ncase nil: $ = #2\n}",
    ],
    reads: &["($ ?? #1)", "($ != nil ? $! * 0.5 : #1)", "($.map({ t in t * t }) ?? #1)"],
    opens: &[
        ["if let @1 = $ {", "} else {", "}"],
        ["if let @1 = $, @1 < 0.30078125 {", "} else {", "}"],
        ["switch $ {\ncase let @1?:", "case nil:", "}"],
    ],
    kept: "($ ?? 0.25)",
};

pub const TUPLE: Kind = Kind {
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
};

pub const BAG: Kind = Kind {
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
};

pub const SHAPE: Kind = Kind {
    prefix: "shape",
    makes: &[
        "var $: Shape = ?1 ? .disc(#1) : .slab(#1, #2)",
        "var $ = Shape.bent(Pair(a: #1, b: #2), 0.25)",
        "var $: Shape = .flat",
        "var $ = Shape.disc(#1)",
    ],
    changes: &[
        "$ = .disc(#1)",
        "$.widen(#1)",
        "$ = $.turned(#1)",
        "if case .slab(let @1, let @2) = $ { $ = .slab(@2 * #1, @1) }",
        "switch $ {\ncase .disc(let @1) where @1 < 0.2021484375: $ = .slab(@1, #1)\ncase .bent(var @2, let @3):\n    @2.push(#1)\n    $ = .bent(@2, sin(@3))\ndefault: $ = .disc(#2)\n}",
        "$ = pick(?1, $, .slab(#1, #2))",
    ],
    reads: &["$.area(#1)", "$.turned(#1).area(0.5)", "($.rim ?? #1)"],
    opens: &[
        ["if case .disc(let @1) = $ {", "} else {", "}"],
        ["if let @1 = $.rim, @1 < 0.3056640625 {", "} else {", "}"],
        ["switch $ {\ncase .disc(let @1), .slab(_, let @1):", "case .bent, .flat:", "}"],
        ["do {\n    guard case .slab(let @1, _) = $ else { throw Trouble.plain }", "} catch {", "}"],
    ],
    kept: "$.area(0.5)",
};

pub const NESTED: Kind = Kind {
    prefix: "nested",
    makes: &[
        "var $: Bag? = ?1 ? Bag(items: [#1, 0.5], pair: Pair(a: #2, b: 0.25)) : nil",
        "var $: Bag? = Bag(items: [#1], pair: Pair(a: 0.5, b: #2))",
    ],
    changes: &[
        "let @3 = #1\n$?.pair.push(@3)",
        "let @3 = #1\n$?.items[0] += @3",
        "let @3 = #1\n$?.last = @3",
        "let @3 = #1\n$?[1] *= @3",
        "let @3 = #1\n$?.watched += @3",
        "let @1 = #1\nif $ != nil { nudgeTwice(&$!.pair.b, @1) }",
        "let @1 = #1\nif $ != nil { tug(&$!.pair, @1) }",
        "if var @1 = $ {\n    @1.items.append(#1)\n    @1.last = #2\n    $ = @1\n}",
        "$ = ?1 ? $ : Bag(items: [#1], pair: Pair(a: #2, b: #1))",
        "let @3 = #1\n$?.items.append(@3)",
        "$ = $.map { @1 in Bag(items: [@1.total], pair: @1.pair) }",
    ],
    reads: &[
        "($?.pair.mix(#1) ?? 0.5)",
        "($?.items.first ?? #1)",
        "($?.last ?? #1)",
        "($?[1] ?? #1)",
        "($.flatMap({ b in b.items.last }) ?? #1)",
    ],
    opens: &[
        ["if let @1 = $?.pair.a {", "} else {", "}"],
        ["if let @1 = $?.items.last, @1 < 0.2548828125 {", "} else {", "}"],
    ],
    kept: "($?.total ?? 0.25)",
};

pub const GAUGE: Kind = Kind {
    prefix: "gauge",
    makes: &["var $ = Gauge(level: #1)", "var $ = Gauge(level: #1, shown: #2)"],
    changes: &[
        "$.level = #1",
        "$.level += #1",
        "$.shown = #1",
        "$.shown *= #1",
        "$.raise(#1)",
        "nudgeTwice(&$.level, #1)",
        "nudge(&$.shown, #1)",
        "$.late += #1",
        "nudge(&$.late, #1)",
        "var @1 = $\n@1.raise(#1)\n$.level = @1.shown",
        "nudgeTwice(&$.shadow, #1)",
        "checkpoint { $.raise(#1) }",
    ],
    reads: &["$.level", "($.shown * #1)", "$.damping(#1)", "($.shadow - #1)"],
    opens: &[["do {\n    let @1 = $.damping(0.5)", "}\nif ?1 {", "}"]],
    kept: "$.total",
};

pub const TREE: Kind = Kind {
    prefix: "tree",
    makes: &[
        "var $ = Tree.node(.leaf(#1), 0.5, .leaf(#2))",
        "var $: Tree<Double> = ?1 ? .leaf(#1) : .node(.leaf(0.5), #2, .node(.leaf(#1), 0.25, .leaf(0.75)))",
    ],
    changes: &[
        "$ = .node($, #1, .leaf(#2))",
        "$ = $.map { @1 in sin(@1 + 0.5) }",
        "$ = pick(?1, $, .leaf(#1))",
        "if case .node(let @1, let @2, _) = $ { $ = .node(@1, @2 * #1, @1) }",
        "if case .node(_, let @1, .leaf(let @2)) = $ { $ = .leaf(@1 * @2 + #1) }",
    ],
    reads: &[
        "$.fold { t in sin(t) }",
        "$.map({ t in Pair(a: t, b: 0.5) }).fold { p in p.mix(0.25) }",
        "($.fold { t in t * t } * #1)",
    ],
    opens: &[
        ["if case .node(_, let @1, _) = $ {", "} else {", "}"],
        ["switch $ {\ncase .leaf(let @1):", "case .node:", "}"],
    ],
    kept: "$.fold { t in tanh(t) }",
};

pub const BOX: Kind = Kind {
    prefix: "box",
    makes: &[
        "var $ = Box(content: Pair(a: #1, b: #2), weight: 0.5)",
        "var $ = Box(content: #1, weight: #2).map { t in Pair(a: t, b: 0.5) }",
    ],
    changes: &[
        "$.content.push(#1)",
        "$.weight = #1",
        "$.update { p in\n    p.push(0.25)\n    return p.a\n}",
        "tug(&$.content, #1)",
        "nudgeTwice(&$.content.a, #1)",
        "$ = $.map { p in Pair(a: p.b, b: sin(p.a)) }",
        "exchange(&$.weight, &$.content.b, #1)",
        "(nudge)(&$.weight, #1)",
    ],
    reads: &["$.content.mix(#1)", "$.map({ p in p.sum }).content", "($.weight * #1)", "$.content[keyPath: \\.a]"],
    opens: &[["do {\n    let @1 = $.content.b", "}\nif ?1 {", "}"]],
    kept: "($.content.mix(0.5) + $.weight)",
};
