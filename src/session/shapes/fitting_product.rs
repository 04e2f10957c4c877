//! Fitting product: the products of two matrices, or of their transposes, whose shapes fit.

/// The length of the longest operand that a suggestion repeats.
const MAX_LENGTH: usize = 40;

/// Returns expressions like a call of `matmul` with matrices that do not fit, with one operand transposed, and the shapes
/// of their results.
pub(super) fn fitting_products(text: &str, shapes: &[String]) -> Vec<String> {
    let Some((left, right)) = operands(text) else { return vec![] };
    let [a, b] = shapes else { return vec![] };
    let (Some((a_rows, a_columns)), Some((b_rows, b_columns))) = (matrix(a), matrix(b)) else { return vec![] };
    let mut fitting = vec![];
    if a_columns == b_columns {
        fitting.push(format!("'matmul({left}, {}.transposed())' of shape {a_rows}×{b_rows}", receiver(right)));
    }
    if a_rows == b_rows {
        fitting.push(format!("'matmul({}.transposed(), {right})' of shape {a_columns}×{b_columns}", receiver(left)));
    }
    fitting
}

/// Returns an operand as the receiver of a method.
fn receiver(operand: &str) -> String {
    let is_simple = operand.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    if is_simple || operand.ends_with(')') && !operand.contains(' ') {
        operand.to_owned()
    } else {
        format!("({operand})")
    }
}

/// Returns the operands of a call of `matmul` without labels.
fn operands(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("matmul(")?.strip_suffix(')')?;
    let mut depth = 0;
    let comma = inside.char_indices().find_map(|(at, c)| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })?;
    let (left, right) = (inside[..comma].trim(), inside[comma + 1..].trim());
    let is_simple = |operand: &str| operand.len() <= MAX_LENGTH && !operand.contains(['\n', '"', ':']);
    (is_simple(left) && is_simple(right) && !right.contains("transposed:")).then_some((left, right))
}

/// Returns the numbers of rows and columns in the text of a shape.
fn matrix(shape: &str) -> Option<(usize, usize)> {
    let (rows, columns) = shape.split_once('×')?;
    Some((rows.parse().ok()?, columns.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_operands_are_suggested_where_they_fit() {
        let shapes = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let found = fitting_products("matmul(w, x + y)", &shapes("2×3", "2×3"));
        assert_eq!(
            found,
            ["'matmul(w, (x + y).transposed())' of shape 2×2", "'matmul(w.transposed(), x + y)' of shape 3×3",]
        );
        assert_eq!(fitting_products("matmul(f(a), b)", &shapes("2×3", "4×3")).len(), 1);
        assert_eq!(fitting_products("matmul(a, b)", &shapes("2×3", "4×5")), Vec::<String>::new());
        assert_eq!(fitting_products("matmul(a, transposed: true, b)", &shapes("2×3", "2×3")), Vec::<String>::new());
        assert_eq!(fitting_products("a + b", &shapes("2×3", "2×3")), Vec::<String>::new());
    }
}
