//! The commands, one file each. A command turns its flags into library calls and
//! their results into output; the decisions are made in the libraries.
//!
//! In the order of `traj --help`: `sessions`, `show`, `view`, `inspect` and `tail` read runs;
//! `export`, `convert`, `import`, `verify`, `scan`, `redact` and `rules` share them; `ship`,
//! `query` and `lake` are about those of many hosts; `record` and `codex` record them; `trim`, `repair` and `prune`
//! maintain them; `config`, `doctor`, `schema`, `completions` and `man` set traj up.

mod codex;
mod completions;
mod config;
mod convert;
mod doctor;
pub(crate) mod export;
mod import;
mod inspect;
mod lake;
mod man;
mod prune;
pub(crate) mod query;
mod record;
mod redact;
mod repair;
mod rules;
mod scan;
mod schema;
mod sessions;
mod ship;
mod show;
mod tail;
mod trim;
pub(crate) mod verify;
mod view;

use std::process::ExitCode;

use clap::Subcommand;

use crate::arguments::Cli;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

/// What a verb returns: its exit code, or the error that made it fail.
pub(crate) type Outcome = Result<ExitCode, CommandError>;

// A doc comment would override the `long_about` of the arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(about = "Record events from standard input into a session's sidecar")]
    Record(record::Arguments),
    #[command(about = "Export a session as a redacted, verifiable bundle")]
    Export(export::Arguments),
    #[command(about = "Write a session of any agent in the format of OpenClaw")]
    Import(import::Arguments),
    #[command(about = "List sessions")]
    Sessions(sessions::Arguments),
    #[command(about = "Print the newest events of a session, or follow it")]
    Tail(tail::Arguments),
    #[command(about = "Shorten past tool results, or undo that")]
    Trim(trim::Arguments),
    #[command(about = "Remove files of sessions that no longer exist")]
    Prune(prune::Arguments),
    #[command(about = "Find problems in a session file and write a repaired copy")]
    Repair(repair::Arguments),
    #[command(about = "Check the setup: settings, directories and where traj can write")]
    Doctor(doctor::Arguments),
    #[command(about = "Show the settings in effect and where each comes from")]
    Config(config::Arguments),
    #[command(about = "Bind sessions to Codex threads and run turns on them")]
    Codex(codex::Arguments),
    #[command(about = "Summarise a session or bundle")]
    Inspect(inspect::Arguments),
    #[command(about = "Read the conversation of a session or bundle")]
    Show(show::Arguments),
    #[command(about = "Write a session or bundle as one HTML page")]
    View(view::Arguments),
    #[command(about = "Write sessions or bundles in a format that other tools read")]
    Convert(convert::Arguments),
    #[command(about = "Ship sessions to a dataset of many hosts")]
    Ship(ship::Arguments),
    #[command(about = "Query a dataset of many hosts with the installed DuckDB")]
    Query(query::Arguments),
    #[command(about = "Check a dataset, remove sessions, print views for engines")]
    Lake(lake::Arguments),
    #[command(about = "Check that a bundle is complete, unchanged and free of secrets")]
    Verify(verify::Arguments),
    #[command(about = "Print the JSON Schema of a bundle file or of --json output")]
    Schema(schema::Arguments),
    #[command(about = "Replace secrets in standard input or a session with markers")]
    Redact(redact::Arguments),
    #[command(about = "Search files, directories and bundles for secrets")]
    Scan(scan::Arguments),
    #[command(about = "List, check and explain the redaction rules")]
    Rules(rules::Arguments),
    #[command(about = "Print a shell completion script")]
    Completions(completions::Arguments),
    #[command(about = "Print the man page")]
    Man(man::Arguments),
}

impl Command {
    /// Whether the command runs even if the configuration file is invalid. A
    /// recorder must not stop its host over a typo.
    const fn works_without_configuration(&self) -> bool {
        match self {
            Self::Record(_) | Self::Doctor(_) | Self::Schema(_) => true,
            Self::Completions(_) | Self::Man(_) => true,
            Self::Config(arguments) => arguments.works_without_configuration(),
            _ => false,
        }
    }
}

/// Runs one verb.
pub(crate) fn run(cli: Cli, host: &Host, output: &CommandOutput) -> Outcome {
    if let Some(fault) = &host.configuration.fault {
        if !cli.command.works_without_configuration() {
            return Ok(output.fail(fault));
        }
        if matches!(cli.command, Command::Record(_)) {
            let parts = [vec![fault.message.clone()], fault.causes()].concat().join(": ");
            output.note(&format!("warning: {parts}; invalid settings are ignored"));
        }
    }
    if cli.is_bare {
        return sessions::welcome::run(host, output);
    }
    match cli.command {
        Command::Record(arguments) => record::run(arguments, host, output),
        Command::Export(arguments) => export::run(&arguments, host, output),
        Command::Import(arguments) => import::run(&arguments, host, output),
        Command::Sessions(arguments) => sessions::run(&arguments, host, output),
        Command::Ship(arguments) => ship::run(&arguments, host, output),
        Command::Query(arguments) => query::run(&arguments, host, output),
        Command::Lake(arguments) => lake::run(&arguments, host, output),
        Command::Prune(arguments) => prune::run(&arguments, host, output),
        Command::Repair(arguments) => repair::run(&arguments, host, output),
        Command::Doctor(arguments) => doctor::run(&arguments, host, output),
        Command::Config(arguments) => config::run(&arguments, cli.color, host, output),
        Command::Tail(arguments) => tail::run(&arguments, host, output),
        Command::Trim(arguments) => trim::run(&arguments, host, output),
        Command::Codex(arguments) => codex::run(arguments, host, output),
        Command::Inspect(arguments) => inspect::run(&arguments, host, output),
        Command::Show(arguments) => show::run(&arguments, host, output),
        Command::View(arguments) => view::run(&arguments, host, output),
        Command::Convert(arguments) => convert::run(&arguments, host, output),
        Command::Verify(arguments) => verify::run(&arguments, host, output),
        Command::Schema(arguments) => schema::run(&arguments, output),
        Command::Redact(arguments) => redact::run(&arguments, host, output),
        Command::Scan(arguments) => scan::run(&arguments, host, output),
        Command::Rules(arguments) => rules::run(&arguments, host, output),
        Command::Completions(arguments) => completions::run(&arguments, output),
        Command::Man(arguments) => man::run(&arguments, output),
    }
}
