//! The contract of the trajectory store, on every adapter.

use cap_std::fs::OpenOptions;
use std::io::Write as _;

use traj_core::id::SessionId;
use traj_core::location::sidecar_in_folder;
use traj_core::memory::MemoryTrajectoryStore;
use traj_core::port::{Room, SidecarError, TrajectoryStore};
use traj_fs::FsTrajectoryStore;
use traj_tests::contract::trajectory_store::TrajectoryStoreHarness;
use traj_tests::contract_tests;
use traj_tests::sidecar::{Place, blob, lines, options, session};

struct Memory(MemoryTrajectoryStore);

impl TrajectoryStoreHarness for Memory {
    fn store(&self) -> Box<dyn TrajectoryStore> {
        Box::new(self.0.clone())
    }

    fn write_foreign(&self, session: &SessionId, bytes: &[u8]) {
        self.0.write_foreign(session, bytes);
    }

    fn content(&self, session: &SessionId) -> Option<Vec<u8>> {
        self.0.content(session)
    }
}

struct Disk(Place);

impl TrajectoryStoreHarness for Disk {
    fn store(&self) -> Box<dyn TrajectoryStore> {
        let folder = self.0.folder.try_clone().unwrap();
        Box::new(FsTrajectoryStore::in_folder(folder, "/trajectories"))
    }

    fn write_foreign(&self, session: &SessionId, bytes: &[u8]) {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let mut file = self.0.folder.open_with(sidecar_in_folder(session), &options).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn content(&self, session: &SessionId) -> Option<Vec<u8>> {
        self.0.folder.read(sidecar_in_folder(session)).ok()
    }
}

contract_tests! {
    trajectory_store:
    memory => Memory(MemoryTrajectoryStore::new()),
    filesystem => Disk(Place::new()),
}

#[test]
fn the_memory_store_fails_the_chosen_call() {
    let chat = session("chat");
    let store = MemoryTrajectoryStore::new();
    let mut writer = store.open(&chat, &options()).unwrap();
    store.fail_call(2);
    store.fail_call(3);
    writer.append(&lines(&chat, ["a"]), Room::Ordinary).unwrap();
    let before = store.content(&chat);
    let failed = writer.append(&lines(&chat, ["b"]), Room::Ordinary);
    assert!(matches!(failed, Err(SidecarError::NoSpace { .. })));
    assert!(matches!(writer.store_blob(&blob("text")), Err(SidecarError::NoSpace { .. })));
    assert_eq!(store.content(&chat), before);
    let appended = writer.append(&lines(&chat, ["b"]), Room::Ordinary).unwrap();
    assert_eq!(appended.first_source_sequence, 2);
}
