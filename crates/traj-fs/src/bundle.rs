//! Bundles on the disk, as directories or archives.
//!
//! - `sink`: writes a bundle, which appears as a whole or not at all;
//! - `source`: reads a bundle, which may come from anyone.

mod sink;
mod source;

pub use self::sink::{BundleForm, FsBundleSink, is_bundle};
pub use self::source::FsBundleSource;
