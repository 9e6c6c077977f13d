//! Schedules that once went wrong.

use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};

use super::model::LONG_TEXT;
use super::*;
use crate::{find_in_dataset, forget_in_dataset, verify_dataset};

/// Random schedules after which an event counted that the session did not have.
const SEEDS: [u64; 1] = [7_186_249_227_608_122_529];

#[test]
fn schedules_that_once_went_wrong_go_well() {
    for seed in SEEDS {
        let world = World::new(seed);
        world.live();
        world.check();
    }
}

/// A world whose processes share a state directory.
fn shared() -> World {
    let mut world = World::new(1);
    world.states = vec![world.states[0].clone(); 2];
    world
}

/// Events of two days, so that there are two segments in two directories.
fn write_two_days(world: &World) {
    let mut disk = lock(&world.disk);
    disk.version += 1;
    for day in [20_000, 20_000, 20_001, 20_001] {
        disk.events.push(Written { text: "one".to_owned(), day });
    }
}

fn shorten(disk: &Mutex<Disk>) {
    let mut disk = lock(disk);
    disk.version += 1;
    disk.events.truncate(2);
}

/// One process is silent between two calls. Meanwhile the session becomes shorter,
/// and another process ships it to its end. Then the first one stores what it had
/// in mind, and is killed.
#[test]
fn a_process_that_goes_on_after_others_have_finished_is_looked_after() {
    let world = shared();
    write_two_days(&world);
    let process = world.init.another();
    let others = world.nested(process.another());
    let life: Life = Arc::new(AtomicI64::new(i64::MAX));
    let (disk, dying, mut puts) = (Arc::clone(&world.disk), Arc::clone(&life), 0);
    let faults = move |call: DatasetCall| {
        puts += u64::from(call == DatasetCall::Put);
        match puts {
            // The name of the dataset, and both files of the first segment.
            4 => {
                shorten(&disk);
                // It changes nothing by itself with these numbers.
                others(&mut Numbers(2));
                None
            }
            5 => {
                dying.store(0, std::sync::atomic::Ordering::Relaxed);
                Some(DatasetFault::After)
            }
            _ => None,
        }
    };
    let dataset = FailingDataset::new(Arc::clone(&world.dataset), faults);
    let log = MortalLog { lines: Arc::clone(&world.states[0].log), life };
    world.run(&process, &dataset, &log, &world.states[0].spool, Tail::Ship).unwrap_err();
    drop(process);
    assert_eq!(segments_of(&world), [1, 3], "the killed one stored its second segment");
    world.ship_well();
    world.check();
}

/// Files wait. Then the log is lost, and the session becomes shorter.
#[test]
fn files_that_waited_are_compared_even_if_nothing_else_is_known() {
    let world = shared();
    write_two_days(&world);
    let process = world.init.another();
    let (mut puts, state) = (0, &world.states[0]);
    let faults = move |call: DatasetCall| {
        puts += u64::from(call == DatasetCall::Put);
        (puts > 1).then_some(DatasetFault::Before)
    };
    let dataset = FailingDataset::new(Arc::clone(&world.dataset), faults);
    let life = Arc::new(AtomicI64::new(i64::MAX));
    let log = MortalLog { lines: Arc::clone(&state.log), life };
    let setup = ShipSetup {
        dataset: &dataset,
        host: host(),
        log: &log,
        processes: &process,
        spool: &state.spool,
        spool_bytes: 1_000_000,
        limits: LIMITS,
        is_dry: false,
    };
    let mut pace = NoWait(Numbers(1));
    let mut shipper = Shipper::open(setup, &mut pace).unwrap();
    let session = ReadSession::of(&world.disk);
    let shipped = shipper.ship(&session, &session.stamp(), Tail::Ship, &mut pace).unwrap();
    assert_eq!((shipped.stored, shipped.waiting), (0, 2));
    lock(&state.log).clear();
    shorten(&world.disk);
    world.ship_well();
    assert_eq!(segments_of(&world), [1, 3], "the files that waited were sent");
    world.check();
}

/// The first events of the segments that the dataset has.
fn segments_of(world: &World) -> Vec<u64> {
    let mut found = BTreeSet::new();
    let listed = world.dataset.list("", &mut |file| {
        found.extend(SegmentKey::parse(file.key.as_str()).map(|key| key.name.first));
        ControlFlow::Continue(())
    });
    listed.unwrap();
    found.into_iter().collect()
}

/// The last events of the segments that count, by the program of their directory.
fn counted_by_agent(world: &World) -> BTreeMap<String, Vec<u64>> {
    let mut newest: BTreeMap<(String, u64), (u32, u64)> = BTreeMap::new();
    for (key, content) in world.files() {
        let Some(key) = SegmentKey::parse(key.as_str()) else { continue };
        if key.table == Table::Sessions {
            let facts = SegmentFacts::of(&Bytes::from(content)).unwrap();
            let known = newest.entry((key.agent, facts.first)).or_default();
            *known = (*known).max((facts.revision, facts.last));
        }
    }
    let mut counted: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for ((agent, first), (_, last)) in newest {
        if last >= first {
            counted.entry(agent).or_default().push(last);
        }
    }
    counted
}

/// Another version of traj knows better which program wrote a file.
#[test]
fn a_file_that_becomes_another_session_counts_once() {
    let world = shared();
    write_two_days(&world);
    world.ship_well();
    assert_eq!(counted_by_agent(&world), [("codex".to_owned(), vec![2, 4])].into());
    {
        let mut disk = lock(&world.disk);
        disk.version += 1;
        disk.agent = Some("kilo");
    }
    world.ship_well();
    assert_eq!(counted_by_agent(&world), [("kilo".to_owned(), vec![2, 4])].into());
    world.ship_well();
    assert_eq!(counted_by_agent(&world), [("kilo".to_owned(), vec![2, 4])].into());
}

#[test]
fn a_file_that_is_used_again_for_another_session_keeps_both() {
    let world = shared();
    write_two_days(&world);
    world.ship_well();
    {
        let mut disk = lock(&world.disk);
        disk.version += 1;
        disk.id = Some("another");
    }
    world.ship_well();
    let keys = world.files().into_keys();
    let sessions = keys.filter_map(|key| Some(SegmentKey::parse(key.as_str())?.name.session));
    assert_eq!(sessions.collect::<BTreeSet<String>>().len(), 2);
    let revisions = world.files().into_keys();
    let revisions =
        revisions.filter_map(|key| Some(SegmentKey::parse(key.as_str())?.name.revision));
    assert_eq!(revisions.max(), Some(1), "nothing was replaced");
}

#[test]
fn sessions_of_two_programs_with_the_same_id_are_two_sessions() {
    let world = shared();
    write_two_days(&world);
    let log = MortalLog {
        lines: Arc::clone(&world.states[0].log),
        life: Arc::new(AtomicI64::new(i64::MAX)),
    };
    let process = world.init.another();
    let setup = ShipSetup {
        dataset: &*world.dataset,
        host: host(),
        log: &log,
        processes: &process,
        spool: &world.states[0].spool,
        spool_bytes: 0,
        limits: LIMITS,
        is_dry: false,
    };
    let mut pace = NoWait(Numbers(1));
    let mut shipper = Shipper::open(setup, &mut pace).unwrap();
    for (agent, source) in [(None, "/codex/s.jsonl"), (Some("pi"), "/pi/s.jsonl")] {
        lock(&world.disk).agent = agent;
        let session = ReadSession::of(&world.disk);
        let stamp = SessionStamp { source: source.to_owned(), ..session.stamp() };
        shipper.set_sources(["/codex/s.jsonl", "/pi/s.jsonl"].map(str::to_owned).into());
        shipper.ship(&session, &stamp, Tail::Ship, &mut pace).unwrap();
    }
    let both = ["codex", "pi"].map(|agent| (agent.to_owned(), vec![2, 4]));
    assert_eq!(counted_by_agent(&world), both.into());
    // A third file with one of the ids is refused.
    let session = ReadSession::of(&world.disk);
    let stamp = SessionStamp { source: "/other.jsonl".to_owned(), ..session.stamp() };
    let refused = shipper.ship(&session, &stamp, Tail::Ship, &mut pace).unwrap_err();
    assert!(matches!(refused, ShipError::SameSession), "{refused}");
}

/// An event that names the long text of the session.
fn write_long_text(world: &World) -> String {
    let digest = BlobDigest::of(LONG_TEXT);
    let file = traj_export::long_text_file(&digest);
    let marker = format!(
        r#"{{"text":{{"truncated":true,"reason":"x","blob":"{digest}","file":"{file}"}}}}"#
    );
    let mut disk = lock(&world.disk);
    disk.version += 1;
    disk.events.push(Written { text: marker, day: 20_000 });
    format!("traj/v1/{file}")
}

#[test]
fn a_long_text_is_stored_once_before_the_rows_that_name_it() {
    let world = shared();
    let file = write_long_text(&world);
    write_long_text(&world);
    let process = world.init.another();
    let life: Life = Arc::new(AtomicI64::new(i64::MAX));
    let log = MortalLog { lines: Arc::clone(&world.states[0].log), life };
    let mut puts = 0;
    let faults = move |call: DatasetCall| {
        puts += u64::from(call == DatasetCall::Put);
        (puts > 2).then_some(DatasetFault::Broken)
    };
    let dataset = FailingDataset::new(Arc::clone(&world.dataset), faults);
    let spool = &world.states[0].spool;
    world.run(&process, &dataset, &log, spool, Tail::Ship).unwrap_err();
    drop(process);
    assert_eq!(segments_of(&world), [0; 0], "no row is stored yet");
    let name = DatasetKey::parse(file).unwrap();
    let packed = world.dataset.get(&name).unwrap().expect("the text is stored");
    assert_eq!(crate::packed_text::unpack(&packed).unwrap(), LONG_TEXT);
    world.ship_well();
    world.check();
    let mut pace = NoWait(Numbers(1));
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let mut verify = || verify_dataset(&*world.dataset, &redactor, &mut pace, &mut |_| {}).unwrap();
    let report = verify();
    assert_eq!((report.texts, report.unused_texts, report.problems.len()), (1, 0, 0));
    world.dataset.delete(&name).unwrap();
    let problems = verify().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    world.dataset.put_if_absent(&name, &crate::packed_text::pack(b"other").unwrap()).unwrap();
    assert_eq!(verify().problems.len(), 2, "another text, so that this one is missing");
}

#[test]
fn a_long_text_waits_with_its_segment() {
    let world = shared();
    let file = write_long_text(&world);
    let process = world.init.another();
    let life: Life = Arc::new(AtomicI64::new(i64::MAX));
    let log = MortalLog { lines: Arc::clone(&world.states[0].log), life };
    let mut puts = 0;
    let faults = move |call: DatasetCall| {
        puts += u64::from(call == DatasetCall::Put);
        (puts > 1).then_some(DatasetFault::Before)
    };
    let dataset = FailingDataset::new(Arc::clone(&world.dataset), faults);
    let setup = ShipSetup {
        dataset: &dataset,
        host: host(),
        log: &log,
        processes: &process,
        spool: &world.states[0].spool,
        spool_bytes: 1_000_000,
        limits: LIMITS,
        is_dry: false,
    };
    let mut pace = NoWait(Numbers(1));
    let mut shipper = Shipper::open(setup, &mut pace).unwrap();
    let session = ReadSession::of(&world.disk);
    let shipped = shipper.ship(&session, &session.stamp(), Tail::Ship, &mut pace).unwrap();
    assert_eq!(shipped.waiting, 1);
    let waits = |state: &State| state.spool.files().keys().any(|key| key.as_str().ends_with(&file));
    assert!(waits(&world.states[0]));
    world.ship_well();
    world.check();
    assert!(!waits(&world.states[0]), "it was sent");
    assert!(world.files().keys().any(|key| key.as_str() == file));
}

#[test]
fn a_forgotten_session_takes_the_texts_along_that_no_other_one_names() {
    let world = shared();
    let file = write_long_text(&world);
    world.ship_well();
    let mut pace = NoWait(Numbers(1));
    let found = find_in_dataset(&*world.dataset, "s", &mut pace).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].texts.iter().map(DatasetKey::as_str).collect::<Vec<_>>(), [file.as_str()]);
    // Another program has a session with the same text.
    lock(&world.disk).agent = Some("pi");
    let other = World::with(5, Arc::clone(&world.dataset));
    lock(&other.disk).agent = Some("pi");
    write_long_text(&other);
    other.ship_well();
    let found = find_in_dataset(&*world.dataset, "s", &mut pace).unwrap();
    assert_eq!(found.iter().map(|session| session.texts.len()).collect::<Vec<_>>(), [0, 0]);
    forget_in_dataset(&*world.dataset, &found[0], &mut pace).unwrap();
    let found = find_in_dataset(&*world.dataset, "s", &mut pace).unwrap();
    assert_eq!((found.len(), found[0].texts.len()), (1, 1), "now it is the only one");
}
