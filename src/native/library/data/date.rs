//! Dates: conversion between points in time and calendar components, arithmetic with components, and formats.
//!
//! A point in time is the number of seconds since the beginning of 1970, a time zone a fixed offset in seconds.
//! Components are year, month, day, hour, minute, second and nanosecond.

use crate::native::library::NativeFunction;
use crate::native::library::context::{Failure, NativeContext};
use crate::native::library::string::texts;
use crate::value::shape::Layout;
use crate::value::{Cells, Ref};
use jiff::civil::{DateTime, DateTimeDifference};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, Unit};
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(in crate::native::library) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "date.components", call: components },
    NativeFunction { name: "date.ofComponents", call: of_components },
    NativeFunction { name: "date.adding", call: adding },
    NativeFunction { name: "date.difference", call: difference },
    NativeFunction { name: "date.parse", call: parse },
    NativeFunction { name: "date.format", call: format },
];

const INTEGERS: Layout = Layout { f: 0, i: 1, r: 0 };

const NANOSECONDS: f64 = 1e9;

/// Returns the point in time with a number of seconds, rounded to nanoseconds; `None` if its year has more than four
/// digits.
fn timestamp(seconds: f64) -> Option<Timestamp> {
    let whole = seconds.floor();
    // Beyond this limit the number of seconds is not exact; years beyond it are rejected in any case.
    if !(-1e12..1e12).contains(&whole) {
        return None;
    }
    let rest = ((seconds - whole) * NANOSECONDS).round() as i32;
    Timestamp::new(whole as i64 + i64::from(rest / 1_000_000_000), rest % 1_000_000_000).ok()
}

fn seconds(timestamp: Timestamp) -> f64 {
    timestamp.as_second() as f64 + f64::from(timestamp.subsec_nanosecond()) / NANOSECONDS
}

fn offset(seconds: i64) -> Option<Offset> {
    Offset::from_seconds(i32::try_from(seconds).ok()?).ok()
}

/// Returns the date and time of day at an offset from UTC.
fn local(time: f64, at: i64) -> Option<DateTime> {
    Some(offset(at)?.to_datetime(timestamp(time)?))
}

/// Returns the number of seconds of a date and time of day at an offset from UTC.
fn global(local: DateTime, at: i64) -> Option<f64> {
    Some(seconds(offset(at)?.to_timestamp(local).ok()?))
}

fn give_integers(c: Call<'_, '_>, integers: Vec<i64>) -> Result<(), Failure> {
    c.return_reference(Ref::Cells(Rc::new(Cells::integers(integers))))
}

/// Returns an optional number as a number and the flag whether it exists.
fn give_number(c: Call<'_, '_>, number: Option<f64>) -> Result<(), Failure> {
    c.return_number(number.unwrap_or(f64::NAN))?;
    c.return_integer(i64::from(number.is_some()))
}

/// Returns the components of a point in time, its day of the week from 1 for Sunday, its day of the year, and its week
/// in ISO 8601; no numbers if the point in time is out of range.
fn components(c: Call<'_, '_>) -> Result<(), Failure> {
    let (time, at) = (c.number(), c.integer());
    let fields = local(time, at).map_or(vec![], |local| {
        let week = local.iso_week_date();
        vec![
            i64::from(local.year()),
            i64::from(local.month()),
            i64::from(local.day()),
            i64::from(local.hour()),
            i64::from(local.minute()),
            i64::from(local.second()),
            i64::from(local.subsec_nanosecond()),
            i64::from(local.weekday().to_sunday_one_offset()),
            i64::from(local.day_of_year()),
            i64::from(week.week()),
        ]
    });
    give_integers(c, fields)
}

/// Returns the point in time with the given components, if the components form a date.
fn of_components(c: Call<'_, '_>) -> Result<(), Failure> {
    let (fields, at) = (c.array(INTEGERS)?, c.integer());
    let time = date_time(&fields.i).and_then(|local| global(local, at));
    give_number(c, time)
}

fn date_time(fields: &[i64]) -> Option<DateTime> {
    let [year, month, day, hour, minute, second, nanosecond] = fields else { return None };
    let small = |n: &i64| i8::try_from(*n).ok();
    let (year, nanosecond) = (i16::try_from(*year).ok()?, i32::try_from(*nanosecond).ok()?);
    DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, small(second)?, nanosecond).ok()
}

/// Adds components to a point in time. A day that the month does not have becomes its last day.
fn adding(c: Call<'_, '_>) -> Result<(), Failure> {
    let (time, at, fields) = (c.number(), c.integer(), c.array(INTEGERS)?);
    let sum = span(&fields.i).and_then(|span| global(local(time, at)?.checked_add(span).ok()?, at));
    give_number(c, sum)
}

fn span(fields: &[i64]) -> Option<Span> {
    let [years, months, days, hours, minutes, seconds, nanoseconds] = fields else { return None };
    let span = Span::new().try_years(*years).ok()?.try_months(*months).ok()?.try_days(*days).ok()?;
    let span = span.try_hours(*hours).ok()?.try_minutes(*minutes).ok()?.try_seconds(*seconds).ok()?;
    span.try_nanoseconds(*nanoseconds).ok()
}

/// Returns the difference between two points in time in components, beginning with the given unit; no numbers if a
/// point in time is out of range.
fn difference(c: Call<'_, '_>) -> Result<(), Failure> {
    const UNITS: [Unit; 6] = [Unit::Year, Unit::Month, Unit::Day, Unit::Hour, Unit::Minute, Unit::Second];
    let (from, to, at, largest) = (c.number(), c.number(), c.integer(), c.integer());
    let largest = usize::try_from(largest).ok().and_then(|k| UNITS.get(k).copied()).unwrap_or(Unit::Second);
    let between = || {
        let difference = DateTimeDifference::new(local(to, at)?).largest(largest);
        let span = local(from, at)?.until(difference).ok()?;
        let rest = span.get_milliseconds() * 1_000_000 + span.get_microseconds() * 1000;
        Some(vec![
            i64::from(span.get_years()),
            i64::from(span.get_months()),
            i64::from(span.get_days()),
            i64::from(span.get_hours()),
            span.get_minutes(),
            span.get_seconds(),
            rest + span.get_nanoseconds(),
        ])
    };
    give_integers(c, between().unwrap_or_default())
}

/// Parses a date in ISO 8601; without an offset, the time is UTC.
pub fn date_of(text: &str) -> Option<f64> {
    text.parse::<Timestamp>().ok().map(seconds).or_else(|| global(text.parse().ok()?, 0))
}

/// Parses a date in a format; in ISO 8601 if the format is empty.
fn parse(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, format, at) = (c.text()?, c.text()?, c.integer());
    let parsed = match format.is_empty() {
        true => text.parse::<Timestamp>().ok().map(seconds).or_else(|| global(text.parse().ok()?, at)),
        false => parsed(&text, &directives(&format), at),
    };
    give_number(c, parsed)
}

fn parsed(text: &str, format: &str, at: i64) -> Option<f64> {
    let mut fields = BrokenDownTime::parse(format, text).ok()?;
    if let Some(timestamp) = fields.timestamp() {
        return Some(seconds(timestamp));
    }
    if fields.hour().is_none() && fields.minute().is_none() {
        fields.set_hour(Some(0)).ok()?;
    }
    let at = fields.offset().map_or(at, |offset| i64::from(offset.seconds()));
    let date = fields.to_date().ok()?;
    global(date.to_datetime(fields.to_time().ok()?), at)
}

/// Formats a point in time.
fn format(c: Call<'_, '_>) -> Result<(), Failure> {
    let (time, at, format) = (c.number(), c.integer(), c.text()?);
    let zoned = timestamp(time).zip(offset(at)).map(|(time, at)| time.to_zoned_datetime(TimeZone::fixed(at)));
    let (text, failed) = match zoned {
        Some(zoned) => match BrokenDownTime::from(&zoned).to_string(&*directives(&format)) {
            Ok(text) => (text, vec![]),
            Err(_) => (String::new(), vec![format!("'{}' is not a format of a date", &*format)]),
        },
        None => (String::new(), vec!["the year of the date has more than four digits".to_owned()]),
    };
    c.return_text(text)?;
    c.return_reference(texts(failed))
}

/// Converts a format to the notation of `strftime`. A format without `%` is in the notation of Unicode, as in
/// `yyyy-MM-dd`.
fn directives(format: &str) -> String {
    if format.contains('%') {
        return format.to_owned();
    }
    let mut out = String::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(letter).len();
        if letter == '\'' {
            // A quoted text; two adjacent quotation marks denote one.
            let quoted = rest[1..].split('\'').next().unwrap_or_default();
            out.push_str(if quoted.is_empty() { "'" } else { quoted });
            rest = rest.get(quoted.len() + 2..).unwrap_or_default();
            continue;
        }
        let directive = match (letter, run / letter.len_utf8()) {
            ('y' | 'u', 2) => "%y",
            ('y' | 'u', _) => "%Y",
            ('M' | 'L', 4) => "%B",
            ('M' | 'L', 3) => "%b",
            ('M' | 'L', 2) => "%m",
            ('M' | 'L', _) => "%-m",
            ('d', 1) => "%-d",
            ('d', _) => "%d",
            ('D', _) => "%j",
            ('E', 4) => "%A",
            ('E', _) => "%a",
            ('H', 1) => "%-H",
            ('H', _) => "%H",
            ('h', 1) => "%-I",
            ('h', _) => "%I",
            ('m', 1) => "%-M",
            ('m', _) => "%M",
            ('s', 1) => "%-S",
            ('s', _) => "%S",
            ('S', 1) => "%1f",
            ('S', 2) => "%2f",
            ('S', 3) => "%3f",
            ('S', 6) => "%6f",
            ('S', _) => "%9f",
            ('a', _) => "%p",
            ('w', _) => "%V",
            ('Z', 5) | ('X' | 'x', 3) => "%:z",
            ('Z' | 'X' | 'x', _) => "%z",
            (other, _) => {
                out.extend(std::iter::repeat_n(other, run / other.len_utf8()));
                ""
            }
        };
        out.push_str(directive);
        rest = &rest[run..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_iso_8601_are_read() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("2024-02-29T12:30:00Z", 1_709_209_800.0),
            ("2024-02-29T12:30:00+01:00", 1_709_206_200.0),
            ("2024-02-29 12:30:00.25", 1_709_209_800.25),
            ("1969-12-31T23:59:59.5Z", -0.5),
        ] {
            assert_eq!(date_of(text), Some(expected), "{text}");
        }
        for text in ["", "2023-02-29", "2024-13-01", "12:30", "yesterday", "2024-01-01T25:00:00Z"] {
            assert_eq!(date_of(text), None, "{text}");
        }
    }

    #[test]
    fn formats_of_both_notations_are_read() {
        let expected = Some(1_709_209_800.0);
        for (text, format) in [
            ("29.02.2024 12:30", "%d.%m.%Y %H:%M"),
            ("29.02.2024 12:30", "dd.MM.yyyy HH:mm"),
            ("Feb 29, 2024 at 12:30 PM", "MMM d, yyyy 'at' h:mm a"),
            ("2024-02-29T13:30:00+01:00", "yyyy-MM-dd'T'HH:mm:ssXXX"),
        ] {
            assert_eq!(parsed(text, &directives(format), 0), expected, "{format}");
        }
        assert_eq!(parsed("29.02.2024", &directives("dd.MM.yyyy"), 3600), Some(1_709_161_200.0));
        assert_eq!(parsed("1.1.", &directives("d.M."), 0), None);
        assert_eq!(directives("h 'o''clock' é EEEE SSS"), "%-I oclock é %A %3f");
    }

    #[test]
    fn components_and_seconds_correspond() {
        for time in [0.0, -1.5, 1_709_209_800.125, 253_402_207_199.0] {
            let at = 5400;
            assert_eq!(global(local(time, at).unwrap(), at), Some(time));
        }
        for time in [f64::NAN, f64::INFINITY, 1e12, -1e300] {
            assert_eq!(timestamp(time), None);
        }
        assert!(local(0.0, 1_000_000_000).is_none() && local(0.0, i64::MAX).is_none());
        assert_eq!(timestamp(0.999_999_999_9).map(seconds), Some(1.0));
        assert!(date_time(&[2023, 2, 29, 0, 0, 0, 0]).is_none());
    }
}
