//! Writes the rows of a session and its sub-agents in chronological order.

use std::collections::{HashMap, VecDeque};

use super::agents::SubAgentFile;
use super::fate::{Fates, RowFate};
use super::row_reader::RowReader;
use super::stored_output::StoredOutput;
use super::survey::{MOST_ROWS, Survey};
use crate::dialect::{Dialect, STARTED_BY};
use crate::gather::{GatherError, GatheredFile, RowWriter};
use crate::json::{Json, Object};
use crate::limits::Reading;
use crate::port::Source;
use crate::timestamp::UnixMillis;

/// How much of each file is read at once.
const BLOCK: usize = 1024 * 1024;
const AGENT_BLOCK: usize = 64 * 1024;

/// How many sub-agents are read side by side. Further ones wait, so their rows
/// come late.
const MOST_OPEN: usize = 64;

/// Writes all rows.
pub(super) fn write(
    file: &GatheredFile<'_>,
    survey: &Survey,
    fates: &Fates,
    agents: Vec<SubAgentFile>,
    stored: &StoredOutput<'_>,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    if survey.is_too_long {
        let mut note = Object::with_capacity(2);
        note.push("type", "rows-not-sorted");
        note.push("limit", MOST_ROWS as u64);
        rows.row(&Json::Object(note))?;
    }
    let mut agents = Agents::of(&agents)?.with_output(stored);
    let mut reader = RowReader::new(file.source, BLOCK);
    let (mut line, mut clock) = (0, i64::MIN);
    let mut names = SideNames::default();
    let starters = survey.tasks.starters();
    let mut begins = true;
    while let Some(piece) = reader.next()? {
        if begins {
            clock = clock.max(survey.rows.get(line).map_or(clock, |row| row.at));
            agents.write_until(clock, rows)?;
        }
        if piece.is_whole {
            let side = fates.root_of(line).and_then(|root| names.of(root, line, piece.bytes));
            let (fate, started_by) = (fates.of_line(line), starters.get(&line).copied());
            let mark = Mark { fate, agent: side, started_by, stored: Some(stored) };
            mark.write(piece.bytes, rows)?;
        } else {
            rows.bytes(piece.bytes)?;
        }
        if piece.ends {
            rows.bytes(b"\n")?;
            line += 1;
        }
        begins = piece.ends;
    }
    agents.write_until(i64::MAX, rows)?;
    if fates.left.count > 0 {
        let mut note = Object::with_capacity(3);
        note.push("type", "branches-left");
        note.push("count", fates.left.count);
        note.push("entries", fates.left.entries);
        rows.row(&Json::Object(note))?;
    }
    Ok(())
}

/// What is added to a row.
struct Mark<'m> {
    fate: RowFate,
    agent: Option<&'m str>,
    /// The call that started the agent.
    started_by: Option<&'m str>,
    /// Where long output may be.
    stored: Option<&'m StoredOutput<'m>>,
}

impl Mark<'_> {
    /// Writes a row with its mark.
    fn write(&self, line: &[u8], rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
        let line = line.trim_ascii_start();
        let members =
            line.strip_prefix(b"{").filter(|rest| !rest.trim_ascii_start().starts_with(b"}"));
        let Some(members) = members else { return rows.bytes(line) };
        rows.bytes(b"{")?;
        rows.bytes(match self.fate {
            RowFate::Own => b"",
            RowFate::Inherited => b"\"inherited\":true,",
            RowFate::Left => b"\"left\":true,",
            RowFate::Repeated => b"\"repeated\":true,",
        })?;
        if let Some(agent) = self.agent.filter(|_| !has_agent(line)) {
            let agent = Json::from(agent).to_line();
            rows.bytes(format!("\"agentId\":{agent},").as_bytes())?;
        }
        if let Some(call) = self.started_by {
            let call = Json::from(call).to_line();
            rows.bytes(format!("\"{STARTED_BY}\":{call},").as_bytes())?;
        }
        if let Some(member) = self.stored.and_then(|stored| stored.member(line)) {
            rows.bytes(member.as_bytes())?;
        }
        rows.bytes(members)
    }
}

fn has_agent(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    Json::parse_shallow(&text, 1).is_ok_and(|row| row.get("agentId").is_some())
}

/// Names for side chains of old versions: the id of their first row.
#[derive(Debug, Default)]
struct SideNames {
    names: HashMap<u32, String>,
}

impl SideNames {
    fn of(&mut self, root: u32, line: usize, row: &[u8]) -> Option<&str> {
        if usize::try_from(root) == Ok(line) {
            let text = String::from_utf8_lossy(row);
            let json = Json::parse_shallow(&text, 1).ok()?;
            let id = json.get("uuid").and_then(Json::as_str)?;
            self.names.insert(root, id.split('-').next().unwrap_or(id).to_owned());
        }
        self.names.get(&root).map(String::as_str)
    }
}

/// The files of sub-agents that have rows left.
pub(in crate::gather) struct Agents<'a> {
    /// Those that have not begun, by the time at which they do.
    waiting: VecDeque<(i64, &'a SubAgentFile)>,
    open: Vec<AgentRows<'a>>,
    stored: Option<&'a StoredOutput<'a>>,
}

/// The rows of one sub-agent, and the next of them.
struct AgentRows<'a> {
    agent: &'a SubAgentFile,
    reader: RowReader<'a>,
    next: Option<Vec<u8>>,
    at: i64,
}

impl<'a> Agents<'a> {
    pub(in crate::gather) fn of(agents: &'a [SubAgentFile]) -> Result<Self, GatherError> {
        let mut waiting = Vec::new();
        for agent in agents {
            waiting.push((first_time(&*agent.source)?, agent));
        }
        waiting.sort_by_key(|(at, agent)| (*at, agent.id.clone()));
        Ok(Self { waiting: waiting.into(), open: Vec::new(), stored: None })
    }

    /// Long output of the sub-agents is stored with that of their session.
    fn with_output(self, stored: &'a StoredOutput<'a>) -> Self {
        Self { stored: Some(stored), ..self }
    }

    /// Writes the rows that are older than `until`.
    pub(in crate::gather) fn write_until(
        &mut self,
        until: i64,
        rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        loop {
            let begins = |(at, _): &&(i64, &SubAgentFile)| *at < until;
            while self.open.len() < MOST_OPEN
                && let Some((_, agent)) = self.waiting.front().filter(begins).copied()
            {
                self.waiting.pop_front();
                if let Some(note) = &agent.note {
                    rows.bytes(note.as_bytes())?;
                    rows.bytes(b"\n")?;
                }
                self.open.push(AgentRows::of(agent)?);
            }
            self.open.retain(|agent| agent.next.is_some());
            let first = self.open.iter_mut().min_by_key(|agent| agent.at);
            let Some(first) = first.filter(|agent| agent.at < until) else {
                return Ok(());
            };
            if let Some(line) = first.next.take() {
                let agent = Some(first.agent.id.as_str());
                let (fate, stored) = (RowFate::Own, self.stored);
                Mark { fate, agent, started_by: None, stored }.write(&line, rows)?;
                rows.bytes(b"\n")?;
            }
            first.advance()?;
        }
    }
}

impl<'a> AgentRows<'a> {
    fn of(agent: &'a SubAgentFile) -> Result<Self, GatherError> {
        let reader = RowReader::new(&*agent.source, AGENT_BLOCK);
        let mut rows = Self { agent, reader, next: None, at: i64::MIN };
        rows.advance()?;
        Ok(rows)
    }

    /// Reads the next row. One that is too long to hold is left out.
    fn advance(&mut self) -> Result<(), GatherError> {
        self.next = None;
        while let Some(piece) = self.reader.next()? {
            if piece.is_whole && !piece.bytes.trim_ascii().is_empty() {
                // A time never goes back.
                self.at = self.at.max(time_of(piece.bytes).unwrap_or(self.at));
                self.next = Some(piece.bytes.to_vec());
                break;
            }
        }
        Ok(())
    }
}

/// When the first row that says so was written.
fn first_time(source: &dyn Source) -> Result<i64, GatherError> {
    let length = source.len().min(Reading::standard().short_head_bytes as u64);
    let mut head = vec![0; usize::try_from(length).unwrap_or_default()];
    source.read_exact_at(0, &mut head)?;
    let first = head.split(|byte| *byte == b'\n').find_map(time_of);
    Ok(first.unwrap_or(i64::MIN))
}

/// When a row was written.
pub(in crate::gather) fn time_of(line: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(line);
    let row = Json::parse_shallow(&text, 1).ok()?;
    Dialect::ClaudeCode.time_of(&row).map(UnixMillis::as_millis)
}
