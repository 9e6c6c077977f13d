//! `traj trim`: shortens past tool results.

mod locate;
mod pending;
mod undo;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use traj_core::care::trim::{
    Age, AutoPolicy, AutoReport, DrainReport, DrainRequest, JournalWriter, TrimError, TrimItem,
    TrimPorts, auto_trim, drain, enqueue, expire, journal_beside, queue_beside,
};
use traj_core::json::{Json, Object};
use traj_core::port::{LineLog, RewriteError, RewriteMode, SessionRewriter};
use traj_core::timestamp::UnixMillis;

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity;
use crate::resolve::gathered::check_editable;
use crate::resolve::{self, Sidecar, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Replaces the text of past tool results with a short text: in the session, in \
                  its sidecar and in the sidecar's blobs. All other lines stay the same, byte \
                  for byte, including lines that other programs append meanwhile.\n\n--undo \
                  restores trimmed text for a limited time, unless the trim was --irreversible. \
                  A sidecar is only changed if its first event belongs to the session. If the \
                  sidecar cannot be used, the command fails and changes nothing.",
    after_help = concat!(
        "Examples:\n",
        "  traj trim 0197f2c4 --tool-call call_7       one result\n",
        "  traj trim agent:main:main --auto --dry-run  list what is old and large\n",
        "  traj trim chat.jsonl --undo                 undo the newest trim\n",
        "  traj trim --agent main --session-id 0197f2c4 --queue -\n",
        "                                              run the queue of an agent's session\n",
        "  traj trim --pending                         list the queued trims\n",
        "\n",
        "Exit codes: 0 done · 1 failed, or something could not be trimmed or restored · 2 wrong \
         usage"
    )
)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)
    .args(["tool_call", "queue", "auto", "undo", "pending"])))]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The session's id, looked up in the sessions of --agent and in --agent-dir
    #[arg(long, value_name = "ID", conflicts_with_all = ["subject", "session", "session_key"])]
    session_id: Option<String>,
    /// The agent's directory; its sessions are in `sessions` in it or next to it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["subject", "session", "session_key"])]
    agent_dir: Option<PathBuf>,
    /// Trim the result of this tool call
    #[arg(long, value_name = "ID")]
    tool_call: Option<String>,
    /// Replacement text, after the trim marker [default: marker only]
    #[arg(long, value_name = "TEXT", requires = "tool_call")]
    replacement: Option<String>,
    /// The tool call that asked for the trim; its input is shortened
    #[arg(long, value_name = "ID", requires = "tool_call")]
    self_call: Option<String>,
    /// Run the trims in this queue; `-` is the queue next to the session
    #[arg(long, value_name = "FILE")]
    queue: Option<PathBuf>,
    /// Only add the trim to the queue, to run after the agent's turn
    #[arg(long, requires_all = ["tool_call", "self_call"])]
    enqueue: bool,
    /// List the sessions with queued trims: those of --agent, or all, or those in --folder
    #[arg(long, conflicts_with_all = ["subject", "session", "session_key", "session_id",
        "agent_dir", "tool_call", "queue", "auto", "undo", "store"])]
    pending: bool,
    /// With --pending: look in this directory only
    #[arg(long, value_name = "DIR", requires = "pending", conflicts_with = "agent")]
    folder: Option<PathBuf>,
    /// Trim results that are both old and large, and repeated images
    #[arg(long, conflicts_with_all = ["tool_call", "queue", "undo"])]
    auto: bool,
    /// With --auto: only results older than this many turns, or than a duration such as 30d
    #[arg(long, value_name = "N", default_value = "20", requires = "auto")]
    older_than: String,
    /// With --auto: only results with more text than this, such as 4K
    #[arg(long, value_name = "BYTES", default_value = "4K", value_parser = quantity::size, requires = "auto")]
    larger_than: u64,
    /// With --auto: keep repeated images
    #[arg(long, requires = "auto")]
    keep_images: bool,
    /// Undo the newest trim, or the one made at TIME; with --dry-run, list every trim that can be
    /// undone
    #[arg(long, value_name = "TIME", num_args = 0..=1, value_parser = undo::made_at,
        conflicts_with_all = ["tool_call", "queue"])]
    undo: Option<Option<UnixMillis>>,
    /// With --undo: undo every trim that can be undone
    #[arg(long, requires = "undo")]
    all: bool,
    /// Delete the data needed to undo this trim or an earlier one
    #[arg(long)]
    irreversible: bool,
    /// How long the trim can be undone, such as 12h or 7d
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = quantity::duration)]
    keep_undo: Duration,
    /// Show what would happen without changing anything
    #[arg(long)]
    dry_run: bool,
}

/// What was done.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct TrimReport {
    /// `trim`, `enqueue`, `auto`, `undo` or `pending`.
    action: &'static str,
    /// Whether nothing was changed because of `--dry-run`.
    dry_run: bool,
    /// The time until which it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo_until: Option<String>,
    /// What was changed, or would be; its members depend on the action.
    #[schemars(with = "serde_json::Value")]
    report: Json<'static>,
    /// The queues that wait, with `--pending`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<pending::PendingQueue>>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<TrimReport>("trim");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    if arguments.pending {
        return pending::run(arguments, host, output);
    }
    let place = if arguments.session_id.is_some() || arguments.agent_dir.is_some() {
        locate::session(arguments, host)?
    } else {
        resolve::session(&arguments.subject, Unnamed::Refused, host, output)?
    };
    check_editable("trim", &place.folder, &place.path, &place.name, host)?;
    // A queue can exist before or after its session; a named call needs the session.
    let names_results = arguments.auto || arguments.tool_call.is_some() && !arguments.enqueue;
    if names_results && place.is_missing() {
        return Err(place.no_session());
    }
    let session = place.rewriter(host)?;
    let sidecar_place = if arguments.enqueue {
        // The queue is next to the session.
        None
    } else {
        match place.sidecar_to_change(host, output) {
            // The journal keeps the originals that are not restored.
            Err(error) if arguments.undo.is_some() => {
                output.note(&error.message);
                None
            }
            found => found?,
        }
    };
    let sidecar = sidecar_place.as_ref().map(Sidecar::rewriter).transpose()?;
    let blobs = sidecar_place.as_ref().map(Sidecar::blobs).transpose()?;
    let ports = TrimPorts {
        session: &session,
        sidecar: sidecar.as_ref().map(|sidecar| sidecar as &dyn SessionRewriter),
        blobs: blobs.as_ref().map(|blobs| blobs as _),
    };
    let work = TrimWork {
        arguments,
        ports,
        journal: &place.log(journal_beside(&place.name))?,
        queue: match arguments.queue.as_deref() {
            Some(file) if file.as_os_str() != "-" => {
                let (folder, name) = host.folder_of(file)?;
                traj_fs::FsLineLog::new(folder, name)
            }
            _ => place.log(queue_beside(&place.name))?,
        },
        name: place.path.to_string_lossy().into_owned(),
        now: Host::now(),
        mode: if arguments.dry_run { RewriteMode::Preview } else { RewriteMode::Commit },
    };
    if arguments.enqueue {
        work.enqueue(output)
    } else if let Some(made_at) = arguments.undo {
        work.undo(made_at, output)
    } else if arguments.auto {
        work.auto(output)
    } else {
        work.trim(output)
    }
}

struct TrimWork<'a> {
    arguments: &'a Arguments,
    ports: TrimPorts<'a>,
    journal: &'a dyn LineLog,
    queue: traj_fs::FsLineLog,
    name: String,
    now: UnixMillis,
    mode: RewriteMode,
}

impl<'a> TrimWork<'a> {
    fn until(&self) -> UnixMillis {
        let millis = self.arguments.keep_undo.as_millis();
        self.now.plus_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    fn writer(&self) -> Option<JournalWriter<'a>> {
        let keeps = !self.arguments.irreversible && self.mode == RewriteMode::Commit;
        keeps.then(|| JournalWriter::new(self.journal, self.now, self.until()))
    }

    /// Deletes undo data that has expired, or all of it.
    fn tidy(&self) -> Result<(), CommandError> {
        if self.mode == RewriteMode::Preview {
            return Ok(());
        }
        let now = (!self.arguments.irreversible).then_some(self.now);
        expire(self.journal, now).map_err(|error| failed(TrimError::from(error)))
    }

    fn enqueue(&self, output: &CommandOutput) -> Outcome {
        let mut input = Object::new();
        input.push_some("tool_call_id", self.arguments.tool_call.as_deref());
        input.push_some("replacement", self.arguments.replacement.as_deref());
        let own = self.arguments.self_call.as_deref().unwrap_or_default();
        let reply = enqueue(self.ports.session, &self.queue, &Json::Object(input), own, self.now)
            .map_err(|error| CommandError::failure(error.to_string()).because(error))?;
        let report = self.report("enqueue", false, reply.to_json().into_owned());
        output.result(&report, |_| format!("queued {}\n", escape_control(&reply.tool_call_id)))?;
        Ok(ExitCode::SUCCESS)
    }

    fn trim(&self, output: &CommandOutput) -> Outcome {
        let mut items = Vec::new();
        if let Some(target) = self.arguments.tool_call.as_deref() {
            let (replacement, own) =
                (self.arguments.replacement.as_deref(), self.arguments.self_call.as_deref());
            items.push(TrimItem::parse(target, replacement, own).map_err(|error| {
                CommandError::usage("--tool-call is not a valid id").because(error)
            })?);
        }
        let queue = self.arguments.queue.is_some().then_some(&self.queue as &dyn LineLog);
        let request =
            DrainRequest { session_file: &self.name, items: &items, queue, mode: self.mode };
        let report = drain(&self.ports, request, self.writer()).map_err(failed)?;
        self.tidy()?;
        let Some(drained) = report else {
            let report = self.report("trim", false, Json::Null);
            output.result(&report, |_| "nothing is queued\n".to_owned())?;
            return Ok(ExitCode::SUCCESS);
        };
        let changed = drained.rewrite.changed_lines + drained.sidecar_rewrite.changed_lines > 0;
        let report = self.report("trim", changed, drained.to_json().into_owned());
        let fault = (drained.session.skipped > 0).then_some(ErrorKind::Failure);
        output.verdict(&report, fault, |report| human(report, &drained))
    }

    fn auto(&self, output: &CommandOutput) -> Outcome {
        let older_than = match self.arguments.older_than.parse() {
            Ok(turns) => Age::Turns(turns),
            Err(_) => {
                let age = quantity::duration(&self.arguments.older_than)
                    .map_err(|reason| CommandError::usage(format!("--older-than: {reason}")))?;
                let millis = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
                Age::Before(self.now.plus_millis(-millis))
            }
        };
        let mut policy = AutoPolicy::new(older_than, self.arguments.larger_than);
        policy.strip_images = !self.arguments.keep_images;
        let auto =
            auto_trim(&self.ports, &self.name, policy, self.writer(), self.mode).map_err(failed)?;
        self.tidy()?;
        let changed = auto.drain.rewrite.changed_lines > 0;
        let report = self.report("auto", changed, auto_json(&auto));
        output.result(&report, |report| {
            let mut lines = vec![human(report, &auto.drain)];
            for (tool, (count, bytes)) in &auto.totals.tools {
                let (tool, bytes) = (escape_control(tool), quantity::shown_size(*bytes));
                let results = quantity::counted(*count, "result");
                lines.push(format!("  {tool}: {results}, {bytes} of text\n"));
            }
            if auto.totals.images > 0 {
                let bytes = quantity::shown_size(auto.totals.image_bytes);
                let images = quantity::counted(auto.totals.images, "repeated image");
                lines.push(format!("  {images}, {bytes}\n"));
            }
            lines.concat()
        })?;
        Ok(ExitCode::SUCCESS)
    }

    fn report(&self, action: &'static str, undoable: bool, report: Json<'static>) -> TrimReport {
        let undo_until = (undoable && self.writer().is_some()).then(|| self.until().to_iso());
        let dry_run = self.arguments.dry_run;
        TrimReport { action, dry_run, undo_until, report, pending: None }
    }
}

fn auto_json(auto: &AutoReport) -> Json<'static> {
    let mut json = auto.drain.to_json().into_owned();
    if let Some(object) = json.as_object_mut() {
        let tools: Object<'static> = auto
            .totals
            .tools
            .iter()
            .map(|(tool, (count, bytes))| {
                let counts = Object::from_iter([("results", *count), ("text_bytes", *bytes)]);
                (tool.clone(), Json::Object(counts))
            })
            .collect();
        object.push("tools", tools);
        object.push("images", auto.totals.images);
        object.push("image_bytes", auto.totals.image_bytes);
    }
    json
}

fn human(report: &TrimReport, drained: &DrainReport) -> String {
    let verb = if report.dry_run { "would trim" } else { "trimmed" };
    let (before, after) = (drained.rewrite.bytes_before, drained.rewrite.bytes_after);
    let mut lines = vec![format!(
        "{verb} {}, {}: {} → {}\n",
        quantity::counted(drained.session.applied, "result"),
        quantity::counted(drained.session.self_compacted, "trim call"),
        quantity::shown_size(before),
        quantity::shown_size(after),
    )];
    if drained.sidecar_rewrite.changed_lines > 0 {
        let events = quantity::counted(drained.sidecar_rewrite.changed_lines, "event");
        let blobs = quantity::counted(drained.removed_blobs, "blob");
        lines.push(format!("sidecar: {events}, {blobs}\n"));
    }
    if drained.rewrite.held_open {
        lines.push(
            "a writer still has the old file open; lines that it adds are kept next to the session\n"
                .to_owned(),
        );
    }
    for error in drained.session.errors.iter().chain(&drained.sidecar.errors) {
        lines.push(format!("note: {}\n", escape_control(error)));
    }
    if let Some(until) = &report.undo_until {
        lines.push(format!("can be undone with --undo until {until}\n"));
    }
    lines.concat()
}

fn failed(error: TrimError) -> CommandError {
    let hint = match &error {
        TrimError::Rewrite(RewriteError::Busy { .. }) => {
            Some("trim when the agent's turn has ended, or stop the process that has it open")
        }
        TrimError::Rewrite(RewriteError::Refused { .. }) => {
            Some("name the session file itself, not a link to it")
        }
        TrimError::Rewrite(RewriteError::Missing { .. }) => {
            Some("run `traj sessions` to list the sessions")
        }
        TrimError::Rewrite(RewriteError::Conflict { .. }) => Some("try again in a moment"),
        _ => None,
    };
    let failed = CommandError::failure("cannot trim the session").because(error);
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}
