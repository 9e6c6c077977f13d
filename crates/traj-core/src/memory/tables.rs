//! A database in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::port::{Cell, Scan, Tables, TablesError, VisitRow};

/// The steps that reading takes at most.
const MOST_STEPS: u64 = 10_000_000;

/// Tables by name. Blobs of packed columns are kept as their content.
///
/// It shows the rows in an order that depends on the table only, and never in
/// the order in which they were added: no caller may rely on that.
#[derive(Debug, Default)]
pub struct MemoryTables {
    tables: BTreeMap<String, TableContent>,
    views: BTreeSet<String>,
    steps: AtomicU64,
    longest: Option<usize>,
}

#[derive(Debug, Default)]
struct TableContent {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl MemoryTables {
    /// A database without tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Values longer than this are too long.
    #[must_use]
    pub const fn with_longest(mut self, bytes: usize) -> Self {
        self.longest = Some(bytes);
        self
    }

    /// Adds a table without rows.
    pub fn create(&mut self, table: &str, columns: &[&str]) {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        self.tables.insert(table.to_owned(), TableContent { columns, rows: Vec::new() });
    }

    /// Adds something that has a name but is not a table.
    pub fn create_view(&mut self, name: &str) {
        self.views.insert(name.to_owned());
    }

    /// Adds a row; missing cells at its end are empty.
    pub fn insert(&mut self, table: &str, row: Vec<Cell>) {
        if let Some(table) = self.tables.get_mut(table) {
            table.rows.push(row);
        }
    }

    fn shown(&self, cell: Option<&Cell>) -> Cell {
        let length = match cell {
            Some(Cell::Text(text)) => text.len(),
            Some(Cell::Blob(bytes)) => bytes.len(),
            _ => 0,
        };
        match cell {
            Some(_) if self.longest.is_some_and(|longest| length > longest) => {
                Cell::TooLong(length as u64)
            }
            cell => cell.cloned().unwrap_or_default(),
        }
    }
}

impl Tables for MemoryTables {
    fn has_table(&self, table: &str) -> Result<bool, TablesError> {
        if self.views.contains(table) {
            return Err(TablesError::NotATable { table: table.to_owned() });
        }
        Ok(self.tables.contains_key(table))
    }

    fn has_column(&self, table: &str, column: &str) -> Result<bool, TablesError> {
        let is_there = self.has_table(table)?;
        let table = self.tables.get(table).filter(|_| is_there);
        Ok(table.is_some_and(|table| table.columns.iter().any(|name| name == column)))
    }

    fn scan(&self, scan: &Scan<'_>, visit: &mut VisitRow<'_>) -> Result<(), TablesError> {
        if !self.has_table(scan.table)? {
            return Err(TablesError::NoTable { table: scan.table.to_owned() });
        }
        let Some(table) = self.tables.get(scan.table) else { return Ok(()) };
        let place = |name: &str| table.columns.iter().position(|column| column == name);
        for row in table.rows.iter().rev() {
            if self.steps.fetch_add(1, Ordering::Relaxed) >= MOST_STEPS {
                return Err(TablesError::Exhausted);
            }
            let value = |name: &str| row.get(place(name)?);
            let fits = scan.equal.iter().all(|(name, wanted)| value(name) == Some(*wanted));
            if !fits {
                continue;
            }
            let cells: Vec<Cell> =
                scan.columns.iter().map(|name| self.shown(value(name))).collect();
            if visit(&cells) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }
}
