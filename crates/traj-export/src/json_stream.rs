//! Reads JSON of any size in bounded memory.
//!
//! - `buffer`: a buffer that is filled piece by piece;
//! - `splitter`: splits a document into members and items;
//! - `string`: the content of one JSON string;
//! - `source_bytes`: a source, or a range of it, from start to end;
//! - `rows`: the lines of a JSON Lines file;
//! - `long_rows`: shortens rows that do not fit into memory;
//! - `row_fetcher`: reads indexed rows again;
//! - `text_blocks`: splits long strings into blocks that are redacted one by
//!   one.

pub(crate) mod buffer;
pub(crate) mod long_rows;
pub(crate) mod row_fetcher;
pub(crate) mod rows;
pub(crate) mod source_bytes;
pub(crate) mod splitter;
pub(crate) mod string;
pub(crate) mod text_blocks;
