//! `traj export`: a session with its trajectory as a redacted bundle.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;
use traj_core::care::session_store::{agent_of_key, default_store_path, is_safe_id};
use traj_core::gather::{sub_agent_folder, thread_folder};
use traj_core::id::{BundleName, SessionId};
use traj_core::timestamp::UnixMillis;
use traj_export::chat::ChatExport;
use traj_export::{
    ExportError, ExportLimits, ExportPorts, ExportReport, ExportRequest, Selection, export,
};
use traj_fs::{BundleForm, FsSources};

use super::Outcome;
use crate::command_error::{CommandError, explain_export};
use crate::compose::Host;
use crate::interruption::Interruption;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::progress::WorkBar;
use crate::quantity::counted;
use crate::resolve::export::{ExportDestination, setup as export_setup};
use crate::resolve::{self, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;

/// The times that an export accepts, in milliseconds: 1970 to 9999.
const NOW: std::ops::RangeInclusive<i64> = 0..=253_402_300_799_999;

#[derive(Clone, Debug, Args)]
#[command(
    long_about = "Exports a session as a support bundle: its events in order, the active \
                  branch, prompts, tools and results. Secrets and local paths are \
                  hidden.\n\nThe bundle is read back and scanned before it appears. If anything \
                  fails, no bundle is written. Without SESSION, exports the newest session of \
                  this workspace, or else of this machine.",
    after_help = concat!(
        "Examples:\n",
        "  traj export                                the newest session of this workspace\n",
        "  traj export agent:main:main --archive zip  by key, as one file\n",
        "  traj export 0197f2c4 --output bug-1234     by the beginning of an id\n",
        "\n",
        "Exit codes: 0 exported · 1 failed · 2 wrong usage · 3 a secret survived, nothing was \
         written · 4 the store is damaged, or the session file has an unknown format · 128+N \
         ended by signal N, nothing was written"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The session's id, if the transcript does not state it
    #[arg(long, value_name = "ID", requires = "session")]
    session_id: Option<String>,
    /// The sidecar [default: the one next to the session]
    #[arg(long, value_name = "FILE")]
    runtime: Option<PathBuf>,
    /// The directory that the agent worked in; the bundle hides its path
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// The name of the bundle, relative to the exports directory [default: session and time]
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
    /// The exports directory [default: .openclaw/trajectory-exports in the workspace]
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,
    /// Write one file instead of a directory
    #[arg(long, value_enum, value_name = "FORM")]
    archive: Option<Archive>,
    /// The creation time of the bundle [default: SOURCE_DATE_EPOCH, else now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
    /// The number of threads [default: one per core, at most four]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
    /// Reject sessions that are larger than other exporters accept
    #[arg(long)]
    strict_limits: bool,
    /// Export the session even if it contains no events
    #[arg(long)]
    allow_empty: bool,
    /// A request from a chat, as traj_export::chat encodes it
    #[arg(
        long,
        value_name = "WORD",
        conflicts_with_all = ["subject", "session", "session_key", "store", "agent", "output"]
    )]
    request: Option<String>,
}

impl Arguments {
    /// The arguments with the members of a request from a chat in their places.
    fn with_request(&self) -> Result<Cow<'_, Self>, CommandError> {
        let Some(word) = &self.request else { return Ok(Cow::Borrowed(self)) };
        let request = ChatExport::decode(word).map_err(|error| {
            CommandError::usage("--request is not a request for an export")
                .because(error)
                .hint("make it with traj_export::chat::ChatExport::encode")
        })?;
        let mut arguments = self.clone();
        arguments.subject.session_key = Some(request.session_key);
        arguments.subject.store = request.store.map(PathBuf::from);
        arguments.subject.agent = request.agent;
        arguments.workspace = PathBuf::from(request.workspace);
        arguments.output = request.output.map(|name| name.as_str().to_owned());
        Ok(Cow::Owned(arguments))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Archive {
    Zip,
    #[value(name = "tar.zst")]
    TarZst,
}

/// The exported bundle, for scripts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Exported {
    /// The absolute path of the bundle.
    output_dir: String,
    /// Its path relative to the workspace.
    display_path: String,
    #[serde(flatten)]
    report: ExportReport,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Exported>("export");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let arguments = &*arguments.with_request()?;
    let workspace = host.absolute(&arguments.workspace);
    let request = request(arguments, host, output, &workspace)?;
    let interruption = Interruption::watch(host)?;
    let stop = interruption.stop_flag();
    let sources = sources(host, &request)?.stopping_at(stop.clone());
    let ExportDestination { sink, path: folder } = place(arguments, host, &workspace)?;
    let sink = sink.stopping_at(stop);
    let bar = WorkBar::new(output);
    let report = export(ExportPorts { sources: &sources, sink: &sink }, &request, &bar).map_err(
        |error| {
            let is_missing = matches!(&error, ExportError::Source(error) if error.is_not_found());
            let explained = explain_export(error, &interruption);
            if is_missing { explained.hint(where_else(&request.selection)) } else { explained }
        },
    )?;
    bar.finish();
    let path = folder.join(&report.name);
    let display = path.strip_prefix(&workspace).unwrap_or(&path);
    let from_here = path.strip_prefix(&host.facts.current_dir).unwrap_or(&path).to_owned();
    let exported = Exported {
        output_dir: path.to_string_lossy().into_owned(),
        display_path: display.to_string_lossy().into_owned(),
        report,
    };
    let complete = |error: CommandError| {
        error.hint(format!("the bundle is complete: {}", from_here.display()))
    };
    output.result(&exported, |exported| describe(exported, &from_here)).map_err(complete)?;
    Ok(ExitCode::SUCCESS)
}

fn request(
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
    workspace: &Path,
) -> Result<ExportRequest, CommandError> {
    let redactor = export_setup::redactor(host, output, workspace)?;
    let workspace = workspace.to_string_lossy();
    let (selection, sidecar) = selection(arguments, host, output)?;
    let mut request =
        ExportRequest::new(selection, workspace, now(arguments.now.as_deref(), host)?, redactor);
    let name = arguments.output.as_deref().filter(|name| !name.trim().is_empty());
    request.name = name.map(bundle_name).transpose()?;
    let runtime = arguments.runtime.as_deref();
    request.sidecar.runtime_file = runtime.map(|file| name_of(file, host)).transpose()?.or(sidecar);
    if arguments.strict_limits {
        request.limits = ExportLimits::strict();
    }
    request.allows_empty = arguments.allow_empty;
    export_setup::adapt(&mut request, host);
    if let Some(threads) = arguments.threads {
        request.workers = threads;
    }
    Ok(request)
}

/// The session to export: a file as the user named it, a key with its store,
/// anything else as resolved.
fn selection(
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
) -> Result<(Selection, Option<String>), CommandError> {
    let subject = &arguments.subject;
    if let Some(session) = &subject.session {
        let id = arguments.session_id.as_deref().map(SessionId::parse).transpose();
        let session_id = id.map_err(|error| {
            CommandError::usage("--session-id is not a valid id").because(error)
        })?;
        let session_key = subject.session_key.clone();
        let selection = Selection::with_names(name_of(session, host)?, session_id, session_key);
        return Ok((selection, None));
    }
    let Some(session_key) = subject.session_key.clone() else {
        let session = resolve::chosen(subject, Unnamed::Newest, host, output)?;
        let file = export_setup::text_of(&session.file)?;
        let sidecar = session.sidecar.as_deref().map(export_setup::text_of).transpose()?;
        return Ok((Selection::with_names(file, None, session.key), sidecar));
    };
    let agent = subject.agent.as_deref().unwrap_or_else(|| agent_of_key(&session_key));
    if !is_safe_id(agent) {
        return Err(CommandError::usage("--agent is not the id of an agent")
            .hint("give its id, such as main; pass another store with --store FILE"));
    }
    let store = match (&subject.store, host.facts.agents_root()) {
        // Its entries name files relative to the store.
        (Some(store), _) => export_setup::text_of(&host.absolute(store))?,
        (None, Some(state_dir)) => default_store_path(&state_dir, agent),
        (None, None) => {
            return Err(CommandError::usage("there is no state directory to search for sessions")
                .hint("set HOME or OPENCLAW_STATE_DIR, or pass the store with --store"));
        }
    };
    Ok((Selection::key(session_key, store), None))
}

/// A file as the user named it, or its absolute path if that name is not plain, or
/// does not say where the files of its sub-agents are.
fn name_of(file: &Path, host: &Host) -> Result<String, CommandError> {
    let text = export_setup::text_of(file)?;
    let absolute = export_setup::text_of(&host.absolute(file))?;
    let is_plain = !text.starts_with('~') && !text.split('/').any(|part| part == "..");
    let is_alone = sub_agent_folder(&absolute).is_none() && thread_folder(&absolute).is_none();
    let says_all = text.contains('/') || is_alone;
    Ok(if is_plain && says_all { text } else { absolute })
}

/// The time of an export: as named, as `SOURCE_DATE_EPOCH` says, or now.
pub(super) fn now(named: Option<&str>, host: &Host) -> Result<UnixMillis, CommandError> {
    if let Some(text) = named {
        let time = UnixMillis::parse_lenient(text);
        return time.filter(|time| NOW.contains(&time.as_millis())).ok_or_else(|| {
            CommandError::usage("--now is not a time since 1970")
                .hint("for example 2026-06-01T10:00:00Z")
        });
    }
    match host.facts.variables.get("SOURCE_DATE_EPOCH") {
        None => Ok(Host::now()),
        Some(seconds) => seconds
            .parse::<i64>()
            .ok()
            .and_then(|seconds| seconds.checked_mul(1_000))
            .filter(|millis| NOW.contains(millis))
            .and_then(UnixMillis::new)
            .ok_or_else(|| {
                CommandError::usage("SOURCE_DATE_EPOCH is not a number of seconds")
                    .hint("unset it, or give the time with --now 2026-06-01T10:00:00Z")
            }),
    }
}

/// Parses a number of threads: at least one, up to a sensible maximum.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    const MOST: usize = 16;
    let number = text.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= MOST);
    number.ok_or_else(|| format!("give a number from 1 to {MOST}"))
}

fn bundle_name(name: &str) -> Result<BundleName, CommandError> {
    BundleName::parse(name).map_err(|error| {
        CommandError::usage(format!("--output: {error}"))
            .hint("give a plain name such as bug-1234")
            .hint("to write elsewhere, pass the directory with --output-root DIR")
    })
}

/// The directories that this export may read from.
fn sources(host: &Host, request: &ExportRequest) -> Result<FsSources, CommandError> {
    let parent_of = |file: &Path| host.absolute(file).parent().map(Path::to_path_buf);
    let mut named: Vec<PathBuf> = Vec::new();
    named.extend(request.sidecar.runtime_file.as_deref().map(Path::new).and_then(parent_of));
    named.extend(match &request.selection {
        Selection::File { session, .. } => parent_of(Path::new(session)),
        Selection::Key { store, .. } => parent_of(Path::new(store)),
        _ => None,
    });
    export_setup::readable(&named, host, request)
}

/// The hint for a missing input: where else it may be.
const fn where_else(selection: &Selection) -> &'static str {
    match selection {
        Selection::Key { .. } => "name another store with --store, or another agent with --agent",
        _ => "if the sidecar is elsewhere, name it with --runtime",
    }
}

/// The directory for the bundle.
fn place(
    arguments: &Arguments,
    host: &Host,
    workspace: &Path,
) -> Result<ExportDestination, CommandError> {
    let form = match arguments.archive {
        None => BundleForm::Folder,
        Some(Archive::Zip) => BundleForm::Zip,
        Some(Archive::TarZst) => BundleForm::TarZst,
    };
    match &arguments.output_root {
        Some(named) => ExportDestination::named(named, form, host),
        None => ExportDestination::in_workspace(workspace, form, host),
    }
}

fn describe(exported: &Exported, path: &Path) -> String {
    let report = &exported.report;
    let mut lines = vec![
        format!("exported {}", escape_control(&path.to_string_lossy())),
        format!("  session   {}", escape_control(&report.session_id)),
        format!(
            "  events    {} ({} runtime, {} transcript)",
            report.event_count, report.runtime_event_count, report.transcript_event_count
        ),
        format!("  files     {}", report.files.join(", ")),
        format!("  digest    {}", report.digest),
    ];
    let hidden: u64 = report.redactions.values().sum();
    lines.push(format!("  redacted  {}", counted(hidden, "value")));
    for warning in report.warnings.iter().chain(&report.notices) {
        let rows: Vec<String> =
            warning.rows.iter().filter(|row| **row > 0).map(u64::to_string).collect();
        let rows =
            if rows.is_empty() { String::new() } else { format!(" (rows {})", rows.join(", ")) };
        lines.push(format!(
            "  warning   {} × {}: {}{rows}",
            warning.count, warning.code, warning.message
        ));
    }
    lines.join("\n") + "\n"
}
