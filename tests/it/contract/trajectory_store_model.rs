//! After any sequence of operations, the stores on disk and in memory contain the
//! same bytes and return the same results.

use cap_std::fs::OpenOptions;
use std::io::Write as _;

use proptest::prelude::*;
use traj_core::capture::BlobDigest;
use traj_core::memory::MemoryTrajectoryStore;
use traj_core::port::{Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore};
use traj_core::settings::WhenFull;
use traj_tests::sidecar::{Place, SidecarContent, blob, line_with_blob, lines, options, session};

/// Writers that work on one sidecar at the same time.
const WRITERS: usize = 3;

/// Few lengths, so that most blobs are named more than once.
const BLOB_LENGTHS: std::ops::Range<usize> = 2..12;

#[derive(Clone, Debug)]
enum Step {
    Append { writer: usize, lengths: Vec<usize>, room: Room },
    StoreBlob { writer: usize, length: usize },
    NameBlob { writer: usize, length: usize },
    Reopen { writer: usize },
    Crash { written: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let room = prop_oneof![4 => Just(Room::Ordinary), 1 => Just(Room::Reserve)];
    let lengths = prop::collection::vec(0_usize..400, 0..6);
    prop_oneof![
        6 => (0..WRITERS, lengths, room)
            .prop_map(|(writer, lengths, room)| Step::Append { writer, lengths, room }),
        1 => (0..WRITERS, BLOB_LENGTHS)
            .prop_map(|(writer, length)| Step::StoreBlob { writer, length }),
        3 => (0..WRITERS, BLOB_LENGTHS)
            .prop_map(|(writer, length)| Step::NameBlob { writer, length }),
        1 => (0..WRITERS).prop_map(|writer| Step::Reopen { writer }),
        2 => (1_usize..300).prop_map(|written| Step::Crash { written }),
    ]
}

/// A store and the writers that are open on it.
struct Subject<S> {
    store: S,
    options: SidecarOptions,
    writers: Vec<Box<dyn SidecarWriter>>,
}

impl<S: TrajectoryStore> Subject<S> {
    fn new(store: S, options: &SidecarOptions) -> Self {
        let open = |_| store.open(&session("chat"), options).unwrap();
        let writers = (0..WRITERS).map(open).collect();
        Self { store, options: options.clone(), writers }
    }

    /// Does a step and returns its outcome as a string that can be compared.
    fn take(&mut self, step: &Step) -> String {
        match step {
            Step::Append { writer, lengths, room } => {
                let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
                let lines = lines(&session("chat"), texts.iter().map(String::as_str));
                match self.writers[*writer].append(&lines, *room) {
                    Ok(appended) => format!("{appended:?}"),
                    Err(error) => answer(&error),
                }
            }
            Step::StoreBlob { writer, length } => {
                let outcome = self.writers[*writer].store_blob(&blob(&"y".repeat(*length)));
                outcome.map_or_else(|error| answer(&error), |()| "stored".to_owned())
            }
            Step::NameBlob { writer, length } => {
                let (line, blob) = line_with_blob(&session("chat"), &"y".repeat(*length));
                let writer = &mut self.writers[*writer];
                let stored = writer.store_blob(&blob);
                let outcome = stored.and_then(|()| writer.append(&[line], Room::Ordinary));
                outcome.map_or_else(|error| answer(&error), |appended| format!("{appended:?}"))
            }
            Step::Reopen { writer } => {
                let opened = self.store.open(&session("chat"), &self.options).unwrap();
                self.writers[*writer] = opened;
                String::new()
            }
            Step::Crash { .. } => String::new(),
        }
    }
}

/// The blobs that exist, by their lengths.
fn blobs(store: &impl TrajectoryStore) -> Vec<usize> {
    let is_there = |length: &usize| {
        let digest = BlobDigest::of("y".repeat(*length).as_bytes());
        store.read_blob(&session("chat"), &digest).unwrap().is_some()
    };
    BLOB_LENGTHS.filter(is_there).collect()
}

fn answer(error: &SidecarError) -> String {
    match error {
        SidecarError::Full { limit, room } => format!("full at {limit}, {room} left"),
        SidecarError::OverBudget { budget } => format!("over {budget}"),
        other => unreachable!("neither store fails here: {other:?}"),
    }
}

/// The bytes that a writer leaves if it is killed while it writes a line, after it
/// ended an earlier torn line.
fn torn(before: &[u8], written: usize) -> Vec<u8> {
    let is_torn = before.last().is_some_and(|byte| *byte != b'\n');
    let mut line = String::from(if is_torn { "\n" } else { "" });
    for pending in lines(&session("chat"), ["x".repeat(300).as_str()]) {
        pending.write(1, &mut line);
    }
    line.into_bytes().into_iter().take(written).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn disk_and_memory_agree(
        limit in 300_u64..6_000,
        rolls in any::<bool>(),
        budget in 0_u64..150,
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let mut options = options();
        options.limit_bytes = limit;
        options.blob_budget_bytes = budget;
        options.when_full = if rolls { WhenFull::Roll } else { WhenFull::Stop };
        let place = Place::new();
        let memory = MemoryTrajectoryStore::new();
        let mut on_disk = Subject::new(place.store(), &options);
        let mut in_memory = Subject::new(memory.clone(), &options);
        for step in &steps {
            if let Step::Crash { written } = step {
                let mut how = OpenOptions::new();
                how.append(true).create(true);
                let mut file = place.folder.open_with(Place::SIDECAR, &how).unwrap();
                let left = torn(&place.sidecar_bytes(), *written);
                file.write_all(&left).unwrap();
                memory.write_foreign(&session("chat"), &left);
            }
            prop_assert_eq!(on_disk.take(step), in_memory.take(step), "{:?}", step);
            let bytes = memory.content(&session("chat")).unwrap_or_default();
            prop_assert_eq!(place.sidecar_bytes(), bytes.clone());
            prop_assert_eq!(blobs(&on_disk.store), blobs(&in_memory.store), "{:?}", step);
            let content = SidecarContent::of(&bytes);
            content.assert_numbered();
        }
    }
}
