//! The tables of an SQLite database, opened as what it is: a file that anyone may
//! have made.
//!
//! SQLite works on a private copy and may only run the queries in this file. The
//! schema is not trusted: nothing but ordinary tables and the values stored in
//! them is read, so that no view, trigger, virtual table, computed column or
//! function of the database's author ever runs. Values, memory and steps are
//! limited.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::Dir;
use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, Row};
use traj_core::limits::Reading;
use traj_core::port::{Cell, Scan, Tables, TablesError, VisitRow};

use super::OpenedFile;
use super::database_copy::DatabaseCopy;
use super::unpack;
use crate::stop_flag::StopFlag;

/// Memory that SQLite may use, in bytes. The limit holds for the whole process.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;

/// Memory for pages, in KiB.
const CACHE_KIB: i64 = 8 * 1024;

/// How many of its steps SQLite takes between two looks at the budget.
const STEPS_PER_LOOK: i32 = 1_000;

/// The steps that every database may take, and those for each of its bytes. A row
/// takes some twenty, and is seldom shorter than that.
const LEAST_STEPS: u64 = 20_000_000;
const STEPS_PER_BYTE: u64 = 4;

/// Room for the parts of a row that are not the value itself.
const BESIDE_THE_VALUE: usize = 1024 * 1024;

/// The function that our queries use: it does not read the value.
const LENGTH: &str = "octet_length";

/// Functions that programs use in the default values of their columns. SQLite asks
/// for them when a query names such a column, although reading a row never runs
/// them. None reads or changes anything but the clock and random numbers.
const DEFAULTS: [&str; 12] = [
    "current_timestamp",
    "current_date",
    "current_time",
    "date",
    "time",
    "datetime",
    "julianday",
    "strftime",
    "unixepoch",
    "hex",
    "lower",
    "randomblob",
];

/// The pragma that our queries use.
const COLUMNS: &str = "table_xinfo";

/// The tables of a private copy of a database.
#[derive(Debug)]
pub struct SqliteTables {
    // Declared before the copy: it is closed first.
    connection: Connection,
    steps: Arc<AtomicU64>,
    longest: usize,
    _copy: DatabaseCopy,
}

impl SqliteTables {
    /// Copies a database into `folder`, which is at `path`, and opens the copy.
    pub(super) fn of_copy(
        opened: &OpenedFile,
        path: &Path,
        folder: &Dir,
        limits: &Reading,
        stop: &StopFlag,
    ) -> Result<Self, TablesError> {
        let copy = DatabaseCopy::of(opened, path, folder, limits.gathered_bytes, stop)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let most = LEAST_STEPS.saturating_add(copy.bytes.saturating_mul(STEPS_PER_BYTE));
        let steps = Arc::new(AtomicU64::new(most));
        let connection = Connection::open_with_flags(copy.path(), flags);
        let mut connection = connection.map_err(|error| explain(&error, &steps))?;
        let longest = limits.cell_bytes;
        restrict(&mut connection, longest, Arc::clone(&steps), stop.clone())
            .map_err(|error| explain(&error, &steps))?;
        Ok(Self { connection, steps, longest, _copy: copy })
    }

    fn explain(&self, error: &rusqlite::Error) -> TablesError {
        explain(error, &self.steps)
    }

    /// The columns whose values are stored; `None` if there is no such table.
    fn columns(&self, table: &str) -> Result<Option<Vec<String>>, TablesError> {
        let failed = |error| self.explain(&error);
        let not_a_table = || TablesError::NotATable { table: table.to_owned() };
        // Names are compared as SQLite does: it would find this table too.
        let mut schema = self
            .connection
            .prepare("SELECT type, sql FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE")
            .map_err(failed)?;
        let mut found = schema.query([table]).map_err(failed)?;
        let mut is_there = false;
        while let Some(row) = found.next().map_err(failed)? {
            let kind: Option<String> = row.get(0).map_err(failed)?;
            let sql: Option<String> = row.get(1).map_err(failed)?;
            let is_virtual = sql.is_none_or(|sql| {
                sql.split_ascii_whitespace()
                    .nth(1)
                    .is_none_or(|word| !word.eq_ignore_ascii_case("table"))
            });
            if is_there || kind.as_deref() != Some("table") || is_virtual {
                return Err(not_a_table());
            }
            is_there = true;
        }
        if !is_there {
            return Ok(None);
        }
        let query = format!("PRAGMA main.{COLUMNS}({})", quoted(table));
        let mut listed = self.connection.prepare(&query).map_err(failed)?;
        let mut found = listed.query([]).map_err(failed)?;
        let mut columns = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let is_stored = row.get::<_, i64>("hidden").map_err(failed)? == 0;
            let name: String = row.get("name").map_err(failed)?;
            columns.extend(is_stored.then_some(name));
        }
        Ok(Some(columns))
    }
}

impl Tables for SqliteTables {
    fn has_table(&self, table: &str) -> Result<bool, TablesError> {
        Ok(self.columns(table)?.is_some())
    }

    fn has_column(&self, table: &str, column: &str) -> Result<bool, TablesError> {
        Ok(self.columns(table)?.is_some_and(|names| names.iter().any(|name| name == column)))
    }

    fn scan(&self, scan: &Scan<'_>, visit: &mut VisitRow<'_>) -> Result<(), TablesError> {
        let no_table = || TablesError::NoTable { table: scan.table.to_owned() };
        let stored = self.columns(scan.table)?.ok_or_else(no_table)?;
        let has = |name: &str| stored.iter().any(|column| column == name);
        if !scan.equal.iter().all(|(name, _)| has(name)) {
            return Ok(());
        }
        let query = query_of(scan, &has, self.longest);
        let failed = |error| self.explain(&error);
        let mut prepared = self.connection.prepare(&query).map_err(failed)?;
        let values = scan.equal.iter().map(|(_, cell)| value_of(cell));
        let mut found = prepared.query(rusqlite::params_from_iter(values)).map_err(failed)?;
        let mut cells = Vec::with_capacity(scan.columns.len());
        while let Some(row) = found.next().map_err(failed)? {
            cells.clear();
            for (at, name) in scan.columns.iter().enumerate() {
                let cell = cell_of(row, at * 2).map_err(failed)?;
                cells.push(match cell {
                    Cell::Blob(bytes) if scan.packed.contains(name) => {
                        unpack::cell(&bytes, self.longest)
                    }
                    cell => cell,
                });
            }
            if visit(&cells) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }
}

/// The query of a scan: every column, unless it is longer than `longest`, and its
/// length.
fn query_of(scan: &Scan<'_>, has: &dyn Fn(&str) -> bool, longest: usize) -> String {
    let column = |name: &&str| {
        if !has(name) {
            return "NULL, NULL".to_owned();
        }
        let name = quoted(name);
        let length = format!("{LENGTH}({name})");
        format!("CASE WHEN {length} <= {longest} THEN {name} END, {length}")
    };
    let columns: Vec<String> = scan.columns.iter().map(column).collect();
    let query = format!("SELECT {} FROM main.{}", columns.join(", "), quoted(scan.table));
    if scan.equal.is_empty() {
        return query;
    }
    let equal = scan.equal.iter().zip(1..);
    let equal: Vec<String> =
        equal.map(|((name, _), at)| format!("{} = ?{at}", quoted(name))).collect();
    format!("{query} WHERE {}", equal.join(" AND "))
}

/// A name, as SQL quotes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn value_of(cell: &Cell) -> Value {
    match cell {
        Cell::Null | Cell::TooLong(_) => Value::Null,
        Cell::Integer(number) => Value::Integer(*number),
        Cell::Real(number) => Value::Real(*number),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Blob(bytes) => Value::Blob(bytes.clone()),
    }
}

/// The value at this place of a row; its length comes after it.
fn cell_of(row: &Row<'_>, at: usize) -> rusqlite::Result<Cell> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => {
            let length = row.get::<_, Option<i64>>(at + 1)?;
            let length = length.and_then(|length| u64::try_from(length).ok());
            length.map_or(Cell::Null, Cell::TooLong)
        }
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    })
}

/// Takes from a new connection everything that reading tables does not need.
fn restrict(
    connection: &mut Connection,
    longest: usize,
    steps: Arc<AtomicU64>,
    stop: StopFlag,
) -> rusqlite::Result<()> {
    let look = move || {
        let taken = u64::try_from(STEPS_PER_LOOK).unwrap_or_default();
        let before = steps.load(Ordering::Relaxed);
        steps.store(before.saturating_sub(taken), Ordering::Relaxed);
        before == 0 || stop.check().is_err()
    };
    connection.progress_handler(STEPS_PER_LOOK, Some(look))?;
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        // The copy is thrown away: its log need not be merged into it.
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
    ] {
        connection.set_db_config(setting, value)?;
    }
    let longest = i32::try_from(longest.saturating_add(BESIDE_THE_VALUE)).unwrap_or(i32::MAX);
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, longest),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
        (Limit::SQLITE_LIMIT_COLUMN, 500),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
        (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 50),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    // Exclusive, so that the index of the log is in memory, not in another file.
    connection.execute_batch(&format!(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA mmap_size = 0; PRAGMA query_only = ON;
         PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA synchronous = OFF;
         PRAGMA cache_size = -{CACHE_KIB}; PRAGMA hard_heap_limit = {MOST_MEMORY};"
    ))?;
    connection.authorizer(Some(|asked: AuthContext<'_>| {
        let is_ours = asked.accessor.is_none()
            && match asked.action {
                AuthAction::Select | AuthAction::Read { .. } => true,
                AuthAction::Function { function_name } => {
                    // As the schema spells it.
                    let is_named = |name: &&str| name.eq_ignore_ascii_case(function_name);
                    function_name == LENGTH || DEFAULTS.iter().any(is_named)
                }
                AuthAction::Pragma { pragma_name, .. } => pragma_name == COLUMNS,
                _ => false,
            };
        if is_ours { Authorization::Allow } else { Authorization::Deny }
    }))
}

/// An error of SQLite, in terms of the port. Its message can quote the schema, so
/// only its code is kept.
fn explain(error: &rusqlite::Error, steps: &AtomicU64) -> TablesError {
    let Some(code) = error.sqlite_error_code() else { return TablesError::Damaged };
    match code {
        ErrorCode::OperationInterrupted if steps.load(Ordering::Relaxed) == 0 => {
            TablesError::Exhausted
        }
        ErrorCode::TooBig | ErrorCode::OutOfMemory => TablesError::TooLarge,
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::AuthorizationForStatementDenied
        | ErrorCode::TypeMismatch
        | ErrorCode::Unknown => TablesError::Damaged,
        code => TablesError::Storage(Box::new(SqliteFailure(code))),
    }
}

/// What SQLite reports.
#[derive(Debug, thiserror::Error)]
#[error("SQLite reports {0:?}")]
struct SqliteFailure(ErrorCode);
