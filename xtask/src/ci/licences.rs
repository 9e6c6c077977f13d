//! Licences and sources of everything in the lock file.
//!
//! The allow-list is the one of `deny.toml`, so that cargo-deny, where it is
//! installed, and this check can never disagree.

use anyhow::{Result, bail, ensure};

use super::Outcome;
use crate::workspace::Workspace;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(workspace: &Workspace) -> Result<Outcome> {
    let allowed = allow_list(&workspace.read("deny.toml")?)?;
    let metadata = workspace.metadata(&["--locked", "--all-features"])?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut problems = Vec::new();
    let mut foreign = 0;
    for package in packages {
        let name = package["name"].as_str().unwrap_or("?");
        // Our own members have no source.
        let Some(source) = package["source"].as_str() else { continue };
        foreign += 1;
        if source != CRATES_IO {
            problems.push(format!("{name} does not come from crates.io"));
        }
        match package["license"].as_str() {
            Some(expression) if permits(expression, &allowed) => {}
            Some(expression) => problems.push(format!("{name}: `{expression}` is not on the list")),
            None => problems.push(format!("{name} names no licence")),
        }
    }
    ensure!(foreign > 0, "cargo metadata lists no dependency: nothing was checked");
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(Outcome::Noted(format!("{foreign} packages, every licence on the list of deny.toml")))
}

/// The strings of `allow = [ … ]` under `[licenses]`.
fn allow_list(deny: &str) -> Result<Vec<String>> {
    let section = deny.split("[licenses]").nth(1).unwrap_or_default();
    let list = section.split("allow = [").nth(1).and_then(|rest| rest.split(']').next());
    let Some(list) = list else { bail!("deny.toml has no `allow = [` under `[licenses]`") };
    Ok(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Whether an SPDX expression can be met with the allowed licences alone.
///
/// `OR` needs one side, `AND` both; the old `A/B` form means `A OR B`.
/// `X WITH exception` is taken as one name and must be on the list as such.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) == Some(true) && rest.is_empty()
}

/// `None` where the expression breaks off. Both sides of an operator are read
/// before they are joined, because the cursor must move past each.
fn any_of(rest: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = all_of(rest, allowed)?;
    while let ["OR", tail @ ..] = *rest {
        *rest = tail;
        met |= all_of(rest, allowed)?;
    }
    Some(met)
}

fn all_of(rest: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = licence(rest, allowed)?;
    while let ["AND", tail @ ..] = *rest {
        *rest = tail;
        met &= licence(rest, allowed)?;
    }
    Some(met)
}

fn licence(rest: &mut &[&str], allowed: &[String]) -> Option<bool> {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let met = any_of(rest, allowed)?;
            let [")", tail @ ..] = *rest else { return None };
            *rest = tail;
            Some(met)
        }
        [name, "WITH", exception, tail @ ..] => {
            *rest = tail;
            Some(allowed.contains(&format!("{name} WITH {exception}")))
        }
        [name, tail @ ..] if !matches!(*name, "OR" | "AND" | "WITH" | ")") => {
            *rest = tail;
            Some(allowed.iter().any(|entry| entry == name))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permitted(expression: &str) -> bool {
        permits(expression, &["MIT".to_owned(), "Apache-2.0".to_owned(), "Unicode-3.0".to_owned()])
    }

    #[test]
    fn alternatives_need_one_side_and_conjunctions_both() {
        assert!(permitted("MIT OR GPL-3.0"));
        assert!(permitted("GPL-3.0 OR MIT"));
        assert!(permitted("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(permitted("Unlicense/MIT"));
        assert!(!permitted("MIT AND GPL-3.0"));
        assert!(!permitted("GPL-3.0 OR (MIT AND LGPL-2.1)"));
    }

    #[test]
    fn an_exception_is_a_licence_of_its_own() {
        assert!(permitted("Apache-2.0 WITH LLVM-exception OR MIT"));
        assert!(!permitted("Apache-2.0 WITH LLVM-exception"));
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_refused() {
        for broken in ["", "MIT OR", "(MIT", "MIT Apache-2.0", "OR MIT"] {
            assert!(!permitted(broken), "{broken}");
        }
    }

    #[test]
    fn the_list_is_read_from_the_licenses_section() {
        let deny =
            "[bans]\nallow = [\"x\"]\n[licenses]\nallow = [\n  \"MIT\", # ours\n  \"Zlib\",\n]\n";
        assert_eq!(allow_list(deny).unwrap(), ["MIT", "Zlib"]);
        assert!(allow_list("[bans]\n").is_err());
    }
}
