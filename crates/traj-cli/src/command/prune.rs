//! `traj prune`: what is left of sessions that are gone.

mod inspection;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use cap_std::fs::Dir;
use clap::Args;
use serde::Serialize;
use traj_core::prune::{Artefact, ArtefactKind, Decision, PrunePolicy, classify, decide, orphans};
use traj_core::settings::Settings;
use traj_fs::{remove_blobs, remove_inspected};

use self::inspection::{
    add_strays, first_line_of, inspect, names_in, open_plain, place_of, size_of,
};
use super::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::Output;
use crate::quantity;
use crate::store_place::StorePlace;
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Removes sidecars, pointers, blobs, bindings and trim logs whose session is gone: \
                  neither its transcript nor an entry of the store is there any more. What is old \
                  goes; a budget takes younger ones too, oldest first. A sidecar that a pointer \
                  names elsewhere goes only if its own first event states the session, and so does \
                  one without a pointer in the folder that TRAJ_TRAJECTORY_DIR names, if the \
                  event states that the session was in this folder. Nothing else is ever removed, \
                  whatever a pointer claims.",
    after_help = "Exit codes: 0 done · 1 something could not be removed · 2 wrong usage"
)]
pub(crate) struct Arguments {
    /// The folder of sessions
    #[arg(long, value_name = "DIR")]
    sessions: PathBuf,
    /// The store that lists them [default: sessions.json in the folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Remove what has not changed for so long
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = quantity::duration)]
    older_than: Duration,
    /// Keep what is left of so many gone sessions at most
    #[arg(long, value_name = "N")]
    max_entries: Option<u64>,
    /// Keep so many bytes of artefacts at most
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_bytes: Option<u64>,
    /// Say what would go and why, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    dry_run: bool,
    removed: Vec<Item>,
    kept: Vec<Item>,
    failed: Vec<Item>,
    removed_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Item {
    session: String,
    kind: &'static str,
    place: String,
    bytes: u64,
    reason: &'static str,
    meaning: &'static str,
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let folder = host.folder(&arguments.sessions)?;
    let names = names_in(&folder)?;
    let listed = listed(arguments, host, &names)?;
    let mut gone = Vec::new();
    let orphaned = orphans(&names, &listed);
    let live_bytes: u64 = names
        .iter()
        .filter(|name| classify(name).is_some_and(|(_, stem)| !orphaned.contains_key(stem)))
        .map(|name| size_of(&folder, name))
        .sum();
    for (stem, artefacts) in orphaned {
        gone.extend(inspect(&folder, stem, &artefacts, &listed)?);
    }
    if let Some(sidecars) = Settings::from_host(&host.facts).trajectory_dir {
        let sessions = host.absolute(&arguments.sessions);
        add_strays(
            &mut gone,
            &host.absolute(Path::new(&sidecars)),
            &sessions,
            &names,
            &listed,
            host,
        )?;
    }
    let age = i64::try_from(arguments.older_than.as_millis()).unwrap_or(i64::MAX);
    let before = Host::now().plus_millis(age.saturating_neg());
    let policy = PrunePolicy::new(before, arguments.max_entries, arguments.max_bytes);
    let mut report = Report {
        dry_run: arguments.dry_run,
        removed: Vec::new(),
        kept: Vec::new(),
        failed: Vec::new(),
        removed_bytes: 0,
    };
    for decision in decide(gone, live_bytes, policy) {
        let item = item_of(&decision);
        if !decision.reason.goes() {
            report.kept.push(item);
        } else if arguments.dry_run || remove(&folder, &decision.artefact).is_ok() {
            report.removed_bytes += item.bytes;
            report.removed.push(item);
        } else {
            report.failed.push(item);
        }
    }
    output.result(&report, human)?;
    Ok(ExitCode::from(u8::from(!report.failed.is_empty())))
}

/// Ids, and stems of files, of the sessions that the store lists.
fn listed(
    arguments: &Arguments,
    host: &Host,
    names: &[String],
) -> Result<BTreeSet<String>, CommandError> {
    let has_default = names.iter().any(|name| name == "sessions.json");
    let store = match &arguments.store {
        Some(store) => store.clone(),
        None if has_default => arguments.sessions.join("sessions.json"),
        None => return Ok(BTreeSet::new()),
    };
    let place = StorePlace::read(Some(&store), "main", host)?;
    let mut listed = BTreeSet::new();
    for session in place.store.sessions {
        let file = session.session_file.as_deref().and_then(|file| file.rsplit('/').next());
        listed.extend(file.map(|file| file.strip_suffix(".jsonl").unwrap_or(file).to_owned()));
        listed.insert(session.session_id);
    }
    Ok(listed)
}

fn remove(sessions: &Dir, artefact: &Artefact) -> Result<(), CommandError> {
    let failed = |error: traj_fs::FsError| CommandError::failure("cannot remove it").because(error);
    let (folder, name) = match artefact.kind {
        ArtefactKind::RelocatedSidecar | ArtefactKind::RelocatedBlobs => place_of(&artefact.place)?
            .ok_or_else(|| CommandError::failure("a link took its folder's place"))?,
        _ => {
            let folder = sessions
                .try_clone()
                .map_err(|error| CommandError::failure("cannot open the folder").because(error))?;
            (folder, artefact.place.clone())
        }
    };
    if matches!(artefact.kind, ArtefactKind::Blobs | ArtefactKind::RelocatedBlobs) {
        return remove_blobs(&folder, &name).map(|_| ()).map_err(failed);
    }
    // Whatever has the name by now must prove the same as what was looked at.
    let file = open_plain(&folder, &name)
        .ok()
        .filter(|file| first_line_of(file).is_ok_and(|line| artefact.is_proven_by(&line)))
        .ok_or_else(|| CommandError::failure("it is not the file that was looked at"))?;
    remove_inspected(&folder, &name, &file).map_err(failed)
}

fn item_of(decision: &Decision) -> Item {
    Item {
        session: decision.stem.clone(),
        kind: decision.artefact.kind.name(),
        place: decision.artefact.place.clone(),
        bytes: decision.artefact.bytes,
        reason: decision.reason.code(),
        meaning: decision.reason.meaning(),
    }
}

fn human(report: &Report) -> String {
    let mut lines = Vec::new();
    let verb = if report.dry_run { "would remove" } else { "removed" };
    for (verb, items) in
        [(verb, &report.removed), ("kept", &report.kept), ("could not remove", &report.failed)]
    {
        for item in items {
            let (place, size) = (escape_control(&item.place), quantity::shown_size(item.bytes));
            lines.push(format!("{verb} {} {place} ({size}): {}\n", item.kind, item.meaning));
        }
    }
    let size = quantity::shown_size(report.removed_bytes);
    lines.push(format!("{verb} {} files, {size}\n", report.removed.len()));
    lines.concat()
}
