//! Lists the sessions that were found, newest first, and reads as few of them as
//! possible.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_core::run::Prices;
use traj_core::timestamp::UnixMillis;

use super::Filter;
use super::cache::{CachedContent, SessionCache};
use super::candidate::Candidate;
use super::collect::{Collection, problem};
use super::databases;
use super::parallel::in_parallel;
use super::read::{Looked, Reader};
use super::report::{SessionRow, SessionsReport, Totals};
use crate::command_error::CommandError;
use crate::compose::Host;

/// With `--limit`, at least this many sessions are read before checking whether
/// there are enough.
const BATCH: usize = 8;

/// Reads the sessions that were found, newest first. What was read is put into
/// the cache.
pub(super) fn look_at_all(
    mut collection: Collection,
    filter: &Filter,
    prices: &Prices,
    cache: &mut SessionCache,
    host: &Host,
) -> Result<SessionsReport, CommandError> {
    let redactor = Redactor::new(RedactionPolicy::standard(Host::passing_key()?));
    let reader = Reader { redactor: &redactor, prices, host };
    let mut read_databases = Vec::new();
    for database in std::mem::take(&mut collection.databases) {
        match databases::sessions_of(&database, cache, reader) {
            Ok(found) => collection.sessions.extend(found),
            Err(problem) => collection.problems.push(problem),
        }
        read_databases.push(database.path);
    }
    if collection.is_whole {
        let sessions = collection.sessions.iter().map(|found| found.file.as_path());
        let databases = read_databases.iter().map(PathBuf::as_path);
        let found: HashSet<&Path> = sessions.chain(databases).collect();
        cache.keep_only(|file| found.contains(file));
    }
    let mut report = SessionsReport { problems: collection.problems, ..SessionsReport::default() };
    let mut candidates = Vec::new();
    let (sessions, held) = (&collection.sessions, &*cache);
    for located in in_parallel(sessions, |found| Candidate::of(found, held, host)) {
        match located {
            Ok(candidate) => candidates.push(candidate),
            Err(problem) => report.problems.push(problem),
        }
    }
    let used: HashSet<PathBuf> =
        candidates.iter().filter_map(|candidate| candidate.sidecar.clone()).collect();
    candidates.retain(|candidate| !used.contains(&candidate.found.file));
    let alone = collection.sidecars.iter().filter(|sidecar| !used.contains(*sidecar));
    candidates.extend(alone.map(|sidecar| Candidate::without_transcript(sidecar, host)));
    candidates.retain(|candidate| filter.is_new(candidate.newest()));
    candidates.sort_by_key(|candidate| Reverse(candidate.newest()));
    let price_key = key_of(prices);
    let batch = filter.limit.map_or(usize::MAX, |limit| limit.max(BATCH));
    let mut rest = candidates.as_slice();
    while !rest.is_empty() && !has_enough(&report.sessions, rest, filter) {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        rest = later;
        let read = in_parallel(now, |candidate| look_at(candidate, filter, price_key, &reader));
        for (candidate, look) in now.iter().zip(read) {
            let CandidateLook { looked, to_cache } = look;
            if let Some(session) = to_cache {
                cache.put(&candidate.found.file, session);
            }
            match looked {
                Some(Looked::Listed { session, problem, .. }) => {
                    report.problems.extend(problem);
                    report.sessions.extend(Some(*session).filter(|one| filter.wants(one)));
                }
                Some(Looked::Unrecognised) if candidate.found.is_named => {
                    let error = CommandError::failure("unknown session format");
                    report.problems.push(problem(&candidate.found.file, &error));
                }
                Some(Looked::Unrecognised) => report.unrecognised += 1,
                Some(Looked::Part) | None => {}
                Some(Looked::Unreadable(problem)) => report.problems.push(problem),
            }
        }
    }
    report.not_read = rest.len() as u64;
    report.sessions.sort_by_key(|session| Reverse(session.updated));
    let surplus = filter.limit.map_or(0, |limit| report.sessions.len().saturating_sub(limit));
    report.not_read = report.not_read.saturating_add(surplus as u64);
    report.sessions.truncate(filter.limit.unwrap_or(usize::MAX));
    report.totals = Totals::of(&report.sessions);
    Ok(report)
}

/// Whether none of the remaining sessions can be among the newest.
fn has_enough(sessions: &[SessionRow], rest: &[Candidate], filter: &Filter) -> bool {
    let newest = rest.first().and_then(Candidate::newest);
    let newer = sessions.iter().filter(|session| session.updated >= newest).count();
    filter.limit.is_some_and(|limit| newer >= limit)
}

/// A session that was examined.
struct CandidateLook {
    /// `None` if it belongs to another workspace.
    looked: Option<Looked>,
    /// What the cache keeps, if anything is new.
    to_cache: Option<super::cache::CachedSession>,
}

/// Takes a session from the cache, else reads it.
fn look_at(
    candidate: &Candidate,
    filter: &Filter,
    prices: u64,
    reader: &Reader<'_>,
) -> CandidateLook {
    let mut to_cache = None;
    if filter.workspace.is_some() {
        let known = candidate.cached.as_ref().and_then(|cached| cached.beginning.clone());
        let beginning = known.unwrap_or_else(|| {
            let beginning = reader.beginning(candidate);
            to_cache = candidate.to_cache(reader.host);
            if let Some(session) = &mut to_cache {
                session.beginning = Some(beginning.clone());
            }
            beginning
        });
        if !filter.is_of_workspace(beginning.workspace.as_deref()) {
            return CandidateLook { looked: None, to_cache };
        }
    }
    let content = candidate.cached.as_ref().and_then(|cached| cached.content.as_ref());
    let known = match content {
        Some(CachedContent::Unrecognised) => Some(Looked::Unrecognised),
        Some(CachedContent::Part) => Some(Looked::Part),
        Some(content) => content.row(prices).map(Looked::listed),
        None => None,
    };
    let is_known = known.is_some();
    let mut looked = known.unwrap_or_else(|| reader.read(candidate));
    let content = match &looked {
        Looked::Listed { session, problem: None, .. } => Some(CachedContent::of(session, prices)),
        Looked::Unrecognised => Some(CachedContent::Unrecognised),
        Looked::Part => Some(CachedContent::Part),
        _ => None,
    };
    if !is_known && content.is_some() {
        to_cache = to_cache.or_else(|| candidate.to_cache(reader.host));
        if let Some(session) = &mut to_cache {
            session.content = content;
            session.others = looked.others();
        }
    }
    if let Looked::Listed { session, .. } = &mut looked {
        complete(session, candidate);
    }
    CandidateLook { looked: Some(looked), to_cache }
}

/// Adds what a store states, and what may change without the files.
fn complete(session: &mut SessionRow, candidate: &Candidate) {
    let found = &candidate.found;
    session.key.clone_from(&found.key);
    session.running = found.running;
    let ended = session.ended_at.as_deref().and_then(UnixMillis::parse_lenient);
    session.updated = ended.or(found.updated_at).or(candidate.modified);
    session.updated_at = session.updated.map(UnixMillis::to_iso);
}

/// Shows whether a price table changed.
fn key_of(prices: &Prices) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{prices:?}").hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

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
