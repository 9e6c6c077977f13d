//! Malicious databases and compressed files: nothing in them runs, and nothing is
//! exhausted.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;
use traj_core::limits::Reading;
use traj_core::port::SourceError;
use traj_tests::session_fixtures::databases::{DATABASES, gathered, make, with_connection};

fn goose() -> &'static str {
    DATABASES.iter().find(|(name, _)| *name == "goose").unwrap().1
}

/// These tests make large values, and the limit on SQLite's memory holds for the whole
/// process: one at a time, also where tests are threads.
static ONE_DATABASE: Mutex<()> = Mutex::new(());

/// The result of reading a database that this SQL creates.
fn read(sql: &str) -> (TempDir, Result<String, SourceError>) {
    let _turn = ONE_DATABASE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    with_connection(&folder.path().join("sessions.db"), |connection| {
        connection.execute_batch(sql).unwrap();
    });
    let rows = gathered(folder.path(), "sessions.db#s1", Reading::standard());
    (folder, rows)
}

/// The error and its causes.
fn reason(read: Result<String, SourceError>) -> String {
    let mut error: Option<&dyn std::error::Error> = None;
    let found = read.unwrap_err();
    error = error.or(Some(&found));
    let mut words = Vec::new();
    while let Some(cause) = error {
        words.push(cause.to_string());
        error = cause.source();
    }
    words.join(": ")
}

#[test]
fn a_view_in_place_of_a_table_is_refused() {
    let sql = "CREATE TABLE real (id, name, description, working_dir, updated_at);
        INSERT INTO real (id, working_dir) VALUES ('s1', '/');
        CREATE VIEW sessions AS WITH RECURSIVE endless(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM endless)
          SELECT 's1' AS id, n AS working_dir FROM endless;
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content_json);";
    let (_folder, read) = read(sql);
    assert!(reason(read).contains("sessions is not an ordinary table"));
}

#[test]
fn a_view_with_other_capitals_is_the_same_view() {
    let sql = format!(
        "{} ALTER TABLE messages RENAME TO kept; CREATE VIEW Messages AS SELECT * FROM kept;",
        goose()
    );
    let (_folder, read) = read(&sql);
    assert!(reason(read).contains("messages is not an ordinary table"));
}

#[test]
fn a_virtual_table_in_place_of_a_table_is_refused() {
    let sql = format!(
        "{} DROP TABLE messages;
         CREATE VIRTUAL TABLE messages USING fts5(session_id, role, content_json, created_timestamp);",
        goose()
    );
    let (_folder, read) = read(&sql);
    assert!(reason(read).contains("messages is not an ordinary table"));
}

#[test]
fn computed_columns_are_not_computed() {
    let sql = "CREATE TABLE sessions (id TEXT, working_dir TEXT, created_at TEXT,
          name TEXT AS (printf('%.*c', 900000000, 'x')) VIRTUAL);
        INSERT INTO sessions (id, working_dir) VALUES ('s1', '/');
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,
          created_timestamp INTEGER AS (length(printf('%.*c', 900000000, 'x'))) VIRTUAL);
        INSERT INTO messages (session_id, role, content_json) VALUES ('s1', 'user', '[]');";
    let (_folder, read) = read(sql);
    let rows = read.unwrap();
    assert!(rows.starts_with(r#"{"table":"sessions","id":"s1","working_dir":"/"}"#), "{rows}");
}

#[test]
fn default_values_may_use_the_clock_and_random_numbers_but_not_every_function() {
    let made = |default: &str| {
        format!(
            "CREATE TABLE sessions (id TEXT, working_dir TEXT, name TEXT DEFAULT ({default}));
             INSERT INTO sessions VALUES ('s1', '/', 'n');
             CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT);"
        )
    };
    for default in ["CURRENT_TIMESTAMP", "strftime('%s', 'now')", "Lower(hex(randomblob(16)))"] {
        let (_folder, read) = read(&made(default));
        let rows = read.unwrap();
        assert!(rows.contains(r#""name":"n""#), "{default}: {rows}");
    }
    let (_folder, read) = read(&made("printf('%.*c', 900000000, 'x')"));
    assert!(reason(read).contains("damaged"));
}

#[test]
fn triggers_checks_and_indexes_on_expressions_do_nothing() {
    let sql = format!(
        "{}
         CREATE TABLE noted (what);
         CREATE TRIGGER note AFTER UPDATE ON messages BEGIN INSERT INTO noted VALUES (1); END;
         CREATE INDEX deep ON messages (json_extract(content_json, '$[0].text'));
         CREATE INDEX own ON messages (session_id) WHERE length(role) > 0;",
        goose()
    );
    let (folder, read) = read(&sql);
    assert_eq!(read.unwrap().lines().count(), 15);
    let noted = with_connection(&folder.path().join("sessions.db"), |connection| {
        connection.query_row("SELECT count(*) FROM noted", (), |row| row.get::<_, i64>(0)).unwrap()
    });
    assert_eq!(noted, 0);
}

#[test]
fn a_huge_value_is_shown_by_its_size() {
    let sql = format!(
        "{} UPDATE messages SET content_json = CAST(zeroblob(100000000) AS TEXT) WHERE message_id = 'j';",
        goose()
    );
    let (_folder, read) = read(&sql);
    let rows = read.unwrap();
    assert!(rows.len() < 100_000, "{}", rows.len());
    assert!(rows.contains(r#""content_json":{"lostBytes":100000000}"#), "{rows}");
}

#[test]
fn an_id_may_be_any_text() {
    let sql = format!(
        "{} PRAGMA foreign_keys = OFF;
         UPDATE messages SET session_id = 's1''; DROP TABLE messages; --' WHERE message_id = 'j';",
        goose()
    );
    let (_folder, read) = read(&sql);
    assert_eq!(read.unwrap().lines().count(), 14);
}

#[test]
fn a_database_that_costs_too_many_steps_is_given_up() {
    // Without an index, every row is looked for in all rows.
    let sql = "CREATE TABLE sessions (id TEXT, working_dir TEXT);
        INSERT INTO sessions VALUES ('s1', '/');
        CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content_json TEXT);
        WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
          INSERT INTO messages SELECT n, 's1', 'user', '[]' FROM numbers ORDER BY n DESC;";
    let (_folder, read) = read(sql);
    assert!(reason(read).contains("too many steps"));
}

#[test]
fn a_schema_that_is_not_one_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(goose()).unwrap();
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = 'CREATE TABLE messages (a' WHERE name = 'messages';",
        )
        .unwrap();
    drop(connection);
    let read = gathered(folder.path(), "sessions.db#s1", Reading::standard());
    assert!(reason(read).contains("the database is damaged"));
}

#[test]
fn a_limit_holds_for_a_database_and_for_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    make(&folder.path().join("sessions.db"), "goose");
    let mut limits = Reading::standard();
    for most in [10, 1_000, 20_000] {
        limits.gathered_bytes = most;
        let read = gathered(folder.path(), "sessions.db#s1", limits.clone());
        assert!(matches!(read, Err(SourceError::TooLarge { .. })), "{most}: {read:?}");
    }
    limits.gathered_bytes = 100_000;
    assert!(gathered(folder.path(), "sessions.db#s1", limits).is_ok());
}

#[test]
fn a_bomb_does_not_go_off() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = zstd::encode_all(std::io::repeat(b' ').take(300_000_000), 3).unwrap();
    assert!(bomb.len() < 100_000);
    fs::write(folder.path().join("s.jsonl.zst"), &bomb).unwrap();
    let mut limits = Reading::standard();
    limits.gathered_bytes = 10_000_000;
    let read = gathered(folder.path(), "s.jsonl.zst", limits);
    assert!(matches!(read, Err(SourceError::TooLarge { .. })), "{read:?}");
    // A frame that asks for a window of gigabytes.
    let mut window = bomb[..4].to_vec();
    window.extend([0x00, 0xf8, 0x01, 0x00, 0x00]);
    fs::write(folder.path().join("s.jsonl.zst"), window).unwrap();
    let read = gathered(folder.path(), "s.jsonl.zst", Reading::standard());
    assert!(reason(read).contains("damaged"));
}

/// Reads a damaged database: any answer is acceptable, as long as there is one.
fn survive(folder: &Path, bytes: &[u8]) {
    fs::write(folder.join("sessions.db"), bytes).unwrap();
    for name in ["sessions.db", "sessions.db#s1", "sessions.db#s1.trajectory.jsonl"] {
        drop(gathered(folder, name, Reading::standard()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damaged_pages_are_survived(
        program in prop::sample::select(vec!["crush", "goose", "openclaw", "opencode"]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        keep in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.db");
        make(&path, program);
        let mut bytes = fs::read(&path).unwrap();
        for (place, byte) in damage {
            let at = 16 + place.index(bytes.len() - 16);
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(16 + keep.index(bytes.len() - 16));
        }
        survive(folder.path(), &bytes);
    }
}
