//! The lists in `xtask/tidy`: plain text, one entry and its reason per line.

use std::collections::BTreeMap;

/// `name  reason` entries.
pub(super) type Reasons = BTreeMap<String, String>;

/// Reads `[section]` headings, each followed by `name  reason` lines.
pub(super) fn parse_sections(text: &str) -> BTreeMap<String, Reasons> {
    let mut sections = BTreeMap::new();
    let mut current = String::new();
    for line in entries(text) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => {
                name.clone_into(&mut current);
                sections.entry(current.clone()).or_insert_with(Reasons::new);
            }
            None => {
                let (name, reason) = split(line);
                sections.entry(current.clone()).or_default().insert(name, reason);
            }
        }
    }
    sections
}

/// Reads `name  reason` lines.
pub(super) fn parse_reasons(text: &str) -> Reasons {
    entries(text).map(split).collect()
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn split(line: &str) -> (String, String) {
    let (name, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (name.to_owned(), reason.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_hold_names_with_reasons() {
        let sections = parse_sections("# why\n[core]\nregex   rules are patterns\nserde\n\n[fs]\n");
        assert_eq!(sections["core"]["regex"], "rules are patterns");
        assert_eq!(sections["core"]["serde"], "");
        assert!(sections["fs"].is_empty());
    }
}
