//! Templates for instances of classes, which several names share.

use super::Kind;

pub const CELL: Kind = Kind {
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
};

pub const DIAL: Kind = Kind {
    prefix: "dial",
    makes: &["let $ = Dial()", "let $: Dial = ?1 ? Dial() : FineDial()", "let $ = FineDial()"],
    changes: &[
        "$.level = #1",
        "$.turns = #1",
        "$.turns += #1",
        "$.turn(#1)",
        "nudge(&$.turns, #1)",
        "nudgeTwice(&$.level, #1)",
        "let @1 = $\n@1.turn(#1)",
        "if let @1 = $ as? FineDial { @1.trace *= #1 }",
        "checkpoint { $.turn(#1) }",
        "defer { $.turn(#1) }",
    ],
    reads: &["($.level * #1)", "$.turns", "(($ as? FineDial)?.trace ?? #1)"],
    opens: &[["if let @2 = $ as? FineDial {\n    let @1 = @2.trace", "} else {", "}"]],
    kept: "($.level + $.turns + (($ as? FineDial)?.trace ?? 0.25))",
};

pub const LINK: Kind = Kind {
    prefix: "link",
    makes: &["let $: Link? = Link(#1, Link(#2, nil))", "var $: Link? = ?1 ? Link(#1, nil) : nil"],
    changes: &[
        "$?.next?.value = #1",
        "$?.value += #1",
        "$?.next?.next?.value *= #1",
        "$?.next = Link(#1, $?.next)",
        "$?.next?.next = nil",
        "$?.bag = Bag(items: [#1], pair: Pair(a: #2, b: 0.5))",
        "let @3 = #1\n$?.bag?.items[0] += @3",
        "let @3 = #1\n$?.bag?.pair.push(@3)",
        "let @3 = #1\n$?.bag?.last = @3",
        "$?.next?.bag = $?.bag",
        "if let @1 = $?.next { nudgeTwice(&@1.value, #1) }",
        "let @3 = #1\n$?.bag?.watched += @3",
        "var @1 = $, @3 = #1\nwhile let @2 = @1 {\n    @2.value = sin(@2.value + @3)\n    @3 *= 0.5\n    @1 = @2.next\n}",
        "checkpoint { $?.next?.value *= #1 }",
    ],
    reads: &[
        "($?.next?.value ?? #1)",
        "($?.bag?.pair.mix(#1) ?? 0.5)",
        "($?.read(#1) ?? 0.25)",
        "($?[#1] ?? 0.5)",
        "($?.next?.next?.bag?.total ?? #1)",
    ],
    opens: &[["if let @1 = $?.next?.value {", "} else {", "}"], ["if let @1 = $?.bag?.items.first {", "} else {", "}"]],
    kept: "(($?.read(0.5) ?? 0.25) + ($?.bag?.total ?? 0.5) + ($?.next?.bag?.last ?? 0.5))",
};

pub const POOL: Kind = Kind {
    prefix: "pool",
    makes: &["var $ = pool(#1, #2)"],
    changes: &[
        "$.first.bump(#1)",
        "$.all[0].value = #1",
        "$.all[1].bump(#1)",
        "var @1 = $\n@1.first.bump(#1)\n@1.second = Cell(#2)",
        "$.second = Cell(#1)",
        "$.all.swapAt(0, 1)",
        "$.first.next = $.all[1]",
        "if $.first === $.second { $.second.value *= #1 }",
        "$.all.sort { p, q in p.value < q.value }",
        "for @1 in $.all { @1.bump(#1) }",
        "_ = $.bump(#1)",
        "$.all.append($.second)",
        "checkpoint { $.all[1].bump(#1) }",
        "nudgeTwice(&$.second.value, #1)",
        "swap(&$.first, &$.second)",
        "let @1 = [\"k\": $.first]\n@1[\"k\"]?.bump(#1)",
        "let @1: Cell? = $.second\n@1?.value += #1",
        "if let @1 = $.all.first(where: { c in c is Twice }) { @1.bump(#1) }",
    ],
    reads: &[
        "$.bump(#1)",
        "($.second.value * #1)",
        "$.all.reduce(#1) { s, c in s + c.value }",
        "$.all.map({ c in c.read(#1) }).reduce(0.5, +)",
        "$.all.sorted(by: { p, q in p.value < q.value })[0].read(#1)",
    ],
    opens: &[["if $.first === $.second {\n    let @1 = $.first.value", "} else {", "}"]],
    kept: "($.all.reduce(0.0) { s, c in s + c.read(0.5) } + $.first.value + $.second.value)",
};
