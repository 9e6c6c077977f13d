//! Sizes and durations as people type them.

use std::time::Duration;

pub(crate) use traj_export::{counted, grouped};

/// Parses a size: digits with an optional `K`, `M` or `G` (powers of 1024;
/// `KB`, `KiB` and lower case mean the same).
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let factor: u64 = match unit.to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return Err("a size is a number with K, M or G, for example 64K".to_owned()),
    };
    number.checked_mul(factor).ok_or_else(|| "the size is too large".to_owned())
}

/// Parses a duration: digits with `s`, `m`, `h`, `d` or `w`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err("a duration is a number with s, m, h, d or w, for example 30d".to_owned()),
    };
    let seconds =
        number.checked_mul(seconds).ok_or_else(|| "the duration is too long".to_owned())?;
    Ok(Duration::from_secs(seconds))
}

/// A size for people, such as `1.5 MiB`.
pub(crate) fn shown_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let mut value = bytes as f64 / 1_024.0;
    let mut unit = 0;
    while value >= 1_024.0 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

fn split(text: &str) -> Result<(u64, &str), String> {
    let text = text.trim();
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number = number.parse().map_err(|_| format!("{text:?} does not start with a number"))?;
    Ok((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_are_read_as_people_write_them() {
        assert_eq!(size("512"), Ok(512));
        assert_eq!(size("64K"), Ok(65_536));
        assert_eq!(size("2 MiB"), Ok(2 << 20));
        assert_eq!(size("1gb"), Ok(1 << 30));
        assert!(size("many").is_err() && size("5x").is_err());
        assert!(size("99999999999999999999").is_err() && size("99999999999G").is_err());
        assert_eq!(duration("30d"), Ok(Duration::from_secs(2_592_000)));
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert!(duration("30").is_err() && duration("d").is_err());
        assert_eq!(shown_size(1_023), "1023 B");
        assert_eq!(shown_size(1_536), "1.5 KiB");
        assert_eq!(shown_size(5 << 30), "5.0 GiB");
    }
}
