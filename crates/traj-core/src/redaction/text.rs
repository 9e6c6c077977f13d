//! Finds what must be hidden in one string.
//!
//! In reading order:
//! - `find`: the search, which combines everything below with the rules;
//! - `deobfuscate`: rewrites a string without escapes, line breaks and
//!   look-alikes;
//! - `encoded`: secrets inside base64, hexadecimal and compressed data;
//! - `context`: contexts that make a value a secret;
//! - `files`: files whose layout shows where a secret is;
//! - `value`: whether a value looks like a secret at all;
//! - `rescan`: what a second search of a changed string may skip;
//! - `block_end`: where a long string may be split before redaction.

pub(super) mod block_end;
pub(super) mod context;
pub(super) mod deobfuscate;
pub(super) mod encoded;
mod files;
pub(super) mod find;
pub(super) mod rescan;
pub(super) mod value;
