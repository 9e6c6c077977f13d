//! The messages that a context consists of.

use std::collections::{HashMap, VecDeque};

use super::canonical::{self, Hash};
use super::requests::{BLOCK, Requests, Wanted, missing, source_error};
use super::{ContextCheck, ContextError, ContextPart};
use crate::dialect::text;
use crate::gather::RowReader;
use crate::json::{Json, Object};
use crate::port::Source;

/// How many bytes of messages are held.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// How many messages of the model may be written side by side.
const MOST_OPEN: usize = 16;

/// The messages that were found, by their recorded hashes.
#[derive(Debug, Default)]
pub(super) struct Messages {
    found: HashMap<Hash, Option<(ContextCheck, Json<'static>)>>,
    frame: Option<(ContextCheck, Json<'static>)>,
    frame_hash: Option<Hash>,
    /// Messages of the model whose blocks are still coming.
    open: VecDeque<(String, Vec<Json<'static>>)>,
    bytes: usize,
}

impl Messages {
    /// Reads what a context needs.
    pub(super) fn read(
        source: &dyn Source,
        requests: &Requests,
        wanted: &Wanted,
    ) -> Result<Self, ContextError> {
        let (needed, frame_hash) = requests.needed(wanted);
        let found = needed.into_iter().map(|hash| (hash, None)).collect();
        let mut messages = Self { found, frame_hash, ..Self::default() };
        let mut reader = RowReader::new(source, BLOCK);
        while let Some(piece) = reader.next().map_err(source_error)? {
            let line = piece.bytes;
            let may_help = has(line, b"api-request-") || has(line, b"\"assistant\"");
            if piece.is_whole && may_help {
                messages.take(line)?;
            }
        }
        while let Some((_, blocks)) = messages.open.pop_front() {
            messages.close(blocks)?;
        }
        Ok(messages)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), ContextError> {
        let Ok(row) = Json::parse_lossy(line) else { return Ok(()) };
        match text(&row, "type") {
            Some("api-request-blob") => {
                let hash = text(&row, "hash").and_then(canonical::parse);
                if let (Some(hash), Some(message)) = (hash, row.get("message")) {
                    self.keep(hash, message, line.len())?;
                }
            }
            Some("api-request-shape") => {
                let hash = text(&row, "shapeHash").and_then(canonical::parse);
                let shape = row.get("shape").filter(|_| hash.is_some() && hash == self.frame_hash);
                if let (Some(hash), Some(shape), None) = (hash, shape, &self.frame) {
                    self.frame = Some((check(hash, shape), shape.clone().into_owned()));
                }
            }
            Some("assistant") => self.add_block(&row)?,
            _ => {}
        }
        Ok(())
    }

    /// Keeps a message if the context needs it.
    fn keep(&mut self, hash: Hash, message: &Json<'_>, bytes: usize) -> Result<(), ContextError> {
        let Some(slot @ None) = self.found.get_mut(&hash) else { return Ok(()) };
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MOST_BYTES {
            return Err(ContextError::TooLarge);
        }
        let message = message.clone().into_owned();
        *slot = Some(match check(hash, &message) {
            ContextCheck::Verified => (ContextCheck::Verified, message),
            // A text may be written down without the block that it is sent in.
            other => match in_block(&message).filter(|sent| canonical::hash_of(sent) == hash) {
                Some(sent) => (ContextCheck::Verified, sent),
                None => (other, message),
            },
        });
        Ok(())
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
            && let Some((_, blocks)) = self.open.pop_front()
        {
            self.close(blocks)?;
        }
        Ok(())
    }

    /// A message of the model is complete.
    fn close(&mut self, blocks: Vec<Json<'static>>) -> Result<(), ContextError> {
        let mut message = Object::with_capacity(2);
        message.push("role", "assistant");
        message.push("content", Json::Array(blocks));
        let message = Json::Object(message);
        let hash = canonical::hash_of(&message);
        if self.found.contains_key(&hash) {
            let bytes = message.to_line().len();
            self.keep(hash, &message, bytes)?;
        }
        Ok(())
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

fn check(hash: Hash, value: &Json<'_>) -> ContextCheck {
    if canonical::hash_of(value) == hash { ContextCheck::Verified } else { ContextCheck::Differs }
}

/// A message whose content is a text, with the text as a block.
fn in_block(message: &Json<'static>) -> Option<Json<'static>> {
    let content = message.get("content").filter(|content| content.as_str().is_some())?;
    let mut block = Object::with_capacity(2);
    block.push("type", "text");
    block.push("text", content.clone());
    let mut message = message.clone();
    let blocks = Json::Array(vec![Json::Object(block)]);
    message.as_object_mut()?.insert("content", blocks);
    Some(message)
}

/// Whether a line contains these bytes.
pub(super) fn has(line: &[u8], bytes: &[u8]) -> bool {
    memchr::memmem::find(line, bytes).is_some()
}
