//! `blobs/`: strings that are too long for their event, one file each.
//!
//! - `directory`: the blobs that the recorder stored next to the sidecar;
//! - `restore`: puts a blob back into the event it was cut from;
//! - `copy`: copies a blob into the bundle, checked and redacted;
//! - `lines`: writes a list or an object that was too large for its row;
//! - `long_texts`: finds the blob that holds an event's string.

mod copy;
mod directory;
mod lines;
mod long_texts;
mod restore;

pub(crate) use directory::{RecordedBlobs, marker_of, referenced};
pub(crate) use long_texts::{EventText, LongTexts};
pub(crate) use restore::Restorer;
