//! List syntax: splits a list that the user has typed at the commas outside of brackets.

/// Returns the parts of a text between the commas that are outside of brackets.
pub(crate) fn listed(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_part_nothing() {
        assert_eq!(listed("f, g(1, 2), [1, 2]"), ["f", "g(1, 2)", "[1, 2]"]);
        assert_eq!(listed("x"), ["x"]);
    }
}
