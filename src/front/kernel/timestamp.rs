//! Timestamps: formats the times in messages.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in the format `2001-02-03T04:05:06.789012Z`.
pub(super) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    text(since.as_secs(), since.subsec_micros())
}

/// Formats seconds since 1970 as a date and a time of day.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms" (2013): years begin in March, so that the leap
/// day is the last day of a year.
fn text(seconds: u64, micros: u32) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn days_are_counted() {
        assert_eq!(text(0, 0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(text(951_782_400 + 3_661, 42), "2000-02-29T01:01:01.000042Z");
        assert_eq!(text(1_735_689_599, 999_999), "2024-12-31T23:59:59.999999Z");
    }
}
