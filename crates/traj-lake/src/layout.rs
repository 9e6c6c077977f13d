//! The names of files. What names mean is in the documentation of the crate.

mod day;
mod key;
mod name;

pub use day::Day;
pub(crate) use key::SegmentFolder;
pub use key::{SegmentKey, Table};
pub use name::{HostId, SegmentName};

/// The directory of all files of this layout, below the root.
pub(crate) const LAYOUT: &str = "traj/v1";
