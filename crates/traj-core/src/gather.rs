//! Turns sessions that are not one file of JSON lines into rows.
//!
//! Readers read JSON lines: one row after the other, each decoded by a
//! [`Dialect`](crate::dialect::Dialect). Some programs store a session in a
//! database, in a compressed file, or in one JSON document. This module decides
//! what such a [`Container`] is, which of its rows make up a session, and in which
//! order. Adapters unpack it and keep the rows in a private file, and every reader
//! works on that file unchanged.
//!
//! - [`Container`]: what a file is, by its first bytes.
//! - [`session_rows`], [`database_sessions`]: the sessions in a database. A row of a
//!   table becomes an object with the table's name and its columns, such as
//!   `{"table":"messages","id":7,"session_id":"s","content_json":[…]}`; texts that
//!   are JSON become values.
//! - [`file_rows`]: files whose rows replace each other, documents, and sessions
//!   with additional files.
//! - [`RowWriter`]: where the rows go.
//!
//! A session in a database is named `FILE#SESSION`; see [`SessionAddress`].
//!
//! To read another program's database, add a module with `recognises`, `sessions`
//! and `rows` to `database`. To gather files, add a case to [`file_rows`].

mod address;
mod claude_code;
mod container;
mod database;
mod error;
mod file;
mod row_writer;

pub use address::SessionAddress;
pub(crate) use claude_code::RowReader;
pub use container::Container;
pub use database::{DatabaseSession, GatheredPart, Program, database_sessions, session_rows};
pub use error::GatherError;
pub use file::{
    GatheredFile, file_rows, is_history, storage_folder, sub_agent_folder, thread_folder,
};
#[cfg(all(test, feature = "memory"))]
use file::{gathered, gathered_with};
pub use row_writer::RowWriter;
