//! The changelog, in the format of Keep a Changelog.

use anyhow::{Context as _, Result, ensure};

const UNRELEASED: &str = "## [Unreleased]";

/// Gives the unreleased section a number and a date, and adds an empty one above it.
pub(super) fn release(changelog: &str, version: &str, date: &str) -> Result<String> {
    let (before, after) =
        changelog.split_once(UNRELEASED).with_context(|| format!("no `{UNRELEASED}` section"))?;
    let body = after.split("\n## [").next().unwrap_or_default();
    ensure!(body.contains("\n- "), "`{UNRELEASED}` is empty: there is nothing to release");
    Ok(format!("{before}{UNRELEASED}\n\n## [{version}] - {date}{after}"))
}

/// The text of one version's section, without its heading.
pub(super) fn section<'a>(changelog: &'a str, version: &str) -> Result<&'a str> {
    let heading = format!("## [{version}]");
    let (_, after) = changelog.split_once(&heading).context("the section is missing")?;
    let (_, body) = after.split_once('\n').unwrap_or_default();
    Ok(body.split("\n## [").next().unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A verb.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n";

    #[test]
    fn the_unreleased_entries_move_under_the_new_version() {
        let after = release(BEFORE, "0.2.0", "2026-02-02").unwrap();
        assert!(after.contains("## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n### Added"));
        assert_eq!(section(&after, "0.2.0").unwrap(), "### Added\n\n- A verb.");
        assert_eq!(section(&after, "0.1.0").unwrap(), "- First.");
    }

    #[test]
    fn an_empty_section_cannot_be_released() {
        let once = release(BEFORE, "0.2.0", "2026-02-02").unwrap();
        assert!(release(&once, "0.3.0", "2026-03-03").is_err());
        assert!(release("# Changelog\n", "0.2.0", "2026-02-02").is_err());
    }
}
