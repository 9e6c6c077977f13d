//! Facts that the files of a bundle state. They are collected during the scan:
//! part by part, on several threads, in no fixed order.

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

/// How many sessions are recorded; a sound bundle has one.
const MOST_SESSIONS: usize = 16;

/// The members that identify the run of a file.
const COMMON: [&str; 3] = ["generatedAt", "traceId", "sessionId"];

/// The members of the manifest whose line is reported with a problem.
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

/// Collects the facts of all parts.
#[derive(Debug, Default)]
pub(super) struct FactCollector {
    said: Mutex<StatedFacts>,
    hasher: RandomState,
}

/// The facts that the files state.
#[derive(Debug, Default)]
pub(super) struct StatedFacts {
    /// How many lines of events there are.
    pub(super) lines: u64,
    pub(super) runtime: u64,
    pub(super) transcript: u64,
    pub(super) order: OrderCheck,
    /// The sessions that events belong to, each with its first line.
    pub(super) sessions: BTreeMap<String, u64>,
    /// The entries that events refer to.
    named: HashSample,
    /// The entries of the branch.
    entries: HashSample,
    /// The entries that must have events.
    telling: HashSample,
    /// How many entries the branch has.
    pub(super) entry_count: u64,
    /// How many of those have an unknown type.
    pub(super) unknown_entries: u64,
    /// The line and id of the branch's last entry.
    pub(super) last_entry: Option<(u64, Option<String>)>,
    /// The line and id of the branch's leaf, if the file states one.
    pub(super) leaf: Option<(u64, Option<String>)>,
    /// The identity that the smaller files state, by file and member.
    pub(super) belongs: BTreeMap<(BundleFile, &'static str), FileIdentity>,
    /// The lines of members of the manifest.
    manifest_lines: BTreeMap<&'static str, u64>,
}

/// The identity that a member states for its file.
#[derive(Debug)]
pub(super) struct FileIdentity {
    pub(super) line: u64,
    /// The string; `None` if the member is not a string, or occurs with
    /// different values.
    pub(super) text: Option<String>,
}

impl StatedFacts {
    /// The line of a member of the manifest.
    pub(super) fn line_of(&self, member: &str) -> Option<u64> {
        self.manifest_lines.get(member).copied()
    }

    /// The first line of an event that refers to an entry outside the branch.
    pub(super) fn stray_event(&self) -> Option<u64> {
        self.named.first_missing_in(&self.entries)
    }

    /// The first line of an entry that must have events and has none.
    pub(super) fn silent_entry(&self) -> Option<u64> {
        self.telling.first_missing_in(&self.named)
    }
}

impl FactCollector {
    /// The facts of all parts.
    pub(super) fn finish(self) -> StatedFacts {
        self.said.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the facts of a part; returns a defect of the part itself.
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

    /// Takes the identity of a file. A list, or a member that occurs with
    /// different values, states no identity.
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
            return Some("does not match the event schema");
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
            return Some("has no valid time");
        };
        said.order.take(part.line, (at, is_transcript));
        (event.seq != part.line).then_some("has the wrong sequence number")
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

/// The part's name, if it is one of these.
fn one_of(names: &[&'static str], part: &FilePart<'_>) -> Option<&'static str> {
    names.iter().find(|name| part.name == Some(**name)).copied()
}
