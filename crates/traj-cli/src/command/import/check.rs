//! Checks that an imported session states the same run as its source.

use std::path::Path;

use traj_core::port::SourceError;
use traj_core::run::{Prices, Run, SessionFiles};

use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::open_source;

/// Reads the files that were written.
pub(super) fn read_back(
    transcript: &Path,
    sidecar: &Path,
    id: &str,
    host: &Host,
) -> Result<Run, CommandError> {
    let unreadable =
        |error: SourceError| CommandError::failure("cannot read what was written").because(error);
    let transcript = open_source(transcript, host)?.map_err(unreadable)?;
    let sidecar = open_source(sidecar, host)?.map_err(unreadable)?;
    let files = SessionFiles {
        transcript: Some(&*transcript),
        sidecar: Some(&*sidecar),
        session: id,
        longest_row: host.reading().session_line_bytes,
    };
    files.fold(Prices::shipped()).map(|read| read.run).map_err(unreadable)
}

/// Compares calls, outcomes, tokens, prompts and errors.
pub(super) fn compare(source: &Run, read: &Run) -> Result<(), CommandError> {
    let different: Vec<String> = figures(source)
        .into_iter()
        .zip(figures(read))
        .filter(|((_, source), (_, read))| source != read)
        .map(|((name, source), (_, read))| format!("{name}: {source} became {read}"))
        .chain((errors(source) != errors(read)).then(|| "errors outside tools".to_owned()))
        .collect();
    if different.is_empty() {
        return Ok(());
    }
    let error = CommandError::failure(
        "the files differ from their source when read back; they were removed",
    );
    Err(different.into_iter().fold(error, CommandError::hint))
}

fn figures(run: &Run) -> [(&'static str, u64); 12] {
    let (calls, usage) = (&run.calls, &run.models.usage);
    [
        ("prompts", run.turns),
        ("calls", calls.calls),
        ("failed calls", calls.failed),
        ("calls that timed out", calls.timed_out),
        ("declined calls", calls.declined),
        ("interrupted calls", calls.interrupted),
        ("unanswered calls", calls.unanswered),
        ("input tokens", usage.input),
        ("cached tokens", usage.cached),
        ("tokens written to a cache", usage.cache_write),
        ("output tokens", usage.output),
        ("tokens of reasoning", usage.reasoning),
    ]
}

/// The errors of a run, in any order: two files are merged by time.
fn errors(run: &Run) -> (Vec<&str>, u64) {
    let mut errors: Vec<&str> = run.errors.iter().map(String::as_str).collect();
    errors.sort_unstable();
    (errors, run.other_errors)
}
