//! Notation: the way in which a program writes its formulas.

/// The notation of a source text. Formulas that are derived from the source text are written in this notation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Notation {
    /// Whether products are written without a sign: `2x` instead of `2 * x`.
    pub juxtaposition: bool,
    /// Whether roots are written with signs: `√x` instead of `sqrt(x)`.
    pub roots: bool,
    /// Whether powers are written with superscripts: `x²` instead of `x^2`.
    pub superscripts: bool,
    /// Whether fractions are written as decimals: `0.5` instead of `1 / 2`.
    pub decimals: bool,
}

impl Notation {
    /// Returns the notation of a source text.
    pub fn of(text: &str) -> Notation {
        let mut notation = Notation::default();
        let mut before = [' '; 2];
        let mut is_in_number = false;
        for c in text.chars() {
            let [last, previous] = before;
            match c {
                '√' | '∛' => notation.roots = true,
                '²' | '³' => notation.superscripts = true,
                _ if is_in_number && last.is_ascii_digit() && (c.is_alphabetic() || c == '(') => {
                    notation.juxtaposition = true;
                }
                _ if c.is_ascii_digit() && last == '.' && previous.is_ascii_digit() => notation.decimals = true,
                _ => {}
            }
            let continues_name = last.is_alphanumeric() && !is_in_number || last == '_';
            is_in_number = c.is_ascii_digit() && !continues_name || is_in_number && c == '.';
            before = [c, last];
        }
        // A source text with juxtaposed factors or root signs is taken to use both, unless the text contains `*` or
        // `sqrt`.
        let writes_products = text.contains('*');
        let writes_functions = text.contains("sqrt") || text.contains("cbrt");
        let (juxtaposition, roots) = (notation.juxtaposition, notation.roots);
        notation.juxtaposition |= roots && !writes_products;
        notation.roots |= juxtaposition && !writes_functions;
        notation
    }
}

#[cfg(test)]
mod tests {
    use super::Notation;

    #[test]
    fn the_notation_is_read_from_the_source_text() {
        let plain = Notation::default();
        let paper = Notation { juxtaposition: true, roots: true, ..plain };
        for (text, notation) in [
            ("f(x) = 2 * x + x1 * sqrt(y2)", plain),
            ("f(x) = 2x", paper),
            ("f(x) = 12(x + 1)", paper),
            ("f(x) = √x", paper),
            ("f(x) = √x * 2", Notation { roots: true, ..plain }),
            ("f(x) = 2sqrt(x)", Notation { juxtaposition: true, ..plain }),
            ("f(x) = a1(x) + x2y", plain),
            ("f(x) = x²", Notation { superscripts: true, ..plain }),
            ("f(x) = 0.5 * x", Notation { decimals: true, ..plain }),
            ("f(x) = 0.5x", Notation { decimals: true, ..paper }),
            ("f(v) = v.0 + v[10]", plain),
        ] {
            assert_eq!(Notation::of(text), notation, "{text}");
        }
    }
}
