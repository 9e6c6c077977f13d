//! `traj --help`: the commands in groups.
//!
//! The list is built from the clap definition. Commands without a group are
//! listed last.

use std::fmt::Write as _;

/// The exit codes of verbs that show a session or a bundle, for their help.
macro_rules! reading_exit_codes {
    () => {
        "Exit codes: 0 shown · 1 not found or not readable · 2 wrong usage · 3 a secret \
         survived · 4 damaged or not a bundle, shown as far as possible · 128+N ended by signal \
         N"
    };
}
pub(crate) use reading_exit_codes;

/// The headings and the commands under each.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Look at runs", &["sessions", "show", "view", "inspect", "tail"]),
    ("Share runs", &["export", "convert", "import", "verify", "scan", "redact", "rules"]),
    ("Many hosts", &["ship", "query", "lake"]),
    ("Record runs", &["record", "codex"]),
    ("Maintain sessions", &["trim", "repair", "prune"]),
    ("Set up", &["config", "doctor", "schema", "completions", "man", "help"]),
];

/// The heading for commands without a group.
const UNGROUPED: &str = "Other commands";

/// Replaces the help template with one that lists the commands in groups.
pub(crate) fn with_groups(command: clap::Command) -> clap::Command {
    let commands = grouped_commands(&command);
    let header = *command.get_styles().get_header();
    command.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n\
         {{usage-heading}} {{usage}}\n\n\
         {commands}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

fn grouped_commands(command: &clap::Command) -> String {
    let mut rest: Vec<(&str, String)> = command
        .get_subcommands()
        .map(|verb| {
            (verb.get_name(), verb.get_about().map(ToString::to_string).unwrap_or_default())
        })
        .collect();
    rest.push(("help", "Print help for a command".to_owned()));
    let width = rest.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let header = command.get_styles().get_header();
    let mut text = String::new();
    let mut add = |heading: &str, verbs: &[(&str, String)]| {
        if !verbs.is_empty() {
            let lines: String =
                verbs.iter().map(|(name, about)| format!("  {name:width$}  {about}\n")).collect();
            // Writing to a string cannot fail.
            let _written = write!(text, "{header}{heading}:{header:#}\n{lines}\n");
        }
    };
    for (heading, names) in GROUPS {
        let mut verbs = Vec::new();
        for name in names {
            if let Some(position) = rest.iter().position(|(verb, _)| verb == name) {
                verbs.push(rest.remove(position));
            }
        }
        add(heading, &verbs);
    }
    add(UNGROUPED, &rest);
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Cli;

    #[test]
    fn every_command_is_listed_once_in_a_group() {
        let command = Cli::command();
        let text = grouped_commands(&command);
        let listed: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
        for verb in command.get_subcommands() {
            let name = verb.get_name();
            assert_eq!(listed.iter().filter(|listed| **listed == name).count(), 1, "{name}");
            assert!(verb.get_about().is_some(), "{name}");
        }
        assert_eq!(listed.len(), command.get_subcommands().count() + 1, "and `help`: {listed:?}");
        assert!(!text.contains(UNGROUPED), "{text}");
    }

    #[test]
    fn a_command_without_a_group_is_listed_last() {
        let command = Cli::command().subcommand(clap::Command::new("brand-new").about("Try it"));
        let text = grouped_commands(&command);
        assert!(
            text.contains("Other commands:") && text.ends_with("\n  brand-new    Try it\n\n"),
            "{text}"
        );
    }

    #[test]
    fn the_lines_fit_into_a_terminal() {
        for line in grouped_commands(&Cli::command()).lines() {
            assert!(line.chars().count() <= 80, "{line}");
            assert!(!line.contains('{'), "a template would expand it: {line}");
        }
    }
}
