//! `manifest.json`: the bundle's files, their sources and the redaction counts.

use sha2::{Digest as _, Sha256};
use traj_core::constant_text;
use traj_core::dialect::Dialect;
use traj_core::json::{Json, Object};
use traj_core::port::BundleFile;
use traj_core::redaction::{ConstantText, Redacted, RedactedText, RedactionReport, Redactor};
use traj_core::run::{Branches, NameCounts};

use super::CommonMembers;
use crate::bundle::output::{WrittenFile, hex};
use crate::export::locate::FoundSource;
use crate::read_back::redaction_pass::LINKS;
use crate::warning::Warning;

/// The member that holds the digest of the bundle.
pub(crate) const DIGEST: &str = "digest";

/// An input file.
#[derive(Clone, Debug)]
pub(crate) struct SourceFact {
    pub(crate) role: &'static str,
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
    pub(crate) digest: [u8; 32],
}

impl SourceFact {
    pub(crate) fn new(
        role: &'static str,
        found: &FoundSource,
        rows: u64,
        digest: [u8; 32],
    ) -> Self {
        let (name, bytes) = (found.name.clone(), found.source.len());
        Self { role, name, bytes, rows, digest }
    }
}

/// The content of a manifest.
pub(crate) struct ManifestParts<'m> {
    pub(crate) common: &'m CommonMembers,
    pub(crate) leaf_id: Option<&'m str>,
    pub(crate) runtime_events: u64,
    pub(crate) transcript_events: u64,
    pub(crate) session_file: &'m str,
    pub(crate) sources: &'m [SourceFact],
    pub(crate) warnings: &'m [Warning],
    pub(crate) notices: &'m [Warning],
    pub(crate) files: &'m [WrittenFile],
    pub(crate) report: &'m RedactionReport,
    /// The dialect of the session file, if it is known.
    pub(crate) dialect: Option<Dialect>,
    /// The branches that were not exported.
    pub(crate) others: Branches,
    /// Branch entries that produce no event, by type.
    pub(crate) unknown: &'m NameCounts,
    pub(crate) tool_version: &'m str,
}

/// The member that holds the paths of the inputs, by role.
pub(crate) const SOURCE_FILES: &str = "sourceFiles";
pub(crate) const SOURCE_ROLES: [ConstantText; 2] = constant_text!(["session", "runtime"]);

/// The file's content, and the digest of the whole bundle.
pub(crate) fn manifest(
    parts: &ManifestParts<'_>,
    redactor: &Redactor,
) -> (Redacted<String>, String) {
    let mut object = parts.common.members();
    object.push("workspaceDir", parts.common.workspace_dir.as_str());
    object.push("leafId", parts.leaf_id.map_or(Json::Null, Json::from));
    object.push("eventCount", parts.runtime_events + parts.transcript_events);
    object.push("runtimeEventCount", parts.runtime_events);
    object.push("transcriptEventCount", parts.transcript_events);
    object.push(SOURCE_FILES, source_files(parts));
    push_warnings(&mut object, "warnings", parts.warnings);
    let supplemental = BundleFile::SUPPLEMENTAL
        .into_iter()
        .filter(|file| parts.files.iter().any(|written| written.file == *file))
        .map(|file| file.to_string());
    let supplemental: Vec<String> = supplemental.collect();
    if !supplemental.is_empty() {
        object.push("supplementalFiles", supplemental);
    }
    object.push("contents", Json::Array(parts.files.iter().map(content).collect()));
    push_warnings(&mut object, "notices", parts.notices);
    object.push("tool", tool(parts.tool_version));
    object
        .push_some("agent", parts.dialect.and_then(|dialect| dialect.agent_of(parts.session_file)));
    object.push_some("dialect", parts.dialect.map(Dialect::as_str));
    object.push_some("otherBranches", other_branches(parts.others));
    object.push_some("unknownEntries", unknown_entries(parts.unknown));
    object.push("redaction", redaction_summary(parts.report));
    object.push("sources", Json::Array(parts.sources.iter().map(source).collect()));
    // The manifest counts the redactions in the other files, not those of its
    // own paths.
    let report = &mut RedactionReport::default();
    let manifest = redactor.json_settled(Json::Object(object), &LINKS, report);
    let manifest = manifest.with_names(SOURCE_FILES, &SOURCE_ROLES);
    // The seal is the manifest's own digest, which covers the digest of every
    // file.
    let digest = digest_without_seal(manifest.as_ref());
    let mut text = RedactedText::new();
    text.push_pretty(manifest.with_sha256(constant_text!(DIGEST), &digest).view(), 0);
    text.push_constant(constant_text!("\n"));
    (text.finish(), format!("sha256:{}", hex(&digest)))
}

/// The branches that were left out, if there are any.
fn other_branches(others: Branches) -> Option<Json<'static>> {
    let mut object = Object::with_capacity(2);
    object.push("count", others.count);
    object.push("entries", others.entries);
    (others.entries > 0).then_some(Json::Object(object))
}

/// The entries that produce no event, if there are any. A list, not an object:
/// a type is text from the session, so it must be redacted as a value.
fn unknown_entries(unknown: &NameCounts) -> Option<Json<'_>> {
    let of_type = |(name, count): (&'_ String, &u64)| {
        let mut of_type = Object::with_capacity(2);
        of_type.push("type", name.clone());
        of_type.push("count", *count);
        Json::Object(of_type)
    };
    let mut object = Object::with_capacity(2);
    object.push("count", unknown.total());
    object.push("types", Json::Array(unknown.by_name.iter().map(of_type).collect()));
    (unknown.total() > 0).then_some(Json::Object(object))
}

/// The paths of the inputs, without their member names in the manifest.
fn source_files<'m>(parts: &ManifestParts<'m>) -> Json<'m> {
    let [_, runtime] = SOURCE_ROLES;
    let runtime = parts.sources.iter().find(|source| source.role == runtime.as_str());
    let files = [parts.session_file].into_iter().chain(runtime.map(|source| source.name.as_str()));
    Json::Array(files.map(|path| Json::Array(vec![Json::from(path)])).collect())
}

fn push_warnings(object: &mut Object<'_>, name: &'static str, warnings: &[Warning]) {
    if warnings.is_empty() {
        return;
    }
    let list = warnings.iter().filter_map(|warning| Json::from_serialize(warning).ok());
    object.push(name, Json::Array(list.collect()));
}

fn content(written: &WrittenFile) -> Json<'static> {
    let mut content = Object::with_capacity(4);
    content.push("path", written.file.to_string());
    content.push("mediaType", written.file.media_type());
    content.push("bytes", written.bytes);
    content.push("sha256", hex(&written.digest));
    Json::Object(content)
}

fn tool(version: &str) -> Json<'_> {
    let mut tool = Object::with_capacity(2);
    tool.push("name", "traj");
    tool.push("version", version);
    Json::Object(tool)
}

fn redaction_summary(report: &RedactionReport) -> Json<'static> {
    // A list, not an object: a count under the name of a rule such as
    // `password` would look like a password.
    let rule = |(rule, count): (&str, u64)| {
        let mut entry = Object::with_capacity(2);
        entry.push("rule", rule.to_owned());
        entry.push("count", count);
        Json::Object(entry)
    };
    let mut summary = Object::with_capacity(4);
    summary.push("total", report.hidden());
    summary.push("rules", Json::Array(report.by_rule().into_iter().map(rule).collect()));
    summary.push("media", report.media());
    summary.push("paths", report.paths());
    Json::Object(summary)
}

fn source(source: &SourceFact) -> Json<'_> {
    let mut object = Object::with_capacity(5);
    object.push("role", source.role);
    object.push("path", source.name.as_str());
    object.push("bytes", source.bytes);
    object.push("rows", source.rows);
    object.push("sha256", hex(&source.digest));
    Json::Object(object)
}

/// The digest of a manifest without its seal, on one line.
pub(crate) fn digest_without_seal(manifest: &Json<'_>) -> [u8; 32] {
    let mut unsealed = manifest.clone();
    if let Some(object) = unsealed.as_object_mut() {
        object.remove(DIGEST);
    }
    Sha256::digest(unsealed.to_line()).into()
}
