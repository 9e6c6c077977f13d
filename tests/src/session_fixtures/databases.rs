//! Makes SQLite databases, as agents do, and gathers the sessions in them.
#![expect(clippy::disallowed_methods, reason = "tests open their own temporary directories")]

use std::path::Path;

use cap_std::fs::Dir;
use rusqlite::Connection;
use rusqlite::types::Value;
use traj_core::limits::Reading;
use traj_core::port::{Cell, SourceError, Sources as _};
use traj_fs::{FsSources, Gathering};

/// The databases of `tests/fixtures/databases`: the name of the program, and the
/// SQL that makes it.
pub const DATABASES: &[(&str, &str)] = &[
    ("crush", include_str!("../../fixtures/databases/crush.sql")),
    ("goose", include_str!("../../fixtures/databases/goose.sql")),
    ("openclaw", include_str!("../../fixtures/databases/openclaw.sql")),
    ("opencode", include_str!("../../fixtures/databases/opencode.sql")),
];

/// A row of the OpenClaw database that is compressed there.
pub const COMPRESSED_ROW: &str = r#"{"type":"message","id":"0a-3","parentId":"0a-2","timestamp":"2026-06-01T10:00:05.000Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"exec","details":{"exitCode":2},"content":[{"type":"text","text":"no rule"}]}}"#;

/// Opens a directory.
///
/// # Panics
/// If it cannot be opened.
#[must_use]
pub fn open_folder(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, cap_std::ambient_authority()).expect("it can be opened")
}

/// Opens a database, which may not exist yet, for as long as `work` takes.
///
/// # Panics
/// If it cannot be opened.
pub fn with_connection<T>(path: &Path, work: impl FnOnce(&Connection) -> T) -> T {
    work(&Connection::open(path).expect("it can be opened"))
}

/// Adds a row to a table.
///
/// # Panics
/// If it cannot be added.
pub fn insert(connection: &Connection, table: &str, row: &[Cell]) {
    let places: Vec<String> = (1..=row.len()).map(|at| format!("?{at}")).collect();
    let sql = format!("INSERT INTO \"{table}\" VALUES ({})", places.join(", "));
    let values = row.iter().map(|cell| match cell {
        Cell::Null | Cell::TooLong(_) => Value::Null,
        Cell::Integer(number) => Value::Integer(*number),
        Cell::Real(number) => Value::Real(*number),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Blob(bytes) => Value::Blob(bytes.clone()),
    });
    connection.execute(&sql, rusqlite::params_from_iter(values)).expect("it can be added");
}

/// Makes the database of a program.
///
/// # Panics
/// If the SQL is wrong.
pub fn make(path: &Path, program: &str) {
    let (_, sql) = DATABASES.iter().find(|(name, _)| *name == program).expect("it is known");
    with_connection(path, |connection| {
        connection.execute_batch(sql).expect("the SQL is right");
        if program == "openclaw" {
            let packed = zstd::encode_all(COMPRESSED_ROW.as_bytes(), 3).expect("it is packed");
            let sql =
                "INSERT INTO transcript_events VALUES ('s1', 3, NULL, 1780308005000, ?1, ?2, '{}')";
            let bytes = i64::try_from(COMPRESSED_ROW.len()).expect("it is short");
            connection.execute(sql, (packed, bytes)).expect("it can be added");
        }
    });
}

/// Gathers in a separate directory inside `folder`, so that nothing is left next to
/// the files of a test.
///
/// # Panics
/// If the directory cannot be made.
#[must_use]
pub fn gathering(folder: &Path, limits: Reading) -> Gathering {
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).expect("it can be made");
    let path = scratch.canonicalize().expect("it is there");
    Gathering::new(&path, open_folder(&path), limits)
}

/// The gathered rows of a file in `folder`, or of a session in one: `FILE#SESSION`.
///
/// # Errors
/// When they cannot be gathered.
///
/// # Panics
/// If they are not UTF-8.
#[expect(clippy::unwrap_in_result, reason = "only what the reading gives is a result")]
pub fn gathered(folder: &Path, name: &str, limits: Reading) -> Result<String, SourceError> {
    let sources = FsSources::new(folder)
        .with_root(folder, open_folder(folder))
        .gathering(gathering(folder, limits));
    let source = sources.open(&folder.join(name).to_string_lossy())?;
    let mut bytes = vec![0; usize::try_from(source.len()).expect("it fits into memory")];
    source.read_exact_at(0, &mut bytes)?;
    Ok(String::from_utf8(bytes).expect("rows are UTF-8"))
}
