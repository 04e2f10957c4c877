//! HTML tables: matrices as the results of cells.

/// The types whose values are matrices.
const MATRICES: [&str; 4] = ["[[Double]]", "[[Float]]", "[[Int]]", "Matrix"];
/// The beginnings of the names of types whose values may be matrices.
const TENSORS: [&str; 2] = ["Tensor2D<", "Tensor<"];

/// The numbers of rows and columns that a table shows at most.
const MAX_SIZE: usize = 100;

/// Returns a matrix as an HTML table; `None` for other values, for rows of different lengths, and for large matrices.
pub(super) fn matrix(ty: &str, text: &str) -> Option<String> {
    if !MATRICES.contains(&ty) && !TENSORS.iter().any(|start| ty.starts_with(start)) {
        return None;
    }
    // The rows are separated by commas and, in the descriptions of some types, written on lines of their own.
    let rows = text.strip_prefix("[[")?.strip_suffix("]]")?.split("],");
    let rows = rows.map(|row| row.trim_start().trim_start_matches('['));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(", ").map(str::trim).collect()).collect();
    let columns = rows.first()?.len();
    let is_number =
        |cell: &str| !cell.is_empty() && cell.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let is_regular = rows.iter().all(|row| row.len() == columns && row.iter().all(|cell| is_number(cell)));
    if !is_regular || rows.len() > MAX_SIZE || columns > MAX_SIZE {
        return None;
    }
    let row = |cells: Vec<&str>| {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", cell.replace('-', "\u{2212}"))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    Some(format!("<table>\n<tbody>\n{}</tbody>\n</table>", rows.into_iter().map(row).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::matrix;

    #[test]
    fn matrices_are_tables() {
        let table = matrix("[[Double]]", "[[1.0, -2.0], [nan, 1e-05]]").unwrap();
        assert!(table.contains("<tr><td>1.0</td><td>\u{2212}2.0</td></tr>"), "{table}");
        assert_eq!(table.matches("<tr>").count(), 2);
        let tensor = matrix("Tensor<Float>", "[[1.0, 2.0],\n [3.0, 4.0]]").unwrap();
        assert_eq!(tensor.matches("<td>").count(), 4);
        let aligned = matrix("Matrix", "[[ 1.0, 2.0],\n [30.0, 4.0]]").unwrap();
        assert!(aligned.contains("<tr><td>30.0</td><td>4.0</td></tr>"), "{aligned}");
        assert_eq!(aligned.matches("<tr>").count(), 2);
    }

    #[test]
    fn other_values_are_no_tables() {
        for (ty, text) in [
            ("[Double]", "[1.0]"),
            ("[[Double]]", "[]"),
            ("[[Double]]", "[[]]"),
            ("[[Double]]", "[[1.0], [2.0, 3.0]]"),
            ("[[Double]]", "[[1.0, …]]"),
            ("Tensor<Float>", "[1.0, 2.0]"),
            ("Tensor<Float>", "[[[1.0, 2.0]]]"),
            ("[[String]]", "[[\"<b>\"]]"),
        ] {
            assert_eq!(matrix(ty, text), None, "{ty} {text}");
        }
    }
}
