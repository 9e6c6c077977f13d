//! A bundle at a glance.

mod calls;
mod timeline;
mod usage;

use std::collections::BTreeMap;

use serde::Serialize;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::timestamp::UnixMillis;

pub use calls::ToolSummary;
pub use timeline::Moment;
pub use usage::Usage;

use crate::schema::{self, Manifest, ManifestSummary};
use crate::verify::Reading;
use crate::warning::Warning;
use calls::Calls;

/// Lines longer than this are counted but not looked into.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// How many moments of the timeline are kept.
const MOMENTS: usize = 400;

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
    /// Events by kind.
    pub kinds: BTreeMap<String, u64>,
    /// Models and how many events name them.
    pub models: BTreeMap<String, u64>,
    /// Tools and what became of their calls.
    pub tools: BTreeMap<String, ToolSummary>,
    /// Tokens and cost, where they are known.
    pub usage: Usage,
    /// What happened, in order; the first moments of a long session.
    pub timeline: Vec<Moment>,
    /// How the runs ended.
    pub endings: Vec<String>,
    /// What was hidden.
    pub redaction: ManifestSummary,
    /// What was skipped, and what else is worth knowing.
    pub warnings: Vec<Warning>,
}

/// Looks through a bundle.
///
/// # Errors
/// When it cannot be read, or is an archive that is not safe to read.
pub fn inspect(bundle: &dyn BundleSource) -> Result<Summary, BundleSourceError> {
    let mut summary = Summary::default();
    let mut reader = EventReader::default();
    bundle.visit(&mut |path, content| {
        match BundleFile::parse(path) {
            Some(BundleFile::Manifest) => {
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut Reading(content), &mut bytes)
                    .map_err(|error| BundleSourceError::Damaged { source: error.into() })?;
                if let Some(manifest) = schema::read::<Manifest>(&bytes) {
                    summary.take_manifest(manifest);
                }
            }
            Some(BundleFile::Events) => {
                let mut buffer = vec![0; 256 * 1024];
                let mut lines = Vec::new();
                loop {
                    let read = content.read(&mut buffer)?;
                    if read == 0 {
                        break;
                    }
                    lines.extend_from_slice(buffer.get(..read).unwrap_or_default());
                    let whole = memchr::memrchr(b'\n', &lines).map_or(0, |at| at + 1);
                    for line in lines.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n')
                    {
                        reader.take(line, &mut summary);
                    }
                    lines.drain(..whole);
                    if lines.len() > LONGEST_LINE {
                        lines.clear();
                    }
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    reader.finish(&mut summary);
    Ok(summary)
}

impl Summary {
    fn take_manifest(&mut self, manifest: Manifest) {
        self.session_id = Some(manifest.session_id);
        self.session_key = manifest.session_key;
        self.generated_at = Some(manifest.generated_at);
        self.redaction = manifest.redaction.unwrap_or_default();
        self.warnings = manifest.warnings;
        self.warnings.extend(manifest.notices);
    }
}

/// Takes events one by one.
#[derive(Debug, Default)]
struct EventReader {
    first: Option<UnixMillis>,
    last: Option<UnixMillis>,
    calls: Calls,
}

impl EventReader {
    fn take(&mut self, line: &[u8], summary: &mut Summary) {
        let text = String::from_utf8_lossy(line);
        let Ok(event) = Json::parse(&text) else { return };
        let Some(kind) = event.get("type").and_then(Json::as_str) else { return };
        summary.events += 1;
        *summary.kinds.entry(kind.to_owned()).or_default() += 1;
        let at = event.get("ts").and_then(Json::as_str).and_then(UnixMillis::parse_lenient);
        if let Some(at) = at {
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
            self.last = Some(self.last.map_or(at, |last| last.max(at)));
        }
        if let Some(model) = timeline::model_of(&event) {
            *summary.models.entry(model).or_default() += 1;
        }
        summary.usage.take(kind, &event);
        self.calls.take(kind, &event, at);
        if kind == "session.ended" {
            let status = event.get("data").and_then(|data| data.get("status"));
            summary.endings.extend(status.and_then(Json::as_str).map(str::to_owned));
        }
        if summary.timeline.len() < MOMENTS {
            summary.timeline.extend(timeline::moment(kind, &event));
        }
    }

    fn finish(self, summary: &mut Summary) {
        summary.started_at = self.first.map(UnixMillis::to_iso);
        summary.ended_at = self.last.map(UnixMillis::to_iso);
        if let (Some(first), Some(last)) = (self.first, self.last) {
            summary.duration_millis = last.as_millis() - first.as_millis();
        }
        summary.tools = self.calls.finish();
    }
}

#[cfg(test)]
mod tests;
