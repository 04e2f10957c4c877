//! Index faults: describes an index out of range by expressions of the source text, such as `i + 1 = 5, a.count = 3`.

/// The maximum length of an expression that the message quotes.
const MAX_LENGTH: usize = 40;

/// Replaces names such as `index` and `count` in the values of an index fault by parts of the source text of the
/// subscript, for example `i + 1` and `xs.count` for `xs[i + 1]`.
pub(crate) fn explained(values: &[(String, String)], text: &str) -> Vec<(String, String)> {
    let Some((collection, index)) = parts(text) else { return values.to_vec() };
    let named = |name: &str, value: &str| match name {
        "index" if is_number(index) => None,
        "index" => Some((index.to_owned(), value.to_owned())),
        "count" if values.iter().any(|(name, _)| name == "elements") => None,
        "count" => Some((format!("{collection}.count"), value.to_owned())),
        "elements" => Some((collection.to_owned(), value.to_owned())),
        other => Some((other.to_owned(), value.to_owned())),
    };
    values.iter().filter_map(|(name, value)| named(name, value)).collect()
}

/// Returns the collection and the index of an expression `collection[index]`.
fn parts(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_suffix(']')?;
    let mut depth = 0;
    let open = inside.char_indices().rev().find_map(|(at, c)| {
        match c {
            ']' | ')' | '}' => depth += 1,
            '[' if depth == 0 => return Some(at),
            '[' | '(' | '{' => depth -= 1,
            _ => {}
        }
        None
    })?;
    let (collection, index) = (inside[..open].trim(), inside[open + 1..].trim());
    let is_short = |part: &str| !part.is_empty() && part.len() <= MAX_LENGTH && !part.contains(['\n', '"']);
    (is_short(collection) && is_short(index)).then_some((collection, index))
}

fn is_number(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_the_name_that_it_has_in_the_text() {
        let values = [("index", "5"), ("count", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let described = |text: &str| {
            let values = explained(&values, text);
            values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(described("xs[i + 1]"), "i + 1 = 5, xs.count = 3");
        assert_eq!(described("rows[f(2)[0]][j[k]]"), "j[k] = 5, rows[f(2)[0]].count = 3");
        assert_eq!(described("xs[5]"), "xs.count = 3");
        assert_eq!(described("xs.remove(at: 5)"), "index = 5, count = 3");
        assert_eq!(described("]"), "index = 5, count = 3");
        assert_eq!(described("[5]"), "index = 5, count = 3");
    }
}
