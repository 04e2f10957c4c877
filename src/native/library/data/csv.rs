//! Comma-separated values: a table with typed columns, parsed from text.

use crate::cancel;
use crate::native::library::NativeFunction;
use crate::native::library::context::{Failure, FailureKind, NativeContext};
use crate::native::library::file::{decode, outcome};
use crate::native::library::string::{TEXT, text, texts};
use crate::value::{Cells, Ref};
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(in crate::native::library) const TABLE: &[NativeFunction] = &[NativeFunction { name: "csv.parse", call: parse }];

/// The type of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A column of numbers.
    Number,
    /// A column of strings.
    Text,
    /// A column of `true` and `false`.
    Boolean,
    /// A column of dates in ISO 8601.
    Date,
}

impl ColumnKind {
    /// All kinds of columns, by their numbers in the prelude.
    const ALL: [ColumnKind; 4] = [ColumnKind::Number, ColumnKind::Text, ColumnKind::Boolean, ColumnKind::Date];

    /// Parses a field of a column. Booleans and dates become numbers: 0 or 1, and the seconds since the beginning of
    /// 1970.
    fn value(self, field: &str) -> Option<f64> {
        match self {
            ColumnKind::Number => field.parse().ok(),
            ColumnKind::Boolean if field.eq_ignore_ascii_case("true") => Some(1.0),
            ColumnKind::Boolean if field.eq_ignore_ascii_case("false") => Some(0.0),
            ColumnKind::Boolean | ColumnKind::Text => None,
            // A number alone is no date, although ISO 8601 has dates without hyphens.
            ColumnKind::Date => super::date_of(field).filter(|_| field.contains('-')),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            ColumnKind::Number => "a number",
            ColumnKind::Text => "a string",
            ColumnKind::Boolean => "true or false",
            ColumnKind::Date => "a date",
        }
    }
}

/// The syntax of a table in a file.
#[derive(Clone, Debug)]
pub struct TableFormat {
    /// The byte between two fields.
    pub delimiter: u8,
    /// Whether the first row names the columns.
    pub has_header: bool,
    /// The texts of fields that represent a missing value, besides the empty text; columns of strings have no missing
    /// values.
    pub missing: Vec<Rc<str>>,
    /// The required types of some columns, by name.
    pub kinds: Vec<(Rc<str>, ColumnKind)>,
}

impl Default for TableFormat {
    fn default() -> TableFormat {
        TableFormat { delimiter: b',', has_header: true, missing: vec!["NA".into()], kinds: vec![] }
    }
}

/// A table: the names of the columns, the values, and the line of each row in the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The names of the columns.
    pub names: Vec<Rc<str>>,
    /// The columns of the table.
    pub columns: Vec<TableColumn>,
    /// The line of each row in the file.
    pub lines: Vec<i64>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// The type of the column's values.
    pub kind: ColumnKind,
    /// The values of the column as numbers, unless they are strings; NaN for a missing value.
    pub numbers: Vec<f64>,
    /// The values of the column, if they are strings; an empty string for a missing value.
    pub texts: Vec<Rc<str>>,
}

/// Parses the bytes of a file into a table, as `readCSV` returns it.
///
/// # Errors
/// Fails if the file is not UTF-8 or not a table; the failure names the line.
pub fn table_of(path: &str, bytes: &[u8], format: &TableFormat) -> Result<Table, Failure> {
    table(path, decode(path, bytes)?, format)
}

fn parse(c: Call<'_, '_>) -> Result<(), Failure> {
    let (content, path, delimiter) = (c.text()?, c.text()?, c.text()?);
    let missing = c.array(TEXT)?.r.iter().map(|r| text(r).into()).collect();
    let typed = c.array(TEXT)?;
    let has_header = c.integer() != 0;
    let kinds = c.array(crate::value::shape::Layout { f: 0, i: 1, r: 0 })?;
    let kinds = typed
        .r
        .iter()
        .zip(&kinds.i)
        .filter_map(|(name, kind)| Some((text(name).into(), *ColumnKind::ALL.get(usize::try_from(*kind).ok()?)?)));
    let [delimiter] = delimiter.as_bytes() else {
        let message = format!("the delimiter of a table must be an ASCII character, not \"{}\"", &*delimiter);
        return Err(Failure::new(FailureKind::Precondition, message));
    };
    let format = TableFormat { delimiter: *delimiter, has_header, missing, kinds: kinds.collect() };
    let result = table(&path, &content, &format);
    outcome(c, &path, result, |c, table| {
        let (mut kinds, mut numbers, mut strings) = (vec![], vec![], vec![]);
        for column in table.columns {
            kinds.push(column.kind as i64);
            numbers.push(Ref::Cells(Rc::new(Cells::numbers(column.numbers))));
            strings.push(texts(column.texts));
        }
        c.return_reference(texts(table.names))?;
        c.return_reference(Ref::Cells(Rc::new(Cells::integers(kinds))))?;
        for columns in [numbers, strings] {
            c.return_reference(Ref::Cells(Rc::new(Cells::references(columns))))?;
        }
        c.return_reference(Ref::Cells(Rc::new(Cells::integers(table.lines))))
    })
}

fn table(path: &str, text: &str, format: &TableFormat) -> Result<Table, Failure> {
    // Spreadsheets write a mark at the beginning of a file.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ::csv::ReaderBuilder::new();
    reader.trim(::csv::Trim::All).delimiter(format.delimiter).has_headers(format.has_header);
    let mut reader = reader.from_reader(text.as_bytes());
    let first = reader.headers().map_err(|error| malformed(path, &error))?;
    if first.is_empty() {
        let message = match format.has_header {
            true => format!("{path}:1: the file is empty; its first line must name the columns"),
            false => format!("{path}:1: the file is empty"),
        };
        return Err(bad_row(path, 1, message));
    }
    let names: Vec<Rc<str>> = match format.has_header {
        true => first.iter().map(Into::into).collect(),
        false => (1..=first.len()).map(|number| format!("column{number}").into()).collect(),
    };
    if let Some((name, _)) = format.kinds.iter().find(|(name, _)| !names.contains(name)) {
        let known = names.iter().map(|name| shortened(name)).collect::<Vec<_>>().join(", ");
        let message = format!("{path}:1: there is no column \"{name}\"; the columns are {known}");
        return Err(bad_row(path, 1, message));
    }
    let mut columns: Vec<Vec<Rc<str>>> = vec![vec![]; names.len()];
    let mut lines = vec![];
    let empty: Rc<str> = "".into();
    for row in cancel::checking(reader.records()) {
        let row = row.map_err(|error| malformed(path, &error))?;
        lines.push(row.position().map_or(0, |position| position.line() as i64));
        for (field, column) in row.iter().zip(&mut columns) {
            column.push(if field.is_empty() { empty.clone() } else { field.into() });
        }
    }
    let mut typed = vec![];
    for (k, fields) in columns.into_iter().enumerate() {
        let required = format.kinds.iter().find(|(name, _)| *name == names[k]).map(|(_, kind)| *kind);
        let (column, wrong) = column(fields, required, &format.missing);
        if let Some((row, field)) = wrong {
            let (line, kind) = (lines[row] as u64, column.kind);
            let place = format!("{path}:{line}: column {} (\"{}\")", k + 1, shortened(&names[k]));
            let message = format!("{place}: \"{}\" is not {}", shortened(&field), kind.noun());
            return Err(bad_row(path, line, message).with("column", k + 1));
        }
        typed.push(column);
    }
    Ok(Table { names, columns: typed, lines })
}

/// Returns a column with the first type that fits all of its fields, or with the required type; in the latter case the
/// first field that does not fit is returned, too.
fn column(
    fields: Vec<Rc<str>>,
    required: Option<ColumnKind>,
    missing: &[Rc<str>],
) -> (TableColumn, Option<(usize, Rc<str>)>) {
    let is_missing = |field: &Rc<str>| field.is_empty() || missing.contains(field);
    let fits = |kind: &ColumnKind| {
        *kind != ColumnKind::Text
            && cancel::checking(fields.iter()).all(|field| is_missing(field) || kind.value(field).is_some())
    };
    let kind = required.or_else(|| ColumnKind::ALL.into_iter().find(fits)).unwrap_or(ColumnKind::Text);
    if kind == ColumnKind::Text {
        return (TableColumn { kind, numbers: vec![], texts: fields }, None);
    }
    let mut column = TableColumn { kind, numbers: Vec::with_capacity(fields.len()), texts: vec![] };
    for (row, field) in fields.into_iter().enumerate() {
        let value = if is_missing(&field) { None } else { Some(kind.value(&field)) };
        match value {
            Some(None) => return (column, Some((row, field))),
            Some(Some(value)) => column.numbers.push(value),
            None => column.numbers.push(f64::NAN),
        }
    }
    (column, None)
}

fn bad_row(path: &str, line: u64, message: String) -> Failure {
    Failure::new(FailureKind::BadRow, message).with("file", path).with("line", line)
}

fn malformed(path: &str, error: &::csv::Error) -> Failure {
    match error.kind() {
        ::csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, ::csv::Position::line);
            let columns = if *len == 1 { "column" } else { "columns" };
            let message =
                format!("{path}:{line}: the row has {len} {columns}, but the first line names {expected_len}");
            bad_row(path, line, message)
        }
        _ => {
            let line = error.position().map_or(0, ::csv::Position::line);
            bad_row(path, line, format!("{path}:{line}: the row is malformed"))
        }
    }
}

/// Shortens a field, so that a message remains one line whatever the file contains.
fn shortened(field: &str) -> String {
    const MAX_LENGTH: usize = 40;
    let line: String = field.chars().take(MAX_LENGTH).map(|c| if c.is_control() { '␤' } else { c }).collect();
    if field.chars().count() > MAX_LENGTH { line + "…" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: &TableFormat) -> Result<Table, String> {
        table("t.csv", text, format).map_err(|failure| failure.message)
    }

    #[test]
    fn a_table_is_read_by_columns() {
        let table = read("x, y\n1,2.5\n-3,4e2\n", &TableFormat::default()).unwrap();
        assert_eq!(table.names.iter().map(|n| &**n).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(table.columns[0].numbers, [1.0, -3.0]);
        assert_eq!(table.columns[1].numbers, [2.5, 400.0]);
        assert_eq!(table.lines, [2, 3]);
    }

    #[test]
    fn a_column_has_the_type_of_all_its_fields() {
        let text =
            "\u{feff}n,b,d,t,empty\n1,true,2024-02-29,\"a, \"\"b\"\"\",\n,FALSE,NA,NA,\nNA,,2024-01-01T10:30:00Z,,\n";
        let table = read(text, &TableFormat::default()).unwrap();
        let kinds: Vec<ColumnKind> = table.columns.iter().map(|column| column.kind).collect();
        use ColumnKind::{Boolean, Date, Number, Text};
        assert_eq!(kinds, [Number, Boolean, Date, Text, Number]);
        let missing = |column: usize| table.columns[column].numbers.iter().map(|x| x.is_nan()).collect::<Vec<_>>();
        assert_eq!(missing(0), [false, true, true]);
        assert_eq!(table.columns[1].numbers[..2], [1.0, 0.0]);
        assert_eq!(table.columns[2].numbers[0], 1_709_164_800.0);
        assert_eq!(table.columns[3].texts.iter().map(|t| &**t).collect::<Vec<_>>(), ["a, \"b\"", "NA", ""]);
        assert_eq!(missing(4), [true; 3]);
    }

    #[test]
    fn the_format_is_a_choice() {
        let format = TableFormat {
            delimiter: b';',
            has_header: false,
            kinds: vec![("column1".into(), ColumnKind::Text)],
            ..TableFormat::default()
        };
        let table = read("007;1\n008;2\n", &format).unwrap();
        assert_eq!(table.names.iter().map(|n| &**n).collect::<Vec<_>>(), ["column1", "column2"]);
        assert_eq!(&*table.columns[0].texts[0], "007");
        assert_eq!(table.columns[1].numbers, [1.0, 2.0]);
    }

    #[test]
    fn a_bad_row_is_named() {
        let message = |text: &str| read(text, &TableFormat::default()).unwrap_err();
        assert_eq!(message("x,y\n1,2\n3\n"), "t.csv:3: the row has 1 column, but the first line names 2");
        assert_eq!(message(""), "t.csv:1: the file is empty; its first line must name the columns");
        let number =
            |name: &str| TableFormat { kinds: vec![(name.into(), ColumnKind::Number)], ..TableFormat::default() };
        let message = |text: &str, format: &TableFormat| read(text, format).unwrap_err();
        assert_eq!(message("x,y\n1,a b\n", &number("y")), "t.csv:2: column 2 (\"y\"): \"a b\" is not a number");
        assert_eq!(message("x,\"y\nz\"\n1,q\n", &number("y\nz")), "t.csv:3: column 2 (\"y␤z\"): \"q\" is not a number");
        assert_eq!(message("x,y\n1,2\n", &number("z")), "t.csv:1: there is no column \"z\"; the columns are x, y");
    }
}
