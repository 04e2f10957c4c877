//! Value display: formats values and declarations on one line.

use crate::front::prompt::matrix;
use crate::session::DisplayItem;
use anstyle::{AnsiColor, Style};

/// The maximum length of a displayed value whose type has a custom description, in characters.
const MAX_LENGTH: usize = 8000;

/// The types that are obvious from their values.
const PLAIN: &[&str] = &[
    "Double",
    "Int",
    "Bool",
    "String",
    "Range",
    "ClosedRange",
    "PartialRangeFrom",
    "PartialRangeUpTo",
    "PartialRangeThrough",
    "StrideTo",
    "StrideThrough",
];

/// The types whose values, alone and in collections, are rounded.
const PLAIN_NUMBERS: &[&str] = &["Double", "Int", "Bool"];

/// Formats a value, or a declaration with its type: `f : (Double) → Double`.
pub(super) fn line(shown: &DisplayItem, is_colored: bool) -> String {
    let DisplayItem { name, ty, value } = shown;
    let dim = |text: &str| dimmed(text, is_colored);
    let value = value.as_ref().map(|value| matrix::of(ty, value).unwrap_or_else(|| value.clone()));
    let ty = arrows(ty);
    match (name, value) {
        (Some(name), _) if is_word_of_type(&ty) => format!("{} {name}", dim(&ty)),
        (Some(name), Some(value)) if value.contains('\n') => format!("{name} {}\n{value}", dim(&format!(": {ty} ="))),
        (Some(name), Some(value)) => format!("{name} {} {value}", dim(&format!(": {ty} ="))),
        (Some(name), None) => format!("{name} {}", dim(&format!(": {ty}"))),
        (None, Some(value)) if is_obvious(&ty, &value) || value.contains('\n') => value,
        (None, Some(value)) => format!("{value}  {}", dim(&format!(": {ty}"))),
        (None, None) => ty,
    }
}

/// Rounds the numbers in a value to `digits` significant digits; other parts of the value are unchanged.
pub(super) fn rounded(shown: &DisplayItem, digits: Option<usize>) -> DisplayItem {
    let words = shown.ty.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let are_numbers =
        words.clone().any(|word| word == "Double") && words.clone().all(|word| PLAIN_NUMBERS.contains(&word));
    let (Some(digits), Some(value), true) = (digits, &shown.value, are_numbers) else { return shown.clone() };
    let mut out = String::new();
    let mut rest = value.as_str();
    while let Some(c) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len()).max(c.len_utf8());
        let (word, after) = rest.split_at(end);
        // An integer is not a `Double` and is not rounded.
        match word.parse::<f64>().ok().filter(|x| x.is_finite() && word.contains(['.', 'e'])) {
            Some(x) => out.push_str(&shortest(x, digits)),
            None => out.push_str(word),
        }
        rest = after;
    }
    DisplayItem { value: Some(out), ..shown.clone() }
}

/// Formats a number with the given number of significant digits in source syntax.
fn shortest(x: f64, digits: usize) -> String {
    let rounded = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
    format!("{rounded:?}")
}

/// Formats the arrows of a type.
pub(super) fn arrows(ty: &str) -> String {
    ty.replace("->", "→")
}

fn is_word_of_type(ty: &str) -> bool {
    matches!(ty, "struct" | "enum" | "class" | "protocol")
}

/// Whether the type of a value is obvious from the displayed value.
fn is_obvious(ty: &str, value: &str) -> bool {
    let mut words = ty.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '?').filter(|word| !word.is_empty());
    value.starts_with(&format!("{ty}(")) || words.all(|word| PLAIN.contains(&word)) && !ty.contains("->")
}

/// Abbreviates a displayed value whose description is very long.
pub(crate) fn shortened(value: &str) -> String {
    match value.char_indices().nth(MAX_LENGTH) {
        None => value.to_owned(),
        Some((at, _)) => {
            let left_out = value[at..].chars().count();
            format!("{} … {left_out} more characters; use print(…) to show all", &value[..at])
        }
    }
}

/// Formats a text as dimmed.
pub(super) fn dimmed(text: &str, is_colored: bool) -> String {
    painted(text, Style::new().dimmed(), is_colored)
}

/// Formats a text in a style, if colors are enabled.
pub(super) fn painted(text: &str, style: Style, is_colored: bool) -> String {
    if is_colored { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// Returns the style of the prompt sign.
pub(super) fn sign() -> Style {
    AnsiColor::Cyan.on_default().bold()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: Option<&str>, ty: &str, value: Option<&str>) -> String {
        line(&DisplayItem { name: name.map(str::to_owned), ty: ty.into(), value: value.map(str::to_owned) }, false)
    }

    #[test]
    fn a_type_is_shown_where_the_value_does_not_imply_it() {
        assert_eq!(shown(None, "Double", Some("2.5")), "2.5");
        assert_eq!(shown(None, "[String: [Int]]", Some("[\"a\": [1]]")), "[\"a\": [1]]");
        assert_eq!(shown(None, "Point", Some("Point(x: 1.0)")), "Point(x: 1.0)");
        assert_eq!(shown(None, "Int?", Some("nil")), "nil  : Int?");
        assert_eq!(shown(None, "Float", Some("0.5")), "0.5  : Float");
    }

    #[test]
    fn declarations_are_shown_with_their_types() {
        assert_eq!(shown(Some("f"), "(Double) -> Double", None), "f : (Double) → Double");
        assert_eq!(shown(Some("a"), "Int", Some("1")), "a : Int = 1");
        assert_eq!(shown(Some("Point"), "struct", None), "struct Point");
    }

    #[test]
    fn numbers_are_rounded_to_some_digits() {
        let rounded = |ty: &str, value: &str| {
            let shown = DisplayItem { name: None, ty: ty.into(), value: Some(value.into()) };
            rounded(&shown, Some(4)).value.unwrap_or_default()
        };
        assert_eq!(rounded("Double", "3.141592653589793"), "3.142");
        assert_eq!(
            rounded("[Double]", "[1.0, -0.00012345678, 6.02214076e+23, nan]"),
            "[1.0, -0.0001235, 6.022e23, nan]"
        );
        assert_eq!(rounded("(Int, Double)", "(123456, 2.71828)"), "(123456, 2.718)");
        assert_eq!(rounded("String", "\"3.141592653589793\""), "\"3.141592653589793\"");
    }

    #[test]
    fn a_long_description_is_cut() {
        let text = shortened(&"x".repeat(9000));
        assert!(text.ends_with(" … 1000 more characters; use print(…) to show all"), "{text}");
    }
}
