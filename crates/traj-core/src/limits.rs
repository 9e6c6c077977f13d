//! How much is kept, and how much is read: two values, passed to the code that needs
//! them.

mod reading;

pub use reading::Reading;

/// Bounds on what is recorded. Nothing is lost to them: what does not fit into
/// an event goes into a blob, and the event says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one event line, without its line end.
    pub line_bytes: usize,
    /// Length of one text, in UTF-16 units as other recorders count it.
    pub text_units: usize,
    /// Items of one array.
    pub array_items: usize,
    /// Members of one object.
    pub object_members: usize,
    /// Levels of containers below an event's data.
    pub depth: usize,
    /// Bytes of a sidecar.
    pub sidecar_bytes: u64,
    /// Bytes of all blobs beside one sidecar.
    pub blob_budget_bytes: u64,
    /// Characters of a string that its marker shows.
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
