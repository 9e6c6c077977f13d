//! Events: what happens during a run.
//!
//! An [`Event`] is what the host records: a kind, optional data and an optional
//! time. A [`RunContext`] identifies the run. Together they become one line of
//! the sidecar, with its members in a fixed order (see
//! `docs/format/sidecar-v1.md`); [`RuntimeRow`] parses such a line.
//!
//! ```
//! use traj_core::event::{Event, EventKind, ToolCall};
//! use traj_core::json::Object;
//!
//! let event = ToolCall::new("call-1", "read")
//!     .arguments(Object::from_iter([("path", "notes.md")]))
//!     .event();
//! assert_eq!(event.kind, EventKind::ToolCall);
//! let open = Event::new(EventKind::parse("plugin.custom"), None);
//! assert_eq!(open.kind.as_str(), "plugin.custom");
//! ```

mod approval;
mod context;
mod input;
mod interruptions;
mod kind;
mod memory;
mod model;
mod prompt;
mod row;
mod run;
mod tool;
mod turn;

pub use approval::{Approval, ApprovalRuling, ApprovalScope, ApprovalVerdict, Decider};
pub use context::RunContext;
pub use input::{InputEvent, InputProblem};
pub use interruptions::Interruptions;
pub use kind::EventKind;
pub use model::{FallbackOutcome, FallbackStep, ModelCompleted};
pub use prompt::{ContextCompiled, PromptSkipped, PromptSubmitted, ToolDefinition};
pub use row::{RowProblem, RuntimeRow};
pub use run::{
    RunStatus, SessionEnded, SessionStarted, TraceArtifacts, TraceMetadata, TraceTruncated,
};
pub use tool::{ToolCall, ToolResult, ToolTimeout};
pub use turn::{TurnEvent, TurnMoment};

use crate::json::{Json, Object};
use crate::timestamp::UnixMillis;

/// The schema name in every line of a sidecar and in every bundle.
pub const TRACE_SCHEMA: &str = "openclaw-trajectory";

/// The version of [`TRACE_SCHEMA`] that traj reads and writes.
pub const SCHEMA_VERSION: u64 = 1;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When it happened, if the host knows better than the recorder's clock.
    pub at: Option<UnixMillis>,
    /// The payload; private, so that `data_memory` stays correct.
    data: Option<Object<'static>>,
    /// The approximate memory use of the data, in bytes.
    data_memory: usize,
}

impl Event {
    /// An event of any kind, with the data that the host provides. Values
    /// nested deeper than [`MAX_DEPTH`](crate::json::MAX_DEPTH) are replaced by
    /// a marker.
    #[must_use]
    pub fn new(kind: EventKind, mut data: Option<Object<'static>>) -> Self {
        let data_memory = data.as_mut().map_or(0, memory::of_members);
        Self { kind, at: None, data, data_memory }
    }

    /// The payload.
    #[must_use]
    pub const fn data(&self) -> Option<&Object<'static>> {
        self.data.as_ref()
    }

    /// Takes the payload out of the event.
    #[must_use]
    pub fn into_data(self) -> Option<Object<'static>> {
        self.data
    }

    /// The approximate memory use of the event, in bytes.
    #[must_use]
    pub const fn memory(&self) -> usize {
        size_of::<Self>() + self.data_memory
    }

    /// Appends a member to the payload.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Json<'static>>) -> Self {
        let mut value = value.into();
        self.data_memory += memory::of_member(name, &mut value);
        self.data.get_or_insert_default().push(name, value);
        self
    }

    /// Appends the reasons why the run ended early to the payload.
    #[must_use]
    pub fn with_interruptions(self, interruptions: Interruptions) -> Self {
        interruptions
            .members()
            .into_iter()
            .fold(self, |event, (name, value)| event.with(name, value))
    }

    /// Sets the event's own time.
    #[must_use]
    pub const fn at(mut self, at: UnixMillis) -> Self {
        self.at = Some(at);
        self
    }
}
