//! Units: parses amounts of memory, depths and times, on the command line and at the prompt.

use std::time::Duration;

/// Parses a maximum depth of calls.
pub(super) fn depth(word: &str) -> Result<usize, String> {
    match word.parse() {
        Ok(0) => Err("the depth must be at least 1".to_owned()),
        Ok(depth) => Ok(depth),
        Err(_) => Err("expected an integer".to_owned()),
    }
}

/// Parses an amount of memory in bytes: `1024`, `64KiB`, `1.5GiB`, `2GB`.
pub(super) fn bytes(word: &str) -> Result<u64, String> {
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(format!("'{unit}' is not a unit of memory; use KiB, MiB, GiB, KB, MB or GB")),
    };
    let too_much = || "the number of bytes is too large".to_owned();
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(too_much);
    }
    let amount: f64 = number.parse().map_err(|_| "expected a number of bytes, such as 500MiB".to_owned())?;
    let total = amount * factor as f64;
    if total < u64::MAX as f64 { Ok(total as u64) } else { Err(too_much()) }
}

/// Parses a time in seconds.
pub(super) fn seconds(word: &str) -> Result<Duration, String> {
    word.parse::<f64>()
        .ok()
        .filter(|s| *s > 0.0)
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .ok_or_else(|| "expected a positive number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_have_units() {
        let given = ["0", "17", "64KiB", "1.5 KiB", "2gb", "3M"].map(|w| bytes(w).unwrap());
        assert_eq!(given, [0, 17, 65536, 1536, 2_000_000_000, 3 << 20]);
        for wrong in ["", "KiB", "1XB", "-1", "1.2.3", "99999999999999999999", "99999999TiB", "1e3"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_limit_is_positive() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "nan", "inf", "1e300", "x"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
