//! `traj rules`: lists, checks and explains the redaction rules.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Subcommand;
use serde::Serialize;
use traj_core::redaction::RuleInfo;

use crate::command::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity::counted;
use crate::redaction_options::RuleOptions;
use crate::terminal_text::escape_control;

/// The exit codes of all subcommands.
const EXIT_CODES: &str =
    "Exit codes: 0 done · 1 failed · 2 wrong usage · 3 a rule fails its examples";

fn help_end(examples: &[&str]) -> String {
    let examples: String = examples.iter().map(|line| format!("  {line}\n")).collect();
    format!("Examples:\n{examples}\n{EXIT_CODES}")
}

#[derive(Debug, clap::Args)]
#[command(after_help = help_end(&[
    "traj rules                          list all rules",
    "traj rules explain aws-bedrock-key  show one rule",
    "traj rules explain name-token       show which field names mean a token",
    "traj rules check --rules mine.toml  test the rules of a file",
]))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List all rules (the default)
    #[command(after_help = help_end(&["traj rules list", "traj rules list --rules mine.toml"]))]
    List {
        #[command(flatten)]
        rules: RuleOptions,
    },
    /// Test every rule with its examples
    #[command(after_help = help_end(&["traj rules check", "traj rules check --rules mine.toml"]))]
    Check {
        #[command(flatten)]
        rules: RuleOptions,
    },
    /// Show what one rule looks for
    #[command(after_help = help_end(&["traj rules explain aws-bedrock-key"]))]
    Explain {
        /// The rule's id
        id: String,
        #[command(flatten)]
        rules: RuleOptions,
    },
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RuleLine<'r> {
    /// Its id.
    id: &'r str,
    /// What it finds.
    title: &'r str,
    /// The class of rules that it belongs to.
    class: &'static str,
    /// Whether it comes from a file of the user's.
    user: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Explanation<'r> {
    /// Its id.
    id: &'r str,
    /// What it finds.
    title: &'r str,
    /// The class of rules that it belongs to.
    class: &'static str,
    /// Whether it comes from a file of the user's.
    user: bool,
    /// What a value looks like.
    pattern: Option<&'r str>,
    /// For a rule about names of fields: which names, and what happens to their
    /// values. The examples are names.
    names: Option<&'r str>,
    /// Words of which one must be near.
    keywords: &'r [&'r str],
    /// How random a value must be.
    entropy: Option<f64>,
    /// What it finds.
    examples: &'r [String],
    /// What it does not find.
    counter_examples: &'r [String],
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CheckReport {
    /// How many rules were checked.
    rules: usize,
    /// Rules that do not fit their examples.
    problems: Vec<String>,
}

pub(crate) const DOCUMENTS: [JsonDocument; 3] = [
    JsonDocument::of::<Vec<RuleLine<'static>>>("rules-list"),
    JsonDocument::of::<Explanation<'static>>("rules-explain"),
    JsonDocument::of::<CheckReport>("rules-check"),
];

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    match &arguments.verb {
        None => list(&traj_core::redaction::RuleSet::builtin(), output),
        Some(Verb::List { rules }) => list(&rules.rule_set(host)?, output),
        Some(Verb::Check { rules }) => {
            let rules = rules.rule_set(host)?;
            let problems: Vec<String> = rules.check().iter().map(ToString::to_string).collect();
            let fault = (!problems.is_empty()).then_some(ErrorKind::Findings);
            output.verdict(&CheckReport { rules: rules.len(), problems }, fault, |report| {
                let mut text = report
                    .problems
                    .iter()
                    .map(|problem| format!("{}\n", escape_control(problem)))
                    .collect::<String>();
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "{}, {}",
                    counted(report.rules as u64, "rule"),
                    counted(report.problems.len() as u64, "problem")
                );
                text
            })
        }
        Some(Verb::Explain { id, rules }) => {
            let rules = rules.rule_set(host)?;
            let rule = rules.get(id).ok_or_else(|| {
                CommandError::usage(format!("there is no rule called {id:?}"))
                    .hint("`traj rules list` lists all rules")
            })?;
            explain(&rule, output)
        }
    }
}

fn list(rules: &traj_core::redaction::RuleSet, output: &CommandOutput) -> Outcome {
    let lines: Vec<RuleInfo<'_>> = rules.iter().collect();
    let lines: Vec<RuleLine<'_>> = lines
        .iter()
        .map(|rule| RuleLine {
            id: rule.id,
            title: rule.title,
            class: rule.class.name(),
            user: rule.user,
        })
        .collect();
    output.result(&lines, |lines| {
        lines
            .iter()
            .map(|rule| {
                format!(
                    "{:<28} {:<11} {}\n",
                    escape_control(rule.id),
                    rule.class,
                    escape_control(rule.title)
                )
            })
            .collect()
    })?;
    Ok(ExitCode::SUCCESS)
}

fn explain(rule: &RuleInfo<'_>, output: &CommandOutput) -> Outcome {
    let explanation = Explanation {
        id: rule.id,
        title: rule.title,
        class: rule.class.name(),
        user: rule.user,
        pattern: rule.pattern,
        names: rule.names.as_deref(),
        keywords: &rule.keywords,
        entropy: rule.entropy,
        examples: &rule.examples,
        counter_examples: &rule.counter_examples,
    };
    output.result(&explanation, |rule| {
        let mut lines = vec![
            format!("{}: {}", escape_control(rule.id), escape_control(rule.title)),
            format!("class:    {}", rule.class),
        ];
        match (rule.names, rule.pattern) {
            (Some(names), _) => lines.push(format!("names:    {}", escape_control(names))),
            (None, pattern) => {
                let context = || "decided by the context of the value".into();
                lines.insert(1, format!("marker:   <redacted:{}:…>", escape_control(rule.id)));
                lines.push(format!("pattern:  {}", pattern.map_or_else(context, escape_control)));
            }
        }
        if !rule.keywords.is_empty() {
            lines.push(format!("keywords: {}", escape_control(&rule.keywords.join(", "))));
        }
        if let Some(bits) = rule.entropy {
            lines.push(format!("entropy:  at least {bits} bits per character"));
        }
        for example in rule.examples {
            let word = if rule.names.is_some() { "matches:  " } else { "hides:    " };
            lines.push(format!("{word}{}", escape_control(example)));
        }
        for example in rule.counter_examples {
            let word = if rule.names.is_some() { "not:      " } else { "leaves:   " };
            lines.push(format!("{word}{}", escape_control(example)));
        }
        lines.join("\n") + "\n"
    })?;
    Ok(ExitCode::SUCCESS)
}
