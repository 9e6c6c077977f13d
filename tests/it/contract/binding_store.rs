//! The contract of the binding store, on every adapter. On disk, records are private and complete.

use std::io::Read as _;
use std::sync::Arc;

use cap_std::fs::{Dir, PermissionsExt as _};
use tempfile::TempDir;
use traj_core::binding::{
    ApprovalPolicy, BindingOrigin, BindingRecord, ContextEngineFacts, Fingerprint, FormerReason,
    GranularApproval, IMPORT_SUFFIX, PluginApp, PluginPolicyContext, Projection, SandboxMode,
    ServiceTier, encode_cleared, encode_record,
};
use traj_core::id::ThreadId;
use traj_core::memory::{FixedClock, MemoryBindingStore};
use traj_core::port::{BindingKey, BindingStore};
use traj_core::timestamp::UnixMillis;
use traj_fs::{BINDING_SUFFIX, FsBindingStore};
use traj_tests::contract::binding_store::BindingStoreHarness;
use traj_tests::contract_tests;
use traj_tests::json_schema::violations;

struct Memory(MemoryBindingStore);

impl BindingStoreHarness for Memory {
    fn store(&self) -> Box<dyn BindingStore> {
        Box::new(self.0.clone())
    }

    fn put_bytes(&self, key: &BindingKey, bytes: &[u8]) {
        self.0.put_bytes(key, bytes);
    }

    fn put_import(&self, key: &BindingKey, bytes: &[u8]) {
        self.0.put_import(key, bytes);
    }
}

struct Disk {
    _temporary: TempDir,
    folder: Dir,
}

impl Disk {
    #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
        Self { _temporary: temporary, folder }
    }
}

impl BindingStoreHarness for Disk {
    fn store(&self) -> Box<dyn BindingStore> {
        let clock = Arc::new(FixedClock::default());
        Box::new(FsBindingStore::new(self.folder.try_clone().unwrap(), clock))
    }

    fn put_bytes(&self, key: &BindingKey, bytes: &[u8]) {
        self.folder.write(format!("{key}{BINDING_SUFFIX}"), bytes).unwrap();
    }

    fn put_import(&self, key: &BindingKey, bytes: &[u8]) {
        self.folder.write(format!("{key}{IMPORT_SUFFIX}"), bytes).unwrap();
    }
}

contract_tests! {
    binding_store:
    memory => Memory(MemoryBindingStore::new()),
    filesystem => Disk::new(),
}

fn record() -> BindingRecord {
    let thread = ThreadId::parse("t").unwrap();
    BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH)
}

#[test]
fn records_are_private_and_leave_nothing_beside_them() {
    let disk = Disk::new();
    let key = BindingKey::parse("s.jsonl").unwrap();
    disk.put_bytes(&key, b"garbage");
    disk.store().set_aside(&key).unwrap();
    disk.store().save(&key, &record(), None).unwrap();
    let mut names: Vec<String> = disk
        .folder
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let record = format!("s.jsonl{BINDING_SUFFIX}");
    let aside = format!("{record}.damaged-1");
    assert_eq!(names, [".traj-codex-binding.lock", record.as_str(), aside.as_str()]);
    assert_eq!(disk.folder.read(&aside).unwrap(), b"garbage");
    assert_eq!(disk.folder.metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Scenario 11: a writer that died before it replaced the file leaves the record unchanged, because
/// nothing is ever written over a record.
#[test]
fn a_writer_that_died_leaves_the_record_whole() {
    let disk = Disk::new();
    let key = BindingKey::parse("s.jsonl").unwrap();
    let revision = disk.store().save(&key, &record(), None).unwrap();
    disk.folder.write(".traj-1-1.tmp", b"{\"format\": \"tra").unwrap();
    let loaded = disk.store().load(&key).unwrap().unwrap();
    assert_eq!((loaded.record, loaded.revision), (record(), Some(revision.clone())));

    let name = format!("{key}{BINDING_SUFFIX}");
    let before = disk.folder.read(&name).unwrap();
    let mut opened = disk.folder.open(&name).unwrap();
    let mut changed = record();
    changed.model = Some("another".to_owned());
    disk.store().save(&key, &changed, Some(&revision)).unwrap();
    let mut old = Vec::new();
    opened.read_to_end(&mut old).unwrap();
    assert_eq!(old, before, "the old record is whole");
    assert_eq!(disk.store().load(&key).unwrap().unwrap().record, changed);
}

/// A link instead of a record is neither followed nor replaced.
#[test]
fn links_are_refused() {
    let disk = Disk::new();
    let key = BindingKey::parse("s.jsonl").unwrap();
    disk.folder.write("elsewhere", b"precious").unwrap();
    disk.folder.symlink("elsewhere", format!("{key}{BINDING_SUFFIX}")).unwrap();
    assert!(disk.store().load(&key).is_err());
    assert!(disk.store().save(&key, &record(), None).is_err());
    assert_eq!(disk.folder.read("elsewhere").unwrap(), b"precious");
}

/// A record with every member.
fn full_record() -> BindingRecord {
    let text = |text: &str| Some(text.to_owned());
    let hash = || Some(Fingerprint::opaque("x"));
    let mut record = record();
    record.auth_profile = text("work");
    record.model = text("m");
    record.model_provider = text("p");
    record.approval_policy = Some(ApprovalPolicy::Granular(GranularApproval::default()));
    record.sandbox = Some(SandboxMode::ReadOnly);
    record.service_tier = ServiceTier::parse("flex");
    record.fingerprints.dynamic_tools = hash();
    record.fingerprints.tools_were_empty = true;
    record.fingerprints.user_mcp = hash();
    record.fingerprints.bundled_mcp = hash();
    record.fingerprints.environment = hash();
    record.fingerprints.plugin_input = hash();
    record.fingerprints.plugin_apps = hash();
    record.tools_contain_deferred = Some(false);
    record.hook_relay_generation = text("g");
    let mut policy = PluginPolicyContext::new("f".to_owned());
    let app = PluginApp::new("k".to_owned(), "market".to_owned(), "p".to_owned());
    policy.apps.insert("a".to_owned(), app);
    policy.app_ids.insert("k".to_owned(), vec!["a".to_owned()]);
    record.plugin_policy = Some(policy);
    record.context_engine = ContextEngineFacts::new("e".to_owned()).binding();
    if let Some(engine) = &mut record.context_engine {
        engine.projection = Some(Projection::new("1".to_owned(), text("f")));
    }
    record.codex_home = text("/home");
    record.rollout_path = text("/home/sessions/r.jsonl");
    record.history_covered_through = Some(UnixMillis::EPOCH);
    let successor = ThreadId::parse("other").unwrap();
    let former = record.former_after(&successor, FormerReason::Rotated, UnixMillis::EPOCH);
    record.former_threads = former;
    record
}

#[test]
fn stored_records_follow_their_schema() {
    let schema = include_str!("../../../docs/schema/binding.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let full = encode_record(&full_record());
    for text in [full.clone(), encode_record(&record()), encode_cleared(UnixMillis::EPOCH)] {
        let document = serde_json::from_str(&text).unwrap();
        assert_eq!(violations(&schema, &document), Vec::<String>::new(), "{text}");
    }
    // Every member of the schema is one that is written, so neither has more than the other.
    let members = schema["properties"].as_object().unwrap();
    let written: serde_json::Value = serde_json::from_str(&full).unwrap();
    let unwritten: Vec<&String> =
        members.keys().filter(|name| written.get(name.as_str()).is_none()).collect();
    assert_eq!(unwritten, ["clearedAt", "state"]);
}
