//! Sessions and sidecars to export in memory, and a short form of the result.

use std::collections::BTreeSet;

use serde_json::Value;
use traj_core::id::{BundleName, SessionId};
use traj_core::json::Json;
use traj_core::memory::{MemoryBundle, MemoryBundleSink, MemorySources};
use traj_core::port::BundleFile;
use traj_core::redaction::{MarkerKey, PathLabels, RedactionPolicy, Redactor};
use traj_core::timestamp::UnixMillis;
use traj_export::{
    ExportError, ExportPorts, ExportReport, ExportRequest, Selection, SidecarHints, Silent, export,
};

use crate::rows::{HEADER, next_message, user};

/// A redactor with the paths of the fixtures.
pub fn redactor() -> Redactor {
    let mut labels = PathLabels::default();
    labels.workspaces = vec!["/home/ann/shop".to_owned()];
    labels.state_dirs = vec!["/home/ann/.openclaw".to_owned()];
    labels.homes = vec!["/home/ann".to_owned()];
    Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])).with_paths(labels))
}

/// A request for the session `s1` in the file `s1.jsonl`.
pub fn request() -> ExportRequest {
    let id = SessionId::parse("s1").expect("a name is an id");
    let key = Some("agent:main:main".to_owned());
    let selection = Selection::with_names("s1.jsonl", Some(id), key);
    let mut request =
        ExportRequest::new(selection, "/home/ann/shop", UnixMillis::EPOCH, redactor());
    request.sidecar = SidecarHints::new("/");
    request.name = BundleName::parse("b").ok();
    request
}

/// A session with this many messages of a kilobyte, each the child of the previous one.
pub fn long_session(rows: u32) -> String {
    let text = user(&"word ".repeat(200));
    let messages = (0..rows).map(|number| next_message(number, &text).json());
    [HEADER.to_owned()].into_iter().chain(messages).collect::<Vec<_>>().join("\n")
}

/// The result of an export.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The files.
    pub files: MemoryBundle,
    /// The report.
    pub report: ExportReport,
}

/// Exports rows, and the rows of a sidecar if there are any.
///
/// # Panics
/// When the export fails.
pub fn exported(session: &[String], sidecar: &[String]) -> Exported {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", [&[HEADER.to_owned()], session].concat().join("\n"));
    if !sidecar.is_empty() {
        sources.put("s1.trajectory.jsonl", sidecar.join("\n"));
    }
    export_from(&sources, &request()).expect("exports")
}

/// Exports from these sources.
///
/// # Errors
/// When the export fails.
pub fn export_from(
    sources: &MemorySources,
    request: &ExportRequest,
) -> Result<Exported, ExportError> {
    let sink = MemoryBundleSink::new();
    let report = export(ExportPorts { sources, sink: &sink }, request, &Silent)?;
    let files = sink.bundle(&report.name).expect("what was reported is there");
    Ok(Exported { files, report })
}

impl Exported {
    /// A JSON file, if it was written.
    pub fn json(&self, file: BundleFile) -> Option<Value> {
        let text = self.files.get(&file)?;
        Some(serde_json::from_str(text).expect("every file is valid JSON"))
    }

    /// All events.
    pub fn events(&self) -> Vec<Value> {
        let text = &self.files[&BundleFile::Events];
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(deep_value).collect()
    }

    /// The `type` of each event, with the id of its entry.
    pub fn sequence(&self) -> Vec<String> {
        let shown = self.events().into_iter().enumerate().map(|(index, event)| {
            assert_eq!(event["seq"], index + 1, "events are numbered by their place");
            let kind = event["type"].as_str().unwrap_or("?").to_owned();
            event["entryId"].as_str().map_or(kind.clone(), |entry| format!("{kind} {entry}"))
        });
        shown.collect()
    }

    /// `code [rows]` of each warning that OpenClaw's exporter has, too.
    pub fn warnings(&self) -> Vec<String> {
        let list = self.report.warnings.iter();
        list.map(|warning| format!("{} {:?}", warning.code, warning.rows)).collect()
    }

    /// Everything that an older reader uses: files with their members in order,
    /// counts, warnings, and the type and position of each event.
    pub fn outline(&self) -> String {
        let mut lines = Vec::new();
        for (file, text) in &self.files {
            // Events of one source have the same shape.
            let documents: Vec<&str> = match file {
                BundleFile::Events => text.lines().collect(),
                _ => vec![text],
            };
            let shapes = documents
                .into_iter()
                .map(|document| Json::parse(document).as_ref().map_or(String::new(), shape));
            let shapes: BTreeSet<String> = shapes.filter(|shape| !shape.is_empty()).collect();
            lines.push(file.to_string());
            lines.extend(shapes.iter().map(|shape| format!("  {shape}")));
        }
        lines.extend(self.warnings().iter().map(|warning| format!("warning {warning}")));
        lines.extend(self.notices().iter().map(|notice| format!("notice {notice}")));
        let report = &self.report;
        lines.push(format!(
            "{} events: {} runtime, {} transcript",
            report.event_count, report.runtime_event_count, report.transcript_event_count
        ));
        for event in self.events() {
            let text = |name: &str| event[name].as_str().unwrap_or("-").to_owned();
            let (source, kind, ts) = (text("source"), text("type"), text("ts"));
            let mut words = vec![event["seq"].to_string(), source, kind, ts];
            words.extend(event.get("sourceSeq").map(|number| format!("no. {number}")));
            if let Some(entry) = event["entryId"].as_str() {
                words.push(format!("{entry} after {}", event["parentEntryId"]));
            }
            if let Some(data) = event["data"].as_object() {
                let names: Vec<&str> = data.keys().map(String::as_str).collect();
                words.push(format!("{{{}}}", names.join(", ")));
            }
            lines.push(words.join(" "));
        }
        lines.join("\n")
    }

    /// `code [rows]` of each notice.
    pub fn notices(&self) -> Vec<String> {
        let list = self.report.notices.iter();
        list.map(|warning| format!("{} {:?}", warning.code, warning.rows)).collect()
    }
}

/// The member names of an object in order, or the number of items of an array.
fn shape(value: &Json<'_>) -> String {
    match value {
        Json::Object(object) => object.iter().map(|(name, _)| name).collect::<Vec<_>>().join(" "),
        Json::Array(items) => format!("{} items", items.len()),
        _ => "a scalar".to_owned(),
    }
}

/// A value of any depth.
fn deep_value(json: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut deserializer).expect("every line is valid JSON")
}
