//! The command line as typed: global flags, and usage errors as text or JSON.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use traj_core::settings::configuration::Color;

use crate::command::Command;
use crate::compose::Host;
use crate::{help, output};

/// The position of the global flags in help texts: after a command's own flags.
const LAST: usize = 900;

#[derive(Debug, Parser)]
#[command(name = "traj", version, propagate_version = true, max_term_width = 100)]
#[command(
    about = "The flight recorder for agent runs: record, redact, export, verify and repair what an \
             agent did",
    long_about = "The flight recorder for agent runs: record, redact, export, verify and repair \
                  what an agent did.\n\nA session is an agent's transcript of a conversation: a \
                  file of JSON lines. Its sidecar (NAME.trajectory.jsonl) is the file next to it \
                  with the recorded events. A bundle contains both, without secrets, so that you \
                  can share it. The store is the file in which OpenClaw lists its sessions by key.",
    after_help = concat!(
        "Examples:\n",
        "  traj sessions       list your sessions\n",
        "  traj show           read the newest one\n",
        "  traj tail --follow  watch it while it runs\n",
        "  traj export         make a bundle of it\n",
        "  traj verify BUNDLE  check a bundle that somebody sent you\n",
        "\n",
        "Exit codes: 0 done · 1 failed · 2 wrong usage · 3 findings · 4 damaged input"
    )
)]
// A doc comment would override the `about` texts above.
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Whether only the name of the program was typed, on a terminal.
    #[arg(skip)]
    pub(crate) is_bare: bool,

    /// Print one JSON document instead of text, also for errors
    #[arg(long, global = true, display_order = LAST)]
    pub(crate) json: bool,

    /// When to use colors [default: as configured, else auto]
    #[arg(long, global = true, value_enum, value_name = "WHEN", display_order = LAST + 1)]
    pub(crate) color: Option<ColorChoice>,

    /// Print only results and errors
    #[arg(long, short, global = true, display_order = LAST + 2)]
    pub(crate) quiet: bool,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// The user's color preference.
    pub(crate) const fn preference(self) -> Color {
        match self {
            Self::Auto => Color::Auto,
            Self::Always => Color::Always,
            Self::Never => Color::Never,
        }
    }
}

/// The clap definition, for completions and the man page.
pub(crate) fn definition() -> clap::Command {
    help::with_groups(Cli::command())
}

/// Parses the command line. Prints help and usage errors itself.
pub(crate) fn parse(host: &Host) -> Result<Cli, ExitCode> {
    let parsed = definition().try_get_matches_from(host.arguments()).and_then(|mut matches| {
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition()))
    });
    parsed.or_else(|error| if_bare(host).ok_or(error)).map_err(|error| {
        let wants_json = asks_for_json(host.arguments());
        if error.use_stderr() && wants_json {
            output::usage_error_as_json(&error)
        } else {
            output::print_usage(&error);
            ExitCode::from(u8::from(error.use_stderr()) * 2)
        }
    })
}

/// For `traj` alone on a terminal: the command that lists the newest sessions.
fn if_bare(host: &Host) -> Option<Cli> {
    if host.arguments().len() > 1 || !std::io::stdout().is_terminal() {
        return None;
    }
    let mut cli = Cli::try_parse_from(["traj", "sessions"]).ok()?;
    cli.is_bare = true;
    Some(cli)
}

/// Whether `--json` is among the options. Words after `--` are not options.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let mut options = arguments.take_while(|argument| argument != "--");
    options.any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_after_a_double_dash_is_a_name() {
        let asks = |line: &str| asks_for_json(line.split(' ').map(OsString::from));
        assert!(asks("traj verify --bogus --json"));
        assert!(asks("traj --json verify --bogus -- x"));
        assert!(!asks("traj verify --bogus -- --json"));
        assert!(!asks("traj verify"));
    }
}
