//! The contract of databases, on every adapter.

use tempfile::TempDir;
use traj_core::limits::Reading;
use traj_core::memory::MemoryTables;
use traj_core::port::{Cell, Tables};
use traj_tests::contract::tables::{TableToMake, TablesHarness};
use traj_tests::contract_tests;
use traj_tests::session_fixtures::databases::{gathering, insert, open_folder, with_connection};

struct Memory;

impl TablesHarness for Memory {
    fn database(&self, table: TableToMake<'_>, longest: usize) -> Box<dyn Tables> {
        let mut tables = MemoryTables::new().with_longest(longest);
        tables.create(table.name, table.columns);
        tables.create_view("view");
        table.rows.iter().for_each(|row| tables.insert(table.name, row.clone()));
        Box::new(tables)
    }
}

struct Disk {
    folder: TempDir,
}

impl TablesHarness for Disk {
    fn database(&self, table: TableToMake<'_>, longest: usize) -> Box<dyn Tables> {
        let path = self.folder.path().join("agent.db");
        with_connection(&path, |connection| {
            let columns = table.columns.iter().map(|name| format!("\"{name}\""));
            let columns: Vec<String> = columns.collect();
            let sql = format!(
                "CREATE TABLE \"{}\" ({}); CREATE VIEW view AS SELECT 1 AS id;",
                table.name,
                columns.join(", ")
            );
            connection.execute_batch(&sql).unwrap();
            for row in table.rows {
                let pack = |(cell, name): (&Cell, &&str)| match cell {
                    Cell::Blob(bytes) if table.packed.contains(name) => {
                        Cell::Blob(zstd::encode_all(bytes.as_slice(), 3).unwrap())
                    }
                    cell => cell.clone(),
                };
                let row: Vec<Cell> = row.iter().zip(table.columns).map(pack).collect();
                insert(connection, table.name, &row);
            }
        });
        let mut limits = Reading::standard();
        limits.cell_bytes = longest;
        let gathering = gathering(self.folder.path(), limits);
        let tables = gathering.tables(&open_folder(self.folder.path()), "agent.db");
        Box::new(tables.unwrap().unwrap())
    }
}

contract_tests! {
    tables:
    memory => Memory,
    filesystem => Disk { folder: tempfile::tempdir().unwrap() },
}
