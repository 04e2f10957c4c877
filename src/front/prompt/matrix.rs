//! Matrices: formats a matrix with one row per line and aligned columns, in source syntax.

/// The types whose values are displayed as matrices.
const MATRICES: &[&str] = &["[[Double]]", "[[Float]]", "[[Int]]", "[[Bool]]"];

/// Formats a value as a matrix; `None` for other types, for less than two rows, and for rows of different lengths.
pub(crate) fn of(ty: &str, value: &str) -> Option<String> {
    if !MATRICES.contains(&ty) {
        return None;
    }
    let inside = value.strip_prefix("[[")?.strip_suffix("]]")?;
    let rows = rows(inside)?;
    let cells = |row: &&Row<'_>| if let Row::Cells(cells) = row { Some(cells.len()) } else { None };
    let count = rows.iter().find_map(|row| cells(&row))?;
    if rows.len() < 2 || count == 0 || rows.iter().filter_map(|row| cells(&row)).any(|own| own != count) {
        return None;
    }
    let columns = (0..count).map(|k| column(&rows, k)).collect::<Vec<_>>();
    let line = |(n, row): (usize, &Row<'_>)| match row {
        Row::Gap(text) => format!(" {text}"),
        Row::Cells(_) => {
            let open = if n == 0 { "[[" } else { " [" };
            let close = if n + 1 == rows.len() { "]]" } else { "]," };
            let cells = columns.iter().map(|column| column[n].as_str()).collect::<Vec<_>>().join(", ");
            format!("{open}{}{close}", cells.trim_end())
        }
    };
    Some(rows.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))
}

/// A row of a displayed matrix.
enum Row<'t> {
    Cells(Vec<&'t str>),
    /// Rows that are left out: `… 80 more`.
    Gap(&'t str),
}

/// Splits the text between the outer brackets into rows.
fn rows(inside: &str) -> Option<Vec<Row<'_>>> {
    let mut rows = vec![];
    let mut rest = inside;
    loop {
        let (row, after) = rest.split_once(']').map_or((rest, None), |(row, after)| (row, Some(after)));
        rows.push(Row::Cells(row.split(", ").filter(|cell| !cell.is_empty()).collect()));
        let Some(after) = after else { return Some(rows) };
        let (between, next) = after.split_once('[')?;
        let gap = between.trim_matches([',', ' ']);
        rows.extend((!gap.is_empty()).then_some(Row::Gap(gap)));
        rest = next;
    }
}

/// Returns the cells of a column with equal widths: numbers are aligned at their decimal points.
fn column(rows: &[Row<'_>], k: usize) -> Vec<String> {
    let cell = |row: &Row<'_>| if let Row::Cells(cells) = row { cells[k].to_owned() } else { String::new() };
    let cells: Vec<String> = rows.iter().map(cell).collect();
    let before = |cell: &str| cell.find(['.', 'e']).unwrap_or(cell.len());
    let is_number = |cell: &&String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let most = cells.iter().filter(is_number).map(|cell| before(cell)).max().unwrap_or(0);
    let shifted = cells.iter().map(|cell| match is_number(&cell) {
        true => format!("{}{cell}", " ".repeat(most - before(cell))),
        false => cell.clone(),
    });
    let shifted: Vec<String> = shifted.collect();
    let width = shifted.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    shifted.into_iter().map(|cell| format!("{cell:<width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn columns_are_aligned_at_the_decimal_points() {
        assert_eq!(of("[[Double]]", "[[1.0, -2.25], [10.5, 4.0]]").unwrap(), "[[ 1.0, -2.25],\n [10.5,  4.0]]");
        assert_eq!(of("[[Int]]", "[[1, 20], [300, 4]]").unwrap(), "[[  1, 20],\n [300,  4]]");
    }

    #[test]
    fn rows_that_are_left_out_are_marked() {
        let grid = of("[[Int]]", "[[1, … 98 more, 2], … 8 more, [3, … 98 more, 4]]").unwrap();
        assert_eq!(grid, "[[1, … 98 more, 2],\n … 8 more\n [3, … 98 more, 4]]");
    }

    #[test]
    fn other_values_are_no_grid() {
        for (ty, value) in [
            ("[[Double]]", "[[1.0], [1.0, 2.0]]"),
            ("[[Double]]", "[[1.0, 2.0]]"),
            ("[Double]", "[1.0, 2.0]"),
            ("[[Int]]", "[]"),
            ("[[Int]]", "[[], []]"),
        ] {
            assert_eq!(of(ty, value), None, "{value}");
        }
    }
}
