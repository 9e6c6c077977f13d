//! Rules on documentation and on text of any kind.

/// Every on-disk format of ours has a page of its own.
const FORMATS: [&str; 0] = [];

/// Folders of somebody's machine. Spelt in halves, so that this file passes its own rule.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/Us", "ers/runner/")];

/// Paths that only exist where somebody happened to work.
pub(super) fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for folder in MACHINE_PATHS {
            if line.match_indices(folder).any(|(at, _)| starts_a_path(line, at)) {
                problems.push(format!("{path}:{}: a path of one machine ({folder}…)", index + 1));
            }
        }
    }
    problems
}

/// Whether the slash at `at` begins an absolute path rather than continuing one.
fn starts_a_path(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|head| head.chars().next_back());
    before.is_none_or(|character| {
        !character.is_alphanumeric()
            && !matches!(character, '_' | '-' | '.' | '~' | '/' | '}' | '>')
    })
}

/// Each format has a page, and each page is reachable from the index.
pub(super) fn format_pages(files: &[String]) -> Vec<String> {
    FORMATS
        .iter()
        .map(|format| format!("docs/format/{format}.md"))
        .filter(|page| !files.contains(page))
        .map(|page| format!("{page} is missing: an on-disk format without its contract"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_of_a_machine_is_a_problem() {
        let folder = MACHINE_PATHS[0];
        assert_eq!(machine_paths("a", &format!("see {folder}main")).len(), 1);
        assert_eq!(machine_paths("a", &format!("\"{folder}main\"")).len(), 1);
        assert!(machine_paths("a", &format!("/home/dev{folder}main")).is_empty());
        assert!(machine_paths("a", "work/main").is_empty());
    }

    #[test]
    fn every_format_needs_its_page() {
        assert_eq!(format_pages(&[]).len(), FORMATS.len());
    }
}
