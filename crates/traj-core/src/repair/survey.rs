//! The first reading: everything that is wrong.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::diagnosis::{Diagnosis, DocumentKind, Finding, Problem};
use super::links::{BrokenLink, Link, mend};
use super::rebuild::Splitter;
use super::row::{is_header, kind_of};
use crate::json::{Json, Object};
use crate::transcript::EntryKey;

/// Hears every line of a file, in order.
#[derive(Debug, Default)]
pub struct Survey {
    diagnosis: Diagnosis,
    splitter: Splitter,
    kinds: [u64; 3],
    links: Vec<Link>,
    row_lines: HashMap<u64, u64>,
    digests: HashSet<[u8; 16]>,
    ids: HashSet<EntryKey>,
    header: Option<(u64, u64)>,
    first_timestamp: Option<String>,
    ordinals: Vec<(u64, u64, Option<u64>)>,
}

impl Survey {
    /// Hears the next line, given without its line end.
    pub fn line(&mut self, line: &[u8]) {
        self.diagnosis.lines += 1;
        let number = self.diagnosis.lines;
        let split = self.splitter.split(line);
        for problem in split.problems {
            self.diagnosis.findings.push(Finding::new(number, problem));
        }
        for row in &split.rows {
            self.row(row, number);
        }
    }

    fn row(&mut self, text: &[u8], line: u64) {
        let number = self.diagnosis.rows;
        self.diagnosis.rows += 1;
        let Ok(value) = Json::parse_lossy(text) else { return };
        let Some(kind) = kind_of(&value) else {
            self.diagnosis.findings.push(Finding::new(line, Problem::NotARow));
            return;
        };
        self.kinds[kind as usize] += 1;
        let ordinal = value.get("ordinal");
        let is_new = self.digests.insert(digest(text));
        // Rows of a rollout without a number may well be equal.
        let tells_apart = kind != DocumentKind::Rollout || ordinal.is_some();
        if !is_new && tells_apart {
            self.diagnosis.repeated.insert(number);
            self.diagnosis.findings.push(Finding::new(line, Problem::Repeated));
            return;
        }
        match kind {
            DocumentKind::Rollout => {
                self.diagnosis.is_numbered |= ordinal.is_some();
                self.ordinals.push((number, line, ordinal.and_then(Json::as_u64)));
            }
            DocumentKind::Session => self.entry(&value, number, line),
            DocumentKind::Sidecar => {}
        }
    }

    fn entry(&mut self, value: &Json<'_>, number: u64, line: u64) {
        if is_header(value) {
            self.header.get_or_insert((number, line));
            return;
        }
        let text = |name: &str| value.get(name).and_then(Json::as_str);
        if self.first_timestamp.is_none() {
            self.first_timestamp = text("timestamp").map(str::to_owned);
        }
        let Some(id) = text("id").map(EntryKey::of) else { return };
        if !self.ids.insert(id) {
            self.diagnosis.findings.push(Finding::new(line, Problem::DuplicateId));
        }
        self.links.push(Link { row: number, id, parent: text("parentId").map(EntryKey::of) });
        self.row_lines.insert(number, line);
    }

    /// Ends the reading. `session_id` is what a missing header will state.
    #[must_use]
    pub fn finish(mut self, session_id: &str) -> Diagnosis {
        let kinds = [DocumentKind::Session, DocumentKind::Sidecar, DocumentKind::Rollout];
        let most = kinds.into_iter().rev().max_by_key(|kind| self.kinds[*kind as usize]);
        self.diagnosis.kind = most.unwrap_or_default();
        match self.diagnosis.kind {
            DocumentKind::Session => self.finish_session(session_id),
            DocumentKind::Rollout => self.finish_rollout(),
            DocumentKind::Sidecar => {}
        }
        self.diagnosis.findings.sort_unstable();
        self.diagnosis
    }

    fn finish_session(&mut self, session_id: &str) {
        for (row, problem, parent) in mend(&self.links) {
            let line = self.row_lines.get(&row).copied().unwrap_or_default();
            let problem = match problem {
                BrokenLink::Missing => Problem::MissingParent,
                BrokenLink::Cycle => Problem::Cycle,
            };
            self.diagnosis.findings.push(Finding::new(line, problem));
            self.diagnosis.parents.insert(row, parent);
        }
        match self.header {
            Some((0, _)) => {}
            Some((row, line)) => {
                self.diagnosis.late_header = Some(row);
                self.diagnosis.findings.push(Finding::new(line, Problem::LateHeader));
            }
            None if self.diagnosis.rows > 0 => {
                self.diagnosis.new_header =
                    Some(header(session_id, self.first_timestamp.as_deref()));
                self.diagnosis.findings.push(Finding::new(1, Problem::MissingHeader));
            }
            None => {}
        }
    }

    fn finish_rollout(&mut self) {
        if !self.diagnosis.is_numbered {
            return;
        }
        for (expected, (_, line, ordinal)) in (0_u64..).zip(&self.ordinals) {
            if *ordinal != Some(expected) {
                self.diagnosis.findings.push(Finding::new(*line, Problem::WrongOrdinal));
            }
        }
    }
}

fn digest(text: &[u8]) -> [u8; 16] {
    let digest = Sha256::digest(text);
    std::array::from_fn(|index| digest[index])
}

fn header(session_id: &str, timestamp: Option<&str>) -> String {
    let mut header = Object::with_capacity(5);
    header.push("type", "session");
    header.push("version", 3_u64);
    header.push("id", session_id);
    header.push("timestamp", timestamp.unwrap_or("1970-01-01T00:00:00.000Z"));
    header.push("cwd", "/");
    Json::Object(header).to_line()
}
