//! The contract of scratch files for intermediate results, on every adapter.
#![expect(clippy::disallowed_methods, reason = "tests open their own temporary directories")]

use std::error::Error as _;
use std::fs;
use std::path::Path;

use cap_std::fs::Dir;
use tempfile::TempDir;
use traj_core::memory::MemoryScratch;
use traj_core::port::{Scratch, ScratchError};
use traj_fs::FsScratch;
use traj_tests::contract::scratch::ScratchHarness;
use traj_tests::contract_tests;

fn open(folder: &Path) -> Dir {
    Dir::open_ambient_dir(folder, cap_std::ambient_authority()).unwrap()
}

struct Memory;

impl ScratchHarness for Memory {
    fn scratch(&self) -> Box<dyn Scratch> {
        Box::new(MemoryScratch::new())
    }
}

struct Disk {
    place: TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap() }
    }
}

impl ScratchHarness for Disk {
    fn scratch(&self) -> Box<dyn Scratch> {
        Box::new(FsScratch::new(vec![open(self.place.path())]))
    }
}

contract_tests! {
    scratch:
    memory => Memory,
    filesystem => Disk::new(),
}

#[test]
fn scratch_on_disk_has_no_name() {
    let disk = Disk::new();
    let names = || fs::read_dir(disk.place.path()).unwrap().count();
    let mut scratch = disk.scratch();
    scratch.append(b"text").unwrap();
    assert_eq!(names(), 0, "while it is in use");
    drop(scratch);
    assert_eq!(names(), 0, "afterwards");
}

#[test]
fn scratch_that_is_full_says_so() {
    let mut scratch = MemoryScratch::with_room(3);
    scratch.append(b"12").unwrap();
    assert!(matches!(scratch.append(b"34"), Err(ScratchError::Full)));
    scratch.append(b"3").unwrap();
}

#[test]
fn the_first_usable_place_is_used_and_an_error_does_not_mention_a_bundle() {
    let place = tempfile::tempdir().unwrap();
    let gone = place.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let removed = open(&gone);
    fs::remove_dir(&gone).unwrap();
    let mut scratch = FsScratch::new(vec![removed.try_clone().unwrap(), open(place.path())]);
    scratch.append(b"text").unwrap();
    for places in [vec![removed], Vec::new()] {
        let error = FsScratch::new(places).append(b"text").unwrap_err();
        assert!(matches!(error, ScratchError::Storage(_)), "{error:?}");
        assert_eq!(error.to_string(), "cannot keep intermediate results");
        assert!(!error.source().unwrap().to_string().contains("bundle"), "{error:?}");
    }
}
