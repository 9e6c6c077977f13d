//! Limits on what is recorded and on what is read.

mod reading;

pub use reading::Reading;

/// Limits on what is recorded. Those on values lose nothing: whatever does not fit
/// into an event goes into a blob, and the event names it. Beyond the limits on the
/// sidecar and on its blobs, what is lost is counted and reported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of an event's line, without its newline.
    pub line_bytes: usize,
    /// Length of a string, in UTF-16 units, as other recorders count it.
    pub text_units: usize,
    /// Items of an array.
    pub array_items: usize,
    /// Members of an object.
    pub object_members: usize,
    /// Levels of containers in an event's data.
    pub depth: usize,
    /// Bytes of a sidecar.
    pub sidecar_bytes: u64,
    /// Bytes of all blobs of a sidecar.
    pub blob_budget_bytes: u64,
    /// Characters of a string that its marker quotes.
    pub preview_characters: usize,
}

impl Limits {
    /// Safe defaults for a host that sets nothing.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            line_bytes: 256 * 1024,
            text_units: 32_768,
            array_items: 64,
            object_members: 64,
            depth: 6,
            sidecar_bytes: 50 * 1024 * 1024,
            blob_budget_bytes: 256 * 1024 * 1024,
            preview_characters: 256,
        }
    }
}
