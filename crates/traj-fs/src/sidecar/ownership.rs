//! Telling a sidecar from a file that only has its name.

use std::io;

use cap_std::fs::File;
use traj_core::event::{RuntimeRow, TRACE_SCHEMA};

use super::scan;

/// How every line of a sidecar begins, its schema's name left out.
const LINE_START: &str = "{\"traceSchema\":\"";

/// Whether a file holds a trajectory, or nothing yet. A first line that a
/// crash has torn is still known by how it begins.
pub(crate) fn is_trajectory(file: &File) -> io::Result<bool> {
    let Some(line) = scan::first_line(file)? else { return Ok(true) };
    Ok(begins_as_ours(&line) || row_session(&line).is_some())
}

/// Whether a file is the sidecar of one of these sessions, or empty.
pub(crate) fn is_sidecar_of(file: &File, sessions: &[&str]) -> io::Result<bool> {
    let Some(line) = scan::first_line(file)? else { return Ok(true) };
    Ok(row_session(&line)
        .map_or_else(|| begins_as_ours(&line), |session| sessions.contains(&session.as_str())))
}

fn row_session(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    RuntimeRow::parse(text.trim()).ok().map(|row| row.session_id().to_owned())
}

fn begins_as_ours(line: &[u8]) -> bool {
    let start = format!("{LINE_START}{TRACE_SCHEMA}\"");
    let compared = start.len().min(line.len());
    line.iter().zip(start.as_bytes()).take(compared).all(|(is, should)| is == should)
}
