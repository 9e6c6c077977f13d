//! `traj prune`: removes the files of sessions that no longer exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use traj_core::care::prune::{PruneDecision, PrunePolicy, decide_prune, listed_names};
use traj_core::settings::Settings;
use traj_fs::{FsError, FsOrphans};

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity;
use crate::resolve::{STORE, StorePlace};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Removes the sidecars, pointers, blobs, bindings and trim logs of sessions \
                  that no longer exist, that is, of sessions without a transcript and without a \
                  store entry. Old files are removed; a budget also removes younger ones, \
                  oldest first.\n\nA sidecar outside DIR is removed only under three \
                  conditions: a pointer names it, or it is in TRAJ_TRAJECTORY_DIR; its first \
                  event names the session; and the pointer or that event places the session \
                  in DIR. Nothing else is ever removed, whatever a pointer claims.",
    after_help = concat!(
        "Examples:\n",
        "  traj prune --sessions DIR --dry-run         list what would be removed\n",
        "  traj prune --sessions DIR --older-than 7d   remove what is a week old\n",
        "  traj prune --sessions DIR --max-bytes 500M  also stay within a budget\n",
        "\n",
        "Exit codes: 0 done · 1 failed, or something could not be removed · 2 wrong usage · 4 \
         the store is damaged"
    )
)]
pub(crate) struct Arguments {
    /// The directory with the sessions
    #[arg(long, value_name = "DIR")]
    sessions: PathBuf,
    /// The store that lists the sessions [default: sessions.json in the directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Remove files that have not changed for this long, such as 12h or 30d
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = quantity::duration)]
    older_than: Duration,
    /// Keep the files of at most N removed sessions, the newest
    #[arg(long, value_name = "N")]
    max_entries: Option<u64>,
    /// Keep at most this many bytes of such files, such as 500M
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_bytes: Option<u64>,
    /// Show what would be removed and why, without removing anything
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct PruneReport {
    /// Whether nothing was removed because of `--dry-run`.
    dry_run: bool,
    /// What was removed, or would be.
    removed: Vec<PruneItem>,
    /// What was kept.
    kept: Vec<PruneItem>,
    /// What could not be removed.
    failed: Vec<PruneItem>,
    /// The size of what was removed.
    removed_bytes: u64,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Item")]
struct PruneItem {
    /// The session that it belongs to.
    session: String,
    /// What it is.
    kind: &'static str,
    /// Where it is.
    place: String,
    /// Its size.
    bytes: u64,
    /// Why it was removed or kept, as a code.
    reason: &'static str,
    /// The same for people.
    meaning: &'static str,
    /// Why it could not be removed, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<PruneReport>("prune");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let (folder, path) = (host.folder(&arguments.sessions)?, host.absolute(&arguments.sessions));
    let unreadable = |path: &Path, error: FsError| {
        let message = format!("cannot read the directory {}", path.display());
        CommandError::failure(message).because(error)
    };
    let mut orphans = FsOrphans::read(host.root()?, folder, path.as_path())
        .map_err(|error| unreadable(&path, error))?;
    let listed = listed(arguments, host, &orphans)?;
    let sidecars = Settings::from_host(&host.facts).trajectory_dir;
    let sidecars = sidecars.map(|sidecars| host.absolute(Path::new(&sidecars)));
    if let Some(path) = &sidecars
        && let Some(folder) = host.folder_if_any(path)?
    {
        orphans = orphans.with_sidecars(folder, path);
    }
    // The directory of the sessions was already read.
    let looked_at = sidecars.as_deref().unwrap_or(&path);
    let found = orphans.look(&listed).map_err(|error| unreadable(looked_at, error))?;
    let age = i64::try_from(arguments.older_than.as_millis()).unwrap_or(i64::MAX);
    let before = Host::now().plus_millis(age.saturating_neg());
    let policy = PrunePolicy::new(before, arguments.max_entries, arguments.max_bytes);
    let mut report = PruneReport {
        dry_run: arguments.dry_run,
        removed: Vec::new(),
        kept: Vec::new(),
        failed: Vec::new(),
        removed_bytes: 0,
    };
    for decision in decide_prune(found.gone, found.live_bytes, policy) {
        let item = item_of(&decision);
        if !decision.reason.removes() {
            report.kept.push(item);
            continue;
        }
        let removed = if arguments.dry_run { Ok(()) } else { orphans.remove(&decision.artefact) };
        match removed {
            Ok(()) => {
                report.removed_bytes += item.bytes;
                report.removed.push(item);
            }
            Err(error) => {
                let causes = CommandError::failure("").because(error).causes();
                report.failed.push(PruneItem { causes, ..item });
            }
        }
    }
    let fault = (!report.failed.is_empty()).then_some(ErrorKind::Failure);
    output.verdict(&report, fault, human)
}

/// The ids and file stems of the sessions that the store lists.
fn listed(
    arguments: &Arguments,
    host: &Host,
    orphans: &FsOrphans,
) -> Result<BTreeSet<String>, CommandError> {
    let store = match &arguments.store {
        Some(store) => store.clone(),
        None if orphans.has(STORE) => arguments.sessions.join(STORE),
        None => return Ok(BTreeSet::new()),
    };
    let place = StorePlace::read(Some(&store), "main", host)?;
    Ok(listed_names(&place.store))
}

fn item_of(decision: &PruneDecision) -> PruneItem {
    PruneItem {
        session: decision.stem.clone(),
        kind: decision.artefact.kind.name(),
        place: decision.artefact.place.clone(),
        bytes: decision.artefact.bytes,
        reason: decision.reason.code(),
        meaning: decision.reason.meaning(),
        causes: Vec::new(),
    }
}

fn human(report: &PruneReport) -> String {
    let mut lines = Vec::new();
    let verb = if report.dry_run { "would remove" } else { "removed" };
    for (verb, items) in
        [(verb, &report.removed), ("kept", &report.kept), ("could not remove", &report.failed)]
    {
        for item in items {
            let (place, size) = (escape_control(&item.place), quantity::shown_size(item.bytes));
            lines.push(format!("{verb} {} {place} ({size}): {}\n", item.kind, item.meaning));
            for cause in &item.causes {
                lines.push(format!("  because: {}\n", escape_control(cause)));
            }
        }
    }
    let size = quantity::shown_size(report.removed_bytes);
    let files = quantity::counted(report.removed.len() as u64, "file");
    lines.push(format!("{verb} {files}, {size}\n"));
    lines.concat()
}
