//! What each row of a session says about its place in the conversation.

use std::hash::{BuildHasher as _, RandomState};

use super::row_reader::RowReader;
use super::tasks::Tasks;
use crate::dialect::Dialect;
use crate::gather::GatherError;
use crate::json::Json;
use crate::port::Source;
use crate::timestamp::UnixMillis;

/// How much of a file is read at once.
const BLOCK: usize = 1024 * 1024;

/// A row and its message.
const DEPTH: usize = 2;

/// More rows than this are not held in memory: they all count.
pub(super) const MOST_ROWS: usize = if cfg!(test) { 4_000 } else { 750_000 };

/// How many sub-agents are remembered.
const MOST_AGENTS: usize = 10_000;

/// No id, no row.
pub(super) const NONE: u32 = u32::MAX;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SurveyedKind {
    /// A row beside the conversation, or a line without a row.
    Beside,
    /// Something that a person or the harness said in the user's name.
    Prompt,
    /// The result of a tool.
    Result,
    /// A block of a message of the model.
    Assistant,
    /// Any other row of the conversation.
    Other,
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct SurveyedRow {
    /// When it was written, in milliseconds; the time of the line above if it does not
    /// say.
    pub(super) at: i64,
    /// Hashes of its id, of its parent's, and of its message's; 0 for none.
    pub(super) id: u64,
    pub(super) parent: u64,
    pub(super) message: u64,
    pub(super) kind: SurveyedKind,
    pub(super) is_side: bool,
    /// Whether the request that it answers belongs to another session.
    pub(super) is_foreign: bool,
    /// Whether it says that it belongs to a session that the file is not named
    /// after.
    pub(super) is_elsewhere: bool,
}

/// The rows of a session.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// One for each line; empty if there are too many.
    pub(super) rows: Vec<SurveyedRow>,
    /// Whether there are too many.
    pub(super) is_too_long: bool,
    /// The row that the program last called the current one.
    pub(super) leaf: u64,
    /// When the program began to write the file, if it says so.
    pub(super) began: Option<i64>,
    /// Whether a version wrote it that rewrites the time of rows that it copies.
    pub(super) is_old: bool,
    /// The ids of sub-agents that answered, with the lines that say so.
    pub(super) agents: Vec<(usize, String)>,
    /// What started the sub-agents of old versions.
    pub(super) tasks: Tasks,
}

impl Survey {
    /// Reads a file. `stem` is its name: usually the session's id.
    pub(super) fn of(source: &dyn Source, stem: &str) -> Result<Self, GatherError> {
        let mut surveyor =
            Surveyor { own: is_uuid(stem).then(|| stem.to_owned()), ..Surveyor::default() };
        let mut reader = RowReader::new(source, BLOCK);
        while let Some(piece) = reader.next()? {
            if !piece.ends {
                continue;
            }
            let row = if piece.is_whole { surveyor.row(piece.bytes) } else { surveyor.no_row() };
            if surveyor.survey.rows.len() >= MOST_ROWS {
                let agents = surveyor.survey.agents;
                return Ok(Self { agents, is_too_long: true, ..Self::default() });
            }
            surveyor.survey.rows.push(row);
        }
        let Surveyor { mut survey, states_name, .. } = surveyor;
        for row in survey.rows.iter_mut().filter(|_| !states_name) {
            // If no row belongs to the file's name, somebody renamed the file.
            row.is_elsewhere = false;
        }
        Ok(survey)
    }
}

#[derive(Default)]
struct Surveyor {
    survey: Survey,
    hasher: RandomState,
    clock: Option<i64>,
    /// The session that the file is named after, and whether a row belongs to it.
    own: Option<String>,
    states_name: bool,
    has_conversation: bool,
}

impl Surveyor {
    fn row(&mut self, line: &[u8]) -> SurveyedRow {
        let text = String::from_utf8_lossy(line);
        match Json::parse_shallow(&text, DEPTH) {
            Ok(row) if row.as_object().is_some() => self.placed(&row, line),
            _ => self.no_row(),
        }
    }

    fn no_row(&self) -> SurveyedRow {
        let at = self.clock.unwrap_or(i64::MIN);
        let (id, parent, message) = (0, 0, 0);
        let (kind, is_side, is_foreign, is_elsewhere) = (SurveyedKind::Beside, false, false, false);
        SurveyedRow { at, id, parent, message, kind, is_side, is_foreign, is_elsewhere }
    }

    fn placed(&mut self, json: &Json<'_>, line: &[u8]) -> SurveyedRow {
        let text = |name: &str| json.get(name).and_then(Json::as_str);
        let is_set = |name: &str| json.get(name).and_then(Json::as_bool) == Some(true);
        let time = Dialect::ClaudeCode.time_of(json).map(UnixMillis::as_millis);
        self.clock = self.clock.max(time);
        let mut row = self.no_row();
        row.at = time.unwrap_or(row.at);
        let kind = text("type").unwrap_or_default();
        let is_elsewhere = text("sessionId").zip(self.own.as_deref()).map(|(a, b)| a != b);
        self.states_name |= is_elsewhere == Some(false);
        let has_place = text("uuid").is_some() && json.get("parentUuid").is_some();
        if !has_place {
            if kind == "last-prompt" {
                self.survey.leaf = self.key(text("leafUuid"));
            }
            if !self.has_conversation && self.survey.began.is_none() {
                self.survey.began = time;
            }
            return row;
        }
        row.kind = match kind {
            "user" if memchr::memmem::find(line, b"\"tool_result\"").is_some() => {
                SurveyedKind::Result
            }
            "user" => SurveyedKind::Prompt,
            "assistant" => SurveyedKind::Assistant,
            _ => SurveyedKind::Other,
        };
        row.is_side = is_set("isSidechain");
        row.is_elsewhere = is_elsewhere == Some(true);
        row.is_foreign =
            text("requestSessionId").zip(text("sessionId")).is_some_and(|(a, b)| a != b);
        if !self.has_conversation {
            self.survey.is_old = text("version").is_some_and(|version| version.starts_with("1."));
        }
        self.has_conversation = true;
        if self.survey.is_old {
            let (at, is_first) = (self.survey.rows.len(), text("parentUuid").is_none());
            match row.kind {
                SurveyedKind::Assistant if !row.is_side => self.survey.tasks.add_answer(at, line),
                SurveyedKind::Prompt if row.is_side && is_first => {
                    self.survey.tasks.add_prompt(at, line);
                }
                _ => {}
            }
        }
        row.id = self.key(text("uuid"));
        row.parent = self.key(text("parentUuid").or_else(|| text("logicalParentUuid")));
        let message = json.get("message");
        row.message = self.key(message.and_then(|message| message.get("id")?.as_str()));
        let agent = json.get("toolUseResult").and_then(|result| result.get("agentId")?.as_str());
        if let Some(agent) = agent.filter(|_| self.survey.agents.len() < MOST_AGENTS) {
            self.survey.agents.push((self.survey.rows.len(), agent.to_owned()));
        }
        row
    }

    fn key(&self, id: Option<&str>) -> u64 {
        id.map_or(0, |id| self.hasher.hash_one(id).max(1))
    }
}

/// Whether a file is named after its session.
fn is_uuid(stem: &str) -> bool {
    stem.len() == 36 && stem.bytes().filter(|byte| *byte == b'-').count() == 4
}
