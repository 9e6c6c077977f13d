//! A database while its owner uses it: read with its log, never locked, never
//! changed.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use traj_core::limits::Reading;
use traj_core::port::SourceError;
use traj_tests::session_fixtures::databases::{DATABASES, gathered};

fn sql(program: &str) -> &'static str {
    DATABASES.iter().find(|(name, _)| *name == program).unwrap().1
}

/// A database in WAL mode that its owner has open, with everything in the log.
fn in_use(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    connection.execute_batch(sql("goose")).unwrap();
    connection
}

/// The content of every file.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect()
}

fn rows(folder: &Path) -> usize {
    gathered(folder, "sessions.db#s1", Reading::standard()).unwrap().lines().count()
}

#[test]
fn a_database_that_is_only_in_its_log_is_read_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let owner = in_use(&folder.path().join("sessions.db"));
    let before = files(folder.path());
    assert!(before["sessions.db"].len() < before["sessions.db-wal"].len());
    assert_eq!(rows(folder.path()), 15);
    assert_eq!(files(folder.path()), before);
    assert_eq!(fs::read_dir(folder.path().join("scratch")).unwrap().count(), 0);
    drop(owner);
    // Closed, it is one file.
    assert_eq!(rows(folder.path()), 15);
}

#[test]
fn its_owner_is_not_kept_waiting_and_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let mut owner = in_use(&folder.path().join("sessions.db"));
    let change = owner.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive).unwrap();
    change.execute("DELETE FROM messages WHERE message_id = 'j'", ()).unwrap();
    // What is not committed is not there.
    assert_eq!(rows(folder.path()), 15);
    change.commit().unwrap();
    assert_eq!(rows(folder.path()), 14);
}

#[test]
fn a_torn_log_ends_where_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let owner = in_use(&folder.path().join("sessions.db"));
    owner.execute("DELETE FROM messages WHERE message_id = 'j'", ()).unwrap();
    let log = fs::read(folder.path().join("sessions.db-wal")).unwrap();
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(folder.path().join("sessions.db"), copy.join("sessions.db")).unwrap();
    // The last change is not whole: it did not happen.
    fs::write(copy.join("sessions.db-wal"), &log[..log.len() - 100]).unwrap();
    assert_eq!(rows(&copy), 15);
    // Nothing but the header: the tables are not there yet.
    fs::write(copy.join("sessions.db-wal"), &log[..32]).unwrap();
    assert!(gathered(&copy, "sessions.db#s1", Reading::standard()).is_err());
}

#[test]
fn a_change_under_way_without_a_log_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql("goose")).unwrap();
    drop(connection);
    let journal = [&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7][..], &[0; 600]].concat();
    fs::write(folder.path().join("sessions.db-journal"), journal).unwrap();
    let read = gathered(folder.path(), "sessions.db#s1", Reading::standard());
    assert!(matches!(read, Err(SourceError::Changed { .. })), "{read:?}");
    fs::write(folder.path().join("sessions.db-journal"), [0; 600]).unwrap();
    assert_eq!(rows(folder.path()), 15);
}

#[test]
fn links_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let owner = in_use(&folder.path().join("sessions.db"));
    drop(owner);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(folder.path().join(target), folder.path().join(name)).unwrap();
    };
    link("sessions.db", "link.db");
    let read = gathered(folder.path(), "link.db#s1", Reading::standard());
    assert!(matches!(read, Err(SourceError::NotRegular { .. })), "{read:?}");
    // A log that is a link may be any file.
    fs::write(folder.path().join("other"), b"x").unwrap();
    link("other", "sessions.db-wal");
    assert!(gathered(folder.path(), "sessions.db#s1", Reading::standard()).is_err());
}
