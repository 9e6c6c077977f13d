//! Every help text, and a check that the documentation names only commands and
//! flags that exist.
#![expect(clippy::disallowed_methods, reason = "the documentation is in the repository")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use traj_tests::traj_binary::{printed, traj_command};

/// The help of a command and of its subcommands, by their words.
fn helps(words: &[String], found: &mut BTreeMap<Vec<String>, String>) {
    let home = tempfile::tempdir().unwrap();
    let output = traj_command(home.path()).args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "{words:?}");
    let help = printed(&output);
    // Commands are listed between the usage and the options, under one or more headings.
    let listed = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let names = listed.take_while(|line| *line != "Options:").filter_map(|line| {
        // The description of a command may have several lines; its name is at the left.
        let line = line.strip_prefix("  ").filter(|line| line.starts_with(char::is_alphabetic))?;
        line.split(' ').next()
    });
    for name in names.filter(|name| *name != "help") {
        helps(&[words, &[name.to_owned()]].concat(), found);
    }
    found.insert(words.to_vec(), help);
}

fn all_helps() -> BTreeMap<Vec<String>, String> {
    let mut found = BTreeMap::new();
    helps(&[], &mut found);
    found
}

#[test]
fn every_command_explains_itself() {
    let helps = all_helps();
    assert!(helps.len() > 20, "{:?}", helps.keys());
    for (words, help) in helps {
        assert!(help.contains("\nExit codes: "), "{words:?}");
        let examples = help.split_once("\nExamples:\n").map(|(_, rest)| rest);
        let examples = examples.unwrap_or_else(|| panic!("{words:?} has no examples"));
        let first = examples.lines().next().unwrap_or_default();
        let example = [&["traj".to_owned()], words.as_slice()].concat().join(" ");
        assert!(first.starts_with("  ") && first.contains(&example), "{words:?}: {first}");
        let name = [&["help".to_owned()], words.as_slice()].concat().join("_");
        // The flags that all commands share are shown once, with `traj` itself.
        let own = match help.split_once("      --json\n") {
            Some((own, shared)) if !words.is_empty() => {
                let rest = shared.split_once("Print version\n").unwrap().1;
                format!("{own}      [the flags of all commands]\n{rest}")
            }
            _ => help,
        };
        insta::assert_snapshot!(name, own);
    }
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The command lines of a page: in code spans, and after `$ `.
fn command_lines(page: &str) -> Vec<&str> {
    let prompts = page.lines().filter_map(|line| line.strip_prefix("$ "));
    let spans = page.split('`').skip(1).step_by(2);
    let lines = prompts.chain(spans).filter(|line| !line.contains('\n'));
    lines.filter_map(|line| line.trim().strip_prefix("traj ")).collect()
}

#[test]
fn the_documentation_names_only_commands_that_exist() {
    let helps = all_helps();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = vec![];
    pages(&root.join("docs"), &mut found);
    let top = ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    found.extend(top.map(|name| root.join(name)));
    let mut checked = 0;
    for page in found {
        let text = fs::read_to_string(&page).unwrap();
        for line in command_lines(&text) {
            // Words after `#` are a comment; `traj` alone lists sessions.
            let words = line.split_whitespace().take_while(|word| *word != "#");
            let words: Vec<String> = words.map(str::to_owned).collect();
            if words.first().is_none_or(|word| word == "COMMAND") {
                continue;
            }
            let known = (1..=words.len()).rev().find_map(|count| helps.get(&words[..count]));
            let help = known.unwrap_or_else(|| panic!("{}: traj {line}", page.display()));
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                let is_there = help.split(|letter: char| letter.is_whitespace() || letter == ',');
                let is_there = is_there.into_iter().any(|word| word == flag);
                assert!(is_there, "{}: traj {line}: {flag}", page.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} command lines were found");
}
