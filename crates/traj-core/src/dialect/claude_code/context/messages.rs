//! The messages that a context consists of.

use std::collections::{HashMap, VecDeque};

use super::canonical::{self, Hash};
use super::requests::{Requests, WantedContext, missing};
use super::rows::{ContextRow, ContextRows};
use super::{ContextCheck, ContextError, ContextPart};
use crate::dialect::text;
use crate::json::{Json, Object};

/// How many bytes of messages are held.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// How many messages of the model may be incomplete at a time.
pub(super) const MOST_OPEN: usize = 16;

/// What rows with messages contain.
pub(super) const MARKS: [&str; 2] = ["api-request-", "\"assistant\""];

/// The messages that were found, by their recorded hashes.
#[derive(Debug, Default)]
pub(super) struct Messages {
    found: HashMap<Hash, Option<(ContextCheck, Json<'static>)>>,
    frame: Option<(ContextCheck, Json<'static>)>,
    frame_hash: Option<Hash>,
    /// Messages of the model whose blocks are still coming.
    open: VecDeque<(String, Vec<Json<'static>>)>,
    /// The recorded hash that belongs to each answer, by the answer's id.
    expected: HashMap<String, Hash>,
    /// What it means if a hash does not match.
    unfit: Option<ContextCheck>,
    bytes: usize,
}

impl Messages {
    /// Reads what a context needs.
    pub(super) fn read(
        rows: &dyn ContextRows,
        requests: &Requests,
        wanted: &WantedContext,
    ) -> Result<Self, ContextError> {
        let (needed, frame_hash) = requests.needed(wanted);
        let found: HashMap<Hash, _> = needed.into_iter().map(|hash| (hash, None)).collect();
        let places = requests.places_of_answers().into_iter();
        let places = places.filter_map(|(id, number)| Some((id, requests.hash(number)?)));
        let expected = places.filter(|(_, hash)| found.contains_key(hash));
        let expected = expected.map(|(id, hash)| (id.to_owned(), hash)).collect();
        let unfit = rows.are_redacted().then_some(ContextCheck::Redacted);
        let mut messages = Self { found, frame_hash, expected, unfit, ..Self::default() };
        rows.each(&MARKS, &mut |taken| messages.take(&taken))?;
        while let Some((id, blocks)) = messages.open.pop_front() {
            messages.close(&id, blocks)?;
        }
        Ok(messages)
    }

    fn take(&mut self, taken: &ContextRow<'_>) -> Result<(), ContextError> {
        let row = &taken.row;
        match text(row, "type") {
            Some("api-request-blob") => {
                let hash = text(row, "hash").and_then(canonical::parse);
                if let (Some(hash), Some(message)) = (hash, row.get("message")) {
                    self.keep(hash, message, taken.bytes())?;
                }
            }
            Some("api-request-shape") => {
                let hash = text(row, "shapeHash").and_then(canonical::parse);
                let shape = row.get("shape").filter(|_| hash.is_some() && hash == self.frame_hash);
                if let (Some(hash), Some(shape), None) = (hash, shape, &self.frame) {
                    let check = self.judged(check(hash, shape));
                    self.frame = Some((check, shape.clone().into_owned()));
                }
            }
            Some("assistant") => self.add_block(row)?,
            _ => {}
        }
        Ok(())
    }

    /// Keeps a message if the context needs it.
    fn keep(&mut self, hash: Hash, message: &Json<'_>, bytes: usize) -> Result<(), ContextError> {
        if !matches!(self.found.get(&hash), Some(None)) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MOST_BYTES {
            return Err(ContextError::TooLarge);
        }
        let (check, sent) = checked(hash, message);
        let check = self.judged(check);
        let message = sent.unwrap_or_else(|| message.clone().into_owned());
        self.found.insert(hash, Some((check, message)));
        Ok(())
    }

    /// What a check means: in a bundle, a hash that does not match proves nothing.
    const fn judged(&self, check: ContextCheck) -> ContextCheck {
        match (check, self.unfit) {
            (ContextCheck::Differs, Some(unfit)) => unfit,
            _ => check,
        }
    }

    /// Takes a row of the model: one block of a message.
    fn add_block(&mut self, row: &Json<'_>) -> Result<(), ContextError> {
        let Some(message) = row.get("message") else { return Ok(()) };
        let (Some(id), Some(blocks)) =
            (text(message, "id"), message.get("content").and_then(Json::as_array))
        else {
            return Ok(());
        };
        let blocks = blocks.iter().map(|block| block.clone().into_owned());
        if let Some((_, known)) = self.open.iter_mut().find(|(known, _)| known == id) {
            known.extend(blocks);
            return Ok(());
        }
        self.open.push_back((id.to_owned(), blocks.collect()));
        if self.open.len() > MOST_OPEN
            && let Some((id, blocks)) = self.open.pop_front()
        {
            self.close(&id, blocks)?;
        }
        Ok(())
    }

    /// A message of the model is complete.
    fn close(&mut self, id: &str, blocks: Vec<Json<'static>>) -> Result<(), ContextError> {
        let message = answer_of(blocks);
        let own = canonical::hash_of(&message);
        let hash = if self.found.contains_key(&own) { Some(own) } else { self.expected.remove(id) };
        match hash {
            Some(hash) => self.keep(hash, &message, message.to_line().len()),
            None => Ok(()),
        }
    }

    /// The message with this hash. A context may repeat one.
    pub(super) fn part(&self, hash: Option<Hash>) -> ContextPart {
        let found = hash.and_then(|hash| self.found.get(&hash)?.clone());
        filled(hash, found)
    }

    /// The system prompt and the tools.
    pub(super) fn frame(&mut self, hash: Option<Hash>) -> ContextPart {
        filled(hash, self.frame.take())
    }
}

fn filled(hash: Option<Hash>, found: Option<(ContextCheck, Json<'static>)>) -> ContextPart {
    let mut part = missing(hash);
    if let Some((check, value)) = found {
        (part.check, part.value) = (check, value);
    }
    part
}

/// The message that the model's blocks make up.
pub(super) fn answer_of(blocks: Vec<Json<'static>>) -> Json<'static> {
    let mut message = Object::with_capacity(2);
    message.push("role", "assistant");
    message.push("content", Json::Array(blocks));
    Json::Object(message)
}

/// Checks a message; returns it as it was sent, if that is not how it is written
/// down: a text may lack the block that it is sent in.
pub(super) fn checked(hash: Hash, message: &Json<'_>) -> (ContextCheck, Option<Json<'static>>) {
    if check(hash, message) == ContextCheck::Verified {
        return (ContextCheck::Verified, None);
    }
    match in_block(message).filter(|sent| canonical::hash_of(sent) == hash) {
        Some(sent) => (ContextCheck::Verified, Some(sent)),
        None => (ContextCheck::Differs, None),
    }
}

pub(super) fn check(hash: Hash, value: &Json<'_>) -> ContextCheck {
    if canonical::hash_of(value) == hash { ContextCheck::Verified } else { ContextCheck::Differs }
}

/// A message whose content is a text, with the text as a block.
fn in_block(message: &Json<'_>) -> Option<Json<'static>> {
    let content = message.get("content").filter(|content| content.as_str().is_some())?;
    let mut block = Object::with_capacity(2);
    block.push("type", "text");
    block.push("text", content.clone().into_owned());
    let mut message = message.clone().into_owned();
    let blocks = Json::Array(vec![Json::Object(block)]);
    message.as_object_mut()?.insert("content", blocks);
    Some(message)
}
