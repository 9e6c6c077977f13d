//! Compares the direct dependencies of each crate with a written list.
//!
//! The list gives the reason for each dependency. A dependency that is not
//! listed is a problem, and so is an unused entry.

use std::collections::{BTreeMap, BTreeSet};

use super::list::Reasons;
use crate::workspace::Member;

pub(super) fn check(members: &[Member], written: &BTreeMap<String, Reasons>) -> Vec<String> {
    let mut problems = Vec::new();
    for member in members {
        let name = &member.name;
        let Some(allowed) = written.get(name) else {
            problems.push(format!("{name} has no section in xtask/tidy/dependencies.txt"));
            continue;
        };
        let normal = member.dependencies.iter().filter(|dependency| dependency.normal);
        let used: BTreeSet<&str> = normal.map(|dependency| dependency.name.as_str()).collect();
        for dependency in &used {
            match allowed.get(*dependency) {
                None => problems.push(format!(
                    "{name} must not depend on {dependency} (not in xtask/tidy/dependencies.txt)"
                )),
                Some(reason) if reason.is_empty() => {
                    problems
                        .push(format!("{name}: the list does not say why it uses {dependency}"));
                }
                Some(_) => {}
            }
        }
        for entry in allowed.keys().filter(|entry| !used.contains(entry.as_str())) {
            problems.push(format!("{name} no longer depends on {entry}: remove it from the list"));
        }
    }
    for section in written.keys() {
        if !members.iter().any(|member| member.name == *section) {
            problems.push(format!("the dependency list names {section}, which is not a member"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::list::parse_sections;
    use crate::workspace::Dependency;

    fn problems(dependencies: &[(&str, bool)], written: &str) -> Vec<String> {
        let dependencies = dependencies
            .iter()
            .map(|&(name, normal)| Dependency { name: name.to_owned(), normal })
            .collect();
        let member = Member {
            name: "core".to_owned(),
            version: "0.1.0".to_owned(),
            manifest: "Cargo.toml".into(),
            published: true,
            library: true,
            dependencies,
        };
        check(&[member], &parse_sections(written))
    }

    #[test]
    fn the_written_list_passes_and_tests_may_use_anything() {
        assert!(problems(&[("serde", true), ("insta", false)], "[core]\nserde  events").is_empty());
    }

    #[test]
    fn an_unwritten_an_unexplained_and_a_stale_entry_are_problems() {
        assert_eq!(problems(&[("tokio", true)], "[core]").len(), 1);
        assert_eq!(problems(&[("serde", true)], "[core]\nserde").len(), 1);
        assert_eq!(problems(&[], "[core]\nserde  events").len(), 1);
        assert_eq!(problems(&[], "[gone]").len(), 2);
    }
}
