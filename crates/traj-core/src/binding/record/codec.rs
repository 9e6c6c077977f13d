//! The stored form of a binding record, version 1.

use crate::binding::{
    ApprovalPolicy, BindingOrigin, BindingRecord, ContextEngineBinding, CredentialKind,
    Fingerprint, Fingerprints, FormerThread, PluginPolicyContext, SandboxMode, ServiceTier,
    stored_provider,
};
use crate::id::ThreadId;
use crate::json::{Json, Object};
use crate::timestamp::UnixMillis;

/// The `format` member of every record.
pub const BINDING_FORMAT: &str = "traj-codex-binding";
/// The version that this code writes.
pub const BINDING_VERSION: u64 = 1;

/// Known members; all others are kept as they are.
const KNOWN: [&str; 31] = [
    "format",
    "version",
    "threadId",
    "origin",
    "cwd",
    "authProfileId",
    "model",
    "modelProvider",
    "approvalPolicy",
    "sandbox",
    "serviceTier",
    "dynamicToolsFingerprint",
    "dynamicToolsEmpty",
    "dynamicToolsContainDeferred",
    "userMcpServersFingerprint",
    "mcpServersFingerprint",
    "environmentSelectionFingerprint",
    "pluginAppsInputFingerprint",
    "pluginAppsFingerprint",
    "pluginAppPolicyContext",
    "contextEngine",
    "nativeHookRelayGeneration",
    "codexHome",
    "rolloutPath",
    "turns",
    "historyCoveredThrough",
    "formerThreads",
    "createdAt",
    "updatedAt",
    "state",
    "clearedAt",
];

/// What a stored record says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StoredBinding {
    /// A bound thread.
    Active(Box<BindingRecord>),
    /// The binding was removed; another tool's record must not restore it.
    Cleared,
}

/// Why stored bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The record is truncated, not JSON, not an object, or lacks a required
    /// member.
    #[error("the binding record is damaged: {what}")]
    Damaged {
        /// What is wrong with it.
        what: &'static str,
    },
    /// A newer version wrote it; it is not touched.
    #[error(
        "the binding record has version {version}, but this program supports {BINDING_VERSION}"
    )]
    Newer {
        /// The version found.
        version: u64,
    },
}

const fn damaged(what: &'static str) -> RecordError {
    RecordError::Damaged { what }
}

/// Encodes a record as indented JSON with a final newline.
#[must_use]
pub fn encode_record(record: &BindingRecord) -> String {
    let fingerprints = &record.fingerprints;
    let text = |fingerprint: Option<&Fingerprint>| {
        fingerprint.map(|fingerprint| fingerprint.as_str().to_owned())
    };
    let mut object = head();
    object.push("threadId", record.thread.as_str().to_owned());
    object.push("origin", origin_text(record.origin));
    object.push("cwd", record.cwd.clone());
    object.push_some("authProfileId", record.auth_profile.clone());
    object.push_some("model", record.model.clone());
    object.push_some("modelProvider", record.model_provider.clone());
    object.push_some("approvalPolicy", record.approval_policy.map(ApprovalPolicy::to_json));
    object.push_some("sandbox", record.sandbox.map(SandboxMode::as_str));
    object.push_some("serviceTier", record.service_tier.as_ref().map(|t| t.as_str().to_owned()));
    object.push_some("dynamicToolsFingerprint", text(fingerprints.dynamic_tools.as_ref()));
    if fingerprints.tools_were_empty {
        object.push("dynamicToolsEmpty", true);
    }
    object.push_some("dynamicToolsContainDeferred", record.tools_contain_deferred);
    object.push_some("userMcpServersFingerprint", text(fingerprints.user_mcp.as_ref()));
    object.push_some("mcpServersFingerprint", text(fingerprints.bundled_mcp.as_ref()));
    object.push_some("environmentSelectionFingerprint", text(fingerprints.environment.as_ref()));
    object.push_some("pluginAppsInputFingerprint", text(fingerprints.plugin_input.as_ref()));
    object.push_some("pluginAppsFingerprint", text(fingerprints.plugin_apps.as_ref()));
    let policy = record.plugin_policy.as_ref().map(PluginPolicyContext::to_json);
    object.push_some("pluginAppPolicyContext", policy);
    let engine = record.context_engine.as_ref().map(ContextEngineBinding::to_json);
    object.push_some("contextEngine", engine);
    object.push_some("nativeHookRelayGeneration", record.hook_relay_generation.clone());
    object.push_some("codexHome", record.codex_home.clone());
    object.push_some("rolloutPath", record.rollout_path.clone());
    object.push("turns", record.turns);
    object
        .push_some("historyCoveredThrough", record.history_covered_through.map(UnixMillis::to_iso));
    if !record.former_threads.is_empty() {
        let former: Vec<Json<'static>> =
            record.former_threads.iter().map(FormerThread::to_json).collect();
        object.push("formerThreads", former);
    }
    object.push("createdAt", record.created_at.to_iso());
    object.push("updatedAt", record.updated_at.to_iso());
    for (name, value) in record.unknown.iter() {
        object.push(name.to_owned(), value.clone());
    }
    finish(object)
}

/// The record that prevents another import of the other tool's record.
#[must_use]
pub fn encode_cleared(now: UnixMillis) -> String {
    let mut object = head();
    object.push("state", "cleared");
    object.push("clearedAt", now.to_iso());
    finish(object)
}

fn head() -> Object<'static> {
    let mut object = Object::new();
    object.push("format", BINDING_FORMAT);
    object.push("version", BINDING_VERSION);
    object
}

fn finish(object: Object<'static>) -> String {
    let mut text = Json::Object(object).to_pretty();
    text.push('\n');
    text
}

/// Decodes a stored record.
///
/// # Errors
/// The record is damaged, or a newer version wrote it.
pub fn decode_record(bytes: &[u8]) -> Result<StoredBinding, RecordError> {
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("not UTF-8"))?;
    let value = Json::parse(text).map_err(|_| damaged("not JSON"))?;
    let object = value.as_object().ok_or(damaged("not an object"))?;
    if object.get("format").and_then(Json::as_str) != Some(BINDING_FORMAT) {
        return Err(damaged("another format"));
    }
    match object.get("version").and_then(Json::as_u64) {
        Some(BINDING_VERSION) => {}
        Some(version) if version > BINDING_VERSION => return Err(RecordError::Newer { version }),
        _ => return Err(damaged("no version")),
    }
    if object.get("state").and_then(Json::as_str) == Some("cleared") {
        return Ok(StoredBinding::Cleared);
    }
    let fields = TypedMembers(object);
    let thread = fields.text("threadId").filter(|text| !text.trim().is_empty());
    let thread = thread.ok_or(damaged("no thread"))?;
    let thread = ThreadId::parse(thread).map_err(|_| damaged("no thread"))?;
    let updated_at = fields.time("updatedAt").ok_or(damaged("no time"))?;
    let created_at = fields.time("createdAt").unwrap_or(updated_at);
    let cwd = fields.text("cwd").unwrap_or_default();
    let mut record = BindingRecord::new(thread, &cwd, origin_of(&fields), created_at);
    record.updated_at = updated_at;
    fill_shared(&mut record, &fields);
    record.fingerprints = Fingerprints {
        dynamic_tools: fields.fingerprint("dynamicToolsFingerprint"),
        tools_were_empty: fields.flag("dynamicToolsEmpty").unwrap_or(false),
        user_mcp: fields.fingerprint("userMcpServersFingerprint"),
        bundled_mcp: fields.fingerprint("mcpServersFingerprint"),
        environment: fields.fingerprint("environmentSelectionFingerprint"),
        plugin_input: fields.fingerprint("pluginAppsInputFingerprint"),
        plugin_apps: fields.fingerprint("pluginAppsFingerprint"),
    };
    record.codex_home = fields.text("codexHome");
    record.rollout_path = fields.text("rolloutPath");
    record.turns = object.get("turns").and_then(Json::as_u64).unwrap_or(0);
    record.history_covered_through = fields.time("historyCoveredThrough");
    let former = object.get("formerThreads").and_then(Json::as_array).unwrap_or_default();
    record.former_threads = former.iter().filter_map(FormerThread::from_json).collect();
    for (name, value) in object.iter().filter(|(name, _)| !KNOWN.contains(name)) {
        record.unknown.push(name.to_owned(), value.clone().into_owned());
    }
    Ok(StoredBinding::Active(Box::new(record)))
}

const fn origin_text(origin: BindingOrigin) -> &'static str {
    match origin {
        BindingOrigin::Started => "started",
        BindingOrigin::Attached => "attached",
        BindingOrigin::Imported => "imported",
    }
}

fn origin_of(fields: &TypedMembers<'_>) -> BindingOrigin {
    match fields.text("origin").as_deref() {
        Some("attached") => BindingOrigin::Attached,
        Some("imported") => BindingOrigin::Imported,
        _ => BindingOrigin::Started,
    }
}

/// Members with the same meaning here and in the records of other tools.
pub(super) fn fill_shared(record: &mut BindingRecord, fields: &TypedMembers<'_>) {
    record.auth_profile = fields.text("authProfileId");
    record.model = fields.text("model");
    // The credential is unknown here; it is checked where the provider is used.
    let provider = fields.text("modelProvider");
    record.model_provider =
        provider.and_then(|provider| stored_provider(&provider, CredentialKind::Other));
    record.approval_policy = fields.0.get("approvalPolicy").and_then(ApprovalPolicy::from_json);
    record.sandbox = fields.text("sandbox").as_deref().and_then(SandboxMode::parse);
    record.service_tier = fields.text("serviceTier").as_deref().and_then(ServiceTier::parse);
    record.tools_contain_deferred = fields.flag("dynamicToolsContainDeferred");
    record.hook_relay_generation =
        fields.text("nativeHookRelayGeneration").filter(|text| !text.trim().is_empty());
    record.plugin_policy =
        fields.0.get("pluginAppPolicyContext").and_then(PluginPolicyContext::from_json);
    record.context_engine = fields.0.get("contextEngine").and_then(ContextEngineBinding::from_json);
}

/// Reads members by type; a member of the wrong type counts as absent.
pub(super) struct TypedMembers<'a>(pub(super) &'a Object<'a>);

impl TypedMembers<'_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    pub(super) fn time(&self, name: &str) -> Option<UnixMillis> {
        UnixMillis::parse_lenient(self.0.get(name)?.as_str()?)
    }

    fn fingerprint(&self, name: &str) -> Option<Fingerprint> {
        Fingerprint::parse(self.0.get(name)?.as_str()?)
    }
}
