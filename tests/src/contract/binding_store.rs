//! What every [`BindingStore`] promises.

use std::sync::Barrier;

use traj_core::binding::{BindingOrigin, BindingRecord, RecordError};
use traj_core::id::ThreadId;
use traj_core::port::{BindingKey, BindingStore, BindingStoreError};
use traj_core::timestamp::UnixMillis;

/// A store under test, and ways to disturb it as crashes and other programs would.
pub trait BindingStoreHarness {
    /// The store. Several calls return stores that share their data, as processes do.
    fn store(&self) -> Box<dyn BindingStore>;
    /// Replaces a record by these bytes.
    fn put_bytes(&self, key: &BindingKey, bytes: &[u8]);
    /// Puts another tool's record beside the session.
    fn put_import(&self, key: &BindingKey, bytes: &[u8]);
}

fn key(name: &str) -> BindingKey {
    BindingKey::parse(name).expect("a plain name is a key")
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).expect("a name is an id")
}

fn record(name: &str) -> BindingRecord {
    let mut record =
        BindingRecord::new(thread(name), "/w", BindingOrigin::Started, UnixMillis::EPOCH);
    record.unknown.push("later", "kept");
    record
}

suite! {
    $ binding_store on BindingStoreHarness:
    what_is_saved_is_loaded,
    clearing_is_for_one_thread,
    a_stale_writer_gets_a_conflict,
    one_of_many_writers_wins,
    damage_is_an_error_until_it_is_set_aside,
    a_newer_record_is_left_alone,
    another_tools_record_is_taken_over_once,
    the_list_is_in_order,
}

/// Scenarios 1 and 8: a saved record is loaded, and a missing one is `None`.
fn what_is_saved_is_loaded(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    let key = key("s.jsonl");
    assert!(store.load(&key).expect("loads").is_none());
    assert!(!store.clear(&key, &thread("a")).expect("clearing nothing is fine"));
    let revision = store.save(&key, &record("a"), None).expect("saves");
    let loaded = harness.store().load(&key).expect("loads").expect("is there");
    assert_eq!(loaded.record, record("a"));
    assert_eq!(loaded.revision.as_ref(), Some(&revision));
}

/// Scenario 9.
fn clearing_is_for_one_thread(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    let key = key("s.jsonl");
    store.save(&key, &record("a"), None).expect("saves");
    assert!(!store.clear(&key, &thread("b")).expect("compares"));
    assert!(store.load(&key).expect("loads").is_some());
    assert!(store.clear(&key, &thread("a")).expect("clears"));
    assert!(store.load(&key).expect("loads").is_none());
    store.save(&key, &record("c"), None).expect("a cleared binding can be made anew");
}

/// Scenario 12: the loser of a race gets a conflict.
fn a_stale_writer_gets_a_conflict(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    let key = key("s.jsonl");
    let first = store.save(&key, &record("a"), None).expect("saves");
    let refused = store.save(&key, &record("b"), None);
    assert!(matches!(refused, Err(BindingStoreError::Conflict { .. })));
    let second = store.save(&key, &record("b"), Some(&first)).expect("saves over what it knows");
    let refused = store.save(&key, &record("c"), Some(&first));
    assert!(matches!(refused, Err(BindingStoreError::Conflict { .. })));
    store.save(&key, &record("d"), Some(&second)).expect("saves over what it knows");
    let loaded = store.load(&key).expect("loads").expect("is there");
    assert_eq!(loaded.record.thread, thread("d"));
}

/// Scenario 12 with many writers: exactly one wins, and its record is complete.
fn one_of_many_writers_wins(harness: &dyn BindingStoreHarness) {
    const WRITERS: usize = 4;
    let key = key("s.jsonl");
    let barrier = Barrier::new(WRITERS);
    let stores: Vec<Box<dyn BindingStore>> = (0..WRITERS).map(|_| harness.store()).collect();
    let winners: Vec<bool> = std::thread::scope(|scope| {
        let writers: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(number, store)| {
                let (key, barrier) = (&key, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    match store.save(key, &record(&format!("t{number}")), None) {
                        Ok(_) => true,
                        Err(BindingStoreError::Conflict { .. }) => false,
                        Err(other) => unreachable!("neither won nor lost: {other}"),
                    }
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().expect("a writer ends")).collect()
    });
    assert_eq!(winners.iter().filter(|won| **won).count(), 1);
    let winner = winners.iter().position(|won| *won).expect("one won");
    let loaded = harness.store().load(&key).expect("loads").expect("is there");
    assert_eq!(loaded.record, record(&format!("t{winner}")));
}

/// Scenario 10: a damaged record is not a missing one, and is never overwritten or lost.
fn damage_is_an_error_until_it_is_set_aside(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    let key = key("s.jsonl");
    assert!(store.set_aside(&key).expect("nothing to set aside").is_none());
    store.save(&key, &record("a"), None).expect("saves");
    assert!(store.set_aside(&key).expect("a good record stays").is_none());
    for damage in [&b"{\"format\": \"traj-codex-bin"[..], b"null", b""] {
        harness.put_bytes(&key, damage);
        let is_damaged = |error: &BindingStoreError| {
            matches!(
                error,
                BindingStoreError::Unreadable { reason: RecordError::Damaged { .. }, .. }
            )
        };
        assert!(is_damaged(&store.load(&key).expect_err("damage is an error")));
        assert!(is_damaged(&store.save(&key, &record("b"), None).expect_err("and stays")));
        assert!(is_damaged(&store.clear(&key, &thread("a")).expect_err("and stays")));
        let kept = store.set_aside(&key).expect("moves it").expect("gives the name");
        assert!(kept.contains("s.jsonl"), "{kept}");
        assert!(store.load(&key).expect("now there is none").is_none());
    }
}

fn a_newer_record_is_left_alone(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    let key = key("s.jsonl");
    harness.put_bytes(&key, br#"{"format":"traj-codex-binding","version":9}"#);
    let error = store.load(&key).expect_err("a newer version is an error");
    let is_newer = |error: &BindingStoreError| {
        matches!(
            error,
            BindingStoreError::Unreadable { reason: RecordError::Newer { version: 9 }, .. }
        )
    };
    assert!(is_newer(&error));
    assert!(is_newer(&store.save(&key, &record("a"), None).expect_err("it stays")));
}

fn another_tools_record_is_taken_over_once(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    let key = key("s.jsonl");
    harness.put_import(&key, br#"{"schemaVersion":1,"threadId":"old","cwd":"/w"}"#);
    let loaded = store.load(&key).expect("loads").expect("is taken over");
    assert_eq!((loaded.record.thread.as_str(), loaded.revision), ("old", None));
    store.save(&key, &record("new"), None).expect("the first save makes it ours");
    let loaded = store.load(&key).expect("loads").expect("is there");
    assert_eq!(loaded.record.thread, thread("new"));
    assert!(store.clear(&key, &thread("new")).expect("clears"));
    assert!(store.load(&key).expect("loads").is_none(), "the old record does not come back");
    store.save(&key, &record("again"), None).expect("a cleared binding can be made anew");
}

fn the_list_is_in_order(harness: &dyn BindingStoreHarness) {
    let store = harness.store();
    for name in ["b.jsonl", "a.jsonl"] {
        store.save(&key(name), &record(name), None).expect("saves");
    }
    harness.put_bytes(&key("c.jsonl"), b"damaged");
    let names: Vec<String> = store.list().expect("lists").iter().map(ToString::to_string).collect();
    assert_eq!(names, ["a.jsonl", "b.jsonl", "c.jsonl"], "a damaged record is listed too");
}
