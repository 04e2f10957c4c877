//! Templates for values of protocol types: existentials, and types with witnesses.

use super::Kind;

pub const MEASURED: Kind = Kind {
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
};

pub const CROWD: Kind = Kind {
    prefix: "crowd",
    makes: &[
        "var $: [any Measured] = [Ball(radius: #1), Pair(a: #2, b: 0.5)]",
        "var $: [any Measured] = [hidden(#1), hidden(#2)]",
    ],
    changes: &[
        "$.append(Ball(radius: #1))",
        "$[0] = hidden(#1)",
        "$[1] = Pair(a: #1, b: #2)",
        "$.sort { m, n in m.base < n.base }",
        "$.swapAt(0, 1)",
        "$.reverse()",
        "if var @1 = $[0] as? Pair {\n    @1.push(#1)\n    $[0] = @1\n}",
        "$ = $.map { m in Ball(radius: measured(m, 0.5)) }",
        "checkpoint { $[1] = Ball(radius: #1) }",
    ],
    reads: &[
        "$.map({ m in m.measure(#1) }).reduce(0.0, +)",
        "$.reduce(into: #1) { s, m in s = sin(s + m.twice(0.5)) }",
        "seen($[0], #1)",
        "measured($[1], #1)",
    ],
    opens: &[
        ["if let @2 = $[0] as? Ball {\n    let @1 = @2.radius", "} else {", "}"],
        ["switch $[1] {\ncase let @2 as Pair:\n    let @1 = @2.b", "default:", "}"],
    ],
    kept: "$.reduce(0.0) { s, m in s + m.measure(0.5) }",
};

pub const WHEEL: Kind = Kind {
    prefix: "wheel",
    makes: &["var $ = Wheel.make(#1)", "var $ = Wheel(hub: Ball(radius: #1), angle: #2)"],
    changes: &[
        "$.turn(#1)",
        "$ = $.turned(#1)",
        "roll(&$, #1)",
        "$[2] = #1",
        "$[1] += #1",
        "nudgeTwice(&$[1], #1)",
        "$.hub.radius *= #1",
        "$ = pick(?1, $, Wheel.make(#1))",
    ],
    reads: &["rolled($, #1)", "$.load(#1)", "$.turned(#1).angle", "($[2] * #1)", "sum([$.hub, Ball(radius: #1)], 0.5)"],
    opens: &[],
    kept: "$.load(0.5)",
};

pub const GEAR: Kind = Kind {
    prefix: "gear",
    makes: &[
        "var $ = Gear<Pair>.make(#1)",
        "var $ = Gear(hub: Pair(a: #1, b: #2), teeth: [#1, 0.5])",
        "var $ = Gear<Ball>(hub: Ball(radius: #1), teeth: [0.5, #2])",
    ],
    changes: &[
        "$.turn(#1)",
        "$ = $.turned(#1)",
        "roll(&$, #1)",
        "$.teeth[1] = #1",
        "$[0] += #1",
        "nudgeTwice(&$[1], #1)",
        "checkpoint { $.turn(#1) }",
    ],
    reads: &["rolled($, #1)", "$.load(#1)", "seen($.hub, #1)", "($[0] * #1)"],
    opens: &[],
    kept: "$.load(0.5)",
};

pub const TURNING: Kind = Kind {
    prefix: "turning",
    makes: &[
        "var $: any Turning = Wheel(hub: Ball(radius: #1), angle: #2)",
        "var $: any Turning = ?1 ? Top(#1) : Wheel.make(#2)",
    ],
    changes: &[
        "$.turn(#1)",
        "$.angle += #1",
        "nudge(&$.angle, #1)",
        "var @1 = $\n@1.turn(#1)",
        "$ = Top(#1)",
        "var @1: [any Turning] = [$, Top(#1), $]\nturnAll(&@1, #2)\n$ = @1[0]",
        "if let @1 = $ as? Top { @1.angle *= #1 }",
        "checkpoint { $.turn(#1) }",
    ],
    reads: &["($.angle * #1)", "[$, Top(#1)].map({ t in t.angle }).reduce(0.5, +)"],
    opens: &[["if let @2 = $ as? Wheel {\n    let @1 = @2.hub.radius", "} else {", "}"]],
    kept: "$.angle",
};
