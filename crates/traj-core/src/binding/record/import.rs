//! Takes over a record that another tool left beside the session
//! (`<session file>.codex-app-server.json`, schema version 1).
//!
//! That tool stores some fingerprints as the text they were made of, secrets included, in an order
//! that depends on the locale. The text is read, made canonical and hashed by our rules; only the
//! hash goes on. Hashes whose rules are not known become opaque: they match their like, and are
//! replaced at the first resume otherwise.

use super::codec::{RecordError, TypedMembers, fill_shared};
use crate::binding::{BindingOrigin, BindingRecord, Fingerprint, Fingerprints};
use crate::id::ThreadId;
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// What another tool's record file is called beside the session file.
pub const IMPORT_SUFFIX: &str = ".codex-app-server.json";

/// Reads another tool's record; `fallback` replaces missing timestamps.
///
/// # Errors
/// The text is not a record of schema version 1 with a thread.
pub fn import_record(bytes: &[u8], fallback: UnixMillis) -> Result<BindingRecord, RecordError> {
    let damaged = |what| RecordError::Damaged { what };
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("not UTF-8"))?;
    let value = Json::parse(text).map_err(|_| damaged("not JSON"))?;
    let object = value.as_object().ok_or(damaged("not an object"))?;
    match object.get("schemaVersion").and_then(Json::as_u64) {
        Some(1) => {}
        Some(version) if version > 1 => return Err(RecordError::Newer { version }),
        _ => return Err(damaged("no schema version")),
    }
    let fields = TypedMembers(object);
    let thread = fields.text("threadId").filter(|text| !text.trim().is_empty());
    let thread = thread.ok_or(damaged("no thread"))?;
    let thread = ThreadId::parse(thread).map_err(|_| damaged("no thread"))?;
    let created_at = fields.time("createdAt").unwrap_or(fallback);
    let cwd = fields.text("cwd").unwrap_or_default();
    let mut record = BindingRecord::new(thread, &cwd, BindingOrigin::Imported, created_at);
    record.updated_at = fields.time("updatedAt").unwrap_or(fallback);
    // In that tool the time of the last write doubles as the history watermark.
    record.history_covered_through = fields.time("updatedAt");
    fill_shared(&mut record, &fields);
    record.fingerprints = imported_fingerprints(&fields);
    Ok(record)
}

fn imported_fingerprints(fields: &TypedMembers<'_>) -> Fingerprints {
    let tools = fields.text("dynamicToolsFingerprint").filter(|text| !text.is_empty());
    let opaque = |name: &str| {
        fields.text(name).filter(|text| !text.is_empty()).map(|text| Fingerprint::opaque(&text))
    };
    let of_text = |name: &str, hash: fn(&Json<'_>) -> Fingerprint| {
        let text = fields.text(name).filter(|text| !text.is_empty())?;
        Some(Json::parse(&text).map_or_else(|_| Fingerprint::opaque(&text), |value| hash(&value)))
    };
    Fingerprints {
        tools_were_empty: tools.as_deref() == Some("[]"),
        dynamic_tools: tools.map(|text| tools_from_text(&text)),
        user_mcp: of_text("userMcpServersFingerprint", Fingerprint::of_mcp_servers),
        bundled_mcp: opaque("mcpServersFingerprint"),
        environment: of_text("environmentSelectionFingerprint", Fingerprint::of),
        plugin_input: opaque("pluginAppsInputFingerprint"),
        plugin_apps: opaque("pluginAppsFingerprint"),
    }
}

fn tools_from_text(text: &str) -> Fingerprint {
    let parsed = Json::parse(text);
    match parsed.as_ref().ok().and_then(Json::as_array) {
        Some(tools) => Fingerprint::of_tools_imported(tools),
        None => Fingerprint::opaque(text),
    }
}
