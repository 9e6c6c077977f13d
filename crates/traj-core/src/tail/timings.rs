//! How long things took, from the events at both ends.

use std::collections::{HashMap, VecDeque};

use super::{Origin, TailEvent};
use crate::timestamp::UnixMillis;

/// So many unanswered calls are remembered.
const OPEN_CALLS: usize = 4_096;

/// Pairs starts with ends.
#[derive(Debug, Default)]
pub struct Timings {
    calls: HashMap<String, UnixMillis>,
    order: VecDeque<String>,
    prompted: Option<UnixMillis>,
    started: Option<UnixMillis>,
}

impl Timings {
    /// Adds how long it took to an event that ends something.
    pub fn annotate(&mut self, event: &mut TailEvent) {
        let Some(at) = event.at.filter(|_| event.origin == Origin::Sidecar) else { return };
        let since = match event.kind.as_str() {
            "tool.call" => {
                self.open(event.call.as_deref(), at);
                None
            }
            "tool.result" => event.call.as_ref().and_then(|call| self.calls.remove(call)),
            "prompt.submitted" => {
                self.prompted = Some(at);
                None
            }
            "model.completed" => self.prompted.take(),
            "session.started" => {
                self.started = Some(at);
                None
            }
            "session.ended" => self.started.take(),
            _ => None,
        };
        if event.duration.is_none() {
            let taken = since.map(|since| at.as_millis().saturating_sub(since.as_millis()));
            event.duration = taken.and_then(|taken| u64::try_from(taken).ok());
        }
    }

    fn open(&mut self, call: Option<&str>, at: UnixMillis) {
        let Some(call) = call else { return };
        self.calls.insert(call.to_owned(), at);
        self.order.push_back(call.to_owned());
        if self.order.len() > OPEN_CALLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }
}
