//! JSON as traj needs it: exact, ordered, bounded in depth, borrowed.
//!
//! Trajectories come from many writers, some of them careless. Reading a value
//! and writing it again gives the same value, and no input can exhaust the
//! stack:
//!
//! - **Numbers keep their spelling.** `1e400`, `-0`, `1.0` and numbers with a
//!   hundred digits are written as they were read.
//! - **Members keep their order, duplicates included.** A lookup finds the last
//!   of several members with the same name, as other readers do; writing emits
//!   all of them.
//! - **Lone surrogates** (`"\ud83d"` without its pair, which other recorders
//!   write when they cut a string) become U+FFFD instead of an error.
//! - **Depth is bounded.** A container nested deeper than [`MAX_DEPTH`] is
//!   checked, skipped and replaced by a marker object.
//! - **Strings are borrowed** from the input until something changes them.
//!
//! `serde_json` reads and writes the crate's own types. Its `Value` guarantees
//! none of the above without features that would change the behaviour of every
//! other crate in the host's build.
//!
//! ```
//! use traj_core::json::Json;
//!
//! let line = r#"{"big":12345678901234567890123,"text":"\ud83d cut"}"#;
//! let value = Json::parse(line)?;
//! assert_eq!(value.get("text").and_then(Json::as_str), Some("\u{fffd} cut"));
//! assert!(value.to_line().starts_with(r#"{"big":12345678901234567890123,"#));
//! # Ok::<(), traj_core::json::ParseError>(())
//! ```

mod depth;
pub mod lines;
mod number;
mod object;
mod parse;
mod plain;
mod shared_name;
mod skip;
mod text;
mod value;
mod write;

pub use depth::exceeds_depth;
pub use number::Number;
pub use object::Object;
pub use parse::{ParseError, ParseErrorKind};
pub use value::Json;
pub use write::write_string;

/// Containers nested deeper than this are replaced by a marker when parsed.
///
/// So code that walks a [`Json`] may recurse. A value built by hand can be
/// deeper; [`Json::limit_depth`] cuts it to this depth.
pub const MAX_DEPTH: usize = 1_000;

#[cfg(test)]
mod tests;
