//! What every [`DatasetStore`] promises.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use traj_core::port::{DatasetKey, DatasetStore, DatasetStoreError, Stored};

/// A dataset to test, with its resources.
pub trait DatasetStoreHarness {
    /// The dataset; empty at first.
    fn dataset(&self) -> &dyn DatasetStore;
}

suite! {
    $ dataset_store on DatasetStoreHarness:
    an_empty_dataset_has_nothing_to_give,
    a_file_is_stored_once_and_read_back,
    a_name_keeps_its_first_file,
    an_empty_file_and_a_large_one_are_files,
    files_are_listed_by_the_beginning_of_their_key,
    a_listing_ends_when_the_caller_has_enough,
    a_deleted_name_is_free_again,
    of_many_writers_of_a_name_one_wins,
}

const KEY: &str = "traj/v1/events/date=2026-11-18/agent=codex/0-1-1-r1.parquet";

fn key(key: &str) -> DatasetKey {
    DatasetKey::parse(key).expect("a key")
}

fn listed(dataset: &dyn DatasetStore, prefix: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let outcome = dataset.list(prefix, &mut |file| {
        let twice = found.insert(file.key.as_str().to_owned(), file.bytes);
        assert_eq!(twice, None, "{} is listed twice", file.key);
        ControlFlow::Continue(())
    });
    outcome.expect("a list");
    found
}

fn an_empty_dataset_has_nothing_to_give(harness: &dyn DatasetStoreHarness) {
    let (dataset, key) = (harness.dataset(), key(KEY));
    assert_eq!(dataset.get(&key).expect("nothing is fine"), None);
    assert_eq!(listed(dataset, ""), BTreeMap::new());
    assert_eq!(listed(dataset, "traj/v1/events/"), BTreeMap::new());
    dataset.delete(&key).expect("nothing to delete is fine");
}

fn a_file_is_stored_once_and_read_back(harness: &dyn DatasetStoreHarness) {
    let (dataset, key) = (harness.dataset(), key(KEY));
    assert_eq!(dataset.put_if_absent(&key, b"rows").expect("stored"), Stored::New);
    assert_eq!(dataset.get(&key).expect("read").as_deref(), Some(&b"rows"[..]));
    assert_eq!(dataset.put_if_absent(&key, b"rows").expect("an answer"), Stored::Exists);
    assert_eq!(listed(dataset, ""), BTreeMap::from([(KEY.to_owned(), 4)]));
}

fn a_name_keeps_its_first_file(harness: &dyn DatasetStoreHarness) {
    let (dataset, key) = (harness.dataset(), key(KEY));
    dataset.put_if_absent(&key, b"first").expect("stored");
    assert_eq!(dataset.put_if_absent(&key, b"other").expect("an answer"), Stored::Exists);
    assert_eq!(dataset.get(&key).expect("read").as_deref(), Some(&b"first"[..]));
}

fn an_empty_file_and_a_large_one_are_files(harness: &dyn DatasetStoreHarness) {
    let (dataset, empty, large) = (harness.dataset(), key("a/empty"), key("a/large"));
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    dataset.put_if_absent(&empty, b"").expect("stored");
    dataset.put_if_absent(&large, &content).expect("stored");
    assert_eq!(dataset.get(&empty).expect("read"), Some(Vec::new()));
    assert!(dataset.get(&large).expect("read").is_some_and(|read| read == content));
    let sizes = BTreeMap::from([("a/empty".to_owned(), 0), ("a/large".to_owned(), 3_000_000)]);
    assert_eq!(listed(dataset, "a/"), sizes);
}

fn files_are_listed_by_the_beginning_of_their_key(harness: &dyn DatasetStoreHarness) {
    let dataset = harness.dataset();
    let keys = ["a/b=1/c-1", "a/b=1/c-2", "a/b=1/d-1", "a/b=2/c-1", "ab/c", "e"];
    for name in keys {
        dataset.put_if_absent(&key(name), b"x").expect("stored");
    }
    for prefix in ["", "a", "a/", "a/b=1/c", "a/b=1/c-1", "a/b=", "a/b=2/", "f", "a/b=3/c"] {
        let expected: Vec<&str> = keys.into_iter().filter(|key| key.starts_with(prefix)).collect();
        let found = listed(dataset, prefix);
        assert!(found.keys().eq(&expected), "{prefix:?} lists {found:?}");
    }
}

fn a_listing_ends_when_the_caller_has_enough(harness: &dyn DatasetStoreHarness) {
    let dataset = harness.dataset();
    for name in ["a/1", "a/2", "b/3"] {
        dataset.put_if_absent(&key(name), b"x").expect("stored");
    }
    let mut seen = 0;
    let outcome = dataset.list("", &mut |_| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    outcome.expect("a list");
    assert_eq!(seen, 2);
}

fn a_deleted_name_is_free_again(harness: &dyn DatasetStoreHarness) {
    let (dataset, key) = (harness.dataset(), key(KEY));
    dataset.put_if_absent(&key, b"first").expect("stored");
    dataset.delete(&key).expect("deleted");
    dataset.delete(&key).expect("deleting twice is deleting once");
    assert_eq!(dataset.get(&key).expect("nothing is fine"), None);
    assert_eq!(listed(dataset, ""), BTreeMap::new());
    assert_eq!(dataset.put_if_absent(&key, b"other").expect("stored"), Stored::New);
    assert_eq!(dataset.get(&key).expect("read").as_deref(), Some(&b"other"[..]));
}

fn of_many_writers_of_a_name_one_wins(harness: &dyn DatasetStoreHarness) {
    let (dataset, key) = (harness.dataset(), key(KEY));
    let put = |writer: u8| {
        // A store may say that somebody else is writing.
        let mut outcomes = (0..100).map(|_| dataset.put_if_absent(&key, &[writer; 10_000]));
        let outcome =
            outcomes.find(|outcome| !outcome.as_ref().is_err_and(DatasetStoreError::is_busy));
        outcome.expect("the store answers in the end").expect("an answer")
    };
    let winners: Vec<u8> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (1..=8).map(|writer| scope.spawn(move || (writer, put(writer)))).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        outcomes.filter(|(_, stored)| *stored == Stored::New).map(|(writer, _)| writer).collect()
    });
    let content = dataset.get(&key).expect("read").expect("it is there");
    assert_eq!(winners.len(), 1, "writers {winners:?} stored their file");
    assert!(content == vec![winners[0]; 10_000], "the winner's file is whole");
}
