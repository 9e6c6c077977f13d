//! `traj sessions`: lists sessions.

mod cache;
mod candidate;
mod collect;
mod databases;
pub(super) mod files;
mod look;
mod parallel;
mod read;
mod report;
mod table;
pub(super) mod welcome;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use traj_core::run::Prices;
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;

use super::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::{Either, JsonDocument};
use crate::output::CommandOutput;
use crate::quantity;
use crate::resolve::AgentChoice;
use crate::terminal_text::escape_control;
use cache::SessionCache;
use collect::Collection;
use report::{Keys, ListingProblem, SessionRow, SessionsReport};

/// How many files that cannot be listed are named.
const SHOWN_PROBLEMS: usize = 10;

/// How many sessions are listed on a terminal without `--limit`.
const ON_A_TERMINAL: usize = 100;

#[derive(Debug, Args)]
#[command(
    long_about = "Lists the sessions of all agents on this machine, newest first: the time of the \
                  last event, the agent, how the last run ended, size, recorded events, tool \
                  calls, tokens, cost, model, title, and key or id. Times are UTC. `open` means \
                  that the last run has started but not ended. The title is the one that the \
                  session was given, or else its first prompt.\n\nWithout ROOT, lists the \
                  sessions below the configured roots. If none are configured, lists what \
                  Claude Code, Codex, OpenClaw and the other agents keep in their own \
                  directories, and in those that their variables name; docs/agents.md has the \
                  list. A sidecar without a transcript is listed too. Columns shrink to fit the \
                  terminal, and without --limit a terminal shows the newest 100.\n\nWhat was \
                  read is cached, redacted, in a file that only you can read, until the sessions \
                  change.",
    after_help = concat!(
        "Examples:\n",
        "  traj sessions --limit 10                        the ten newest\n",
        "  traj sessions --agent claude --workspace .      those of Claude Code in this directory\n",
        "  traj sessions --since 2d --status error,open    runs of the last two days that did not succeed\n",
        "  traj sessions ~/.codex/sessions /backup --json  two directories, as JSON\n",
        "\n",
        "Exit codes: 0 done · 1 failed, or a file could not be read · 2 wrong usage · 4 the \
         store is damaged"
    )
)]
pub(crate) struct Arguments {
    /// Directories to search recursively, session files, or stores
    #[arg(value_name = "ROOT", conflicts_with_all = ["store", "agent"])]
    roots: Vec<PathBuf>,
    /// The store that lists the sessions [default: the agent's]
    #[arg(long, value_name = "FILE", conflicts_with = "sessions")]
    store: Option<PathBuf>,
    /// Search this directory; same as ROOT
    #[arg(long, value_name = "DIR")]
    sessions: Option<PathBuf>,
    /// The program whose sessions are listed, such as claude or codex, or the id of an OpenClaw
    /// agent [default: all]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["store", "sessions"])]
    agent: Option<String>,
    /// Only sessions with an event since then: a duration such as 2d, or a date
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<Since>,
    /// Only sessions of this directory and those below it
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Only the N newest sessions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only sessions whose last run ended this way
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<Status>,
    /// A price file that overrides the built-in prices [default: as configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Read every session again, and keep nothing in the cache
    #[arg(long)]
    no_cache: bool,
    /// Print only the keys, one per line (used by shell completions)
    #[arg(long, conflicts_with_all = ["since", "workspace", "limit", "status"])]
    keys: bool,
}

/// How far back a listing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// This many milliseconds ago.
    Ago(i64),
    At(UnixMillis),
}

fn since(text: &str) -> Result<Since, String> {
    if let Ok(duration) = quantity::duration(text) {
        return Ok(Since::Ago(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)));
    }
    let has_date = text.get(..10).is_some_and(|date| date.matches('-').count() == 2);
    UnixMillis::parse_lenient(text).filter(|_| has_date).map(Since::At).ok_or_else(|| {
        "a duration like 2d (s, m, h, d, w), or a date like 2026-06-01 or 2026-06-01T10:00:00Z"
            .to_owned()
    })
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Status {
    /// Started, but did not end
    Open,
    /// Open, and marked as running in the store
    Running,
    /// With an answer
    #[value(alias = "ok")]
    Success,
    /// With an error
    #[value(alias = "failed")]
    Error,
    /// Stopped from outside, or by a timeout
    Interrupted,
    /// Cleaned up after the host lost track of it
    Cleanup,
    /// Some other way
    Other,
    /// Not stated in the files
    Unknown,
}

impl Status {
    fn fits(self, session: &SessionRow) -> bool {
        match self {
            Self::Open => session.status.as_deref() == Some("open"),
            Self::Running => session.status_shown() == Some("running"),
            Self::Unknown => session.status.is_none(),
            Self::Success | Self::Error | Self::Interrupted | Self::Cleanup => {
                session.status.as_deref() == Some(self.name())
            }
            Self::Other => {
                let known = [Self::Open, Self::Success, Self::Error, Self::Interrupted];
                let known = known.iter().chain(&[Self::Cleanup]);
                let mut known = known.map(|status| status.name());
                session.status.as_deref().is_some_and(|status| known.all(|name| name != status))
            }
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Running => "running",
            Self::Success => "success",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::Cleanup => "cleanup",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }
}

/// The filter for the listed sessions.
#[derive(Clone, Debug, Default)]
struct Filter {
    since: Option<UnixMillis>,
    status: Vec<Status>,
    limit: Option<usize>,
    /// A directory under all its names: with and without links.
    workspace: Option<Vec<PathBuf>>,
}

impl Filter {
    fn of(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Self {
        let since = arguments.since.map(|since| match since {
            Since::Ago(millis) => Host::now().plus_millis(millis.saturating_neg()),
            Since::At(at) => at,
        });
        let usual = output.terminal_width(host).filter(|_| !output.is_json());
        let limit = arguments.limit.or(usual.map(|_| ON_A_TERMINAL));
        let workspace = arguments.workspace.as_deref();
        let workspace = workspace.map(|path| vec![host.absolute(path), host.real_path(path)]);
        Self { since, status: arguments.status.clone(), limit, workspace }
    }

    fn wants(&self, session: &SessionRow) -> bool {
        self.is_new(session.updated)
            && (self.status.is_empty() || self.status.iter().any(|status| status.fits(session)))
    }

    /// Whether a session that last changed at this time may be listed.
    fn is_new(&self, at: Option<UnixMillis>) -> bool {
        self.since.is_none_or(|since| at.is_some_and(|at| at >= since))
    }

    /// Whether a session of this workspace may be listed.
    fn is_of_workspace(&self, workspace: Option<&str>) -> bool {
        self.workspace.as_ref().is_none_or(|wanted| {
            let workspace = workspace.map(Path::new);
            workspace.is_some_and(|of| wanted.iter().any(|wanted| of.starts_with(wanted)))
        })
    }
}

pub(crate) const DOCUMENT: JsonDocument =
    JsonDocument::of::<Either<SessionsReport, Keys>>("sessions");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let mut roots = arguments.roots.clone();
    roots.extend(arguments.sessions.clone());
    if roots.is_empty() && arguments.store.is_none() && arguments.agent.is_none() {
        roots = host.facts.roots().into_iter().map(PathBuf::from).collect();
    }
    let collection = if roots.is_empty() {
        let choice = AgentChoice::of(arguments.agent.as_deref());
        Collection::of_store(arguments.store.as_deref(), choice, host)?
    } else {
        Collection::of_roots(&roots, host)?
    };
    if arguments.keys {
        let keys = collection.sessions.into_iter().filter_map(|found| found.key).collect();
        output.result(&Keys { keys }, |report| {
            report.keys.iter().map(|key| format!("{}\n", escape_control(key))).collect()
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let prices = host.prices(arguments.prices.as_deref())?;
    let filter = Filter::of(arguments, host, output);
    let report = listed(collection, &filter, &prices, !arguments.no_cache, host, output)?;
    let width = output.terminal_width(host);
    let human = |report: &SessionsReport| table::describe(&report.sessions, width);
    skipped(report.unrecognised, output);
    if !report.problems.is_empty() {
        return output.failed_result(&report, &unlisted(&report.problems), human);
    }
    output.result(&report, human)?;
    if report.not_read > 0 && arguments.limit.is_none() {
        let shown = report.sessions.len();
        output.note(&format!("the newest {shown}; --limit lists more"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which files are not listed because traj cannot read them.
fn skipped(count: u64, output: &CommandOutput) {
    if count > 0 {
        let files = if count == 1 { "file" } else { "files" };
        output.note(&format!("{count} {files} skipped: unknown format"));
    }
}

/// Lists sessions with the help of the cache, and keeps what was read.
fn listed(
    collection: Collection,
    filter: &Filter,
    prices: &Prices,
    uses_cache: bool,
    host: &Host,
    output: &CommandOutput,
) -> Result<SessionsReport, CommandError> {
    // A directory of sidecars says nothing about which sessions they belong to.
    let uses_cache = uses_cache && Settings::from_host(&host.facts).trajectory_dir.is_none();
    let mut cache = if uses_cache { SessionCache::read(host) } else { SessionCache::default() };
    let report = look::look_at_all(collection, filter, prices, &mut cache, host)?;
    if uses_cache && let Err(error) = cache.write(host) {
        let causes = error.causes().join(": ");
        output.note(&format!("{}: {causes}", error.message));
    }
    Ok(report)
}

/// The error that names the files missing from a listing.
fn unlisted(problems: &[ListingProblem]) -> CommandError {
    let files = if problems.len() == 1 { "file" } else { "files" };
    let mut error = CommandError::failure(format!("cannot list {} {files}", problems.len()));
    for ListingProblem { file, problem } in problems.iter().take(SHOWN_PROBLEMS) {
        error = error.hint(format!("{file}: {problem}"));
    }
    match problems.len().saturating_sub(SHOWN_PROBLEMS) {
        0 => error,
        more => error.hint(format!("{more} more: --json lists all of them as `problems`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_duration_or_a_date() {
        assert_eq!(since("2d"), Ok(Since::Ago(2 * 86_400_000)));
        let at = |text: &str| match since(text) {
            Ok(Since::At(at)) => at.to_iso(),
            other => format!("{other:?}"),
        };
        assert_eq!(at("2026-06-01"), "2026-06-01T00:00:00.000Z");
        assert_eq!(at("2026-06-01T10:00:00+02:00"), "2026-06-01T08:00:00.000Z");
        for wrong in ["", "yesterday", "2", "12"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_session_has_one_status_besides_running() {
        let with = |status: Option<&str>| {
            let session = SessionRow { status: status.map(str::to_owned), ..SessionRow::default() };
            let fits = Status::value_variants().iter().filter(|one| one.fits(&session));
            fits.map(|one| one.name()).collect::<Vec<_>>()
        };
        for status in ["open", "success", "error", "interrupted", "cleanup"] {
            assert_eq!(with(Some(status)), [status]);
        }
        assert_eq!(with(Some("gave up")), ["other"]);
        assert_eq!(with(None), ["unknown"]);
    }
}
