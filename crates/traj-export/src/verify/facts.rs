//! What the files of a bundle say, collected while they are scanned: part by
//! part, on several threads, in hardly any order.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use traj_core::dialect::transcript::{gives_events, unknown_type};
use traj_core::json::Json;
use traj_core::port::BundleFile;
use traj_core::timestamp::UnixMillis;

use super::order::OrderCheck;
use super::sample::HashSample;
use crate::bundle::schema::{self, EventSource};
use crate::read_back::groups::FilePart;

/// Sessions that are told apart; a sound bundle has one.
const MOST_SESSIONS: usize = 16;

/// The members that say what a file belongs to.
const COMMON: [&str; 3] = ["generatedAt", "traceId", "sessionId"];

/// The members of the manifest whose place is told with a problem.
const PLACED: [&str; 10] = [
    "generatedAt",
    "traceId",
    "leafId",
    "sourceFiles",
    "supplementalFiles",
    "contents",
    "agent",
    "otherBranches",
    "unknownEntries",
    "sources",
];

/// What was said so far.
#[derive(Debug, Default)]
pub(super) struct FactCollector {
    said: Mutex<StatedFacts>,
    hasher: RandomState,
}

/// What the files say.
#[derive(Debug, Default)]
pub(super) struct StatedFacts {
    /// How many lines of events there are.
    pub(super) lines: u64,
    pub(super) runtime: u64,
    pub(super) transcript: u64,
    pub(super) order: OrderCheck,
    /// The sessions that events belong to, each with its first line.
    pub(super) sessions: BTreeMap<String, u64>,
    /// The entries that events stand for.
    named: HashSample,
    /// The entries of the branch.
    entries: HashSample,
    /// Those of them that give events.
    telling: HashSample,
    /// How many entries the branch has.
    pub(super) entry_count: u64,
    /// How many of those are of a type that is not known.
    pub(super) unknown_entries: u64,
    /// The line and id of the branch's last entry.
    pub(super) last_entry: Option<(u64, Option<String>)>,
    /// The line and id of the branch's leaf, if the branch says anything.
    pub(super) leaf: Option<(u64, Option<String>)>,
    /// What the smaller files say they belong to, by file and member.
    pub(super) belongs: BTreeMap<(BundleFile, &'static str), FileIdentity>,
    /// Where members of the manifest stand.
    manifest_lines: BTreeMap<&'static str, u64>,
}

/// What a member says its file belongs to.
#[derive(Debug)]
pub(super) struct FileIdentity {
    pub(super) line: u64,
    /// The one text that it has, if it is one.
    pub(super) text: Option<String>,
}

impl StatedFacts {
    /// Where a member of the manifest stands.
    pub(super) fn line_of(&self, member: &str) -> Option<u64> {
        self.manifest_lines.get(member).copied()
    }

    /// The first line of an event that stands for an entry which the branch
    /// does not have.
    pub(super) fn stray_event(&self) -> Option<u64> {
        self.named.first_missing_in(&self.entries)
    }

    /// The first line of an entry that gives events, but has none.
    pub(super) fn silent_entry(&self) -> Option<u64> {
        self.telling.first_missing_in(&self.named)
    }
}

impl FactCollector {
    /// What was said by all parts.
    pub(super) fn finish(self) -> StatedFacts {
        self.said.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a part of a file; says what is wrong with it by itself.
    pub(super) fn take(
        &self,
        file: BundleFile,
        value: &Json<'_>,
        part: &FilePart<'_>,
    ) -> Option<&'static str> {
        match file {
            BundleFile::Events => return self.take_event(value, part),
            BundleFile::SessionBranch => self.take_branch(value, part),
            BundleFile::Manifest => {
                if let Some(name) = one_of(&PLACED, part).filter(|_| !part.is_item) {
                    self.said().manifest_lines.insert(name, part.line);
                }
            }
            BundleFile::Metadata | BundleFile::Artifacts | BundleFile::Prompts => {
                if let Some(member) = one_of(&COMMON, part) {
                    self.take_belongs((file, member), value, part);
                }
            }
            _ => {}
        }
        None
    }

    /// Takes what a file belongs to. A member that says two things, or is a
    /// list, says nothing; however many items that has, they are told as one.
    fn take_belongs(&self, key: (BundleFile, &'static str), value: &Json<'_>, part: &FilePart<'_>) {
        let text = value.as_str().filter(|_| !part.is_item);
        let mut said = self.said();
        let belongs = said
            .belongs
            .entry(key)
            .or_insert_with(|| FileIdentity { line: part.line, text: text.map(str::to_owned) });
        if belongs.text.as_deref() != text {
            belongs.text = None;
        }
        belongs.line = belongs.line.min(part.line);
    }

    fn take_event(&self, value: &Json<'_>, part: &FilePart<'_>) -> Option<&'static str> {
        let event = schema::event_of(part.bytes);
        let mut said = self.said();
        said.lines += 1;
        let Some(event) = event else {
            said.order.pass(part.line);
            return Some("does not fit the schema of events");
        };
        let is_transcript = event.source == EventSource::Transcript;
        let count = if is_transcript { &mut said.transcript } else { &mut said.runtime };
        *count += 1;
        if let Some(entry) = value.get("entryId").and_then(Json::as_str).filter(|_| is_transcript) {
            said.named.add(self.hasher.hash_one(entry), part.line);
        }
        if said.sessions.contains_key(&event.session_id) || said.sessions.len() < MOST_SESSIONS {
            let line = said.sessions.entry(event.session_id).or_insert(part.line);
            *line = part.line.min(*line);
        }
        let Some(at) = UnixMillis::parse_lenient(&event.ts) else {
            said.order.pass(part.line);
            return Some("has no time that can be read");
        };
        said.order.take(part.line, (at, is_transcript));
        (event.seq != part.line).then_some("is not numbered by its place")
    }

    fn take_branch(&self, value: &Json<'_>, part: &FilePart<'_>) {
        let text = |value: &Json<'_>| value.as_str().map(str::to_owned);
        match part.name {
            Some("leafId") => self.said().leaf = Some((part.line, text(value))),
            Some("entries") if part.is_item => {
                let id = value.get("id").and_then(text);
                let mut said = self.said();
                said.entry_count += 1;
                said.unknown_entries += u64::from(unknown_type(value).is_some());
                if let Some(id) = &id {
                    let hash = self.hasher.hash_one(id.as_str());
                    said.entries.add(hash, part.line);
                    if gives_events(value) {
                        said.telling.add(hash, part.line);
                    }
                }
                if said.last_entry.as_ref().is_none_or(|(line, _)| *line <= part.line) {
                    said.last_entry = Some((part.line, id));
                }
            }
            _ => {}
        }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, StatedFacts> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which of these names a part has.
fn one_of(names: &[&'static str], part: &FilePart<'_>) -> Option<&'static str> {
    names.iter().find(|name| part.name == Some(**name)).copied()
}
