//! The order in which crates can be published: dependencies first.

use anyhow::{Result, bail};

use crate::workspace::Member;

/// Names of the published members; among those that are ready, alphabetical.
pub(super) fn publish_order(members: &[Member]) -> Result<Vec<String>> {
    let mut waiting: Vec<&Member> = members.iter().filter(|member| member.published).collect();
    waiting.sort_by(|left, right| left.name.cmp(&right.name));
    let mut order = Vec::new();
    while !waiting.is_empty() {
        // Development dependencies with a path are left out of a package: they do not order.
        let ready = waiting.iter().position(|member| {
            member
                .dependencies
                .iter()
                .filter(|dependency| dependency.normal)
                .all(|dependency| !waiting.iter().any(|other| other.name == dependency.name))
        });
        let Some(index) = ready else {
            bail!("the published crates depend on each other in a circle")
        };
        order.push(waiting.remove(index).name.clone());
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn member(name: &str, published: bool, dependencies: &[&str]) -> Member {
        Member {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            manifest: "Cargo.toml".into(),
            published,
            library: true,
            dependencies: dependencies
                .iter()
                .map(|&name| Dependency { name: name.to_owned(), normal: true })
                .collect(),
        }
    }

    #[test]
    fn dependencies_come_first_and_private_crates_not_at_all() {
        let members = [
            member("cli", true, &["export", "core", "serde"]),
            member("core", true, &["serde"]),
            member("export", true, &["core"]),
            member("tests", false, &["cli"]),
        ];
        assert_eq!(publish_order(&members).unwrap(), ["core", "export", "cli"]);
    }

    #[test]
    fn a_circle_is_refused() {
        assert!(publish_order(&[member("a", true, &["b"]), member("b", true, &["a"])]).is_err());
    }
}
