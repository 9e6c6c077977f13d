//! Random schedules: whatever happens between, in the end every event is in the
//! dataset exactly once, and the bytes are those that a fresh host would write.
//!
//! - `model`: a session, a log and a clock that fail;
//! - `known`: schedules that once went wrong;
//! - `s3`: the same schedules on a server that speaks S3.

mod known;
mod model;
#[cfg(feature = "object-stores")]
mod s3;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traj_core::memory::{DatasetCall, DatasetFault, FailingDataset, MemoryDataset, MemoryProcess};
use traj_core::port::DatasetKey;
use traj_export::StatedTotals as _;

use super::cut::Segment;
use super::encode::SealedSegment;
use super::*;
use crate::layout::{Day, SegmentKey, Table};
use crate::stored_file::SegmentFacts;
use model::{
    Counted, Disk, LIMITS, Life, MortalLog, NoWait, Numbers, ReadSession, State, Written, is_dead,
    lock,
};

/// A host, its processes and the dataset.
struct World {
    disk: Arc<Mutex<Disk>>,
    dataset: Arc<dyn DatasetStore>,
    /// Two processes share a state directory, or do not.
    states: Vec<State>,
    numbers: RefCell<Numbers>,
    runs: Cell<u64>,
    /// Knows which processes are running.
    init: MemoryProcess,
}

fn host() -> HostId {
    HostId::of(&[7; 32], "h")
}

impl World {
    fn new(seed: u64) -> Self {
        Self::with(seed, Arc::new(MemoryDataset::new()))
    }

    fn with(seed: u64, dataset: Arc<dyn DatasetStore>) -> Self {
        let mut numbers = Numbers(seed);
        let first = State::default();
        let second = if numbers.is_one_in(2) { first.clone() } else { State::default() };
        Self {
            disk: Arc::default(),
            dataset,
            states: vec![first, second],
            numbers: RefCell::new(numbers),
            runs: Cell::new(0),
            init: MemoryProcess::first(),
        }
    }

    fn below(&self, limit: u64) -> u64 {
        self.numbers.borrow_mut().below(limit)
    }

    /// One process ships, with faults; it may be killed at any step.
    fn ship_badly(&self) {
        let state = &self.states[self.below(2) as usize];
        let life: Life = Arc::new(AtomicI64::new(match self.below(3) {
            0 => i64::MAX,
            _ => self.below(40) as i64,
        }));
        let one_in = [1_000, 10, 4, 2][self.below(4) as usize];
        let mut numbers = Numbers(self.below(u64::MAX));
        let disk = Arc::clone(&self.disk);
        let process = self.init.another();
        let others = self.nested(process.another());
        let (dying, mut calls) = (Arc::clone(&life), 0);
        let nested_at = self.below(30);
        let faults = move |_: DatasetCall| {
            calls += 1;
            if is_dead(&dying) {
                // The answer comes too late, or the call was never made.
                return Some(if numbers.is_one_in(2) {
                    DatasetFault::After
                } else {
                    DatasetFault::Broken
                });
            }
            if calls == nested_at {
                others(&mut numbers);
            }
            if numbers.is_one_in(20) {
                lock(&disk).change(&mut numbers);
            }
            numbers.is_one_in(one_in).then(|| match numbers.below(8) {
                0..=2 => DatasetFault::Before,
                3..=5 => DatasetFault::After,
                6 => DatasetFault::Wait(Duration::from_secs(numbers.below(1_000))),
                _ => DatasetFault::Denied,
            })
        };
        let dataset = FailingDataset::new(Arc::clone(&self.dataset), faults);
        let spool_life = Arc::clone(&life);
        let spool =
            state.spool.failing(move |_| is_dead(&spool_life).then_some(DatasetFault::Broken));
        let log = MortalLog { lines: Arc::clone(&state.log), life };
        let tail = if self.below(2) == 0 { Tail::Ship } else { Tail::ShipIfEnded };
        // The result is checked at the end.
        let _outcome = self.run(&process, &dataset, &log, &spool, tail);
    }

    /// Another process ships completely, in the middle of a call of the first.
    fn nested(&self, process: MemoryProcess) -> impl Fn(&mut Numbers) + Send + 'static {
        let (disk, dataset) = (Arc::clone(&self.disk), Arc::clone(&self.dataset));
        let State { log: lines, spool } = self.states[self.below(2) as usize].clone();
        move |numbers| {
            if numbers.is_one_in(2) {
                lock(&disk).change(numbers);
            }
            let life = Arc::new(AtomicI64::new(i64::MAX));
            let log = MortalLog { lines: Arc::clone(&lines), life };
            let process = process.another();
            let setup = ShipSetup {
                dataset: &*dataset,
                host: host(),
                log: &log,
                processes: &process,
                spool: &spool,
                spool_bytes: 1_000_000,
                limits: LIMITS,
                is_dry: false,
            };
            let mut pace = NoWait(Numbers(numbers.next()));
            let session = ReadSession::of(&disk);
            let mut shipper = Shipper::open(setup, &mut pace).expect("it can be opened");
            shipper
                .ship(&session, &session.stamp(), Tail::Ship, &mut pace)
                .expect("nothing is in its way");
        }
    }

    fn run(
        &self,
        processes: &MemoryProcess,
        dataset: &dyn DatasetStore,
        log: &dyn LineLog,
        spool: &dyn DatasetStore,
        tail: Tail,
    ) -> Result<SessionShipped, ShipError> {
        self.runs.set(self.runs.get() + 1);
        let mut pace = NoWait(Numbers(self.below(u64::MAX)));
        let spool_bytes = [0, 30_000, 1_000_000][self.below(3) as usize];
        let (host, limits) = (host(), LIMITS);
        let is_dry = false;
        let setup = ShipSetup { dataset, host, log, processes, spool, spool_bytes, limits, is_dry };
        let mut shipper = Shipper::open(setup, &mut pace)?;
        shipper.drain(&mut pace)?;
        let session = ReadSession::of(&self.disk);
        if shipper.standing(&session.stamp(), tail, &mut pace)?.is_some() {
            return Ok(SessionShipped::default());
        }
        shipper.ship(&session, &session.stamp(), tail, &mut pace)
    }

    /// Every process ships once more, and nothing is in its way.
    fn ship_well(&self) {
        for state in &self.states {
            let life = Arc::new(AtomicI64::new(i64::MAX));
            let log = MortalLog { lines: Arc::clone(&state.log), life };
            let process = self.init.another();
            self.run(&process, &*self.dataset, &log, &state.spool, Tail::Ship)
                .expect("it is shipped");
        }
    }

    fn live(&self) {
        for _ in 0..=self.below(12) {
            match self.below(10) {
                0..=2 => lock(&self.disk).change(&mut self.numbers.borrow_mut()),
                3 => lock(&self.states[self.below(2) as usize].log).clear(),
                _ => self.ship_badly(),
            }
        }
        if lock(&self.disk).events.is_empty() {
            lock(&self.disk).events.push(Written { text: "only one".to_owned(), day: 20_000 });
        }
        self.ship_well();
    }

    /// All files of the dataset.
    fn files(&self) -> BTreeMap<DatasetKey, Vec<u8>> {
        let mut keys = Vec::new();
        let listed = self.dataset.list("", &mut |file| {
            keys.push(file.key);
            ControlFlow::Continue(())
        });
        listed.expect("it can be listed");
        let content = |key| self.dataset.get(key).expect("it can be read").expect("it exists");
        keys.iter().map(|key| (key.clone(), content(key))).collect()
    }

    /// The segments that count, each with its rows and the content of its files.
    fn counted(&self) -> BTreeMap<u64, (SegmentKey, SegmentFacts)> {
        let mut newest: BTreeMap<u64, (SegmentKey, SegmentFacts)> = BTreeMap::new();
        for (key, content) in self.files() {
            let Some(key) = SegmentKey::parse(key.as_str()) else { continue };
            if key.table == Table::Sessions {
                let facts = SegmentFacts::of(&Bytes::from(content)).expect("a file of ours");
                let rank = (key.name.revision, key.to_string());
                let known = newest.get(&key.name.first);
                if known.is_none_or(|(key, _)| (key.name.revision, key.to_string()) < rank) {
                    newest.insert(key.name.first, (key, facts));
                }
            }
        }
        newest
    }

    fn check(&self) {
        let disk = lock(&self.disk);
        let rows = disk.rows();
        let files = self.files();
        let file = |key: &SegmentKey| files.get(&key.to_dataset_key().unwrap()).cloned();
        let mut found: Vec<(i64, String)> = Vec::new();
        for (first, (key, facts)) in self.counted() {
            assert_eq!(facts.first, first);
            let Some(content) = file(&key.in_table(Table::Events)) else {
                assert!(facts.last < facts.first, "{key} has no events");
                continue;
            };
            if facts.last < facts.first {
                continue;
            }
            found.extend(rows_of(content));
            let range = facts.first as usize - 1..facts.last as usize;
            let has_ended = disk.has_ended && range.end == rows.len();
            let segment = Segment {
                first,
                last: facts.last,
                day: Day::default(),
                rows: rows.get(range).expect("no event beyond the session").to_vec(),
                totals: Counted { has_ended, agent: disk.agent(), id: disk.id() }
                    .up_to(first, facts.last),
            };
            let sealed = SealedSegment::new(segment, &host()).unwrap();
            for (table, expected) in sealed.files(key.name.revision).unwrap() {
                assert_eq!(file(&key.in_table(table)), Some(expected), "{key} in {table:?}");
            }
        }
        found.sort();
        let expected: Vec<(i64, String)> =
            rows.iter().map(|row| (row.seq, row.data.clone())).collect();
        assert_eq!(found, expected);
    }
}

fn rows_of(content: Vec<u8>) -> Vec<(i64, String)> {
    let (_, batches) = SegmentFacts::open(Bytes::from(content)).expect("a file of ours");
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch.expect("rows");
        let seqs = batch.column_by_name("seq").expect("a column").as_primitive::<Int64Type>();
        let texts = batch.column_by_name("data").expect("a column").as_string::<i32>();
        let both = seqs.values().iter().zip(texts.iter().flatten());
        rows.extend(both.map(|(seq, text)| (*seq, text.to_owned())));
    }
    rows
}

/// As many cases as asked for, but not more than the sweep wants. The sweep draws new
/// ones each time; a usual run repeats the same.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let rng_seed = if usual.cases > 1_000 { RngSeed::Random } else { RngSeed::Fixed(1) };
    ProptestConfig { cases: usual.cases.min(10_000), max_shrink_iters: 0, rng_seed, ..usual }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_event_is_shipped_exactly_once_whatever_happens(seed in any::<u64>()) {
        let world = World::new(seed);
        world.live();
        world.check();
        // A further run has nothing to do.
        let before = world.files();
        world.ship_well();
        assert_eq!(world.files(), before);
    }
}

#[test]
fn two_hosts_with_the_same_session_write_the_same_bytes() {
    let ship = |seed| {
        let world = World::new(seed);
        let mut numbers = Numbers(1);
        for _ in 0..10 {
            lock(&world.disk).change(&mut numbers);
        }
        world.ship_well();
        let mut files = world.files();
        files.retain(|key, _| SegmentKey::parse(key.as_str()).is_some());
        files
    };
    let files = ship(1);
    assert_eq!(ship(2), files);
    assert!(files.len() > 4, "{} files", files.len());
}

#[test]
fn a_dataset_that_was_removed_is_filled_again() {
    let world = World::new(1);
    lock(&world.disk).events.push(Written { text: "one".to_owned(), day: 20_000 });
    world.ship_well();
    let before = world.files();
    for key in before.keys() {
        world.dataset.delete(&DatasetKey::parse(key.as_str()).unwrap()).unwrap();
    }
    world.ship_well();
    world.check();
    assert_eq!(world.files().len(), before.len());
}
