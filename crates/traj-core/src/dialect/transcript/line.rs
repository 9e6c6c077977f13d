//! What counts as white space around a row.

/// The characters that the writers of these files trim: Unicode white space
/// except U+0085, and the byte order mark.
const fn is_trimmed(character: char) -> bool {
    matches!(
        character,
        '\t'..='\r'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// The row without the white space around it.
#[must_use]
pub fn trim(row: &str) -> &str {
    row.trim_matches(is_trimmed)
}

/// Whether a row is blank.
#[must_use]
pub fn is_blank(row: &str) -> bool {
    row.chars().all(is_trimmed)
}

#[cfg(test)]
mod tests {
    use super::{is_blank, trim};

    #[test]
    fn trims_what_the_writers_trim() {
        assert_eq!(trim("\u{feff} \u{3000}{} \r"), "{}");
        assert_eq!(trim("\u{85}x"), "\u{85}x");
        assert!(is_blank(" \u{2028}\t"));
        assert!(!is_blank("\0"));
    }
}
