//! What the model saw at each call, as far as the agent recorded it: which messages
//! each request consisted of, and where they are in the branch.

use std::collections::HashMap;

use serde::Serialize;
use traj_core::dialect::{ContextError, ContextTable, Dialect, TableBasis, TablePart};
use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::run::{Fact, RunEvent};

use crate::inspect::Summary;
use crate::inspect::context_rows::BundleRows;
use crate::page::files::PageFile;
use crate::page::files::copies::ChunkStart;
use crate::page::notes::row_of;

/// The requests of a run.
#[derive(Debug, Default)]
pub(in crate::page) struct PageContexts {
    table: ContextTable,
    by_answer: HashMap<String, usize>,
    /// Rows of `events.jsonl` that state a call, and the requests they answer.
    rows: Vec<(u32, usize)>,
}

/// As the script reads it.
#[derive(Serialize)]
struct ContextsDocument<'t> {
    /// Where each chunk of the branch begins, if it is encoded.
    chunks: &'t [ChunkStart],
    /// Settings, each once, as JSON.
    settings: Vec<&'t str>,
    parts: Vec<Part>,
    requests: Vec<Request<'t>>,
    rows: &'t [(u32, usize)],
}

#[derive(Serialize)]
struct Part {
    /// `frame`, `message` or `answer`.
    basis: &'static str,
    check: &'static str,
    /// The bytes of its entries in the branch, as start and end.
    at: Vec<(u64, u64)>,
}

#[derive(Serialize)]
struct Request<'t> {
    base: Option<u32>,
    keep: u64,
    tail: &'t [u32],
    frame: Option<u32>,
    settings: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Since>,
}

#[derive(Serialize)]
struct Since {
    before: u32,
    kept: u64,
    dropped: u64,
    frame: bool,
    settings: bool,
}

impl PageContexts {
    /// Reads the requests of a bundle. Other agents do not record them.
    pub(in crate::page) fn read(
        bundle: &dyn BundleSource,
        summary: &Summary,
    ) -> Result<Self, BundleSourceError> {
        if summary.dialect.as_deref() != Some(Dialect::ClaudeCode.as_str()) {
            return Ok(Self::default());
        }
        let table = match ContextTable::read(&BundleRows(bundle)) {
            Ok(table) => table,
            Err(ContextError::Bundle(error)) => return Err(error),
            // What cannot be shown is left out.
            Err(_) => ContextTable::default(),
        };
        let answers = table.requests.iter().enumerate();
        let answers =
            answers.filter_map(|(number, request)| Some((request.answer.clone()?, number)));
        Ok(Self { by_answer: answers.collect(), table, rows: Vec::new() })
    }

    /// Takes an event of the run.
    pub(in crate::page) fn take(&mut self, event: &RunEvent<'_>) {
        if let Fact::ModelCall(call) = &event.fact
            && let Some(request) = call.id.and_then(|id| self.by_answer.get(id))
        {
            self.rows.push((row_of(event), *request));
        }
    }

    /// As JSON; nothing if no request is recorded.
    pub(in crate::page) fn to_json(&self, files: &[PageFile]) -> Vec<u8> {
        if self.table.requests.is_empty() {
            return Vec::new();
        }
        let branch = BundleFile::SessionBranch.to_string();
        let branch = files.iter().find(|file| file.path == branch);
        let mut settings = Vec::new();
        let mut numbers = HashMap::new();
        let requests = self.table.requests.iter().map(|request| Request {
            base: request.base,
            keep: request.keep,
            tail: &request.tail,
            frame: request.frame,
            settings: *numbers.entry(request.settings.as_str()).or_insert_with(|| {
                settings.push(request.settings.as_str());
                settings.len() - 1
            }),
            since: request.since.map(|since| Since {
                before: since.before,
                kept: since.kept,
                dropped: since.dropped,
                frame: since.has_new_frame,
                settings: since.has_new_settings,
            }),
        });
        let requests = requests.collect();
        let document = ContextsDocument {
            chunks: branch.map_or(&[], |file| &file.starts),
            settings,
            parts: self.table.parts.iter().map(part).collect(),
            requests,
            rows: &self.rows,
        };
        // Numbers and strings can be written.
        serde_json::to_vec(&document).unwrap_or_default()
    }
}

fn part(part: &TablePart) -> Part {
    let basis = match part.basis {
        TableBasis::Frame => "frame",
        TableBasis::Answer => "answer",
        _ => "message",
    };
    let at = part.rows.iter().map(|row| (row.start, row.end)).collect();
    Part { basis, check: part.check.as_str(), at }
}
