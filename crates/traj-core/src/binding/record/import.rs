//! Imports a record that another tool left next to the session file
//! (`<session file>.codex-app-server.json`, schema version 1).
//!
//! That tool stores some fingerprints as plain JSON, secrets included, in an order that depends on
//! the locale. The JSON is parsed, made canonical and hashed by our rules; only the hash is kept.
//! Hashes made by unknown rules become opaque: they are only compared with each other, and the
//! first resume replaces them.

use super::codec::{RecordError, TypedMembers, fill_shared};
use crate::binding::{BindingOrigin, BindingRecord, Fingerprint, Fingerprints};
use crate::id::ThreadId;
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// The suffix of another tool's record file, after the session file's name.
pub const IMPORT_SUFFIX: &str = ".codex-app-server.json";

/// Imports another tool's record; `fallback` replaces missing timestamps.
///
/// # Errors
/// The bytes are not a record of schema version 1 with a thread id.
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
    // In that tool, the time of the last write is also the history watermark.
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
