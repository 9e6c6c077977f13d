//! Files that are not read as they are: rows that replace each other, documents,
//! and sessions with additional files.

mod aider;
mod atif;
mod codex;
mod document;
mod gemini;
mod goose;
mod history;
mod lines;
mod opencode;
mod otlp;
mod pi;
mod qwen_code;

use super::{GatherError, RowWriter, claude_code};
use crate::dialect::begins_otlp;
use crate::json::Json;
use crate::limits::Reading;
use crate::port::{Source, Sources};

pub use codex::thread_folder;
pub use opencode::storage_folder;
pub use qwen_code::sub_agent_folder;

/// A plain file to gather: already unpacked.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a file, its name and the files beside it")]
pub struct GatheredFile<'f> {
    /// The file's name, as the user gave it.
    pub name: &'f str,
    /// The file.
    pub source: &'f dyn Source,
    /// Opens other files, such as those beside it, as they are.
    pub sources: &'f dyn Sources,
}

/// Writes the rows of a file that cannot be read as it is. Returns `false` if it
/// can, without writing anything: most files are read in place.
///
/// # Errors
/// See [`GatherError`].
pub fn file_rows(file: &GatheredFile<'_>, rows: &mut RowWriter<'_>) -> Result<bool, GatherError> {
    let start = lines::read(file.source, 0, file.source.len().min(START))?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    if begins_otlp(start) {
        otlp::rows(file.source, rows)?;
        return Ok(true);
    }
    if document::is_known(start) {
        return document::rows(file.source, rows).map(|()| true);
    }
    if let Some(storage) = storage_folder(file.name)
        && opencode::rows(storage, file, rows)?
    {
        return Ok(true);
    }
    let head = head_of(file.source)?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    if line.starts_with(aider::START) {
        aider::rows(file.source, rows)?;
        return Ok(true);
    }
    let first = Json::parse_shallow(&line, HEADER_DEPTH);
    if first.is_err() && history::may_be(head) && history::rows(file.source, rows)? {
        return Ok(true);
    }
    let first = first.unwrap_or_default();
    let has = |name: &str| first.get(name).is_some();
    if has("sessionId") && (has("history") || (has("projectHash") && has("messages"))) {
        return history::rows(file.source, rows);
    }
    if has("sessionId") && has("projectHash") && has("startTime") {
        gemini::rows(file, rows)?;
        return Ok(true);
    }
    if goose::is_old(&first) {
        goose::rows(file, rows)?;
        return Ok(true);
    }
    match first.get("type").and_then(Json::as_str) {
        Some("session_meta") => codex::rows(&first, file, rows),
        Some("session") => pi::rows(&first, file.source, rows),
        _ => Ok(qwen_code::rows(file, rows)? || claude_code::rows(file, rows)?),
    }
}

/// Whether a file with this beginning is a session although it has no JSON: the
/// history of a chat in Markdown.
#[must_use]
pub fn is_history(head: &str) -> bool {
    head.trim_start_matches('\u{feff}').trim_start().starts_with(aider::START)
}

/// Documents are recognised by their first bytes: this many.
const START: u64 = 4_096;

/// How deep the first row of a file is read.
const HEADER_DEPTH: usize = 3;

/// The beginning of a file: enough for its first line, unless that is longer than
/// any header.
fn head_of(source: &dyn Source) -> Result<Vec<u8>, GatherError> {
    let limits = Reading::standard();
    for length in [limits.short_head_bytes, limits.long_head_bytes] {
        let head = lines::read(source, 0, source.len().min(length as u64))?;
        if head.contains(&b'\n') || head.len() < length {
            return Ok(head);
        }
    }
    Ok(Vec::new())
}

/// What a file with this content is gathered to; `None` if it is read in place.
#[cfg(test)]
#[cfg(feature = "memory")]
pub(super) fn gathered(name: &str, content: &str) -> Option<String> {
    gathered_with(name, content, "-", "")
}

/// The same, with another file.
#[cfg(test)]
#[cfg(feature = "memory")]
pub(super) fn gathered_with(
    name: &str,
    content: &str,
    other: &str,
    its_content: &str,
) -> Option<String> {
    use crate::memory::{MemoryScratch, MemorySources};
    use crate::port::Scratch as _;

    let sources = MemorySources::new();
    sources.put(name, content);
    sources.put(other, its_content);
    let source = sources.open(name).unwrap();
    let mut scratch = MemoryScratch::default();
    let mut rows = RowWriter::new(&mut scratch, u64::MAX);
    let file = GatheredFile { name, source: &*source, sources: &sources };
    if !file_rows(&file, &mut rows).unwrap() {
        return None;
    }
    let length = rows.finish().unwrap();
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    scratch.read_exact_at(0, &mut bytes).unwrap();
    Some(String::from_utf8(bytes).unwrap())
}
