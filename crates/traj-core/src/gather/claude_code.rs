//! Sessions of Claude Code that are more than a plain list of rows.
//!
//! - A fork, or the copy that old versions make to resume, begins with the rows of
//!   another session. Those rows count in the other session.
//! - A question that was taken back leaves an abandoned branch.
//! - A row may be written again, with another parent.
//! - Sub-agents have their own files. Their rows are inserted between the others,
//!   in chronological order. The file's name says which agent it is, and the file
//!   beside it says which call started it.
//!
//! - Long output of a tool may be in a separate file. It is added to the row of
//!   the result.
//!
//! Such rows are marked and stay where they are, so that every reader recognises
//! them. A session that has none of this is read in place.
//!
//! - `row_reader`: lines of a file, one after the other.
//! - `survey`: what each row says about its place.
//! - `fate`: which rows count.
//! - `tasks`: which call started a sub-agent of an old version.
//! - `agents`: the files of sub-agents.
//! - `stored_output`: the files with long output.
//! - `merge`: writes the rows.

mod agents;
mod fate;
mod merge;
mod row_reader;
mod stored_output;
mod survey;
mod tasks;

pub(super) use self::agents::SubAgentFile;
pub(super) use self::merge::{Agents, time_of};
pub(crate) use self::row_reader::RowReader;

use super::{GatherError, GatheredFile, RowWriter};
use crate::dialect::{Dialect, Head, sniff};
use crate::limits::Reading;

use self::fate::Fates;
use self::stored_output::StoredOutput;
use self::survey::Survey;

/// Writes the rows of a session. Returns `false` if it can be read in place, or is
/// not a session of Claude Code.
pub(super) fn rows(file: &GatheredFile<'_>, rows: &mut RowWriter<'_>) -> Result<bool, GatherError> {
    let length = file.source.len().min(Reading::standard().short_head_bytes as u64);
    let mut head = vec![0; usize::try_from(length).unwrap_or_default()];
    file.source.read_exact_at(0, &mut head)?;
    if sniff(Head::of(&head)) != Some(Dialect::ClaudeCode) {
        return Ok(false);
    }
    let stem = stem_of(file.name);
    let survey = Survey::of(file.source, stem)?;
    let fates = Fates::of(&survey);
    let agents = agents::of(file, stem, &survey, &fates)?;
    let stored = StoredOutput::of(file)?;
    if agents.is_empty() && fates.are_plain() && stored.is_empty() && !survey.is_too_long {
        return Ok(false);
    }
    merge::write(file, &survey, &fates, agents, &stored, rows)?;
    Ok(true)
}

/// The file's name without its directory and extension: the session's id.
fn stem_of(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_suffix(".jsonl").unwrap_or(name)
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;
