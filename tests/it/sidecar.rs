//! The sidecar of a session on a real filesystem.
//!
//! - `files`: which files are written, and how
//! - `locks`: several writers
//! - `attacks`: hostile directories

mod attacks;
mod files;
mod locks;
