//! The contract of the bundle sink, on every adapter, and what the sink on disk
//! promises about modes, links and crashes.

use std::collections::BTreeSet;
use std::path::Path;

use cap_std::fs::{Dir, MetadataExt as _};
use tempfile::TempDir;
use traj_core::constant_text;
use traj_core::id::BundleName;
use traj_core::memory::MemoryBundleSink;
use traj_core::port::{BundleFile, BundleSink, BundleSinkError, BundleWriter, NameTaken, Scratch};
use traj_core::redaction::RedactedText;
use traj_fs::{BundleForm, FsBundleSink};
use traj_tests::contract::bundle_sink::BundleSinkHarness;
use traj_tests::contract::scratch::ScratchHarness;
use traj_tests::contract_tests;
use traj_tests::export_home::left_behind;

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

#[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
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
        // Unfinished bundles have hidden names.
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
    text.push_constant(constant_text!("content\n"));
    let mut output = writer.create(file).unwrap();
    output.append(&text.finish()).unwrap();
    output.finish().unwrap();
}

contract_tests! {
    bundle_sink:
    memory => Memory(MemoryBundleSink::new()),
    filesystem => Disk::new(),
}

/// The scratch files of an unfinished bundle.
struct BundleScratch<H> {
    writer: Box<dyn BundleWriter>,
    _sink: H,
}

impl<H: BundleSinkHarness> BundleScratch<H> {
    fn in_sink(harness: H) -> Self {
        let writer = harness.sink().begin(&plain("one"), NameTaken::Refuse).unwrap();
        Self { writer, _sink: harness }
    }
}

impl<H> ScratchHarness for BundleScratch<H> {
    fn scratch(&self) -> Box<dyn Scratch> {
        self.writer.scratch().unwrap()
    }
}

contract_tests! {
    scratch:
    memory_scratch => BundleScratch::in_sink(Memory(MemoryBundleSink::new())),
    filesystem_scratch => BundleScratch::in_sink(Disk::new()),
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
    // A link that is created while the bundle is written.
    let mut writer = disk.begin("later/one").unwrap();
    put(&mut *writer, BundleFile::Events);
    disk.folder.symlink("victim", "later").unwrap();
    assert!(matches!(writer.commit(), Err(BundleSinkError::UnsafePlace { .. })));
    assert_eq!(disk.folder.read_dir("victim").unwrap().count(), 0);
}

#[test]
fn leftovers_of_a_crash_are_removed_by_the_next_export() {
    let disk = Disk::new();
    let (folder, archive, link) = (left_behind(0), left_behind(1), left_behind(2));
    disk.folder.create_dir_all(format!("{folder}/blobs")).unwrap();
    disk.folder.write(format!("{folder}/events.jsonl"), b"half").unwrap();
    disk.folder.write(archive, b"half an archive").unwrap();
    // None of these may be removed.
    disk.folder.symlink("elsewhere", &link).unwrap();
    let other_host = ".traj-bundle-other.host-7-0.tmp".to_owned();
    disk.folder.create_dir(&other_host).unwrap();
    let own = ".traj-bundle-keep.tmp".to_owned();
    disk.folder.create_dir(&own).unwrap();
    let names = || {
        let names = disk.folder.entries().unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    let staying = BTreeSet::from([link, other_host.clone(), own.clone()]);
    let under_way = disk.begin("two").unwrap();
    let with_one_under_way = names();
    assert!(with_one_under_way.is_superset(&staying) && with_one_under_way.len() == 4);
    drop(disk.begin("one").unwrap());
    assert_eq!(names(), with_one_under_way, "what is in use stays");
    drop(under_way);
    assert_eq!(names(), staying);
    // Leftovers of another host are removed after a day.
    let long_ago = rustix::fs::Timespec { tv_sec: 1_000, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: long_ago, last_modification: long_ago };
    for name in [&other_host, &own] {
        let flags = rustix::fs::AtFlags::empty();
        rustix::fs::utimensat(&disk.folder, name.as_str(), &times, flags).unwrap();
    }
    drop(disk.begin("one").unwrap());
    assert!(!disk.folder.exists(&other_host) && disk.folder.exists(&own));
}

#[test]
fn many_exports_at_once_do_not_remove_each_other() {
    for form in [BundleForm::Folder, BundleForm::Zip, BundleForm::TarZst] {
        let disk = Disk::with_form(form);
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let disk = &disk;
                scope.spawn(move || {
                    for round in 0..12 {
                        let name = format!("way-{}/bundle-{worker}-{round}", round % 3);
                        let mut writer = disk.begin(&name).unwrap();
                        put(&mut *writer, BundleFile::Events);
                        put(&mut *writer, BundleFile::Blob([1; 32]));
                        if round % 4 == 3 {
                            drop(writer);
                        } else {
                            writer.commit().unwrap();
                        }
                    }
                });
            }
        });
        let count = |path: &str| disk.folder.read_dir(path).unwrap().count();
        assert_eq!(count("."), 3, "{form:?}: nothing is left behind");
        assert_eq!((0..3).map(|way| count(&format!("way-{way}"))).sum::<usize>(), 72, "{form:?}");
    }
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
