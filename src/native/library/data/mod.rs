//! Data formats: tables of comma-separated values, JSON, regular expressions, dates.
//!
//! In: strings and numbers. Out: arrays, each with a list of strings that describes the failure and is empty on
//! success. The prelude converts the arrays to values and errors, so that the types are written in the language.

mod csv;
mod date;
mod json;
mod regex;

pub use self::csv::{ColumnKind, Table, TableColumn, TableFormat, table_of};
pub use self::date::date_of;
pub use self::json::{JSONStream, stream_of};
pub use self::regex::{Expressions, check_pattern, matches_of};

pub(super) use self::csv::TABLE as CSV;
pub(super) use self::date::TABLE as DATE;
pub(super) use self::json::TABLE as JSON;
pub(super) use self::regex::TABLE as REGEX;
