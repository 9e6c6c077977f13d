//! Runs, as their files and as their bundles tell them.

use traj_core::dialect::transcript::entry_instant;
use traj_core::dialect::{Dialect, Head, decode_manifest, sniff};
use traj_core::json::Json;
use traj_core::memory::MemoryBundle;
use traj_core::port::BundleFile;
use traj_core::run::{Branches, Fact, Fold, Origin, Place, Prices, Run, RunEvent};
use traj_core::timestamp::UnixMillis;

/// The run that a session file tells, together with its sidecar: the rows of
/// its branch and those of the sidecar, by time.
///
/// # Panics
/// When a row of the fixture is not JSON, or nobody knows the session.
pub fn run_of_files(session: &str, sidecar: &str) -> Run {
    let (session, sidecar) = (rows_of(session), rows_of(sidecar));
    let first = session.first().map(Json::to_line).unwrap_or_default();
    let dialect = sniff(Head::of(first.as_bytes())).expect("somebody wrote it");
    let (on_branch, left) = match dialect {
        Dialect::OpenClaw => branch(&session),
        _ => (vec![true; session.len()], Branches::default()),
    };
    let mut rows = Vec::new();
    for (line, (row, _)) in
        (1..).zip(session.iter().zip(on_branch)).filter(|(_, (_, is_on))| *is_on)
    {
        rows.push((entry_instant(row), Origin::Transcript, line, dialect, row));
    }
    for (line, row) in (1..).zip(&sidecar) {
        let at = row.get("ts").and_then(Json::as_str).and_then(UnixMillis::parse_lenient);
        rows.push((at.unwrap_or(UnixMillis::EPOCH), Origin::Runtime, line, Dialect::Sidecar, row));
    }
    rows.sort_by_key(|(at, origin, line, ..)| (*at, *origin, *line));
    let mut fold = Fold::new(Prices::shipped());
    if left.entries > 0 {
        let fact = Fact::Branches(left);
        fold.push(&RunEvent::new(Origin::Transcript, Place::line(0), &Json::Null, fact));
    }
    // Numbered as the bundle numbers its events; a header is none of them.
    let (mut number, mut before) = (0, None);
    for (.., line, dialect, row) in rows {
        let is_header = dialect == Dialect::OpenClaw && is_header(row);
        dialect.decode(row, Place::line(line), &mut |mut event| {
            let place = Some((event.origin, event.place));
            number += u64::from(before != place && !is_header);
            before = place;
            event.place = Place::line(if is_header { 0 } else { number });
            fold.push(&event);
        });
    }
    fold.finish()
}

fn rows_of(text: &str) -> Vec<Json<'_>> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| Json::parse(line).expect("rows of a fixture are JSON")).collect()
}

fn is_header(row: &Json<'_>) -> bool {
    row.get("type").and_then(Json::as_str) == Some("session")
}

/// Which rows of a transcript lead from its last entry to its root, the header
/// among them, and what the others are.
fn branch(rows: &[Json<'_>]) -> (Vec<bool>, Branches) {
    let text = |row: &Json<'_>, name: &str| row.get(name).and_then(Json::as_str).map(str::to_owned);
    let mut on_branch: Vec<bool> = rows.iter().map(is_header).collect();
    let mut next = rows.iter().rev().find_map(|row| text(row, "id").filter(|_| !is_header(row)));
    while let Some(id) = next {
        let place =
            rows.iter().rposition(|row| !is_header(row) && text(row, "id") == Some(id.clone()));
        let Some(place) = place.filter(|place| !on_branch[*place]) else { break };
        on_branch[place] = true;
        next = text(&rows[place], "parentId");
    }
    let mut left = Branches::default();
    for (row, _) in rows.iter().zip(&on_branch).filter(|(_, is_on)| !**is_on) {
        left.entries += 1;
        let parent = text(row, "parentId");
        let is_on = |(other, is_on): (&Json<'_>, &bool)| *is_on && text(other, "id") == parent;
        left.count += u64::from(parent.is_none() || rows.iter().zip(&on_branch).any(is_on));
    }
    (on_branch, left)
}

/// The run that a bundle tells.
///
/// # Panics
/// When the bundle lacks a file, or one is not JSON.
pub fn run_of_bundle(files: &MemoryBundle) -> Run {
    let mut fold = Fold::new(Prices::shipped());
    let manifest = Json::parse(&files[&BundleFile::Manifest]).expect("it is JSON");
    decode_manifest(&manifest, &mut |event| fold.push(&event));
    let lines = files[&BundleFile::Events].lines().filter(|line| !line.is_empty());
    for (number, line) in (1..).zip(lines) {
        let event = Json::parse(line).expect("it is JSON");
        Dialect::Bundle.decode(&event, Place::line(number), &mut |event| fold.push(&event));
    }
    fold.finish()
}
