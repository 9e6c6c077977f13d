//! A running turn on the terminal, and as a list of events.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use codex_binding::TurnObserver;
use serde_json::{Value, json};
use traj_core::port::{ItemDetail, ThreadEvent, TurnStatus};

use crate::output::CommandOutput;
use crate::terminal_text::escape_control;

/// Events that are kept for the document. Of a longer turn, the first and last ones are kept.
const MOST_EVENTS: usize = 100_000;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What happened, for `--json`.
#[derive(Debug, Default)]
pub(super) struct EventList {
    events: Mutex<Vec<Value>>,
}

impl EventList {
    pub(super) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut lock(&self.events))
    }

    fn push(&self, event: Value) {
        let mut events = lock(&self.events);
        if events.len() < MOST_EVENTS {
            events.push(event);
        }
    }
}

/// Shows messages while they are written, on a terminal; keeps events, for a document.
#[derive(Debug)]
pub(super) struct Stream {
    streams: bool,
    keeps: bool,
    events: Arc<EventList>,
    shown: Mutex<ShownEvents>,
}

#[derive(Debug, Default)]
struct ShownEvents {
    item: String,
    text: String,
}

impl Stream {
    pub(super) fn new(output: &CommandOutput, events: &Arc<EventList>) -> Self {
        let streams = !output.is_json() && std::io::stdout().is_terminal();
        let (keeps, events) = (output.is_json(), Arc::clone(events));
        Self { streams, keeps, events, shown: Mutex::default() }
    }

    /// What is left to print of the reply after what was shown already.
    pub(super) fn rest_of(&self, reply: &str) -> String {
        let shown = lock(&self.shown);
        if self.streams && !shown.text.is_empty() {
            return if shown.text.trim() == reply.trim() {
                "\n".to_owned()
            } else {
                format!("\n{}\n", printable(reply))
            };
        }
        format!("{}\n", printable(reply))
    }

    fn show(&self, item: &str, text: &str) {
        let mut shown = lock(&self.shown);
        let mut piece = printable(text);
        if shown.item != item {
            if !shown.text.is_empty() {
                piece.insert(0, '\n');
            }
            item.clone_into(&mut shown.item);
            shown.text.clear();
        }
        shown.text.push_str(text);
        let mut stdout = anstream::stdout().lock();
        // A terminal that has gone shows nothing; the turn goes on.
        stdout.write_all(piece.as_bytes()).and_then(|()| stdout.flush()).ok();
    }
}

impl TurnObserver for Stream {
    fn event(&self, event: &ThreadEvent) {
        if self.keeps {
            self.events.push(document(event));
        }
        if let (true, ThreadEvent::MessageDelta { item, text, .. }) = (self.streams, event) {
            self.show(item, text);
        }
    }
}

/// Lines stay lines; everything else that could steer a terminal is shown, not sent.
fn printable(text: &str) -> String {
    let escape = |line: &str| {
        let cells: Vec<_> =
            line.split('\t').map(|cell| escape_control(cell).into_owned()).collect();
        cells.join("\t")
    };
    text.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

fn document(event: &ThreadEvent) -> Value {
    let turn = event.turn().map(|turn| turn.as_str().to_owned());
    match event {
        ThreadEvent::TurnStarted { .. } => json!({"type": "turn.started", "turnId": turn}),
        ThreadEvent::MessageDelta { item, text, .. } => {
            json!({"type": "message.delta", "turnId": turn, "itemId": item, "text": text})
        }
        ThreadEvent::ItemStarted { item, .. } => {
            json!({"type": "item.started", "turnId": turn, "itemId": item.id, "item": detail(&item.detail)})
        }
        ThreadEvent::ItemCompleted { item, .. } => {
            json!({"type": "item.completed", "turnId": turn, "itemId": item.id, "item": detail(&item.detail)})
        }
        ThreadEvent::TokenUsage { usage, .. } => {
            json!({"type": "usage", "turnId": turn, "total": usage.total})
        }
        ThreadEvent::Trouble { will_retry, .. } => {
            json!({"type": "trouble", "turnId": turn, "willRetry": will_retry})
        }
        ThreadEvent::TurnCompleted { status, .. } => {
            let status = match status {
                TurnStatus::Completed => "completed",
                TurnStatus::Interrupted => "interrupted",
                _ => "failed",
            };
            json!({"type": "turn.completed", "turnId": turn, "status": status})
        }
        ThreadEvent::Other { method } => json!({"type": "other", "method": method}),
        _ => json!({"type": "other"}),
    }
}

fn detail(detail: &ItemDetail) -> Value {
    match detail {
        ItemDetail::AgentMessage { text, phase } => {
            json!({"kind": "message", "text": text, "phase": phase})
        }
        ItemDetail::Tool { name, arguments, output, success } => {
            json!({"kind": "tool", "name": name, "arguments": arguments, "output": output, "success": success})
        }
        ItemDetail::Other { kind } => json!({"kind": kind}),
        _ => json!({"kind": "other"}),
    }
}
