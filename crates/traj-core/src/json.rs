//! JSON as the domain needs it: exact, ordered, bounded in depth, borrowed.
//!
//! Trajectories come from many writers, some of them careless. A value read
//! here and written again is the same value, and no input can exhaust the
//! stack:
//!
//! - **Numbers keep their text.** `1e400`, `-0`, `1.0` and a hundred digits
//!   come out as they went in.
//! - **Members keep their order, duplicates included.** A lookup sees the last
//!   of several members with one name, as other readers do; writing emits all.
//! - **Lone surrogates** (`"\ud83d"` without its pair, which other recorders
//!   write when they cut a string) become U+FFFD instead of refusing the line.
//! - **Depth is a limit, not a stack overflow.** A container nested deeper
//!   than [`MAX_DEPTH`] is checked, skipped and replaced by a marker object.
//! - **Text is borrowed** from the input until something changes it.
//!
//! `serde_json` is used wherever a type of ours is read or written; its own
//! `Value` promises none of the above without features that would change the
//! behaviour of every other crate in the host's build.
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

pub use number::Number;
pub use object::Object;
pub use parse::{ParseError, ParseErrorKind};
pub use value::Json;
pub use write::write_string;

/// Containers nested deeper than this are replaced by a marker when read.
///
/// Walkers of a [`Json`] may therefore recurse. A value put together by hand
/// can be deeper; [`Json::limit_depth`] makes it as shallow as one that was read.
pub const MAX_DEPTH: usize = 1_000;

#[cfg(test)]
mod tests;
