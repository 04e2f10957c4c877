//! Statements: random programs of loops, branches, calls, closures, arrays, strings, dictionaries and instances, which
//! the bytes of an input determine.

use dscript::session::{CompileMode, Input, Options, Session, Status};
use std::fmt::Write;

use crate::sink::Sink;

/// The number of statements in a block, and how deeply blocks are nested.
const STATEMENTS: usize = 5;
const DEPTH: usize = 3;

/// The choices that determine a program.
struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
    /// Whether the statements are inside of a loop.
    in_loop: bool,
}

impl Choices<'_> {
    /// Returns a number below `count`.
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % count
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// Returns an expression of the type `Int`, of the given variables and functions of two integers.
    fn integer(&mut self, depth: usize, names: &[&str], functions: &[&str]) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self.one_of(names).to_string();
        }
        let kind = self.below(8);
        let mut operand = || self.integer(depth - 1, names, functions);
        let (a, b) = (operand(), operand());
        match kind {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b} % 1009)"),
            3 => format!("({a} / ({b} | 1))"),
            4 => format!("({a} % ({b} & 7 + 1))"),
            5 => format!("({a} < {b} ? {a} : {b} & 63)"),
            6 if !functions.is_empty() => {
                let function = self.one_of(functions);
                format!("{function}({a}, {b})")
            }
            6 => format!("min({a}, {b})"),
            _ => format!("({a} ^ {b} & 255)"),
        }
    }

    /// Returns an expression of the type `Double`.
    fn number(&mut self, depth: usize, names: &[&str], integers: &[&str], functions: &[&str]) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self.one_of(names).to_string();
        }
        let kind = self.below(7);
        let a = self.number(depth - 1, names, integers, functions);
        if kind == 5 {
            let n = self.integer(depth - 1, integers, &[]);
            let function = if functions.is_empty() { "pow" } else { self.one_of(functions) };
            return if function == "pow" { format!("{a} * Double({n})") } else { format!("{function}({a}, {n})") };
        }
        let b = self.number(depth - 1, names, integers, functions);
        match kind {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b} * 0.25)"),
            3 => format!("({a} / ({b} * {b} + 1))"),
            4 => format!("sin({a})"),
            _ => format!("({a} < {b} ? {a} : -{b})"),
        }
    }

    fn condition(&mut self) -> String {
        let (names, comparisons) = (["a", "b", "n", "2"], ["<", "==", ">=", "!="]);
        match self.below(4) {
            0 => format!("x {} y", self.one_of(&["<", ">", "<=", ">="])),
            1 => format!("s.count {} 2 && !t.isEmpty", self.one_of(&comparisons)),
            2 => format!("d[s] != nil || {} {} 3", self.one_of(&names), self.one_of(&comparisons)),
            _ => format!("{} % 7 {} {}", self.one_of(&names), self.one_of(&comparisons), self.one_of(&names)),
        }
    }

    /// Adds the statements of a block.
    fn block(&mut self, out: &mut String, depth: usize, indent: usize) {
        for _ in 0..=self.below(STATEMENTS) {
            self.statement(out, depth, indent);
        }
    }

    fn statement(&mut self, out: &mut String, depth: usize, indent: usize) {
        let integers =
            if self.in_loop { &["a", "b", "n", "i", "3", "ns.count"][..] } else { &["a", "b", "n", "1"][..] };
        let i = self.integer(2, integers, &["f", "g"]);
        let x = self.number(2, &["x", "y", "1.5", "r.u"], integers, &["scaled"]);
        let kind = self.below(if depth == 0 { 20 } else { 24 });
        let line = match kind {
            0 => format!("a = {i}"),
            1 => format!("b = {i} % 1009"),
            2 => format!("x = {x}"),
            3 => format!("y -= {x}"),
            4 => format!("xs[abs({i}) % xs.count] = {x}"),
            5 => format!("x += xs[{i} & 3]"),
            6 => format!("ns[{i} & 3] += 1"),
            7 => format!("if xs.count < 12 {{ xs.append({x}) }}"),
            8 => "t += s".to_string(),
            9 => format!("s = \"k\\({i} & 7)\""),
            10 => format!("d[s, default: 0] += {i} & 3"),
            11 => format!("e[{i} & 3] = {x}"),
            12 => format!("if let v = e[{i} & 3] {{ x += v }}"),
            13 => format!("o[\"o\\({i} & 1)\"] = Noted({i} & 7)"),
            14 => format!("p[{i} & 1].u += {x}; r.v = p[0].u"),
            15 => format!("a = h({i} & 1023)"),
            16 => format!("x = k({x})"),
            17 => "for c in s { if c.isNumber { t.append(c) } else { b += 1 } }".to_owned(),
            18 => format!("a += ns[{i} & 3] + repeated(a & 7, b & 15)"),
            19 if self.in_loop => format!("if {} {{ {} }}", self.condition(), self.one_of(&["break", "continue"])),
            19 => format!("y = differential(at: x, of: {{ z in z * y }})(2) + {x}"),
            20 | 21 => {
                let range = self.one_of(&["0..<n", "0...a & 3", "1..<4", "stride(from: n, to: 0, by: -2)"]);
                let _ = writeln!(out, "{:indent$}for i in {range} {{", "");
                let outer = std::mem::replace(&mut self.in_loop, true);
                self.block(out, depth - 1, indent + 4);
                self.in_loop = outer;
                format!("    ns[0] += i\n{:indent$}}}", "")
            }
            _ => {
                let _ = writeln!(out, "{:indent$}if {} {{", "", self.condition());
                self.block(out, depth - 1, indent + 4);
                let _ = writeln!(out, "{:indent$}}} else {{", "");
                self.block(out, depth - 1, indent + 4);
                "}".to_string()
            }
        };
        let _ = writeln!(out, "{:indent$}{line}", "");
    }

    /// Returns the body of a function of two values.
    fn body(&mut self, value: String, other: &str) -> String {
        match self.below(3) {
            0 => format!("{{ if a < 3 {{ return {other} }}; return {value} }}"),
            1 => format!("{{ var t = a; if t > 9 {{ t = 2 }}; return {value} }}"),
            _ => format!("{{ {value} }}"),
        }
    }
}

/// Returns the program that bytes determine.
pub fn program(bytes: &[u8]) -> String {
    let mut choices = Choices { bytes: bytes.iter(), in_loop: false };
    let value = choices.integer(2, &["a", "b", "2"], &[]);
    let f = choices.body(value, "b");
    let value = choices.integer(2, &["a", "b", "5"], &["f"]);
    let g = choices.body(value, "f(b, 1)");
    let value = choices.integer(2, &["a", "b"], &["g"]);
    let repeated = match choices.below(3) {
        0 => format!("{{ if a < 1 {{ return b }}; return repeated(a - 1, {value}) & 511 }}"),
        1 => format!("{{ if a > 0 {{ return repeated(a - 1, b) + repeated(a - 2, {value} & 63) }}; return b }}"),
        _ => "{ a <= 0 ? b : 1 + repeated(a - 1, b) }".to_string(),
    };
    let scaled = choices.number(2, &["x", "0.5"], &["n"], &[]);
    let h = choices.integer(2, &["m", "base", "4"], &["f"]);
    let k = choices.number(2, &["z", "shift"], &["base"], &["scaled"]);
    let mut statements = String::new();
    choices.block(&mut statements, DEPTH, 4);
    format!(
        "struct Pair {{ var u = 1.5, v = 2.0 }}\nvar ended = 0\nclass Noted {{\n    let n: Int\n    init(_ n: Int) {{ \
         self.n = n }}\n    deinit {{ ended += n }}\n}}\nfunc f(_ a: Int, _ b: Int) -> Int {f}\nfunc g(_ a: Int, _ b: \
         Int) -> Int {g}\nfunc repeated(_ a: Int, _ b: Int) -> Int {repeated}\nfunc scaled(_ x: Double, _ n: Int) -> Double {{ {scaled} }}\nfunc work(_ n: Int, _ start: \
         Int) -> String {{\n    var a = start, b = 3, x = 0.5, y = -1.25, s = \"k1\", t = \"\"\n    var xs = [0.5, 1, \
         1.5, 2], ns = [1, 2, 3, 4], p = [Pair(), Pair()], r = Pair()\n    var d: [String: Int] = [:], e: [Int: Double] \
         = [:], o: [String: Noted] = [:]\n    let base = start, shift = 0.125 * Double(start)\n    let h: (Int) -> Int = \
         {{ m in {h} }}\n    let k: (Double) -> Double = {{ z in {k} }}\n{statements}    return \"\\(a) \\(b) \\(x) \
         \\(y) \\(s) \\(t.count) \\(xs) \\(ns) \\(p) \\(r) \\(d.count) \\(e.count) \\(o.count) \\(h(2)) \
         \\(k(0.5))\"\n}}\nfor i in 0..<6 {{ _ = work(3, i) }}\nprint(work(5, 1))\nprint(work(9, 2), ended)\n"
    )
}

/// Runs a program in a mode; returns its output, its status and its diagnostics.
pub fn run(text: &str, compiled: CompileMode, options: Options) -> (String, Status, String) {
    let sink = Sink::default();
    let mut session = Session::new(Options { compiled, ..options }, Box::new(sink.clone()));
    let outcome = session.run(&[Input { name: "program", text }]);
    drop(session);
    let output = String::from_utf8_lossy(&sink.0.borrow()).into_owned();
    (output, outcome.status, format!("{:?}", outcome.diagnostics))
}
