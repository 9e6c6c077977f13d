//! Which spans belong to one conversation, and to which of its agents.

use std::collections::HashMap;

use super::span::{Operation, OtlpSpan};

/// Parents are followed up to this depth: a file may contain a cycle.
const DEEPEST: usize = 256;

/// The spans of the conversation that the first span is of.
#[derive(Debug)]
pub(super) struct Family<'s> {
    spans: &'s [OtlpSpan],
    session: &'s str,
    /// The conversation that some span of a trace names.
    conversations: HashMap<&'s str, &'s str>,
    /// The place of each span, by trace and id.
    places: HashMap<(&'s str, &'s str), usize>,
    root: Option<&'s OtlpSpan>,
}

impl<'s> Family<'s> {
    pub(super) fn of(spans: &'s [OtlpSpan]) -> Self {
        let (mut conversations, mut places) = (HashMap::new(), HashMap::new());
        for (index, span) in spans.iter().enumerate() {
            places.insert((span.trace.as_str(), span.id.as_str()), index);
            if let Some(conversation) = span.attribute("gen_ai.conversation.id") {
                conversations.entry(span.trace.as_str()).or_insert(conversation);
            }
        }
        let mut family = Self { spans, session: "", conversations, places, root: None };
        family.session = spans.first().map_or("", |span| family.session_of(span));
        let is_root = |(index, span): &(usize, &OtlpSpan)| {
            span.operation == Operation::Agent && family.thread_of(*index) == Some(None)
        };
        family.root = spans.iter().enumerate().find(is_root).map(|(_, span)| span);
        family
    }

    /// The session: a conversation, else a trace.
    pub(super) const fn session(&self) -> &'s str {
        self.session
    }

    /// The span of the agent itself.
    pub(super) const fn root(&self) -> Option<&'s OtlpSpan> {
        self.root
    }

    fn session_of(&self, span: &'s OtlpSpan) -> &'s str {
        let own = span.attribute("gen_ai.conversation.id");
        own.or_else(|| self.conversations.get(span.trace.as_str()).copied()).unwrap_or(&span.trace)
    }

    /// The sub-agent whose span it is, if any; `None` for a span of another
    /// conversation.
    pub(super) fn thread_of(&self, index: usize) -> Option<Option<&'s str>> {
        let mut span = self.spans.get(index)?;
        if self.session_of(span) != self.session {
            return None;
        }
        let mut agent: Option<&'s OtlpSpan> = None;
        for _ in 0..DEEPEST {
            if span.operation == Operation::Agent {
                match agent {
                    None => agent = Some(span),
                    // An agent below another one.
                    Some(agent) => return Some(Some(name_of(agent))),
                }
            }
            match self.parent_of(span) {
                Some(parent) => span = parent,
                None => break,
            }
        }
        Some(None)
    }

    /// The id of the call below which an agent's span is: the call that started it.
    pub(super) fn starter_of(&self, index: usize) -> Option<&'s str> {
        let span = self.spans.get(index).filter(|span| span.operation == Operation::Agent)?;
        let parent = self.parent_of(span).filter(|span| span.operation == Operation::Tool)?;
        parent.attribute("gen_ai.tool.call.id")
    }

    fn parent_of(&self, span: &'s OtlpSpan) -> Option<&'s OtlpSpan> {
        let place = self.places.get(&(span.trace.as_str(), span.parent.as_deref()?))?;
        self.spans.get(*place)
    }
}

fn name_of(agent: &OtlpSpan) -> &str {
    let named = ["gen_ai.agent.id", "gen_ai.agent.name"];
    named.into_iter().find_map(|name| agent.attribute(name)).unwrap_or(&agent.id)
}
