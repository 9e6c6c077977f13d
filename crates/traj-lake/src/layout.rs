//! The names of files. The documentation of the crate says what they mean.

mod day;
mod key;
mod name;
mod text_key;

pub use day::Day;
pub(crate) use key::SegmentFolder;
pub use key::{SegmentKey, Table};
pub use name::{HostId, SegmentName};
pub(crate) use text_key::TextKey;

/// The directory of all files of this layout, below the root.
pub(crate) const LAYOUT: &str = "traj/v1";
