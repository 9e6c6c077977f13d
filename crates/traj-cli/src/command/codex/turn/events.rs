//! A running turn on the terminal, and as a list of events.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use codex_binding::TurnObserver;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use traj_core::id::{ThreadId, TurnId};
use traj_core::port::{ItemDetail, ThreadEvent, TurnStatus};

use crate::output::CommandOutput;
use crate::terminal_text::escape_control;

/// How many events are kept for the document. A longer turn keeps its first ones, and the number of
/// the others.
const MOST_EVENTS: usize = 100_000;

/// The template of the line that says what is going on.
const ACTIVITY: &str = "{spinner} {msg} {elapsed}";

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The events of the turn, for `--json`.
#[derive(Debug, Default)]
pub(super) struct EventList {
    events: Mutex<KeptEvents>,
}

#[derive(Debug, Default)]
struct KeptEvents {
    first: Vec<Value>,
    omitted: u64,
}

impl EventList {
    /// The events. If there were too many, the last entry says how many are missing.
    pub(super) fn take(&self) -> Vec<Value> {
        let KeptEvents { mut first, omitted } = std::mem::take(&mut *lock(&self.events));
        if omitted > 0 {
            first.push(json!({"type": "omitted", "count": omitted}));
        }
        first
    }

    fn push(&self, event: Value) {
        let mut events = lock(&self.events);
        if events.first.len() < MOST_EVENTS {
            events.first.push(event);
        } else {
            events.omitted += 1;
        }
    }
}

/// Streams messages to a terminal while they are written, shows what the turn does, and collects
/// events for a document.
#[derive(Debug)]
pub(super) struct Stream {
    streams: bool,
    keeps: bool,
    is_quiet: bool,
    events: Arc<EventList>,
    shown: Mutex<ShownEvents>,
    activity: Activity,
}

#[derive(Debug, Default)]
struct ShownEvents {
    item: String,
    text: String,
    /// Whether the cursor is not at the beginning of a line.
    is_inside_line: bool,
}

impl Stream {
    pub(super) fn new(output: &CommandOutput, events: &Arc<EventList>) -> Self {
        let streams = !output.is_json() && std::io::stdout().is_terminal();
        Self {
            streams,
            keeps: output.is_json(),
            is_quiet: output.is_quiet(),
            events: Arc::clone(events),
            shown: Mutex::default(),
            activity: Activity::new(output.shows_progress()),
        }
    }

    /// Shows what is going on.
    pub(super) fn set_activity(&self, activity: &str) {
        self.activity.set(activity);
    }

    /// Clears what is shown, so that a whole line can be printed.
    pub(super) fn make_room(&self) {
        self.activity.clear();
        let mut shown = lock(&self.shown);
        if std::mem::take(&mut shown.is_inside_line) {
            print("\n");
        }
    }

    /// What is left to print of the reply after what was already shown.
    pub(super) fn rest_of(&self, reply: &str) -> String {
        self.make_room();
        let shown = lock(&self.shown);
        let is_shown = self.streams && !shown.text.is_empty() && shown.text.trim() == reply.trim();
        if is_shown || reply.is_empty() {
            return String::new();
        }
        format!("{}\n", printable(reply))
    }

    fn show(&self, item: &str, text: &str) {
        self.activity.clear();
        let mut shown = lock(&self.shown);
        let mut piece = printable(text);
        if shown.item != item {
            if std::mem::take(&mut shown.is_inside_line) {
                piece.insert(0, '\n');
            }
            item.clone_into(&mut shown.item);
            shown.text.clear();
        }
        shown.text.push_str(text);
        shown.is_inside_line = !piece.ends_with('\n');
        print(&piece);
    }
}

/// Prints to standard output at once.
fn print(text: &str) {
    let mut stdout = anstream::stdout().lock();
    // If the terminal is gone, the turn continues without it.
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).ok();
}

impl TurnObserver for Stream {
    fn restarting(&self) {
        self.make_room();
        if !self.is_quiet {
            anstream::eprintln!("Codex exited before the turn began; starting it again");
        }
    }

    fn started(&self, _thread: &ThreadId, _turn: &TurnId) {
        self.activity.set("waiting for the model");
    }

    fn event(&self, event: &ThreadEvent) {
        if self.keeps {
            self.events.push(document(event));
        }
        match event {
            ThreadEvent::MessageDelta { item, text, .. } if self.streams => self.show(item, text),
            ThreadEvent::ItemStarted { item, .. } => {
                if let ItemDetail::Tool { name, .. } = &item.detail {
                    self.make_room();
                    self.activity.set(&format!("running {name}"));
                }
            }
            ThreadEvent::ItemCompleted { item, .. } => {
                if let ItemDetail::Tool { .. } = &item.detail {
                    self.activity.set("waiting for the model");
                }
            }
            ThreadEvent::Trouble { will_retry: true, .. } => {
                self.make_room();
                self.activity.set("Codex lost its connection to the model and is trying again");
            }
            _ => {}
        }
    }
}

/// A line on standard error that says what is going on, on terminals only.
#[derive(Debug)]
struct Activity {
    is_shown: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Activity {
    const fn new(is_shown: bool) -> Self {
        Self { is_shown, bar: Mutex::new(None) }
    }

    fn set(&self, text: &str) {
        if !self.is_shown {
            return;
        }
        let text = escape_control(text).into_owned();
        let mut bar = lock(&self.bar);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_message(text.clone());
            if let Ok(style) = ProgressStyle::with_template(ACTIVITY) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(text);
    }

    fn clear(&self) {
        if let Some(bar) = lock(&self.bar).take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        // The next output, perhaps an error, needs the line.
        self.clear();
    }
}

/// Escapes everything that could control the terminal, except newlines.
pub(super) fn printable(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_not_kept_are_counted() {
        let events = EventList::default();
        (0..MOST_EVENTS + 2).for_each(|number| events.push(json!(number)));
        let kept = events.take();
        assert_eq!(kept.len(), MOST_EVENTS + 1);
        assert_eq!(kept.last(), Some(&json!({"type": "omitted", "count": 2})));
        assert_eq!(events.take(), Vec::<Value>::new());
    }
}
