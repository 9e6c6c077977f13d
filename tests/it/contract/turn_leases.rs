//! The contract of leases, on every adapter. On disk, a lease leaves nothing
//! behind.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::os::unix::fs::symlink;

use cap_std::fs::Dir;
use tempfile::TempDir;
use traj_core::memory::MemoryTurnLeases;
use traj_core::port::{BindingKey, TurnLeases};
use traj_fs::{FsTurnLeases, TURN_LOCK_SUFFIX};
use traj_tests::contract::turn_leases::TurnLeasesHarness;
use traj_tests::contract_tests;
use traj_tests::traj_binary::names_in;

struct Memory(MemoryTurnLeases);

impl TurnLeasesHarness for Memory {
    fn leases(&self) -> Box<dyn TurnLeases> {
        Box::new(self.0.clone())
    }
}

struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl TurnLeasesHarness for Disk {
    fn leases(&self) -> Box<dyn TurnLeases> {
        let folder = Dir::open_ambient_dir(self.0.path(), cap_std::ambient_authority()).unwrap();
        Box::new(FsTurnLeases::new(folder))
    }
}

contract_tests! { turn_leases:
    memory => Memory(MemoryTurnLeases::new()),
    disk => Disk::new(),
}

#[test]
fn a_lease_leaves_no_file_and_a_file_is_not_a_lease() {
    let disk = Disk::new();
    let key = BindingKey::parse("s.jsonl").unwrap();
    let lock = format!("{key}{TURN_LOCK_SUFFIX}");
    // As after a kill.
    fs::write(disk.0.path().join(&lock), "").unwrap();
    let lease = disk.leases().try_take(&key).unwrap();
    assert!(lease.is_some());
    assert_eq!(names_in(disk.0.path()), std::slice::from_ref(&lock));
    drop(lease);
    assert!(names_in(disk.0.path()).is_empty());
    // A link is refused, not followed.
    symlink("elsewhere", disk.0.path().join(&lock)).unwrap();
    disk.leases().try_take(&key).unwrap_err();
    assert_eq!(names_in(disk.0.path()), [lock]);
}
