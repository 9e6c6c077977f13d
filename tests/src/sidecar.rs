//! Helpers for tests of the recorder: lines to write, directories to write to, and
//! strict checks of the resulting sidecar.

mod content;
mod place;
pub mod stub_store;

pub use content::{Row, SidecarContent};
pub use place::Place;

use std::sync::OnceLock;

use traj_core::capture::{Blob, Capture, PendingLine};
use traj_core::event::{Event, EventKind, RunContext};
use traj_core::id::SessionId;
use traj_core::json::Object;
use traj_core::limits::Limits;
use traj_core::port::SidecarOptions;
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;

/// A session with this id.
pub fn session(id: &str) -> SessionId {
    SessionId::parse(id).expect("an id that is not empty")
}

/// The default redactor with a separate key. Its rules are compiled once.
pub fn redactor() -> Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    let standard = || Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    REDACTOR.get_or_init(standard).clone()
}

/// The default options of a recorder.
pub fn options() -> SidecarOptions {
    SidecarOptions::from_settings(&Settings::standard())
}

/// An event whose data is `{"text": …}`.
pub fn event(text: &str) -> Event {
    let mut data = Object::new();
    data.push("text", text.to_owned());
    Event::new(EventKind::parse("test.event"), Some(data))
}

/// Encoded lines with these texts, numbered from 1.
pub fn lines<'t>(
    session: &SessionId,
    texts: impl IntoIterator<Item = &'t str>,
) -> Vec<PendingLine> {
    let capture = Capture::new(redactor(), Limits::standard(), &RunContext::new(session.clone()));
    let encode = |(number, text): (u64, &str)| {
        capture.prepare(event(text), UnixMillis::EPOCH).encode(number).expect("fits a line")
    };
    (1..).zip(texts).map(encode).collect()
}

/// A line whose text is in a blob, and the blob.
///
/// # Panics
/// If the text is too short to be moved to a blob.
pub fn line_with_blob(session: &SessionId, text: &str) -> (PendingLine, Blob) {
    let mut limits = Limits::standard();
    limits.text_units = 1;
    let capture = Capture::new(redactor(), limits, &RunContext::new(session.clone()));
    let mut prepared = capture.prepare(event(text), UnixMillis::EPOCH);
    let blob = prepared.blobs().first().cloned().expect("a text above the limit becomes a blob");
    (prepared.encode(1).expect("fits a line"), blob)
}

/// A blob of this text.
pub fn blob(text: &str) -> Blob {
    line_with_blob(&session("blob"), text).1
}
