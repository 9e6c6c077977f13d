//! A bundle at a glance.

mod calls;
mod checked;
mod lines;
mod tally;
mod timeline;
mod usage;

use std::collections::BTreeMap;
use std::io::Read as _;

use serde::Serialize;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::timestamp::UnixMillis;

pub use calls::ToolSummary;
pub use checked::{InspectError, inspect_checked};
pub use timeline::Moment;
pub use usage::Usage;

use crate::schema::{self, Manifest, ManifestSummary};
use crate::shrink;
use crate::verify::{LARGE_MANIFEST, MAX_MANIFEST_BYTES, Problem, Reading};
use crate::warning::Warning;
use calls::Calls;
use lines::{Line, Lines};
use timeline::Timeline;

/// What a bundle tells at a glance. Texts come from a redacted bundle.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The key it ran under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// When the bundle was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_at: Option<String>,
    /// The first instant of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The time between them.
    pub duration_millis: i64,
    /// All events.
    pub events: u64,
    /// Events by kind, of the first kinds.
    pub kinds: BTreeMap<String, u64>,
    /// Events of kinds beyond those.
    pub other_kinds: u64,
    /// Models and how many events name them, of the first models.
    pub models: BTreeMap<String, u64>,
    /// Events that name models beyond those.
    pub other_models: u64,
    /// Tools and what became of their calls, of the first tools.
    pub tools: BTreeMap<String, ToolSummary>,
    /// Calls of tools beyond those.
    pub other_tools: u64,
    /// Tokens and cost, where they are known.
    pub usage: Usage,
    /// What happened, in order; of a long session the first moments and the
    /// last ones.
    pub timeline: Vec<Moment>,
    /// How many moments there were between those.
    pub timeline_omitted: u64,
    /// What went wrong, in the order in which it was first told.
    pub errors: Vec<String>,
    /// How many errors came after those.
    pub other_errors: u64,
    /// How the runs ended, the first ones.
    pub endings: Vec<String>,
    /// How many came after those.
    pub other_endings: u64,
    /// What was hidden, if the bundle says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction: Option<ManifestSummary>,
    /// What was skipped, and what else is worth knowing.
    pub warnings: Vec<Warning>,
    /// What is damaged, as far as a look shows; `verify` tells all of it.
    pub problems: Vec<Problem>,
    /// How many more places are.
    pub problems_omitted: u64,
}

/// Looks through a bundle of one's own; [`inspect_checked`] is for those of
/// others.
///
/// # Errors
/// When it cannot be read, or is an archive that is not safe to read.
pub fn inspect(bundle: &dyn BundleSource) -> Result<Summary, BundleSourceError> {
    look_through(bundle, true)
}

/// Looks through a bundle, with or without its events.
fn look_through(
    bundle: &dyn BundleSource,
    shows_events: bool,
) -> Result<Summary, BundleSourceError> {
    let mut summary = Summary::default();
    let mut reader = EventReader::default();
    let (mut stated, mut has_manifest, mut has_events) = (None, false, false);
    bundle.visit(&mut |path, content| {
        match BundleFile::parse(path) {
            Some(BundleFile::Manifest) => {
                has_manifest = true;
                let mut bytes = Vec::new();
                let limit = MAX_MANIFEST_BYTES as u64 + 1;
                let read = Reading(content).take(limit).read_to_end(&mut bytes);
                read.map_err(|error| BundleSourceError::Damaged { source: error.into() })?;
                if bytes.len() > MAX_MANIFEST_BYTES {
                    summary.add_problem(path, None, LARGE_MANIFEST);
                    return Ok(());
                }
                match schema::read::<Manifest>(&bytes) {
                    Some(manifest) => {
                        stated = Some(manifest.event_count);
                        summary.take_manifest(manifest);
                    }
                    None => summary.add_problem(path, None, "does not fit its schema"),
                }
            }
            Some(BundleFile::Events) => {
                has_events = true;
                if !shows_events {
                    return Ok(());
                }
                let mut lines = Lines::default();
                lines.visit(content, &mut |line| reader.take_line(line, &mut summary))?;
            }
            _ => {}
        }
        Ok(())
    })?;
    reader.finish(&mut summary);
    for (file, is_there) in [(BundleFile::Manifest, has_manifest), (BundleFile::Events, has_events)]
    {
        if !is_there {
            summary.add_problem(&file.to_string(), None, "is missing");
        }
    }
    if let Some(stated) = stated.filter(|stated| shows_events && *stated != summary.events) {
        let problem = format!("states {stated} events, there are {}", summary.events);
        summary.add_problem(&BundleFile::Manifest.to_string(), None, &problem);
    }
    Ok(summary)
}

impl Summary {
    fn take_manifest(&mut self, manifest: Manifest) {
        self.session_id = Some(manifest.session_id);
        self.session_key = manifest.session_key;
        self.generated_at = Some(manifest.generated_at);
        self.redaction = manifest.redaction;
        self.warnings = manifest.warnings;
        self.warnings.extend(manifest.notices);
    }

    fn add_problem(&mut self, file: &str, line: Option<u64>, problem: &str) {
        let (file, problem) = (file.to_owned(), problem.to_owned());
        self.problems.push(Problem { file, line, problem });
    }
}

/// Takes events one by one.
#[derive(Debug, Default)]
struct EventReader {
    first: Option<UnixMillis>,
    last: Option<UnixMillis>,
    calls: Calls,
    timeline: Timeline,
    /// How runs ended by their artifacts, if nothing else says so.
    statuses: Vec<String>,
    other_statuses: u64,
    line: u64,
    /// Whether a line that is no event was told; one is enough.
    is_told: bool,
}

impl EventReader {
    fn take_line(&mut self, line: Line<'_>, summary: &mut Summary) {
        self.line += 1;
        let problem = match line {
            Line::Whole(line) => (!self.take(line, summary)).then_some("is no event"),
            // It is looked into by `verify`.
            Line::TooLong => {
                summary.events += 1;
                None
            }
            Line::Cut => Some("is cut"),
        };
        if let Some(problem) = problem.filter(|_| !self.is_told) {
            self.is_told = true;
            summary.add_problem(&BundleFile::Events.to_string(), Some(self.line), problem);
        }
    }

    /// Takes a line, if it is an event.
    fn take(&mut self, line: &[u8], summary: &mut Summary) -> bool {
        if shrink::is_bomb(line) {
            return false;
        }
        let text = String::from_utf8_lossy(line);
        let Ok(event) = Json::parse(&text) else { return false };
        let Some(kind) = event.get("type").and_then(Json::as_str) else { return false };
        summary.events += 1;
        tally::count(&mut summary.kinds, &mut summary.other_kinds, kind);
        let at = event.get("ts").and_then(Json::as_str).and_then(UnixMillis::parse_lenient);
        // An entry without a readable time stands at the beginning of all time.
        if let Some(at) = at.filter(|at| *at != UnixMillis::EPOCH) {
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
            self.last = Some(self.last.map_or(at, |last| last.max(at)));
        }
        if let Some(model) = timeline::model_of(&event) {
            tally::count(&mut summary.models, &mut summary.other_models, &model);
        }
        summary.usage.take(kind, &event);
        self.calls.take(kind, &event, at);
        self.take_end(kind, event.get("data").unwrap_or(&Json::Null), summary);
        if let Some(moment) = timeline::moment(kind, &event) {
            self.timeline.push(moment);
        }
        true
    }

    /// Takes what an event tells of the end of a run, or of an error.
    fn take_end(&mut self, kind: &str, data: &Json<'_>, summary: &mut Summary) {
        let text = |name: &str| data.get(name).and_then(Json::as_str);
        if kind == "session.ended"
            && let Some(status) = text("status")
        {
            tally::list(&mut summary.endings, &mut summary.other_endings, status);
        }
        if kind == "trace.artifacts"
            && let Some(status) = text("finalStatus")
        {
            tally::list(&mut self.statuses, &mut self.other_statuses, status);
        }
        let error = data.get("message").and_then(timeline::error_of);
        let error = error.or_else(|| timeline::error_of(data));
        // The sidecar and the transcript tell of the same one.
        if let Some(error) = error.filter(|error| !summary.errors.contains(error)) {
            tally::list(&mut summary.errors, &mut summary.other_errors, &error);
        }
    }

    fn finish(self, summary: &mut Summary) {
        summary.started_at = self.first.map(UnixMillis::to_iso);
        summary.ended_at = self.last.map(UnixMillis::to_iso);
        if let (Some(first), Some(last)) = (self.first, self.last) {
            summary.duration_millis = last.as_millis().saturating_sub(first.as_millis());
        }
        (summary.tools, summary.other_tools) = self.calls.finish();
        (summary.timeline, summary.timeline_omitted) = self.timeline.finish();
        if summary.endings.is_empty() {
            (summary.endings, summary.other_endings) = (self.statuses, self.other_statuses);
        }
        summary.usage.settle();
    }
}

#[cfg(test)]
mod tests;
