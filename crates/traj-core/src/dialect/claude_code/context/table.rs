//! All contexts of a session at once: what each request consists of, and where the
//! parts are. The values stay where they are.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::canonical::{self, Hash};
use super::messages::{self, MOST_OPEN, answer_of, checked};
use super::requests::{Request, Requests, UNKNOWN};
use super::rows::{ContextRow, ContextRows};
use super::{ContextCheck, ContextError};
use crate::dialect::text;
use crate::json::Json;

/// How many messages are compared to find out what changed.
const MOST_COMPARED: usize = 64_000_000;

/// The requests of a session, in order, and the parts that they consist of.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ContextTable {
    /// Messages and frames.
    pub parts: Vec<TablePart>,
    /// The requests, in order.
    pub requests: Vec<TableRequest>,
}

/// A message or a frame, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TablePart {
    /// What its rows hold.
    pub basis: TableBasis,
    /// Whether it is what was sent.
    pub check: ContextCheck,
    /// The bytes of its rows; empty if it is missing.
    pub rows: Vec<Range<u64>>,
}

/// What the rows of a part hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableBasis {
    /// The system prompt and the tools, as the member `shape`.
    Frame,
    /// A message, as the member `message`.
    Message,
    /// The blocks of a message of the model, in `content` of `message`, in order.
    Answer,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableRequest {
    /// The id of the request.
    pub id: String,
    /// The id of the model's answer.
    pub answer: Option<String>,
    /// The model and its settings, as JSON.
    pub settings: String,
    /// The number of the part with the system prompt and the tools.
    pub frame: Option<u32>,
    /// The earlier request whose first messages it repeats.
    pub base: Option<u32>,
    /// How many messages it repeats.
    pub keep: u64,
    /// The numbers of the parts that follow; `u32::MAX` for one that is not recorded.
    pub tail: Vec<u32>,
    /// How it differs from the request before it in the same conversation.
    pub since: Option<TableChange>,
}

/// What changed since the request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableChange {
    /// The number of the request before.
    pub before: u32,
    /// How many messages are the same, from the beginning.
    pub kept: u64,
    /// How many of its messages are gone or replaced.
    pub dropped: u64,
    /// Whether the system prompt or the tools changed.
    pub has_new_frame: bool,
    /// Whether the settings changed.
    pub has_new_settings: bool,
}

impl ContextTable {
    /// Reads the requests of a session.
    ///
    /// # Errors
    /// See [`ContextError`].
    pub fn read(rows: &dyn ContextRows) -> Result<Self, ContextError> {
        let requests = Requests::read(rows, "")?;
        let mut parts = Parts::new(&requests, rows.are_redacted());
        rows.each(&messages::MARKS, &mut |taken| {
            parts.take(&taken);
            Ok(())
        })?;
        while let Some(open) = parts.open.pop_front() {
            parts.close(open);
        }
        let (parts, frames) = (parts.parts, parts.frames);
        let mut left = MOST_COMPARED;
        let mut before: HashMap<Option<&str>, (usize, Vec<u32>)> = HashMap::new();
        let mut table = Vec::with_capacity(requests.requests.len());
        for (number, request) in requests.requests.iter().enumerate() {
            let earlier = before.remove(&request.agent.as_deref());
            let messages = if left > request.length {
                left -= request.length;
                messages_after(&requests, request, earlier.as_ref())
            } else {
                None
            };
            let since = earlier.zip(messages.as_ref()).map(|((before, earlier), messages)| {
                change(&requests, before, &earlier, messages, request)
            });
            if let Some(messages) = messages {
                before.insert(request.agent.as_deref(), (number, messages));
            }
            let base = requests.base_of(request.base.as_deref());
            table.push(TableRequest {
                id: request.id.clone(),
                answer: requests.answer_to(request).map(str::to_owned),
                settings: request.settings.clone(),
                frame: frame_of(request, &frames),
                base: base.filter(|base| *base < number).and_then(|base| u32::try_from(base).ok()),
                keep: request.keep as u64,
                tail: request.tail.clone(),
                since,
            });
        }
        Ok(Self { parts, requests: table })
    }
}

fn frame_of(request: &Request, frames: &HashMap<Hash, u32>) -> Option<u32> {
    frames.get(&canonical::parse(&request.frame)?).copied()
}

/// The messages of a request, from those of the request before it in the same
/// conversation. `None` if it continues another one: that is looked up by its
/// chain, which is rare.
fn messages_after(
    requests: &Requests,
    request: &Request,
    earlier: Option<&(usize, Vec<u32>)>,
) -> Option<Vec<u32>> {
    let base = requests.base_of(request.base.as_deref());
    match (base, earlier) {
        (Some(base), Some((before, messages))) if base == *before => {
            let mut messages = messages.clone();
            messages.truncate(request.keep);
            messages.extend_from_slice(&request.tail);
            Some(messages)
        }
        (None, _) if request.base.is_none() => Some(request.tail.clone()),
        _ => requests.by_id(&request.id).and_then(|number| requests.messages_of(number).ok()),
    }
}

fn change(
    requests: &Requests,
    before: usize,
    earlier: &[u32],
    messages: &[u32],
    request: &Request,
) -> TableChange {
    let pairs = earlier.iter().zip(messages);
    let kept = pairs.take_while(|(old, new)| old == new && **old != UNKNOWN).count();
    let old = requests.requests.get(before);
    TableChange {
        before: u32::try_from(before).unwrap_or(u32::MAX),
        kept: kept as u64,
        dropped: (earlier.len() - kept) as u64,
        has_new_frame: old.is_none_or(|old| old.frame != request.frame),
        has_new_settings: old.is_none_or(|old| old.settings != request.settings),
    }
}

/// A message of the model whose blocks are still coming.
struct OpenAnswer {
    id: String,
    blocks: Vec<Json<'static>>,
    rows: Vec<Range<u64>>,
}

/// The parts while they are found.
struct Parts<'r> {
    parts: Vec<TablePart>,
    numbers: HashMap<Hash, u32>,
    frames: HashMap<Hash, u32>,
    /// The part that belongs to each answer, by the answer's id.
    expected: HashMap<&'r str, u32>,
    open: VecDeque<OpenAnswer>,
    are_redacted: bool,
}

impl<'r> Parts<'r> {
    /// The parts have the numbers of their hashes.
    fn new(requests: &'r Requests, are_redacted: bool) -> Self {
        let missing = |_: &Hash| TablePart {
            basis: TableBasis::Message,
            check: ContextCheck::Missing,
            rows: Vec::new(),
        };
        let numbers = (0..).zip(&requests.hashes).map(|(number, hash)| (*hash, number));
        Self {
            parts: requests.hashes.iter().map(missing).collect(),
            numbers: numbers.collect(),
            frames: HashMap::new(),
            expected: requests.places_of_answers(),
            open: VecDeque::new(),
            are_redacted,
        }
    }

    fn take(&mut self, taken: &ContextRow<'_>) {
        let row = &taken.row;
        match text(row, "type") {
            Some("api-request-blob") => {
                let hash = text(row, "hash").and_then(canonical::parse);
                let number = hash.and_then(|hash| self.numbers.get(&hash).copied());
                if let (Some(hash), Some(number), Some(message)) =
                    (hash, number, row.get("message"))
                {
                    let check = checked(hash, message).0;
                    self.set(number, TableBasis::Message, check, vec![taken.place.clone()]);
                }
            }
            Some("api-request-shape") => {
                let hash = text(row, "shapeHash").and_then(canonical::parse);
                if let (Some(hash), Some(shape)) = (hash, row.get("shape"))
                    && !self.frames.contains_key(&hash)
                    && let Ok(number) = u32::try_from(self.parts.len())
                {
                    let check = self.judged(messages::check(hash, shape));
                    let (basis, rows) = (TableBasis::Frame, vec![taken.place.clone()]);
                    self.parts.push(TablePart { basis, check, rows });
                    self.frames.insert(hash, number);
                }
            }
            Some("assistant") => self.add_block(taken),
            _ => {}
        }
    }

    fn add_block(&mut self, taken: &ContextRow<'_>) {
        let Some(message) = taken.row.get("message") else { return };
        let (Some(id), Some(blocks)) =
            (text(message, "id"), message.get("content").and_then(Json::as_array))
        else {
            return;
        };
        let blocks = blocks.iter().map(|block| block.clone().into_owned());
        if let Some(open) = self.open.iter_mut().find(|open| open.id == id) {
            open.blocks.extend(blocks);
            open.rows.push(taken.place.clone());
            return;
        }
        let (blocks, rows) = (blocks.collect(), vec![taken.place.clone()]);
        self.open.push_back(OpenAnswer { id: id.to_owned(), blocks, rows });
        if self.open.len() > MOST_OPEN
            && let Some(open) = self.open.pop_front()
        {
            self.close(open);
        }
    }

    fn close(&mut self, open: OpenAnswer) {
        let own = canonical::hash_of(&answer_of(open.blocks));
        if let Some(number) = self.numbers.get(&own).copied() {
            self.set(number, TableBasis::Answer, ContextCheck::Verified, open.rows);
        } else if let Some(number) = self.expected.remove(open.id.as_str()) {
            self.set(number, TableBasis::Answer, ContextCheck::Differs, open.rows);
        }
    }

    /// Records where a part is, unless that is known already.
    fn set(&mut self, number: u32, basis: TableBasis, check: ContextCheck, rows: Vec<Range<u64>>) {
        let check = self.judged(check);
        if let Some(part) = self.parts.get_mut(number as usize)
            && part.rows.is_empty()
        {
            *part = TablePart { basis, check, rows };
        }
    }

    fn judged(&self, check: ContextCheck) -> ContextCheck {
        match check {
            ContextCheck::Differs if self.are_redacted => ContextCheck::Redacted,
            check => check,
        }
    }
}
