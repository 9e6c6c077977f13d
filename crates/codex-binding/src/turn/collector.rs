//! Collects the messages and the end of a turn, from events that may be early, late, repeated or
//! missing.

use std::collections::BTreeMap;

use traj_core::id::TurnId;
use traj_core::port::{ItemDetail, ThreadEvent, ThreadItem, TokenUsage, TurnStatus};

/// For how many turns early events are kept: the thread's turn, and perhaps the one before.
const EARLY_TURNS: usize = 8;

/// How a turn ended, as reported by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// It completed.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed {
        /// The server's message.
        message: Option<String>,
    },
}

/// Collects one turn of a thread.
///
/// Events may come before the turn's id is known. They are kept, up to a limit per turn, and only
/// those of the turn are replayed. The reply is the last completed message that is not commentary.
/// Deltas never count, because a retried stream discards them.
#[derive(Debug)]
pub struct TurnCollector {
    turn: Option<TurnId>,
    early: BTreeMap<TurnId, Vec<ThreadEvent>>,
    early_limit: usize,
    messages: Vec<CollectedMessage>,
    usage: Option<TokenUsage>,
    end: Option<TurnEnd>,
}

#[derive(Debug)]
struct CollectedMessage {
    item: String,
    text: String,
    is_commentary: bool,
}

impl TurnCollector {
    /// A collector that keeps `early_limit` events until it knows its turn.
    #[must_use]
    pub const fn new(early_limit: usize) -> Self {
        Self {
            turn: None,
            early: BTreeMap::new(),
            early_limit,
            messages: Vec::new(),
            usage: None,
            end: None,
        }
    }

    /// Feeds one event. Returns whether it belongs to the turn and was used now.
    pub fn event(&mut self, event: &ThreadEvent) -> bool {
        let Some(of_turn) = event.turn() else { return false };
        match &self.turn {
            Some(turn) if turn == of_turn => {
                self.take(event);
                true
            }
            Some(_) => false,
            None => {
                self.keep_early(of_turn, event);
                false
            }
        }
    }

    /// Sets the turn. Returns its early events, which are used now.
    pub fn begin(&mut self, turn: &TurnId) -> Vec<ThreadEvent> {
        self.turn = Some(turn.clone());
        let early = std::mem::take(&mut self.early).remove(turn).unwrap_or_default();
        for event in &early {
            self.take(event);
        }
        early
    }

    /// How the turn ended; `None` while it runs.
    #[must_use]
    pub const fn end(&self) -> Option<&TurnEnd> {
        self.end.as_ref()
    }

    /// The reply so far.
    #[must_use]
    pub fn text(&self) -> String {
        let has_text = |message: &&CollectedMessage| !message.text.trim().is_empty();
        let mut spoken = self.messages.iter().rev().filter(has_text);
        let reply = spoken.clone().find(|message| !message.is_commentary);
        // If there is only commentary, the commentary is the reply.
        let reply = reply.or_else(|| spoken.next());
        reply.map(|message| message.text.trim().to_owned()).unwrap_or_default()
    }

    /// All messages of the model, in order.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.messages.iter().map(|message| message.text.clone()).collect()
    }

    /// The token usage.
    #[must_use]
    pub const fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    fn keep_early(&mut self, turn: &TurnId, event: &ThreadEvent) {
        if !self.early.contains_key(turn) && self.early.len() >= EARLY_TURNS {
            return;
        }
        let limit = self.early_limit;
        let early = self.early.entry(turn.clone()).or_default();
        // The end of a turn is always kept; without it, the caller would wait forever.
        let is_end = matches!(event, ThreadEvent::TurnCompleted { .. });
        if early.len() < limit || is_end {
            early.push(event.clone());
        }
    }

    fn take(&mut self, event: &ThreadEvent) {
        match event {
            ThreadEvent::ItemCompleted { item, .. } => self.message(item),
            ThreadEvent::TokenUsage { usage, .. } => self.count(*usage),
            ThreadEvent::TurnCompleted { status, items, .. } => {
                for item in items {
                    self.message(item);
                }
                self.end = Some(match status {
                    TurnStatus::Completed => TurnEnd::Completed,
                    TurnStatus::Interrupted => TurnEnd::Interrupted,
                    TurnStatus::Failed { message } => TurnEnd::Failed { message: message.clone() },
                    _ => TurnEnd::Failed { message: None },
                });
            }
            _ => {}
        }
    }

    fn message(&mut self, item: &ThreadItem) {
        let ItemDetail::AgentMessage { text, phase } = &item.detail else { return };
        let is_commentary = phase.as_deref() == Some("commentary");
        let known = self.messages.iter_mut().find(|message| message.item == item.id);
        match known {
            Some(message) if !text.is_empty() => message.text.clone_from(text),
            Some(_) => {}
            None => {
                let (item, text) = (item.id.clone(), text.clone());
                self.messages.push(CollectedMessage { item, text, is_commentary });
            }
        }
    }

    fn count(&mut self, usage: TokenUsage) {
        let mut sum = self.usage.unwrap_or_default();
        sum.input += usage.input;
        sum.cached_input += usage.cached_input;
        sum.output += usage.output;
        sum.reasoning += usage.reasoning;
        sum.total += usage.total;
        self.usage = Some(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(name: &str) -> TurnId {
        TurnId::parse(name).unwrap()
    }

    fn said(of: &str, item: &str, text: &str, phase: Option<&str>) -> ThreadEvent {
        let (text, phase) = (text.to_owned(), phase.map(str::to_owned));
        let item = ThreadItem::new(item.to_owned(), ItemDetail::AgentMessage { text, phase });
        ThreadEvent::ItemCompleted { turn: turn(of), item }
    }

    fn ended(of: &str, status: TurnStatus) -> ThreadEvent {
        ThreadEvent::TurnCompleted { turn: turn(of), status, items: vec![] }
    }

    fn collect(events: &[ThreadEvent]) -> TurnCollector {
        let mut collector = TurnCollector::new(100);
        collector.begin(&turn("u"));
        for event in events {
            collector.event(event);
        }
        collector
    }

    /// Scenario 65: only completed messages of this turn count.
    #[test]
    fn the_reply_is_the_last_completed_message() {
        let delta = ThreadEvent::MessageDelta {
            turn: turn("u"),
            item: "d".to_owned(),
            text: "taken back".to_owned(),
        };
        let collector = collect(&[
            said("u", "a", " first ", None),
            said("other", "x", "not mine", None),
            said("u", "b", "second", None),
            said("u", "c", "   ", None),
            delta,
            ended("other", TurnStatus::Completed),
        ]);
        assert_eq!(collector.text(), "second");
        assert_eq!(collector.end(), None);
    }

    /// Scenario 66: only the turn's own early events are replayed, and always its end.
    #[test]
    fn early_events_wait_for_their_turn() {
        let mut collector = TurnCollector::new(2);
        for number in 0..5 {
            collector.event(&said("u", &format!("m{number}"), &format!("text {number}"), None));
        }
        collector.event(&said("v", "x", "not mine", None));
        collector.event(&ended("u", TurnStatus::Completed));
        assert_eq!(collector.end(), None);
        assert_eq!(collector.begin(&turn("u")).len(), 3);
        assert_eq!(
            (collector.text().as_str(), collector.end()),
            ("text 1", Some(&TurnEnd::Completed))
        );
    }

    /// Scenario 67.
    #[test]
    fn a_failure_keeps_its_words() {
        let message = Some("quota".to_owned());
        let collector = collect(&[ended("u", TurnStatus::Failed { message: message.clone() })]);
        assert_eq!(collector.end(), Some(&TurnEnd::Failed { message }));
    }

    /// Scenario 68: an interrupted turn is not a success.
    #[test]
    fn interrupted_is_an_end_of_its_own() {
        let collector =
            collect(&[said("u", "a", "partial", None), ended("u", TurnStatus::Interrupted)]);
        assert_eq!(collector.end(), Some(&TurnEnd::Interrupted));
    }

    /// Scenario 69: commentary after the answer does not replace it.
    #[test]
    fn commentary_is_no_answer_unless_there_is_none() {
        let answer = said("u", "a", "answer", Some("final_answer"));
        let comment = said("u", "b", "by the way", Some("commentary"));
        assert_eq!(collect(&[answer, comment.clone()]).text(), "answer");
        assert_eq!(collect(&[comment]).text(), "by the way");
    }

    #[test]
    fn messages_repeated_at_the_end_are_not_doubled() {
        let ThreadEvent::ItemCompleted { item, .. } = said("u", "a", "answer", None) else {
            return;
        };
        let end = ThreadEvent::TurnCompleted {
            turn: turn("u"),
            status: TurnStatus::Completed,
            items: vec![item],
        };
        let collector = collect(&[said("u", "a", "answer", None), end]);
        assert_eq!(collector.texts(), ["answer"]);
    }
}
