//! The queue: trims that wait for the end of the agent's turn.
//!
//! It is a small file beside the session, so that nothing is lost if the host
//! crashes between the tool call and the end of the turn.

use std::ops::ControlFlow;

use super::log_line;
use crate::care::trim::{TrimItem, has_tool_result};
use crate::id::IdError;
use crate::json::{Json, Object};
use crate::port::{LineLog, LineLogError, RewriteError, SessionRewriter};
use crate::timestamp::UnixMillis;

const SUFFIX: &str = ".trim-queue.jsonl";

const SCHEMA: &str = "traj-trim-queue";

/// The queue beside a session file.
#[must_use]
pub fn queue_beside(session_file: &str) -> String {
    log_line::beside(session_file, SUFFIX)
}

/// The session file that the queue of this name belongs to; `None` if the name
/// is not that of a queue.
#[must_use]
pub fn queued_session(queue: &str) -> Option<String> {
    queue.strip_suffix(SUFFIX).filter(|stem| !stem.is_empty()).map(|stem| format!("{stem}.jsonl"))
}

/// Why a trim was not queued. Hosts pass the message on to the agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The call names no target.
    #[error("the parameter tool_call_id is missing")]
    MissingTarget,
    /// The host did not pass the call's own id.
    #[error("the host did not pass the id of the dynamic-trim call itself")]
    MissingSelf,
    /// An id is empty or too long.
    #[error("tool_call_id is not a valid id")]
    Id(#[from] IdError),
    /// The session contains no result of that call.
    #[error(
        "no result in this session has the tool_call_id \"{target}\"; pass the id of one of your own earlier tool calls"
    )]
    UnknownTarget {
        /// The requested id.
        target: String,
    },
    /// The session cannot be read.
    #[error(transparent)]
    Session(#[from] RewriteError),
    /// The queue cannot be written.
    #[error(transparent)]
    Queue(#[from] LineLogError),
}

/// A line of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueEntry {
    /// What to trim.
    pub item: TrimItem,
    /// When it was requested.
    pub queued_at: UnixMillis,
}

impl QueueEntry {
    /// An entry for the queue.
    #[must_use]
    pub const fn new(item: TrimItem, queued_at: UnixMillis) -> Self {
        Self { item, queued_at }
    }

    /// Reads a line of the queue; `None` if it is not an entry.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        let value = log_line::read(line, SCHEMA)?;
        let text = |name| value.get(name).and_then(Json::as_str);
        let item =
            TrimItem::parse(text("tool_call_id")?, text("replacement"), text("self_call_id"))
                .ok()?;
        let queued_at = UnixMillis::parse_lenient(text("queued_at")?)?;
        Some(Self { item, queued_at })
    }

    /// The entry as a line.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = log_line::begin(SCHEMA);
        line.push("queued_at", self.queued_at.to_iso());
        line.push("tool_call_id", self.item.target.as_str());
        line.push_some("replacement", self.item.replacement.as_deref());
        line.push_some("self_call_id", self.item.self_call.as_ref().map(AsRef::<str>::as_ref));
        Json::Object(line).to_line()
    }
}

/// The tool's reply to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueuedReply {
    /// The call whose result will be trimmed.
    pub tool_call_id: String,
}

impl QueuedReply {
    /// The reply in the shape agents expect.
    #[must_use]
    pub fn to_json(&self) -> Json<'_> {
        let mut reply = Object::with_capacity(6);
        reply.push("ok", true);
        reply.push("status", "queued");
        reply.push("tool_call_id", self.tool_call_id.as_str());
        reply.push("self_compacted", true);
        reply.push("applies_at", "agent_end");
        reply.push(
            "note",
            "Queued. When this turn ends, the text of that tool result is replaced and the input of this call is reduced to {tool_call_id, _self_compacted:true}. You will see the effect from your next turn on.",
        );
        Json::Object(reply)
    }
}

/// What waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingTrims {
    /// How many trims wait.
    pub count: u64,
    /// When the oldest of them was requested.
    pub oldest: Option<UnixMillis>,
    /// When the newest of them was requested.
    pub newest: Option<UnixMillis>,
    /// Lines that are not trims. A drain reports and removes them.
    pub unreadable: u64,
}

/// Counts what waits in a queue.
///
/// # Errors
/// If the queue cannot be read.
pub fn pending_trims(queue: &dyn LineLog) -> Result<PendingTrims, LineLogError> {
    let mut pending = PendingTrims::default();
    queue.read(&mut |line| {
        match QueueEntry::parse(line) {
            Some(QueueEntry { queued_at: at, .. }) => {
                pending.count += 1;
                pending.oldest = Some(pending.oldest.map_or(at, |oldest| oldest.min(at)));
                pending.newest = pending.newest.max(Some(at));
            }
            None => pending.unreadable += 1,
        }
        ControlFlow::Continue(())
    })?;
    Ok(pending)
}

/// Queues the trim that an agent requested with the tool's `input`.
///
/// # Errors
/// See [`QueueError`]; nothing was queued.
pub fn enqueue(
    session: &dyn SessionRewriter,
    queue: &dyn LineLog,
    input: &Json<'_>,
    self_call: &str,
    now: UnixMillis,
) -> Result<QueuedReply, QueueError> {
    let text = |name| input.get(name).and_then(Json::as_str);
    let target =
        text("tool_call_id").filter(|id| !id.is_empty()).ok_or(QueueError::MissingTarget)?;
    if self_call.is_empty() {
        return Err(QueueError::MissingSelf);
    }
    let item = TrimItem::parse(target, text("replacement"), Some(self_call))?;
    if !has_tool_result(session, &item.target)? {
        return Err(QueueError::UnknownTarget { target: target.to_owned() });
    }
    queue.append(&[QueueEntry::new(item, now).to_line()])?;
    Ok(QueuedReply { tool_call_id: target.to_owned() })
}
