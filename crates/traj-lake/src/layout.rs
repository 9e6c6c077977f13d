//! The names of files. The documentation of the crate says what they mean.

mod day;
mod key;
mod name;

pub use day::Day;
pub(crate) use key::SegmentFolder;
pub use key::{SegmentKey, Table};
pub use name::{HostId, SegmentName};

/// The directory of all files of this layout, below the root.
pub(crate) const LAYOUT: &str = "traj/v1";
