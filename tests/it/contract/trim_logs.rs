//! The logs and blobs that a trim uses, on every adapter.
#![expect(clippy::disallowed_methods, reason = "tests open their own temporary directories")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use cap_std::fs::Dir;
use tempfile::TempDir;
use traj_core::memory::{MemoryBlobs, MemoryLog};
use traj_core::port::{BlobFolder, LineLog, LineLogError};
use traj_fs::{FsBlobFolder, FsLineLog};
use traj_tests::contract::blob_folder::BlobFolderHarness;
use traj_tests::contract::line_log::LineLogHarness;
use traj_tests::contract_tests;

fn open(folder: &Path) -> Dir {
    Dir::open_ambient_dir(folder, cap_std::ambient_authority()).unwrap()
}

fn log_in(folder: &Path, name: &str) -> FsLineLog {
    FsLineLog::new(open(folder), name.to_owned())
}

/// An adapter, and the directory that must outlive it.
struct Subject<A> {
    adapter: A,
    _place: Option<TempDir>,
}

impl<A> Subject<A> {
    fn in_memory(adapter: A) -> Self {
        Self { adapter, _place: None }
    }

    fn on_disk(make: impl FnOnce(&Path) -> A) -> Self {
        let place = tempfile::tempdir().unwrap();
        Self { adapter: make(place.path()), _place: Some(place) }
    }
}

impl<A: LineLog> LineLogHarness for Subject<A> {
    fn log(&self) -> &dyn LineLog {
        &self.adapter
    }
}

impl<A: BlobFolder> BlobFolderHarness for Subject<A> {
    fn blobs(&self) -> &dyn BlobFolder {
        &self.adapter
    }
}

fn blobs_in(folder: &Path) -> FsBlobFolder {
    FsBlobFolder::new(open(folder), "s.blobs".to_owned())
}

contract_tests! {
    line_log:
    memory_log => Subject::in_memory(MemoryLog::default()),
    filesystem_log => Subject::on_disk(|place| log_in(place, "log.jsonl")),
}

contract_tests! {
    blob_folder:
    memory_blobs => Subject::in_memory(MemoryBlobs::default()),
    filesystem_blobs => Subject::on_disk(blobs_in),
}

#[test]
fn a_log_is_private_refuses_links_and_goes_with_its_last_line() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("log.jsonl");
    let log = log_in(place.path(), "log.jsonl");
    log.append(&["one".to_owned()]).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // A torn line does not damage the next one.
    fs::write(&file, "one\ntorn").unwrap();
    log.append(&["two".to_owned()]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntorn\ntwo\n");
    log.retain(&mut |_| false).unwrap();
    assert!(!file.exists());
    fs::write(place.path().join("victim"), "kept\n").unwrap();
    symlink("victim", &file).unwrap();
    let outcome = log.append(&["three".to_owned()]);
    assert!(matches!(outcome, Err(LineLogError::Refused { .. })), "{outcome:?}");
    assert_eq!(fs::read_to_string(place.path().join("victim")).unwrap(), "kept\n");
}

#[test]
fn several_writers_share_a_log() {
    let place = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let log = log_in(place.path(), "log.jsonl");
            scope.spawn(move || {
                for number in 0..25 {
                    log.append(&[format!("{writer} {number}")]).unwrap();
                    // Drops nothing, but replaces the file while others use it.
                    log.retain(&mut |_| true).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(place.path().join("log.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 100);
    for writer in 0..4 {
        let prefix = format!("{writer} ");
        let numbers =
            text.lines().filter_map(|line| line.strip_prefix(&prefix)?.parse::<u32>().ok());
        assert!(numbers.eq(0..25_u32), "writer {writer}");
    }
}
