//! Rollouts that begin with rows of another thread, or that started others.
//!
//! The old generation copies the history of the parent into a fork; the new one
//! copies the context of a sub-agent's parent. Those rows are marked, so that
//! nothing in them counts twice. A fork of the new generation contains only rows
//! of its own: those of its parent are read from the parent's file, and marked too.
//! The threads of sub-agents have their own files; their rows are inserted between
//! the others, in chronological order, and name their thread.
//!
//! - `threads`: finds the files of other threads.

mod threads;

use std::ops::{ControlFlow, Range};

use super::super::claude_code::{Agents, RowReader, time_of};
use super::super::{GatherError, RowWriter};
use super::GatheredFile;
use super::lines::each_line;
use crate::dialect::mark_inherited;
use crate::json::Json;
use crate::json::lines::Line;
use crate::port::Source;
use crate::timestamp::UnixMillis;

pub use threads::thread_folder;

/// How much of a rollout is read at once.
const BLOCK: usize = 1024 * 1024;

/// What distinguishes the rows of a thread from those that it inherited.
#[derive(Debug)]
enum Border {
    /// The thread's own rows begin with this number.
    Ordinal(u64),
    /// They begin with the first turn after the thread was created.
    Created { id: String, at: Option<i64> },
}

/// Writes the rows of a thread: the inherited ones marked, and those of its
/// sub-agents between them. Returns `false` if there are no others.
pub(super) fn rows(
    header: &Json<'_>,
    file: &GatheredFile<'_>,
    rows: &mut RowWriter<'_>,
) -> Result<bool, GatherError> {
    let inherited = inherited(header, file.source)?;
    let bases = threads::bases(header, file)?;
    let agents = threads::sub_agents(header, file)?;
    if inherited.is_none() && bases.is_empty() && agents.is_empty() {
        return Ok(false);
    }
    let (inherited, has_agents) = (inherited.unwrap_or_default(), !agents.is_empty());
    let mut agents = Agents::of(&agents)?;
    let mut reader = RowReader::new(file.source, BLOCK);
    let (mut clock, mut begins, mut offset) = (i64::MIN, true, 0_u64);
    let mut bases = bases.into_iter();
    while let Some(piece) = reader.next()? {
        if begins {
            let at = if piece.is_whole { time_of(piece.bytes) } else { None };
            clock = clock.max(at.unwrap_or(clock));
            agents.write_until(clock, rows)?;
            if offset > 0 {
                // The header says whose rows follow.
                bases.try_for_each(|base| base.write(rows))?;
            }
        }
        offset += piece.bytes.len() as u64;
        let is_inherited = inherited.contains(&(offset - piece.bytes.len() as u64));
        match (is_inherited, piece.is_whole) {
            (false, _) => rows.bytes(piece.bytes)?,
            (true, true) => rows.bytes(&mark_inherited(piece.bytes))?,
            // One that is too long to hold is left out.
            (true, false) => {}
        }
        // The last row may be torn, and stays so.
        if piece.ends && offset < file.source.len() {
            rows.bytes(b"\n")?;
        }
        offset += u64::from(piece.ends);
        begins = piece.ends;
    }
    if offset > file.source.len() && (has_agents || bases.len() > 0) {
        rows.bytes(b"\n")?;
    }
    bases.try_for_each(|base| base.write(rows))?;
    agents.write_until(i64::MAX, rows)?;
    Ok(true)
}

/// The rows that a thread copied from another one; `None` if there are none.
fn inherited(header: &Json<'_>, source: &dyn Source) -> Result<Option<Range<u64>>, GatherError> {
    let Some(border) = Border::of(header) else { return Ok(None) };
    let (Some(first), Some(own)) = (second_line(source)?, own_rows(source, &border)?) else {
        return Ok(None);
    };
    Ok((own > first).then_some(first..own))
}

impl Border {
    fn of(header: &Json<'_>) -> Option<Self> {
        let payload = header.get("payload")?;
        let text = |name: &str| payload.get(name).and_then(Json::as_str);
        if let Some(start) = payload.get("subagent_history_start_ordinal").and_then(Json::as_u64) {
            return Some(Self::Ordinal(start));
        }
        let is_copy = text("forked_from_id").is_some() && payload.get("history_base").is_none();
        let at = text("timestamp").and_then(UnixMillis::parse_lenient).map(UnixMillis::as_millis);
        is_copy.then(|| Self::Created { id: text("id").unwrap_or_default().to_owned(), at })
    }

    /// Whether a row is the thread's own; `None` if it does not say.
    fn is_own(&self, row: &Json<'_>) -> Option<bool> {
        match self {
            Self::Ordinal(start) => Some(row.get("ordinal")?.as_u64()? >= *start),
            Self::Created { id, at } => {
                let payload = row.get("payload")?;
                let kind = row.get("type").and_then(Json::as_str);
                let started = payload.get("type").and_then(Json::as_str);
                let is_start = matches!(started, Some("task_started" | "turn_started"));
                if !is_start && kind != Some("turn_context") {
                    return None;
                }
                let turn = payload.get("turn_id").and_then(Json::as_str).unwrap_or_default();
                if is_timed(id) && is_timed(turn) {
                    return Some(turn > id.as_str());
                }
                let started = payload.get("started_at").and_then(Json::as_i64)?;
                // Turns state whole seconds.
                Some(started.saturating_mul(1_000).saturating_add(999) >= (*at)?)
            }
        }
    }
}

/// Whether an id is a UUID that begins with the time at which it was made, so
/// that ids sort by time.
fn is_timed(id: &str) -> bool {
    id.len() == 36 && id.as_bytes().get(14) == Some(&b'7')
}

fn second_line(source: &dyn Source) -> Result<Option<u64>, GatherError> {
    let mut second = None;
    each_line(source, 0, &mut |offset, _| {
        second = (offset > 0).then_some(offset);
        Ok(if second.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(second)
}

/// Where the thread's own rows begin: at the end if it has none yet. `None` if no
/// row says whose it is.
fn own_rows(source: &dyn Source, border: &Border) -> Result<Option<u64>, GatherError> {
    let (mut own, mut has_evidence) = (None, false);
    each_line(source, 0, &mut |offset, line| {
        let (Line::Whole(line) | Line::Cut(line)) = line else {
            return Ok(ControlFlow::Continue(()));
        };
        let text = String::from_utf8_lossy(line);
        let is_own = Json::parse_shallow(&text, 2).ok().and_then(|row| border.is_own(&row));
        has_evidence |= is_own.is_some();
        if is_own == Some(true) && offset > 0 {
            own = Some(offset);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(own.or_else(|| has_evidence.then_some(source.len())))
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;

    const META: &str = r#""type":"session_meta","payload":{"id":"01a1f03b-73af-7b82-ae65-3ea79725892b","timestamp":"2026-06-01T10:00:00.500Z""#;

    fn turn(id: &str, started: u64) -> String {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"task_started","turn_id":"{id}","started_at":{started}}}}}"#
        )
    }

    fn inherited(rows: &str) -> Vec<bool> {
        rows.lines().map(|row| row.starts_with(r#"{"inherited":true,"#)).collect()
    }

    #[test]
    fn a_copied_history_ends_before_the_first_turn_of_the_fork() {
        let parent = r#"{"type":"session_meta","payload":{"id":"p"}}"#;
        let rows = [
            format!("{{{META},\"forked_from_id\":\"p\"}}}}"),
            parent.to_owned(),
            turn("01a1f03b-607b-7d72-a513-8f336c426dee", 1),
            r#"{"type":"response_item","payload":{}}"#.to_owned(),
            turn("01a1f03b-7453-76c2-b13b-abacedeb9154", 9_999_999_999),
            r#"{"type":"response_item","payload":{}}"#.to_owned(),
        ];
        let rows = gathered("r.jsonl", &rows.join("\n")).unwrap();
        assert_eq!(inherited(&rows), [false, true, true, true, false, false]);
        // Ids without a time: the turn says when it started.
        let rows = [
            format!("{{{META},\"forked_from_id\":\"p\"}}}}"),
            parent.to_owned(),
            turn("u1", 1_780_308_000 - 1),
            turn("u2", 1_780_308_000),
        ];
        let rows = gathered("r.jsonl", &rows.join("\n")).unwrap();
        assert_eq!(inherited(&rows), [false, true, true, false]);
    }

    #[test]
    fn a_sub_agent_says_where_its_own_rows_begin() {
        let rows = [
            format!("{{\"ordinal\":0,{META},\"subagent_history_start_ordinal\":2}}}}"),
            r#"{"ordinal":1,"type":"response_item","payload":{}}"#.to_owned(),
            r#"{"ordinal":2,"type":"response_item","payload":{}}"#.to_owned(),
        ];
        let rows = gathered("r.jsonl", &rows.join("\n")).unwrap();
        assert_eq!(inherited(&rows), [false, true, false]);
    }

    #[test]
    fn other_rollouts_are_read_in_place() {
        for end in ["", r#","forked_from_id":"p","history_base":{"thread_id":"p"}"#] {
            let rows = [format!("{{{META}{end}}}}}"), turn("u1", 5)];
            assert_eq!(gathered("r.jsonl", &rows.join("\n")), None);
        }
    }
}
