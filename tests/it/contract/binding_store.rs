//! The binding stores keep their contract; the one on disk also keeps records private and whole.

use std::sync::Arc;

use cap_std::fs::{Dir, PermissionsExt as _};
use tempfile::TempDir;
use traj_core::binding::{BindingOrigin, BindingRecord, IMPORT_SUFFIX};
use traj_core::id::ThreadId;
use traj_core::memory::{FixedClock, MemoryBindingStore};
use traj_core::port::{BindingKey, BindingStore};
use traj_core::timestamp::UnixMillis;
use traj_fs::{BINDING_SUFFIX, FsBindingStore};
use traj_tests::contract::binding_store::BindingStoreHarness;
use traj_tests::contract_tests;

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

/// Scenario 11: a writer that died before its file took the place leaves the record as it was.
#[test]
fn a_writer_that_died_leaves_the_record_whole() {
    let disk = Disk::new();
    let key = BindingKey::parse("s.jsonl").unwrap();
    let revision = disk.store().save(&key, &record(), None).unwrap();
    disk.folder.write(".traj-1-1.tmp", b"{\"format\": \"tra").unwrap();
    let loaded = disk.store().load(&key).unwrap().unwrap();
    assert_eq!((loaded.record, loaded.revision), (record(), Some(revision)));
}

/// A link in the place of a record is neither followed nor replaced.
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
