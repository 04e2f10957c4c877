//! Typesetting: the conversion of a formula from text to LaTeX, with fractions, roots and powers as in a textbook.

use crate::native::primitive_table;

/// An expression that is typeset.
#[derive(Clone, PartialEq, Debug)]
enum Node {
    Number(String),
    /// A name, in LaTeX.
    Name(String),
    Negative(Box<Node>),
    /// A sum or a difference.
    Sum(Box<Node>, &'static str, Box<Node>),
    Product(Box<Node>, Box<Node>),
    Quotient(Box<Node>, Box<Node>),
    Power(Box<Node>, Box<Node>),
    Root(Box<Node>),
    /// A call: the function in LaTeX, and the arguments.
    Call(String, Vec<Node>),
    Comparison(Box<Node>, &'static str, Box<Node>),
    /// A selection: the condition, and the values if the condition holds and if it does not hold.
    Choice(Box<[Node; 3]>),
}

/// The deepest nesting of a formula that is typeset.
const MAX_DEPTH: usize = 100;

/// Converts a formula of the language to LaTeX. A text that is not a formula is typeset as plain text.
pub(crate) fn formula(text: &str) -> String {
    let mut reader = Reader { rest: text.trim(), depth: 0 };
    match reader.choice().filter(|_| reader.rest.is_empty()) {
        Some(node) => node.latex(),
        None => format!(r"\text{{{}}}", plain(text)),
    }
}

/// Escapes a text for LaTeX, so that no character is a command.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out += r"\textbackslash{}",
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => out.extend(['\\', c]),
            '^' => out += r"\^{}",
            c => out.push(c),
        }
    }
    out
}

/// The parser of a formula: the text that remains to be parsed. Its functions return `None` for text that is not a
/// formula.
struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// Skips blanks, and then a sign if it is next.
    fn skip(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn nested(&mut self, read: impl FnOnce(&mut Reader<'t>) -> Option<Node>) -> Option<Node> {
        self.depth += 1;
        let node = if self.depth > MAX_DEPTH { None } else { read(self) };
        self.depth -= 1;
        node
    }

    fn choice(&mut self) -> Option<Node> {
        let condition = self.comparison()?;
        if !self.skip("?") {
            return Some(condition);
        }
        let then = self.nested(Reader::choice)?;
        let otherwise = if self.skip(":") { self.nested(Reader::choice)? } else { return None };
        Some(Node::Choice(Box::new([condition, then, otherwise])))
    }

    fn comparison(&mut self) -> Option<Node> {
        const SIGNS: [(&str, &str); 10] = [
            ("<=", r"\le"),
            (">=", r"\ge"),
            ("==", "="),
            ("!=", r"\ne"),
            ("≤", r"\le"),
            ("≥", r"\ge"),
            ("≠", r"\ne"),
            ("<", "<"),
            (">", ">"),
            ("=", "="),
        ];
        let left = self.sum()?;
        match SIGNS.iter().find(|(sign, _)| self.skip(sign)) {
            Some((_, set)) => Some(Node::Comparison(Box::new(left), set, Box::new(self.sum()?))),
            None => Some(left),
        }
    }

    fn sum(&mut self) -> Option<Node> {
        let mut sum = self.product()?;
        loop {
            let sign = if self.skip("+") {
                "+"
            } else if self.skip("-") || self.skip("−") {
                "-"
            } else {
                return Some(sum);
            };
            sum = Node::Sum(Box::new(sum), sign, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<Node> {
        let mut product = self.negation()?;
        loop {
            let is_close = !self.rest.starts_with(char::is_whitespace);
            if self.skip("*") || self.skip("·") {
                product = Node::Product(Box::new(product), Box::new(self.negation()?));
            } else if self.skip("/") {
                product = Node::Quotient(Box::new(product), Box::new(self.negation()?));
            } else if is_close && self.rest.starts_with(|c: char| c == '(' || c == '√' || is_letter(c)) {
                // Two adjacent factors form a product: `2x`.
                product = Node::Product(Box::new(product), Box::new(self.power()?));
            } else {
                return Some(product);
            }
        }
    }

    fn negation(&mut self) -> Option<Node> {
        if self.skip("-") || self.skip("−") {
            let operand = self.nested(Reader::negation)?;
            return Some(Node::Negative(Box::new(operand)));
        }
        self.power()
    }

    fn power(&mut self) -> Option<Node> {
        if self.skip("√") {
            let operand = self.nested(Reader::power)?;
            return Some(Node::Root(Box::new(operand)));
        }
        let base = self.primary()?;
        let digits: String = self.rest.chars().map_while(superscript).collect();
        if !digits.is_empty() {
            self.rest = self.rest.trim_start_matches(|c| superscript(c).is_some());
            return Some(Node::Power(Box::new(base), Box::new(Node::Number(digits))));
        }
        if !self.skip("^") {
            return Some(base);
        }
        let exponent = self.nested(Reader::negation)?;
        Some(Node::Power(Box::new(base), Box::new(exponent)))
    }

    fn primary(&mut self) -> Option<Node> {
        if self.skip("(") {
            let inner = self.nested(Reader::choice)?;
            return self.skip(")").then_some(inner);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Some(Node::Number(self.number()));
        }
        let name = self.name()?;
        if name == "inf" || name == "∞" {
            return Some(Node::Name(r"\infty".into()));
        }
        if !self.rest.starts_with('(') {
            return Some(Node::Name(set_name(&name)));
        }
        self.skip("(");
        let mut arguments = vec![];
        while !self.skip(")") {
            if !arguments.is_empty() && !self.skip(",") {
                return None;
            }
            arguments.push(self.nested(Reader::choice)?);
        }
        Some(call(&name, arguments))
    }

    /// Reads digits with a point and an exponent.
    fn number(&mut self) -> String {
        let is_digit = |c: char| c.is_ascii_digit();
        let mut end = self.rest.find(|c: char| !is_digit(c) && c != '.').unwrap_or(self.rest.len());
        let exponent = &self.rest[end..];
        if let Some(after) = exponent.strip_prefix('e') {
            let digits = after.strip_prefix(['-', '+']).unwrap_or(after);
            let length = digits.find(|c: char| !is_digit(c)).unwrap_or(digits.len());
            if length > 0 {
                end = self.rest.len() - digits.len() + length;
            }
        }
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        match number.split_once('e') {
            Some((digits, exponent)) => format!(r"{digits} \cdot 10^{{{}}}", exponent.trim_start_matches('+')),
            None => number.to_owned(),
        }
    }

    /// Reads a name with its primes.
    fn name(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| is_letter(c) || c.is_ascii_digit() || subscript(c).is_some() || c == '\'' || c == '.';
        if !self.rest.starts_with(is_letter) {
            return None;
        }
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(name.to_owned())
    }
}

/// Whether a character begins a name. A combining mark belongs to the letter before it.
fn is_letter(c: char) -> bool {
    c == '_' || c == '∞' || c == '∂' || ('\u{300}'..='\u{36f}').contains(&c) || c.is_alphabetic()
}

fn subscript(c: char) -> Option<char> {
    char::from_digit((c as u32).checked_sub('₀' as u32).filter(|n| *n < 10)?, 10)
}

fn superscript(c: char) -> Option<char> {
    "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|digit| digit == c).and_then(|n| char::from_digit(n as u32, 10))
}

/// Returns a name in LaTeX: a command, a letter, or an upright word, with subscripts and primes.
fn set_name(name: &str) -> String {
    let word = name.trim_end_matches('\'');
    let primes = &name[word.len()..];
    let letters = word.trim_end_matches(|c| subscript(c).is_some());
    let digits: String = word[letters.len()..].chars().filter_map(subscript).collect();
    let below = if digits.is_empty() { digits } else { format!("_{{{digits}}}") };
    let set = match primitive_table::latex(letters).filter(|command| !command.ends_with('}')) {
        Some(command) => command.to_owned(),
        None if letters.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count() > 1 => {
            format!(r"\mathrm{{{}}}", letters.replace('_', r"\_"))
        }
        None if letters == "π" => r"\pi".to_owned(),
        None => letters.replace('_', r"\_"),
    };
    format!("{set}{below}{primes}")
}

fn call(name: &str, mut arguments: Vec<Node>) -> Node {
    match (name, arguments.len()) {
        ("sqrt", 1) => Node::Root(Box::new(arguments.remove(0))),
        ("exp", 1) => Node::Power(Box::new(Node::Name("e".into())), Box::new(arguments.remove(0))),
        ("pow", 2) => {
            let exponent = arguments.remove(1);
            Node::Power(Box::new(arguments.remove(0)), Box::new(exponent))
        }
        ("abs", 1) => Node::Call("abs".into(), arguments),
        _ => Node::Call(set_name(name), arguments),
    }
}

/// The precedence of the operators of an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
enum Binding {
    Loose,
    Sum,
    Product,
    /// The precedence of names, numbers, fractions and bracketed expressions.
    Tight,
}

impl Node {
    fn binding(&self) -> Binding {
        match self {
            Node::Choice(_) | Node::Comparison(..) => Binding::Loose,
            Node::Sum(..) | Node::Negative(_) => Binding::Sum,
            Node::Product(..) => Binding::Product,
            Node::Number(_) | Node::Name(_) | Node::Quotient(..) | Node::Power(..) | Node::Root(_) | Node::Call(..) => {
                Binding::Tight
            }
        }
    }

    /// Returns the LaTeX form, in brackets if the precedence is lower than required.
    fn within(&self, required: Binding) -> String {
        if self.binding() < required { bracketed(&self.latex()) } else { self.latex() }
    }

    fn latex(&self) -> String {
        match self {
            Node::Number(text) | Node::Name(text) => text.clone(),
            Node::Negative(operand) => format!("-{}", operand.within(Binding::Product)),
            Node::Sum(left, sign, right) => {
                // A subtrahend with a sign needs brackets, and so does a second sign.
                format!("{} {sign} {}", left.within(Binding::Sum), right.within(Binding::Product))
            }
            Node::Product(left, right) => {
                let (a, b) = (left.within(Binding::Product), right.within(Binding::Product));
                let is_number = b.starts_with(|c: char| c.is_ascii_digit()) || matches!(**right, Node::Negative(_));
                let sign = if is_number { r"\cdot" } else { r"\," };
                format!("{a} {sign} {b}")
            }
            Node::Quotient(above, below) => format!(r"\frac{{{}}}{{{}}}", above.latex(), below.latex()),
            Node::Power(base, exponent) => power(base, exponent),
            Node::Root(operand) => format!(r"\sqrt{{{}}}", operand.latex()),
            Node::Call(name, arguments) => {
                let arguments = arguments.iter().map(Node::latex).collect::<Vec<_>>().join(", ");
                if name == "abs" {
                    format!(r"\left|{arguments}\right|")
                } else {
                    format!("{name}{}", bracketed(&arguments))
                }
            }
            Node::Comparison(left, sign, right) => format!("{} {sign} {}", left.latex(), right.latex()),
            Node::Choice(parts) => {
                let [condition, then, otherwise] = &**parts;
                format!(
                    r"\begin{{cases}} {} & \text{{if }} {} \\ {} & \text{{otherwise}} \end{{cases}}",
                    then.latex(),
                    condition.latex(),
                    otherwise.latex()
                )
            }
        }
    }
}

fn power(base: &Node, exponent: &Node) -> String {
    let set = exponent.latex();
    match base {
        // The power of a function is written at its name: `\sin^{2}(x)`.
        Node::Call(name, arguments) if name.starts_with('\\') && matches!(exponent, Node::Number(_)) => {
            let arguments = arguments.iter().map(Node::latex).collect::<Vec<_>>().join(", ");
            format!("{name}^{{{set}}}{}", bracketed(&arguments))
        }
        Node::Quotient(..) | Node::Power(..) => format!("{}^{{{set}}}", bracketed(&base.latex())),
        Node::Name(_) | Node::Number(_) | Node::Call(..) | Node::Root(_) => format!("{}^{{{set}}}", base.latex()),
        _ => format!("{}^{{{set}}}", bracketed(&base.latex())),
    }
}

/// Encloses a text in brackets that fit the height of the content.
fn bracketed(text: &str) -> String {
    let is_high = [r"\frac", r"\begin", r"\left"].iter().any(|command| text.contains(command));
    if is_high { format!(r"\left({text}\right)") } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::formula;

    #[test]
    fn formulas_are_set() {
        for (text, latex) in [
            ("x * sin(x)", r"x \, \sin(x)"),
            ("2 * x^10", r"2 \, x^{10}"),
            ("2x^10", r"2 \, x^{10}"),
            ("2 * 3^x", r"2 \cdot 3^{x}"),
            ("1 / (2 * sqrt(a + b))", r"\frac{1}{2 \, \sqrt{a + b}}"),
            ("1/(2√x)", r"\frac{1}{2 \, \sqrt{x}}"),
            ("x₁ + u₁₂", "x_{1} + u_{12}"),
            ("erf(x)^(n - 1)", r"\mathrm{erf}(x)^{n - 1}"),
            ("sin(x)^2 + cos(x)²", r"\sin^{2}(x) + \cos^{2}(x)"),
            ("cos(x) / x - sin(x) / x^2", r"\frac{\cos(x)}{x} - \frac{\sin(x)}{x^{2}}"),
            ("2 * x / (x - 1) - (x^2 + 1) / (x - 1)^2", r"\frac{2 \, x}{x - 1} - \frac{x^{2} + 1}{(x - 1)^{2}}"),
            ("a - (b - c)", "a - (b - c)"),
            ("a - (b + c) * d", r"a - (b + c) \, d"),
            ("-x^2", "-x^{2}"),
            ("(-x)^2", "(-x)^{2}"),
            ("2 * -x", r"2 \cdot (-x)"),
            ("x^-2", "x^{-2}"),
            ("x^(1/3)", r"x^{\frac{1}{3}}"),
            ("(x / y)^2", r"\left(\frac{x}{y}\right)^{2}"),
            ("exp(-x^2)", "e^{-x^{2}}"),
            ("abs(x - 1)", r"\left|x - 1\right|"),
            ("log(1 / x)", r"\log\left(\frac{1}{x}\right)"),
            ("2^3^x", "2^{3^{x}}"),
            ("(2^3)^x", "(2^{3})^{x}"),
            ("f'(x)", "f'(x)"),
            ("1.5e-05 * x", r"1.5 \cdot 10^{-05} \, x"),
            ("x < 0 ? -1 : 1", r"\begin{cases} -1 & \text{if } x < 0 \\ 1 & \text{otherwise} \end{cases}"),
            ("max(x, y)", r"\max(x, y)"),
            ("π * r^2", r"\pi \, r^{2}"),
        ] {
            assert_eq!(formula(text), latex, "{text}");
        }
    }

    #[test]
    fn other_text_stays_text() {
        assert_eq!(formula("sum of 3 products"), r"\text{sum of 3 products}");
        assert_eq!(formula("f(x"), r"\text{f(x}");
        assert_eq!(formula("a_b & {c}"), r"\text{a\_b \& \{c\}}");
        assert!(formula(&"(".repeat(100_000)).starts_with(r"\text"));
        assert!(formula(&"-".repeat(100_000)).starts_with(r"\text"));
    }
}
