//! Sizes and durations as people type them.

use std::time::Duration;

/// A number of things: `1 file`, `2 files`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", grouped(number))
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Reads a size: digits with an optional `K`, `M`, `G` (1024 each; `KB`, `KiB`
/// and lower case are the same).
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

/// Reads a duration: digits with `s`, `m`, `h`, `d` or `w`.
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

/// A size for people.
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
    fn one_thing_has_no_plural() {
        let things = [0, 1, 2].map(|number| counted(number, "file"));
        assert_eq!(things, ["0 files", "1 file", "2 files"]);
        assert_eq!(counted(1_234_567, "call"), "1,234,567 calls");
        assert_eq!(counted(999, "call"), "999 calls");
    }

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
