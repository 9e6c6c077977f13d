//! JSON of any size, read in bounded memory.
//!
//! - `buffer`: bytes that are read piece by piece;
//! - `splitter`: a document taken apart into members and elements;
//! - `string`: the content of one JSON string;
//! - `source_bytes`: a source, or a range of it, from start to end;
//! - `rows`: the lines of a JSON Lines file;
//! - `long_rows`: rows too long to hold, shortened until they fit;
//! - `row_fetcher`: reads rows again that were indexed before;
//! - `text_blocks`: long strings, cut into blocks that are redacted one by one.

pub(crate) mod buffer;
pub(crate) mod long_rows;
pub(crate) mod row_fetcher;
pub(crate) mod rows;
pub(crate) mod source_bytes;
pub(crate) mod splitter;
pub(crate) mod string;
pub(crate) mod text_blocks;
