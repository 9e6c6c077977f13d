//! Datasets on every adapter, and what the one in a directory promises about
//! modes, links and crashes.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use cap_std::fs::{Dir, MetadataExt as _, PermissionsExt as _};
use tempfile::TempDir;
use traj_core::memory::MemoryDataset;
use traj_core::port::{DatasetKey, DatasetStore, DatasetStoreError, Stored};
use traj_fs::FsDataset;
use traj_tests::contract::dataset_store::DatasetStoreHarness;
use traj_tests::contract_tests;
use traj_tests::s3_server::S3Server;

struct InMemory(MemoryDataset);

impl DatasetStoreHarness for InMemory {
    fn dataset(&self) -> &dyn DatasetStore {
        &self.0
    }
}

struct Folder {
    temporary: TempDir,
    dataset: FsDataset,
}

impl Folder {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dataset = FsDataset::new(open(temporary.path()), Vec::new());
        Self { temporary, dataset }
    }

    /// In a directory that does not exist yet.
    fn missing() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let below = vec!["srv".to_owned(), "lake".to_owned()];
        let dataset = FsDataset::new(open(temporary.path()), below);
        Self { temporary, dataset }
    }

    fn folder(&self) -> Dir {
        open(self.temporary.path())
    }
}

impl DatasetStoreHarness for Folder {
    fn dataset(&self) -> &dyn DatasetStore {
        &self.dataset
    }
}

/// A dataset in S3, as moto emulates it.
struct InS3 {
    dataset: Box<dyn DatasetStore>,
    _server: Option<S3Server>,
}

impl InS3 {
    /// Without moto the case is reported as skipped, which CI refuses, and runs in
    /// memory.
    fn below(prefix: &str) -> Self {
        match S3Server::start() {
            Some(server) => {
                Self { dataset: Box::new(server.dataset(prefix)), _server: Some(server) }
            }
            None => Self { dataset: Box::new(MemoryDataset::new()), _server: None },
        }
    }
}

impl DatasetStoreHarness for InS3 {
    fn dataset(&self) -> &dyn DatasetStore {
        self.dataset.as_ref()
    }
}

contract_tests! {
    dataset_store:
    memory => InMemory(MemoryDataset::new()),
    folder => Folder::new(),
    missing_folder => Folder::missing(),
    s3 => InS3::below("fleet/of hosts"),
}

#[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, cap_std::ambient_authority()).unwrap()
}

fn key(key: &str) -> DatasetKey {
    DatasetKey::parse(key).unwrap()
}

fn listed(dataset: &dyn DatasetStore, prefix: &str) -> Result<BTreeSet<String>, DatasetStoreError> {
    let mut found = BTreeSet::new();
    dataset.list(prefix, &mut |file| {
        found.insert(file.key.as_str().to_owned());
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What the cause of an error says.
fn cause(error: &DatasetStoreError) -> String {
    error.source().unwrap().to_string()
}

#[test]
fn files_and_directories_are_private() {
    let folder = Folder::missing();
    folder.dataset.put_if_absent(&key("a/b"), b"rows").unwrap();
    let mode = |path: &str| folder.folder().metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("srv/lake/a/b"), 0o600);
    for directory in ["srv", "srv/lake", "srv/lake/a"] {
        assert_eq!(mode(directory), 0o700, "{directory}");
    }
    assert_eq!(folder.folder().metadata("srv/lake/a/b").unwrap().nlink(), 1);
}

#[test]
fn the_mode_of_an_existing_directory_stays() {
    let folder = Folder::new();
    folder.folder().create_dir("a").unwrap();
    let mode = cap_std::fs::Permissions::from_mode(0o755);
    folder.folder().set_permissions("a", mode).unwrap();
    folder.dataset.put_if_absent(&key("a/b"), b"rows").unwrap();
    let mode = folder.folder().metadata("a").unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn links_are_refused_and_their_targets_untouched() {
    let (folder, elsewhere) = (Folder::new(), tempfile::tempdir().unwrap());
    let inside = folder.folder();
    open(elsewhere.path()).write("theirs", "theirs").unwrap();
    let target = elsewhere.path().to_str().unwrap();
    rustix::fs::symlink(target, folder.temporary.path().join("linked")).unwrap();
    inside.create_dir("d").unwrap();
    rustix::fs::symlink(
        elsewhere.path().join("theirs").to_str().unwrap(),
        folder.temporary.path().join("d/link"),
    )
    .unwrap();
    let dataset = &folder.dataset;
    for name in ["linked/new", "linked/theirs", "d/link"] {
        let error = dataset.put_if_absent(&key(name), b"ours").unwrap_err();
        assert!(cause(&error).contains("symbolic link"), "{name}: {}", cause(&error));
        let error = dataset.get(&key(name)).unwrap_err();
        assert!(matches!(error, DatasetStoreError::Failed { .. }), "{name}");
        assert!(dataset.delete(&key(name)).is_err(), "{name}");
    }
    for prefix in ["", "linked", "linked/", "d/"] {
        let error = listed(dataset, prefix).unwrap_err();
        assert!(cause(&error).contains("symbolic link"), "{prefix:?}: {}", cause(&error));
    }
    assert_eq!(open(elsewhere.path()).read_to_string("theirs").unwrap(), "theirs");
    assert_eq!(open(elsewhere.path()).entries().unwrap().count(), 1);
}

#[test]
fn what_is_not_a_file_is_not_taken_for_one() {
    let folder = Folder::new();
    folder.folder().create_dir_all("a/b").unwrap();
    folder.folder().write("a/file", "rows").unwrap();
    for name in ["a/b", "a/file/c"] {
        assert!(folder.dataset.put_if_absent(&key(name), b"rows").is_err(), "{name}");
        assert!(folder.dataset.get(&key(name)).is_err(), "{name}");
    }
    let fifo = folder.temporary.path().join("a/fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(folder.dataset.get(&key("a/fifo")).is_err());
    assert!(folder.dataset.put_if_absent(&key("a/fifo"), b"rows").is_err());
    assert!(listed(&folder.dataset, "a/fi").is_err());
}

#[test]
fn other_programs_files_are_skipped() {
    let folder = Folder::new();
    folder.dataset.put_if_absent(&key("a/b"), b"rows").unwrap();
    for name in [".DS_Store", "a/.hidden", "a/with space", "a/ä"] {
        folder.folder().write(name, "theirs").unwrap();
    }
    folder.folder().create_dir(".git").unwrap();
    folder.folder().write(".git/config", "theirs").unwrap();
    assert_eq!(listed(&folder.dataset, "").unwrap(), BTreeSet::from(["a/b".to_owned()]));
    assert_eq!(listed(&folder.dataset, "../").unwrap(), BTreeSet::new());
}

#[test]
fn what_a_crash_left_is_swept_but_not_what_is_being_written() {
    let folder = Folder::new();
    let inside = folder.folder();
    inside.create_dir("a").unwrap();
    let (old, new) = (".traj-4000000-0.tmp", ".traj-4000000-1.tmp");
    for name in [old, new] {
        inside.write(format!("a/{name}"), "half a f").unwrap();
    }
    let now = inside.metadata(format!("a/{new}")).unwrap().modified().unwrap().into_std();
    let two_days_ago = now - Duration::from_secs(2 * 24 * 60 * 60);
    let file = inside.open_with(format!("a/{old}"), cap_std::fs::OpenOptions::new().write(true));
    file.unwrap().into_std().set_modified(two_days_ago).unwrap();
    assert_eq!(folder.dataset.put_if_absent(&key("a/b"), b"rows").unwrap(), Stored::New);
    assert!(!inside.exists(format!("a/{old}")));
    assert!(inside.exists(format!("a/{new}")));
    assert_eq!(listed(&folder.dataset, "").unwrap(), BTreeSet::from(["a/b".to_owned()]));
}

#[test]
fn a_loser_leaves_nothing_beside_the_winner() {
    let folder = Folder::new();
    for _ in 0..3 {
        folder.dataset.put_if_absent(&key("a/b"), b"rows").unwrap();
    }
    assert_eq!(folder.folder().read_dir("a").unwrap().count(), 1);
}
