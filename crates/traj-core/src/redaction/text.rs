//! What must be hidden in one string.
//!
//! In reading order:
//! - `find`: the search, which combines everything below with the rules;
//! - `deobfuscate`: the string as a reader would put it together again;
//! - `encoded`: secrets inside base64, hexadecimal and compressed data;
//! - `context`: surroundings in which a value is a secret;
//! - `value`: whether a value looks like a secret at all;
//! - `rescan`: what a second search of a changed string may skip;
//! - `block_end`: where a long text may be split before redaction.

pub(super) mod block_end;
pub(super) mod context;
pub(super) mod deobfuscate;
pub(super) mod encoded;
pub(super) mod find;
pub(super) mod rescan;
pub(super) mod value;
