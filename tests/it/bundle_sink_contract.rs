//! The bundle sinks keep their contract, and the one on disk its promises about
//! modes, links and crashes.

use std::path::Path;

use cap_std::fs::{Dir, MetadataExt as _};
use tempfile::TempDir;
use traj_core::id::BundleName;
use traj_core::memory::MemoryBundleSink;
use traj_core::port::{BundleFile, BundleSink, BundleSinkError, BundleWriter, NameTaken};
use traj_core::redaction::RedactedText;
use traj_fs::{BundleForm, FsBundleSink};
use traj_tests::contract::bundle_sink::{BundleSinkHarness, all};

struct Memory(MemoryBundleSink);

impl BundleSinkHarness for Memory {
    fn sink(&self) -> &dyn BundleSink {
        &self.0
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    fn read(&self, bundle: &str, file: &str) -> Option<String> {
        self.0.bundle(bundle)?.get(&BundleFile::parse(file)?).cloned()
    }
}

struct Disk {
    _temporary: TempDir,
    folder: Dir,
    sink: FsBundleSink,
}

impl Disk {
    fn new() -> Self {
        Self::with_form(BundleForm::Folder)
    }

    fn with_form(form: BundleForm) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = open(temporary.path());
        let sink = FsBundleSink::new(folder.try_clone().unwrap(), form);
        Self { _temporary: temporary, folder, sink }
    }

    fn begin(&self, name: &str) -> Result<Box<dyn BundleWriter>, BundleSinkError> {
        self.sink.begin(&plain(name), NameTaken::Refuse)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test opens its own folder")]
fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, cap_std::ambient_authority()).unwrap()
}

impl BundleSinkHarness for Disk {
    fn sink(&self) -> &dyn BundleSink {
        &self.sink
    }

    fn names(&self) -> Vec<String> {
        let entries = self.folder.entries().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // What is being written is hidden.
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    fn read(&self, bundle: &str, file: &str) -> Option<String> {
        self.folder.read_to_string(format!("{bundle}/{file}")).ok()
    }
}

fn plain(name: &str) -> BundleName {
    BundleName::parse(name).unwrap()
}

fn put(writer: &mut dyn BundleWriter, file: BundleFile) {
    let mut text = RedactedText::new();
    text.push_static("content\n");
    let mut output = writer.create(file).unwrap();
    output.append(&text.finish()).unwrap();
    output.finish().unwrap();
}

#[test]
fn memory_keeps_the_contract() {
    all(|| Memory(MemoryBundleSink::new()));
}

#[test]
fn the_disk_keeps_the_contract() {
    all(Disk::new);
}

#[test]
fn bundles_are_private_and_nothing_else_is_left() {
    let disk = Disk::new();
    let mut writer = disk.begin("case/one").unwrap();
    put(&mut *writer, BundleFile::Events);
    put(&mut *writer, BundleFile::Blob([1; 32]));
    writer.commit().unwrap();
    let mode = |path: &str| disk.folder.symlink_metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode("case"), 0o700);
    assert_eq!(mode("case/one"), 0o700);
    assert_eq!(mode("case/one/blobs"), 0o700);
    assert_eq!(mode("case/one/events.jsonl"), 0o600);
    assert_eq!(disk.folder.entries().unwrap().count(), 1);
    drop(disk.begin("two").unwrap());
    assert_eq!(disk.folder.entries().unwrap().count(), 1, "dropped means gone");
}

#[test]
fn a_link_on_the_way_is_refused_and_its_target_untouched() {
    let disk = Disk::new();
    disk.folder.create_dir("victim").unwrap();
    disk.folder.symlink("victim", "linked").unwrap();
    assert!(matches!(disk.begin("linked/one"), Err(BundleSinkError::UnsafePlace { .. })));
    assert!(matches!(disk.begin("linked"), Err(BundleSinkError::Exists { .. })));
    // A link that appears while the bundle is written.
    let mut writer = disk.begin("later/one").unwrap();
    put(&mut *writer, BundleFile::Events);
    disk.folder.symlink("victim", "later").unwrap();
    assert!(matches!(writer.commit(), Err(BundleSinkError::UnsafePlace { .. })));
    assert_eq!(disk.folder.read_dir("victim").unwrap().count(), 0);
}

#[test]
fn what_a_crash_left_is_removed_by_the_next_export() {
    let disk = Disk::new();
    disk.folder.create_dir_all(".traj-bundle-1-0.tmp/blobs").unwrap();
    disk.folder.write(".traj-bundle-1-0.tmp/events.jsonl", b"half").unwrap();
    disk.folder.write(".traj-bundle-1-1.tmp", b"half an archive").unwrap();
    disk.folder.symlink("elsewhere", ".traj-bundle-1-2.tmp").unwrap();
    let under_way = disk.begin("two").unwrap();
    let names = || {
        let names = disk.folder.entries().unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect::<std::collections::BTreeSet<_>>()
    };
    let with_one_under_way = names();
    assert_eq!(with_one_under_way.len(), 2, "and what is none of ours: {with_one_under_way:?}");
    drop(disk.begin("one").unwrap());
    assert_eq!(names(), with_one_under_way, "what is in use stays");
    drop(under_way);
    assert_eq!(names().into_iter().collect::<Vec<_>>(), [".traj-bundle-1-2.tmp"]);
}

#[test]
fn many_exports_at_once_do_not_take_each_other_for_left_behind() {
    let disk = Disk::new();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let disk = &disk;
            scope.spawn(move || {
                for round in 0..25 {
                    let mut writer = disk.begin(&format!("bundle-{worker}-{round}")).unwrap();
                    put(&mut *writer, BundleFile::Events);
                    writer.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(disk.folder.entries().unwrap().count(), 200);
}

#[test]
fn archives_are_one_private_file_and_always_the_same_bytes() {
    for (form, name) in [(BundleForm::Zip, "one.zip"), (BundleForm::TarZst, "one.tar.zst")] {
        let pack = || {
            let disk = Disk::with_form(form);
            let mut writer = disk.begin("one").unwrap();
            put(&mut *writer, BundleFile::Manifest);
            put(&mut *writer, BundleFile::Blob([1; 32]));
            assert_eq!(writer.commit().unwrap(), name);
            assert_eq!(disk.folder.entries().unwrap().count(), 1);
            let mode = disk.folder.symlink_metadata(name).unwrap().mode() & 0o777;
            (mode, disk.folder.read(name).unwrap())
        };
        let (mode, bytes) = pack();
        assert_eq!(mode, 0o600);
        assert!(!bytes.is_empty() && bytes == pack().1);
    }
}
