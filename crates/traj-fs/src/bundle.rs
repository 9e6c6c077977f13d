//! Bundles on the disk, as directories or archives.
//!
//! - `sink`: writing one, which appears as a whole or not at all;
//! - `source`: reading one that anybody may have written.

mod sink;
mod source;

pub use self::sink::{BundleForm, FsBundleSink, is_bundle};
pub use self::source::FsBundleSource;
