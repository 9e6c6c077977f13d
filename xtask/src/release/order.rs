//! The order in which crates can be published: dependencies first.

use anyhow::{Result, bail};

use crate::workspace::Member;

/// The names of the published members, in order; alphabetical where the order is free.
pub(super) fn publish_order(members: &[Member]) -> Result<Vec<String>> {
    let mut waiting: Vec<&Member> = members.iter().filter(|member| member.published).collect();
    waiting.sort_by(|left, right| left.name.cmp(&right.name));
    let mut order = Vec::new();
    while !waiting.is_empty() {
        // Development dependencies with a path are not packaged, so they do not matter here.
        let ready = waiting.iter().position(|member| {
            member
                .dependencies
                .iter()
                .filter(|dependency| dependency.normal)
                .all(|dependency| !waiting.iter().any(|other| other.name == dependency.name))
        });
        let Some(index) = ready else { bail!("the published crates have a dependency cycle") };
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
    fn a_cycle_is_rejected() {
        assert!(publish_order(&[member("a", true, &["b"]), member("b", true, &["a"])]).is_err());
    }
}
