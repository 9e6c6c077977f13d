//! The rows of Gemini CLI: each message once, where it first appeared.
//!
//! A message is written again with the results of its calls, so its last row
//! counts. Every resume writes the header again, and then the whole list of
//! messages, as the model sees them: without tokens, results and times. So a
//! message in a list counts only if it has no separate row. A rewind drops a
//! message and everything after it. The rows of a sub-agent are in a file that
//! a call names; they are inserted in chronological order.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::ControlFlow;

use super::super::{GatherError, RowWriter};
use super::GatheredFile;
use super::lines::{each_line, read};
use crate::dialect::Dialect;
use crate::json::Json;
use crate::json::lines::Line;
use crate::port::Source;
use crate::run::is_bomb;
use crate::timestamp::UnixMillis;

/// More rows than this are not held in memory.
const MOST_ROWS: usize = 2_000_000;

/// More sub-agents than this are left to their own files.
const MOST_SUB_AGENTS: usize = 1_000;

/// Deep enough for the ids of messages in a list.
const LIST_DEPTH: usize = 4;

/// One row of the result.
#[derive(Clone, Copy, Debug)]
struct RowPlace {
    offset: u64,
    length: u64,
    /// Which message of the list on that line it is.
    item: Option<u32>,
    at: Option<UnixMillis>,
}

/// The rows of one file, without repetitions.
#[derive(Debug, Default)]
struct UniqueRows {
    /// `None` if the row was dropped.
    places: Vec<Option<RowPlace>>,
    /// The position of each message, by the hash of its id.
    messages: HashMap<u64, usize>,
    hasher: RandomState,
    has_header: bool,
    /// The ids of sub-agents.
    agents: Vec<String>,
    /// Those whose rows are here already.
    present: HashSet<String>,
}

/// Writes the rows of a session.
pub(super) fn rows(file: &GatheredFile<'_>, out: &mut RowWriter<'_>) -> Result<(), GatherError> {
    let main = UniqueRows::of(file.source)?;
    let folder = file.name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let header = main.places.iter().flatten().next();
    let session = header.map(|header| session_of(file.source, header)).transpose()?.flatten();
    let mut agents = Vec::new();
    for agent in &main.agents {
        let Some(session) = &session else { break };
        let is_name = |name: &str| !name.is_empty() && !name.contains('/') && name != "..";
        if !is_name(agent) || !is_name(session) || main.present.contains(agent) {
            continue;
        }
        let name = format!("{folder}/{session}/{agent}.jsonl");
        // A sub-agent without a file is known by its call only.
        if let Ok(source) = file.sources.open(&name) {
            agents.push((agent.clone(), UniqueRows::of(&*source)?, source));
        }
    }
    let mut added: Vec<(Option<UnixMillis>, usize, RowPlace)> = Vec::new();
    for (number, (_, rows, _)) in agents.iter().enumerate() {
        let mut at = None;
        // A header states nothing that its parent does not.
        for place in rows.places.iter().flatten().skip(1) {
            at = at.max(place.at);
            added.push((at, number, *place));
        }
    }
    added.sort_by_key(|(at, ..)| *at);
    let mut added = added.into_iter().peekable();
    let mut lists = vec![List::default(); agents.len() + 1];
    let mut clock = None;
    for place in main.places.iter().flatten() {
        clock = clock.max(place.at);
        while let Some((_, number, place)) = added.next_if(|(at, ..)| *at < clock) {
            write_of_agent(&agents, number, &place, &mut lists, out)?;
        }
        if let Some(list) = lists.first_mut() {
            write(file.source, place, list, None, out)?;
        }
    }
    for (_, number, place) in added {
        write_of_agent(&agents, number, &place, &mut lists, out)?;
    }
    Ok(())
}

fn write_of_agent(
    agents: &[(String, UniqueRows, Box<dyn Source>)],
    number: usize,
    place: &RowPlace,
    lists: &mut [List],
    out: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    match (agents.get(number), lists.get_mut(number + 1)) {
        (Some((id, _, source)), Some(list)) => write(&**source, place, list, Some(id), out),
        _ => Ok(()),
    }
}

/// The last list that was read: its messages often follow each other.
#[derive(Clone, Debug, Default)]
struct List {
    offset: Option<u64>,
    messages: Vec<String>,
}

/// Writes one row; `agent` says whose it is.
fn write(
    source: &dyn Source,
    place: &RowPlace,
    list: &mut List,
    agent: Option<&str>,
    out: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let Some(item) = place.item else {
        let line = read(source, place.offset, place.length)?;
        return write_line(String::from_utf8_lossy(&line).trim(), agent, out);
    };
    if list.offset != Some(place.offset) {
        let line = read(source, place.offset, place.length)?;
        let row = if is_bomb(&line) { None } else { Json::parse_lossy(&line).ok() };
        let messages = row.as_ref().and_then(|row| row.get("$set")?.get("messages")?.as_array());
        list.messages = messages.unwrap_or_default().iter().map(Json::to_line).collect();
        list.offset = Some(place.offset);
    }
    match list.messages.get(item as usize) {
        Some(message) => write_line(message, agent, out),
        None => Ok(()),
    }
}

fn write_line(line: &str, agent: Option<&str>, out: &mut RowWriter<'_>) -> Result<(), GatherError> {
    match (agent, line.strip_prefix('{')) {
        (Some(agent), Some(rest)) => {
            let id = Json::from(agent).to_line();
            out.text(&format!("{{\"agentId\":{id},{rest}"))
        }
        _ => out.text(line),
    }
}

fn session_of(source: &dyn Source, header: &RowPlace) -> Result<Option<String>, GatherError> {
    let line = read(source, header.offset, header.length)?;
    let row = Json::parse_lossy(&line).ok();
    let id = row.as_ref().and_then(|row| row.get("sessionId")?.as_str().map(str::to_owned));
    Ok(id)
}

impl UniqueRows {
    fn of(source: &dyn Source) -> Result<Self, GatherError> {
        let mut rows = Self::default();
        each_line(source, 0, &mut |offset, line| {
            let (Line::Whole(line) | Line::Cut(line)) = line else {
                return Ok(ControlFlow::Continue(()));
            };
            let place = RowPlace { offset, length: line.len() as u64, item: None, at: None };
            rows.take(line, place);
            if rows.places.len() > MOST_ROWS {
                return Err(GatherError::TooLarge);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    fn take(&mut self, line: &[u8], mut place: RowPlace) {
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() {
            return;
        }
        let Ok(row) = Json::parse_shallow(&text, LIST_DEPTH) else {
            // Readers count what they cannot read.
            self.places.push(Some(place));
            return;
        };
        place.at = Dialect::GeminiCli.time_of(&row);
        if let Some(set) = row.get("$set") {
            let messages = set.get("messages").and_then(Json::as_array);
            for (item, message) in (0..).zip(messages.unwrap_or_default()) {
                let at = Dialect::GeminiCli.time_of(message);
                self.listed(message, RowPlace { item: Some(item), at, ..place });
            }
            if messages.is_none() && set.get("summary").is_some() {
                self.places.push(Some(place));
            }
        } else if let Some(id) = row.get("$rewindTo").and_then(Json::as_str) {
            self.rewind(id);
            self.places.push(Some(place));
        } else if row.get("id").is_some() {
            self.written(&row, place);
        } else if row.get("projectHash").is_none() || !self.has_header {
            self.has_header |= row.get("projectHash").is_some();
            self.places.push(Some(place));
        }
    }

    fn key(&self, message: &Json<'_>) -> u64 {
        self.hasher.hash_one(message.get("id").and_then(Json::as_str).unwrap_or_default())
    }

    /// Takes a message with a separate row: the last one counts.
    fn written(&mut self, row: &Json<'_>, place: RowPlace) {
        for call in row.get("toolCalls").and_then(Json::as_array).unwrap_or_default() {
            let id = call.get("agentId").and_then(Json::as_str);
            if let Some(id) = id.filter(|id| !self.agents.iter().any(|known| known == id))
                && self.agents.len() < MOST_SUB_AGENTS
            {
                self.agents.push(id.to_owned());
            }
        }
        let own = row.get("agentId").and_then(Json::as_str);
        if let Some(agent) = own.filter(|_| self.present.len() < MOST_SUB_AGENTS) {
            self.present.insert(agent.to_owned());
        }
        let key = self.key(row);
        let known = self.messages.get(&key).copied();
        match known.and_then(|at| self.places.get_mut(at)) {
            Some(slot) => *slot = Some(place),
            None => self.push(key, place),
        }
    }

    /// Takes a message of a list: it counts if it has no row.
    fn listed(&mut self, message: &Json<'_>, place: RowPlace) {
        let key = self.key(message);
        if !self.messages.contains_key(&key) {
            self.push(key, place);
        }
    }

    fn push(&mut self, key: u64, place: RowPlace) {
        self.messages.insert(key, self.places.len());
        self.places.push(Some(place));
    }

    /// Drops a message and all later ones; all if it is unknown. The header stays.
    fn rewind(&mut self, id: &str) {
        let from = self.messages.get(&self.hasher.hash_one(id)).copied().unwrap_or_default();
        self.messages.retain(|_, at| {
            if *at >= from {
                if let Some(slot) = self.places.get_mut(*at) {
                    *slot = None;
                }
                return false;
            }
            true
        });
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::{gathered, gathered_with};

    const HEADER: &str =
        r#"{"sessionId":"s","projectHash":"p","startTime":"2026-06-01T10:00:00Z","kind":"main"}"#;

    fn message(id: &str, second: u32, more: &str) -> String {
        format!(
            r#"{{"id":"{id}","timestamp":"2026-06-01T10:00:{second:02}Z","type":"gemini","content":"{id}"{more}}}"#
        )
    }

    #[test]
    fn the_last_row_of_a_message_counts_and_lists_add_what_has_no_row() {
        let (a, b) = (message("a", 1, ""), message("b", 2, ""));
        let ended = message("a", 1, r#","toolCalls":[]"#);
        let context = message("c", 0, "");
        let list = format!(r#"{{"$set":{{"messages":[{context},{}]}}}}"#, message("a", 9, ""));
        let rows =
            [HEADER, &a, r#"{"$set":{"lastUpdated":"x"}}"#, &b, &ended, HEADER, &list, "{broken"];
        let expected = [HEADER, &ended, &b, &context, "{broken"];
        assert_eq!(gathered("f", &rows.join("\n")).unwrap(), expected.join("\n") + "\n");
    }

    #[test]
    fn a_rewind_drops_what_follows() {
        let [a, b, c] = ["a", "b", "c"].map(|id| message(id, 1, ""));
        let rewind = r#"{"$rewindTo":"b"}"#;
        let rows = [HEADER, &a, &b, &c, rewind, &c];
        assert_eq!(
            gathered("f", &rows.join("\n")).unwrap(),
            [HEADER, &a, rewind, &c].join("\n") + "\n"
        );
        let unknown = r#"{"$rewindTo":"x"}"#;
        let rows = [HEADER, &a, unknown, &c];
        assert_eq!(
            gathered("f", &rows.join("\n")).unwrap(),
            [HEADER, unknown, &c].join("\n") + "\n"
        );
    }

    #[test]
    fn the_rows_of_a_sub_agent_come_in_order_of_time() {
        let call = message("a", 1, r#","toolCalls":[{"agentId":"x"},{"agentId":"..\/y"}]"#);
        let last = message("b", 5, "");
        let own = [HEADER, &message("m", 3, ""), &message("n", 4, "")].join("\n");
        let rows = gathered_with("d/f", &[HEADER, &call, &last].join("\n"), "d/s/x.jsonl", &own);
        let rows = rows.unwrap();
        let lines: Vec<_> = rows.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[2].starts_with(r#"{"agentId":"x","id":"m""#), "{rows}");
        assert_eq!(lines[4], last);
    }
}
