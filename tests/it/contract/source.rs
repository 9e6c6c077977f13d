//! The contract of the sources, on every adapter. Sources on disk stay in their directories.

use std::path::Path;

use cap_std::fs::Dir;
use tempfile::TempDir;
use traj_core::memory::MemorySources;
use traj_core::port::{SourceError, Sources};
use traj_fs::FsSources;
use traj_tests::contract::source::SourcesHarness;
use traj_tests::contract_tests;

struct Memory {
    sources: MemorySources,
}

impl SourcesHarness for Memory {
    fn sources(&self) -> &dyn Sources {
        &self.sources
    }

    fn put(&self, name: &str, content: &[u8]) {
        self.sources.put(name, content);
    }

    fn append(&self, name: &str, content: &[u8]) {
        let source = self.sources.open(name).unwrap();
        let mut whole = vec![0; usize::try_from(source.len()).unwrap()];
        source.read_exact_at(0, &mut whole).unwrap();
        whole.extend_from_slice(content);
        self.sources.put(name, whole);
    }

    fn cut(&self, name: &str, length: usize) {
        let source = self.sources.open(name).unwrap();
        let mut whole = vec![0; length];
        source.read_exact_at(0, &mut whole).unwrap();
        self.sources.put(name, whole);
    }

    fn put_link(&self, name: &str) {
        self.sources.put_link(name);
    }

    fn remove(&self, name: &str) {
        self.sources.remove(name);
    }
}

struct Disk {
    temporary: TempDir,
    folder: Dir,
    sources: FsSources,
}

impl Disk {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = open(temporary.path());
        let sources = FsSources::new(temporary.path())
            .with_root(temporary.path(), folder.try_clone().unwrap());
        Self { temporary, folder, sources }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, cap_std::ambient_authority()).unwrap()
}

impl SourcesHarness for Disk {
    fn sources(&self) -> &dyn Sources {
        &self.sources
    }

    fn put(&self, name: &str, content: &[u8]) {
        self.folder.write(name, content).unwrap();
    }

    fn append(&self, name: &str, content: &[u8]) {
        use std::io::Write as _;
        let mut options = cap_std::fs::OpenOptions::new();
        let mut file = self.folder.open_with(name, options.append(true)).unwrap();
        file.write_all(content).unwrap();
    }

    fn cut(&self, name: &str, length: usize) {
        let mut options = cap_std::fs::OpenOptions::new();
        let file = self.folder.open_with(name, options.write(true)).unwrap();
        file.set_len(length as u64).unwrap();
    }

    fn put_link(&self, name: &str) {
        self.folder.symlink("elsewhere", name).unwrap();
    }

    fn remove(&self, name: &str) {
        self.folder.remove_file(name).unwrap();
    }
}

contract_tests! {
    source:
    memory => Memory { sources: MemorySources::new() },
    filesystem => Disk::new(),
}

#[test]
fn only_files_below_the_roots_are_read() {
    let disk = Disk::new();
    let outside = disk.sources.open("/etc/hostname");
    assert!(matches!(outside, Err(SourceError::Outside { .. })));
    disk.folder.create_dir("real").unwrap();
    disk.folder.write("real/f", b"x").unwrap();
    disk.folder.symlink("real", "linked").unwrap();
    assert!(disk.sources.open("real/f").is_ok());
    let absolute = disk.temporary.path().join("real/f");
    assert!(disk.sources.open(absolute.to_str().unwrap()).is_ok());
    assert!(matches!(disk.sources.open("linked/f"), Err(SourceError::NotRegular { .. })));
    assert!(matches!(disk.sources.open("real"), Err(SourceError::NotRegular { .. })));
}

#[test]
fn a_fifo_does_not_block() {
    let disk = Disk::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(&disk.folder, "pipe", mode).unwrap();
    assert!(matches!(disk.sources.open("pipe"), Err(SourceError::NotRegular { .. })));
}
