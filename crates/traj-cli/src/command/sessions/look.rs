//! Reads the files of each session, several sessions in parallel.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use cap_std::fs::{Dir, MetadataExt as _};
use traj_core::care::prune::classify;
use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::limits::Reading;
use traj_core::port::{Source, SourceError, Sources as _};
use traj_core::redaction::{RedactionPolicy, RedactionReport, Redactor};
use traj_core::run::{Prices, SessionFiles, dialect_of};
use traj_core::timestamp::UnixMillis;
use traj_fs::FsSources;

use super::Filter;
use super::collect::{Collection, FoundSession, problem};
use super::report::{ListingProblem, SessionRow, SessionsReport};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::Session as Place;

/// With `--limit`, at least this many sessions are read before checking whether
/// there are enough.
const BATCH: usize = 8;

/// How many bytes of a sidecar are read to find its session id.
const HEAD: u64 = Reading::standard().short_head_bytes as u64;

/// A session whose files are known.
#[derive(Debug, Default)]
struct Candidate {
    found: FoundSession,
    id: String,
    sidecar: Option<PathBuf>,
    /// When its files last changed. No event in them is newer.
    modified: Option<UnixMillis>,
    /// Whether it is a sidecar without a transcript.
    is_alone: bool,
}

impl Candidate {
    fn newest(&self) -> Option<UnixMillis> {
        self.modified.max(self.found.updated_at)
    }
}

/// The result of reading a session.
enum Looked {
    Listed { session: Box<SessionRow>, problem: Option<ListingProblem> },
    Unrecognised,
    Unreadable(ListingProblem),
}

/// Reads the sessions that were found, newest first.
pub(super) fn look_at_all(
    collection: Collection,
    filter: &Filter,
    prices: &Prices,
    host: &Host,
) -> Result<SessionsReport, CommandError> {
    let redactor = Redactor::new(RedactionPolicy::standard(Host::passing_key()?));
    let mut report = SessionsReport { problems: collection.problems, ..SessionsReport::default() };
    let mut candidates = Vec::new();
    for located in in_parallel(&collection.sessions, |found| locate(found, host)) {
        match located {
            Ok(candidate) => candidates.push(candidate),
            Err(problem) => report.problems.push(problem),
        }
    }
    let used: HashSet<PathBuf> =
        candidates.iter().filter_map(|candidate| candidate.sidecar.clone()).collect();
    candidates.retain(|candidate| !used.contains(&candidate.found.file));
    let alone = collection.sidecars.iter().filter(|sidecar| !used.contains(*sidecar));
    candidates.extend(alone.map(|sidecar| without_transcript(sidecar, host)));
    candidates.retain(|candidate| filter.is_new(candidate.newest()));
    candidates.sort_by_key(|candidate| Reverse(candidate.newest()));
    let batch = filter.limit.map_or(usize::MAX, |limit| limit.max(BATCH));
    let mut rest = candidates.as_slice();
    while !rest.is_empty() && !has_enough(&report.sessions, rest, filter) {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        rest = later;
        for looked in in_parallel(now, |candidate| look_at(candidate, &redactor, prices, host)) {
            match looked {
                Looked::Listed { session, problem } => {
                    report.problems.extend(problem);
                    report.sessions.extend(Some(*session).filter(|one| filter.wants(one)));
                }
                Looked::Unrecognised => report.unrecognised += 1,
                Looked::Unreadable(problem) => report.problems.push(problem),
            }
        }
    }
    report.sessions.sort_by_key(|session| Reverse(session.updated));
    report.sessions.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(report)
}

/// Whether none of the remaining sessions can be among the newest.
fn has_enough(sessions: &[SessionRow], rest: &[Candidate], filter: &Filter) -> bool {
    let newest = rest.first().and_then(Candidate::newest);
    let newer = sessions.iter().filter(|session| session.updated >= newest).count();
    filter.limit.is_some_and(|limit| newer >= limit)
}

/// Runs `work` on every item, on several threads. The results are in the order
/// of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let threads = Host::workers().get().min(items.len());
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take_turns)).collect();
        let mut done = take_turns();
        // A thread that panicked makes the scope panic.
        done.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// Finds the sidecar of a session, and when its files changed.
fn locate(found: &FoundSession, host: &Host) -> Result<Candidate, ListingProblem> {
    let unusable = |error: CommandError| problem(&found.file, &error);
    let place = Place::at(&found.file, host).map_err(unusable)?;
    let sidecar = place.sidecar(host).map_err(unusable)?.found;
    // In a sidecar directory, sidecars have the file names of sessions.
    let sidecar = sidecar.filter(|sidecar| sidecar.path != found.file);
    let recorded = sidecar.as_ref().and_then(|sidecar| modified(&sidecar.folder, &sidecar.name));
    Ok(Candidate {
        found: found.clone(),
        id: place.id.to_string(),
        modified: modified(&place.folder, &place.name).max(recorded),
        sidecar: sidecar.map(|sidecar| sidecar.path),
        is_alone: false,
    })
}

/// A sidecar that belongs to none of the transcripts.
fn without_transcript(sidecar: &Path, host: &Host) -> Candidate {
    let name = sidecar.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = classify(name).map_or(name, |(_, stem)| stem);
    let transcript = format!("{stem}.jsonl");
    let folder = host.folder_of(sidecar).ok().map(|(folder, _)| folder);
    // A transcript with that name belongs to another session.
    let is_taken =
        folder.as_ref().is_some_and(|folder| folder.symlink_metadata(&transcript).is_ok());
    let file = if is_taken { sidecar.to_path_buf() } else { sidecar.with_file_name(transcript) };
    Candidate {
        found: FoundSession { file, ..FoundSession::default() },
        id: stem.to_owned(),
        sidecar: Some(sidecar.to_path_buf()),
        modified: folder.and_then(|folder| modified(&folder, name)),
        is_alone: true,
    }
}

/// When a file last changed, rounded up by at most a millisecond.
fn modified(folder: &Dir, name: &str) -> Option<UnixMillis> {
    let metadata = folder.symlink_metadata(name).ok()?;
    let millis = metadata.mtime().checked_mul(1_000)?;
    UnixMillis::new(millis.checked_add(metadata.mtime_nsec() / 1_000_000 + 1)?)
}

/// Reads the files of a session.
fn look_at(candidate: &Candidate, redactor: &Redactor, prices: &Prices, host: &Host) -> Looked {
    let found = &candidate.found;
    let mut faults = Vec::new();
    let mut open_noting = |file: &Path| match open(file, host) {
        Ok(source) => source,
        Err(error) => {
            faults.push(problem(file, &error));
            None
        }
    };
    let transcript = Some(&*found.file).filter(|_| !candidate.is_alone);
    let mut transcript = transcript.and_then(&mut open_noting);
    let mut sidecar = candidate.sidecar.as_deref().and_then(&mut open_noting);
    let mut sidecar_file = candidate.sidecar.clone();
    let dialect = match transcript.as_deref().map(dialect_of).transpose() {
        Ok(dialect) => dialect.flatten(),
        Err(error) => return Looked::Unreadable(problem(&found.file, &unreadable(error))),
    };
    let is_empty = transcript.as_deref().is_none_or(Source::is_empty);
    match dialect {
        Some(Dialect::Sidecar) if sidecar.is_none() => {
            sidecar = transcript.take();
            sidecar_file = Some(found.file.clone());
        }
        Some(dialect) if dialect == Dialect::OpenClaw || dialect.is_foreign() => {}
        _ if is_empty || sidecar.is_some() => {}
        _ if found.is_named => {
            let error = CommandError::failure("unknown session format");
            return Looked::Unreadable(problem(&found.file, &error));
        }
        _ => return Looked::Unrecognised,
    }
    if let (None, None, Some(fault)) = (&transcript, &sidecar, faults.first()) {
        return Looked::Unreadable(fault.clone());
    }
    let id = stated_id(transcript.as_deref(), sidecar.as_deref());
    let id = id.unwrap_or_else(|| candidate.id.clone());
    let files = SessionFiles {
        transcript: transcript.as_deref(),
        sidecar: sidecar.as_deref(),
        session: &id,
        longest_row: host.reading().session_line_bytes,
    };
    let read = match files.fold(prices.clone()) {
        Ok(read) => read,
        Err(error) => return Looked::Unreadable(problem(&found.file, &unreadable(error))),
    };
    let mut session = SessionRow {
        key: found.key.clone(),
        session_file: found.file.to_string_lossy().into_owned(),
        exists: transcript.is_some(),
        bytes: transcript.as_deref().map_or(0, Source::len),
        events: sidecar.as_ref().map(|_| read.recorded),
        trajectory: sidecar_file.map(|file| file.to_string_lossy().into_owned()),
        trajectory_bytes: sidecar.as_deref().map(Source::len),
        agent: read.dialect.and_then(Dialect::agent).map(str::to_owned),
        dialect: read.dialect.map(Dialect::as_str),
        running: found.running,
        updated: read.run.ended_at.or(found.updated_at).or(candidate.modified),
        session_id: id,
        ..SessionRow::default()
    };
    session.updated_at = session.updated.map(UnixMillis::to_iso);
    session.take_run(&read.run, &|text| redacted(text, redactor));
    Looked::Listed { session: Box::new(session), problem: faults.into_iter().next() }
}

/// The id stated in a sidecar without a transcript.
fn stated_id(transcript: Option<&dyn Source>, sidecar: Option<&dyn Source>) -> Option<String> {
    let sidecar = sidecar.filter(|_| transcript.is_none())?;
    let mut head = vec![0; usize::try_from(sidecar.len().min(HEAD)).ok()?];
    sidecar.read_exact_at(0, &mut head).ok()?;
    Dialect::stated_session(&head)
}

/// Opens a file; `None` if it does not exist.
fn open(file: &Path, host: &Host) -> Result<Option<Box<dyn Source>>, CommandError> {
    let (parent, name) = host.parent_and_name(file)?;
    let Some(folder) = host.folder_if_any(&parent)? else { return Ok(None) };
    let path = parent.join(name);
    let path = path.to_str().ok_or_else(|| CommandError::not_utf8(file))?;
    let mut sources = FsSources::new(&parent).with_root(&parent, folder);
    if let Some(gathering) = host.gathering() {
        sources = sources.gathering(gathering);
    }
    match sources.open(path) {
        Ok(source) => Ok(Some(source)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

fn unreadable(error: SourceError) -> CommandError {
    CommandError::failure("cannot be read").because(error)
}

/// A name from a file, redacted.
fn redacted(text: &str, redactor: &Redactor) -> String {
    let shown = redactor.json(Json::from(text), &mut RedactionReport::default()).into_inner();
    shown.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..500).collect();
        let doubled = in_parallel(&items, |item| item * 2);
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(in_parallel(&[] as &[u32], |item| *item).is_empty());
    }

    #[test]
    fn reading_stops_when_no_remaining_session_can_be_newer() {
        let at = |millis| UnixMillis::new(millis);
        let listed = |millis| SessionRow { updated: at(millis), ..SessionRow::default() };
        let rest = [Candidate { modified: at(5), ..Candidate::default() }];
        let filter = Filter { limit: Some(2), ..Filter::default() };
        assert!(has_enough(&[listed(9), listed(5)], &rest, &filter));
        assert!(!has_enough(&[listed(9), listed(4)], &rest, &filter));
        assert!(!has_enough(&[listed(9), listed(5)], &rest, &Filter::default()));
    }
}
