//! The requests of a session: which messages each of them contained.

use std::collections::HashMap;

use super::canonical::{self, Hash};
use super::messages::Messages;
use super::rows::ContextRows;
use super::{CallContext, ContextChange, ContextError, ContextPart};
use crate::dialect::{Dialect, said, text};
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// How many messages all requests may list in total.
const MOST_PLACES: usize = 4_000_000;

/// The newest request.
const LAST: &str = "last";

/// Stands for a message whose hash is not recorded.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// What rows with requests and answers contain.
const MARKS: [&str; 2] = ["\"api-request\"", "\"requestRef\""];

/// One request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) agent: Option<String>,
    at: Option<UnixMillis>,
    pub(super) settings: String,
    pub(super) frame: String,
    pub(super) base: Option<String>,
    pub(super) keep: usize,
    /// Numbers of hashes.
    pub(super) tail: Vec<u32>,
    /// How many messages it has.
    pub(super) length: usize,
}

/// All requests, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) requests: Vec<Request>,
    by_id: HashMap<String, usize>,
    pub(super) hashes: Vec<Hash>,
    numbers: HashMap<Hash, u32>,
    places: usize,
    /// The request that the wanted call answers, and the answer's id.
    asked: Option<(String, String)>,
    /// The answer of each request.
    answers: HashMap<String, String>,
}

/// The request that is wanted, and what its context consists of.
#[derive(Debug)]
pub(super) struct WantedContext {
    request: usize,
    messages: Vec<u32>,
}

impl Requests {
    /// Reads the requests, and looks for `call` meanwhile.
    pub(super) fn read(rows: &dyn ContextRows, call: &str) -> Result<Self, ContextError> {
        let mut requests = Self::default();
        rows.each(&MARKS, &mut |taken| {
            match text(&taken.row, "type") {
                Some("api-request") => requests.push(&taken.row)?,
                Some("assistant") => requests.answer(&taken.row, call),
                _ => {}
            }
            Ok(())
        })?;
        if requests.requests.is_empty() { Err(ContextError::NotRecorded) } else { Ok(requests) }
    }

    fn push(&mut self, row: &Json<'_>) -> Result<(), ContextError> {
        let Some(id) = text(row, "id") else { return Ok(()) };
        let hashes = row.get("tail").and_then(Json::as_array).unwrap_or_default();
        self.places = self.places.saturating_add(hashes.len());
        if self.places > MOST_PLACES {
            return Err(ContextError::TooLarge);
        }
        let tail: Vec<u32> = hashes.iter().map(|hash| self.number(hash.as_str())).collect();
        let keep = row.get("keep").and_then(Json::as_u64).unwrap_or_default();
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        let base = said(row, "base").map(str::to_owned);
        let kept = match self.base_of(base.as_deref()) {
            Some(base) => self.requests.get(base).map_or(0, |base| base.length.min(keep)),
            None if base.is_some() => keep,
            None => 0,
        };
        self.by_id.insert(id.to_owned(), self.requests.len());
        self.requests.push(Request {
            id: id.to_owned(),
            agent: said(row, "agentId").map(str::to_owned),
            at: Dialect::ClaudeCode.time_of(row),
            settings: row.get("params").map(Json::to_line).unwrap_or_default(),
            frame: text(row, "shapeHash").unwrap_or_default().to_owned(),
            length: kept.saturating_add(tail.len()),
            base,
            keep,
            tail,
        });
        Ok(())
    }

    fn number(&mut self, hash: Option<&str>) -> u32 {
        let Some(hash) = hash.and_then(canonical::parse) else { return UNKNOWN };
        *self.numbers.entry(hash).or_insert_with(|| {
            self.hashes.push(hash);
            u32::try_from(self.hashes.len() - 1).unwrap_or(UNKNOWN)
        })
    }

    /// Takes a row of the model, which names its request.
    fn answer(&mut self, row: &Json<'_>, call: &str) {
        let Some(request) = text(row, "requestRef") else { return };
        let message = row.get("message");
        let answer = message.and_then(|message| text(message, "id")).unwrap_or_default();
        let blocks = message.and_then(|message| message.get("content")?.as_array());
        let mut blocks = blocks.unwrap_or_default().iter();
        if answer == call
            || text(row, "uuid") == Some(call)
            || blocks.any(|block| text(block, "id") == Some(call))
        {
            self.asked = Some((request.to_owned(), answer.to_owned()));
        }
        if !answer.is_empty() && self.by_id.contains_key(request) {
            self.answers.insert(request.to_owned(), answer.to_owned());
        }
    }

    /// The request that another one continues.
    pub(super) fn base_of(&self, base: Option<&str>) -> Option<usize> {
        self.by_id.get(base?).copied()
    }

    /// The number of a request.
    pub(super) fn by_id(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The answer to a request, by the id of the message.
    pub(super) fn answer_to(&self, request: &Request) -> Option<&str> {
        self.answers.get(&request.id).map(String::as_str)
    }

    /// The recorded hash of each answer: if a request continues all messages of
    /// another one, its first new message is the answer to that. Redaction may have
    /// changed the answer, so its own hash cannot be used to find it.
    pub(super) fn places_of_answers(&self) -> HashMap<&str, u32> {
        let place = |request: &Request| {
            let base = self.requests.get(self.base_of(request.base.as_deref())?)?;
            let first = request.tail.first().filter(|number| **number != UNKNOWN)?;
            (base.length == request.keep).then_some((self.answer_to(base)?, *first))
        };
        self.requests.iter().filter_map(place).collect()
    }

    /// The request that `call` refers to.
    pub(super) fn wanted(&self, call: &str) -> Result<WantedContext, ContextError> {
        let asked = self.asked.as_ref().map_or(call, |(request, _)| request);
        let request = match self.by_id.get(asked) {
            Some(request) => Some(*request),
            None if call == LAST => self.requests.len().checked_sub(1),
            None => None,
        };
        let request = request.ok_or(ContextError::UnknownCall)?;
        Ok(WantedContext { request, messages: self.messages_of(request)? })
    }

    /// The messages of a request: the first ones of the request that it continues,
    /// and its own.
    pub(super) fn messages_of(&self, request: usize) -> Result<Vec<u32>, ContextError> {
        let (mut chain, mut at) = (Vec::new(), Some(request));
        let mut unknown = 0;
        while let Some(request) = at.and_then(|at| self.requests.get(at)) {
            chain.push(request);
            at = request.base.as_ref().and_then(|base| self.by_id.get(base).copied());
            if request.base.is_some() && at.is_none() {
                unknown = request.keep;
            }
            if chain.len() > self.requests.len() {
                // The requests continue each other in a cycle.
                return Err(ContextError::UnknownCall);
            }
        }
        if unknown > MOST_PLACES {
            return Err(ContextError::TooLarge);
        }
        let mut messages = vec![UNKNOWN; unknown];
        for request in chain.into_iter().rev() {
            messages.truncate(request.keep);
            messages.extend_from_slice(&request.tail);
        }
        Ok(messages)
    }

    /// The hashes that a context needs, and the hash of its frame.
    pub(super) fn needed(&self, wanted: &WantedContext) -> (Vec<Hash>, Option<Hash>) {
        let hashes = wanted.messages.iter().filter_map(|number| self.hash(*number)).collect();
        let request = self.requests.get(wanted.request);
        (hashes, request.and_then(|request| canonical::parse(&request.frame)))
    }

    pub(super) fn hash(&self, number: u32) -> Option<Hash> {
        self.hashes.get(number as usize).copied()
    }

    /// Puts a context together.
    pub(super) fn context(self, wanted: &WantedContext, mut found: Messages) -> CallContext {
        let since = self.change(wanted);
        let parts = wanted.messages.iter();
        let messages = parts.map(|number| found.part(self.hash(*number))).collect();
        let request = self.requests.get(wanted.request);
        let frame = request.and_then(|request| canonical::parse(&request.frame));
        let id = request.map(|request| request.id.clone()).unwrap_or_default();
        let asked = self.asked.filter(|(request, _)| *request == id).map(|(_, answer)| answer);
        let settings = request.and_then(|request| Json::parse(&request.settings).ok());
        CallContext {
            answer: asked.or_else(|| self.answers.get(&id).cloned()),
            request: id,
            agent: request.and_then(|request| request.agent.clone()),
            at: request.and_then(|request| request.at),
            settings: settings.map(Json::into_owned).unwrap_or_default(),
            frame: found.frame(frame),
            messages,
            since,
        }
    }

    /// What changed since the request before in the same conversation.
    fn change(&self, wanted: &WantedContext) -> Option<ContextChange> {
        let request = self.requests.get(wanted.request)?;
        let earlier = self.requests.get(..wanted.request)?;
        let before = earlier.iter().rposition(|before| before.agent == request.agent)?;
        let messages = self.messages_of(before).ok()?;
        let before = self.requests.get(before)?;
        let pairs = messages.iter().zip(&wanted.messages);
        let kept = pairs.take_while(|(old, new)| old == new && **old != UNKNOWN).count();
        Some(ContextChange {
            request: before.id.clone(),
            kept: kept as u64,
            dropped: (messages.len() - kept) as u64,
            added: (wanted.messages.len() - kept) as u64,
            has_new_frame: before.frame != request.frame,
            has_new_settings: before.settings != request.settings,
        })
    }
}

/// The part of a context that a hash stands for, before it was found.
pub(super) fn missing(hash: Option<Hash>) -> ContextPart {
    let hash = hash.map(|hash| canonical::show(&hash)).unwrap_or_default();
    ContextPart { hash, check: super::ContextCheck::Missing, value: Json::Null }
}
