//! The sessions in a database, and their rows.
//!
//! Programs are recognised by their tables. Which rows belong to a session, and
//! their order, is decided here: a scan shows rows in any order, so each program's
//! module collects the keys, sorts them, and reads row by row.

mod crush;
mod goose;
mod merge;
mod openclaw;
pub(super) mod opencode;
mod scans;

pub(super) use opencode::{is_export, rows_of_export};

use super::error::GatherError;
use super::row_writer::RowWriter;
use crate::dialect::Dialect;
use crate::port::{Cell, Tables};
use crate::timestamp::UnixMillis;

/// A program that keeps its sessions in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Program {
    /// Crush.
    Crush,
    /// goose.
    Goose,
    /// OpenClaw, since 2026.9.
    OpenClaw,
    /// opencode, or Kilo with the same tables.
    OpenCode,
}

/// Which of a session's rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GatheredPart {
    /// The conversation.
    Transcript,
    /// The events that the program's own recorder wrote, as a sidecar has them.
    Runtime,
}

/// A session in a database.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DatabaseSession {
    /// The id.
    pub id: String,
    /// The session whose sub-agent it is.
    pub parent: Option<String>,
    /// What the program calls it.
    pub title: Option<String>,
    /// The agent's working directory.
    pub workspace: Option<String>,
    /// When it was last changed, in milliseconds since 1970.
    pub changed: Option<i64>,
}

impl Program {
    /// The program that keeps such tables.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn of(tables: &dyn Tables) -> Result<Option<Self>, GatherError> {
        Ok(if openclaw::recognises(tables)? {
            Some(Self::OpenClaw)
        } else if crush::recognises(tables)? {
            Some(Self::Crush)
        } else if opencode::recognises(tables)? {
            Some(Self::OpenCode)
        } else if goose::recognises(tables)? {
            Some(Self::Goose)
        } else {
            None
        })
    }

    /// The dialect of the gathered rows.
    #[must_use]
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Crush => Dialect::Crush,
            Self::Goose => Dialect::Goose,
            Self::OpenClaw => Dialect::OpenClaw,
            Self::OpenCode => Dialect::OpenCode,
        }
    }
}

/// The sessions of a database, in no particular order, and the program that
/// keeps them.
///
/// # Errors
/// [`GatherError::UnknownProgram`], or when the database cannot be read.
pub fn database_sessions(
    tables: &dyn Tables,
) -> Result<(Program, Vec<DatabaseSession>), GatherError> {
    let program = Program::of(tables)?.ok_or(GatherError::UnknownProgram)?;
    let sessions = match program {
        Program::Crush => crush::sessions(tables)?,
        Program::Goose => goose::sessions(tables)?,
        Program::OpenClaw => openclaw::sessions(tables)?,
        Program::OpenCode => opencode::sessions(tables)?,
    };
    Ok((program, sessions))
}

/// Writes the rows of one session of the database in a file. Without an id, the
/// database must hold only one session that is not a sub-agent's.
///
/// # Errors
/// See [`GatherError`].
pub fn session_rows(
    file: &str,
    tables: &dyn Tables,
    session: Option<&str>,
    kind: GatheredPart,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let (program, sessions) = database_sessions(tables)?;
    let chosen = match session {
        Some(id) => {
            let no_session = || GatherError::NoSession { session: id.to_owned() };
            sessions.iter().find(|session| session.id == id).ok_or_else(no_session)?
        }
        None => {
            let mut own = sessions.iter().filter(|session| session.parent.is_none());
            match (own.next(), own.count()) {
                (Some(only), 0) => only,
                (Some(_), others) => {
                    return Err(GatherError::SeveralSessions { count: others + 1 });
                }
                (None, _) => return Err(GatherError::Empty),
            }
        }
    };
    match (program, kind) {
        (Program::Goose, GatheredPart::Transcript) => goose::rows(tables, chosen, rows),
        (Program::Crush, GatheredPart::Transcript) => crush::rows(tables, &sessions, chosen, rows),
        (Program::OpenClaw, GatheredPart::Transcript) => openclaw::transcript(tables, chosen, rows),
        (Program::OpenClaw, GatheredPart::Runtime) => openclaw::runtime(tables, chosen, rows),
        (Program::OpenCode, GatheredPart::Transcript) => {
            let agent = Dialect::OpenCode.agent_of(file);
            let program = agent.filter(|agent| Some(*agent) != Dialect::OpenCode.agent());
            opencode::rows_of_session(program, tables, &sessions, chosen, rows)
        }
        (_, GatheredPart::Runtime) => Err(GatherError::NoSession { session: chosen.id.clone() }),
    }
}

/// Numbers from here on are milliseconds since 1970, smaller ones seconds: the
/// year 2286 in seconds is 1970 in milliseconds.
const LEAST_MILLIS: i64 = 10_000_000_000;

/// A time: a text, or a number of seconds or milliseconds since 1970.
pub(super) fn millis_of(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Text(text) => {
            let text = text.trim();
            let zoned = if text.len() == "2026-06-01 10:00:00".len() && !text.contains('T') {
                format!("{}Z", text.replacen(' ', "T", 1))
            } else {
                text.to_owned()
            };
            UnixMillis::parse_lenient(&zoned).map(UnixMillis::as_millis)
        }
        Cell::Integer(number) if number.abs() < LEAST_MILLIS => number.checked_mul(1_000),
        Cell::Integer(number) => Some(*number),
        Cell::Real(number) => millis_of(&Cell::Integer(*number as i64)),
        _ => None,
    }
}
