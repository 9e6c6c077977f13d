//! What every [`Tables`] promises.

use std::ops::ControlFlow;

use traj_core::port::{Cell, Scan, Tables, TablesError};

/// A table to make.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "cases build it literally")]
pub struct TableToMake<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its columns.
    pub columns: &'t [&'t str],
    /// Those whose blobs are packed; the rows hold what they unpack to.
    pub packed: &'t [&'t str],
    /// Its rows.
    pub rows: &'t [Vec<Cell>],
}

/// Makes databases to test.
pub trait TablesHarness {
    /// A database with this table, and a view called `view`. Values longer than
    /// `longest` are too long.
    fn database(&self, table: TableToMake<'_>, longest: usize) -> Box<dyn Tables>;
}

suite! {
    $ tables on TablesHarness:
    rows_have_the_columns_that_were_asked_for,
    only_rows_with_equal_values_are_shown,
    a_visitor_ends_a_scan,
    long_values_are_shown_by_their_size,
    packed_values_are_unpacked,
    only_tables_are_tables,
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn rows_of(tables: &dyn Tables, scan: &Scan<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    tables
        .scan(scan, &mut |row| {
            rows.push(row.to_vec());
            ControlFlow::Continue(())
        })
        .expect("it can be read");
    // A scan shows rows in any order.
    rows.sort_by_key(|row| format!("{row:?}"));
    rows
}

fn three() -> Vec<Vec<Cell>> {
    vec![
        vec![Cell::Integer(1), text("a"), Cell::Real(0.5)],
        vec![Cell::Integer(2), text("b"), Cell::Null],
        vec![Cell::Integer(3), text("a"), Cell::Blob(vec![0, 255])],
    ]
}

const COLUMNS: [&str; 3] = ["id", "name", "any value"];

fn plain(harness: &dyn TablesHarness, rows: &[Vec<Cell>]) -> Box<dyn Tables> {
    let table = TableToMake { name: "order", columns: &COLUMNS, packed: &[], rows };
    harness.database(table, 1_000)
}

fn rows_have_the_columns_that_were_asked_for(harness: &dyn TablesHarness) {
    let tables = plain(harness, &three());
    assert_eq!(rows_of(&*tables, &Scan::of("order", &COLUMNS)), three());
    let others = Scan::of("order", &["any value", "missing", "id"]);
    let first = vec![Cell::Real(0.5), Cell::Null, Cell::Integer(1)];
    assert!(rows_of(&*tables, &others).contains(&first));
    assert!(tables.has_column("order", "any value").expect("it can be read"));
    assert!(!tables.has_column("order", "missing").expect("it can be read"));
}

fn only_rows_with_equal_values_are_shown(harness: &dyn TablesHarness) {
    let tables = plain(harness, &three());
    let (name, id, injected) = (text("a"), Cell::Integer(3), text("a' OR '1'='1"));
    let scan = Scan::of("order", &["id"]);
    let found = rows_of(&*tables, &scan.with(&[("name", &name)]));
    assert_eq!(found, [[Cell::Integer(1)], [Cell::Integer(3)]]);
    let both = [("name", &name), ("id", &id)];
    assert_eq!(rows_of(&*tables, &scan.with(&both)), [[Cell::Integer(3)]]);
    assert!(rows_of(&*tables, &scan.with(&[("name", &injected)])).is_empty());
    assert!(rows_of(&*tables, &scan.with(&[("missing", &name)])).is_empty());
}

fn a_visitor_ends_a_scan(harness: &dyn TablesHarness) {
    let tables = plain(harness, &three());
    let mut seen = 0;
    let scanned = tables.scan(&Scan::of("order", &["id"]), &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    scanned.expect("it can be read");
    assert_eq!(seen, 1);
}

fn long_values_are_shown_by_their_size(harness: &dyn TablesHarness) {
    let rows = [vec![text(&"x".repeat(1_000)), text(&"y".repeat(1_001))]];
    let table = TableToMake { name: "t", columns: &["fits", "long"], packed: &[], rows: &rows };
    let tables = harness.database(table, 1_000);
    let found = rows_of(&*tables, &Scan::of("t", &["fits", "long"]));
    assert_eq!(found, [[text(&"x".repeat(1_000)), Cell::TooLong(1_001)]]);
}

fn packed_values_are_unpacked(harness: &dyn TablesHarness) {
    let content = Cell::Blob(b"a row".repeat(100));
    let long = Cell::Blob(vec![b'x'; 5_000]);
    let rows = [vec![Cell::Integer(1), content.clone()], vec![Cell::Integer(2), long]];
    let table =
        TableToMake { name: "t", columns: &["id", "bytes"], packed: &["bytes"], rows: &rows };
    let tables = harness.database(table, 1_000);
    let scan = Scan { packed: &["bytes"], ..Scan::of("t", &["bytes"]) };
    let mut found = rows_of(&*tables, &scan);
    assert!(found.iter().any(|row| *row == [content.clone()]));
    found.retain(|row| !matches!(row.first(), Some(Cell::Blob(_))));
    assert!(matches!(found.concat().as_slice(), [Cell::TooLong(bytes)] if *bytes > 1_000));
}

fn only_tables_are_tables(harness: &dyn TablesHarness) {
    let tables = plain(harness, &three());
    assert!(tables.has_table("order").expect("it can be read"));
    assert!(!tables.has_table("missing").expect("it can be read"));
    let view = tables.has_table("view");
    assert!(matches!(view, Err(TablesError::NotATable { .. })), "{view:?}");
    let mut ignore = |_: &[Cell]| ControlFlow::Continue(());
    let scan = Scan::of("view", &["id"]);
    assert!(matches!(tables.scan(&scan, &mut ignore), Err(TablesError::NotATable { .. })));
    let scan = Scan::of("missing", &["id"]);
    assert!(matches!(tables.scan(&scan, &mut ignore), Err(TablesError::NoTable { .. })));
}
