//! Room for intermediate results, on every adapter.
#![expect(clippy::disallowed_methods, reason = "tests open their own temporary folders")]

use std::error::Error as _;
use std::fs;
use std::path::Path;

use cap_std::fs::Dir;
use traj_core::memory::MemoryScratch;
use traj_core::port::{Scratch as _, ScratchError};
use traj_fs::FsScratch;
use traj_tests::contract::scratch;

fn open(folder: &Path) -> Dir {
    Dir::open_ambient_dir(folder, cap_std::ambient_authority()).unwrap()
}

#[test]
fn scratch_keeps_its_contract() {
    scratch::all(&|| Box::new(MemoryScratch::new()));
    let place = tempfile::tempdir().unwrap();
    scratch::all(&|| Box::new(FsScratch::new(vec![open(place.path())])));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "it has no name");
}

#[test]
fn what_does_not_fit_is_told_as_that() {
    let mut scratch = MemoryScratch::with_room(3);
    scratch.append(b"12").unwrap();
    assert!(matches!(scratch.append(b"34"), Err(ScratchError::Full)));
    scratch.append(b"3").unwrap();
}

#[test]
fn the_first_place_that_takes_it_is_used_and_none_is_told_without_a_bundle() {
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
