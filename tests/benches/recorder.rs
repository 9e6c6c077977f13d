//! What recording costs, against the barest way to write lines and against
//! the original's way of checking, opening and closing the file per event.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::figure::Figure;
use crate::measure::{medians, wall};
use crate::{Bench, Outcome, sample};

pub(crate) fn run(bench: &Bench) -> Outcome {
    let folder = tempfile::tempdir()?;
    let count = bench.size(40_000, 200);
    let rounds = bench.size(5, 1);
    let events: Vec<(&str, Value)> = (0..count).map(sample::event).collect();

    let [bare, original] = medians(
        rounds,
        [
            &mut || timed(&folder.path().join("bare.jsonl"), |path| bare_lines(path, &events)),
            &mut || {
                timed(&folder.path().join("original.jsonl"), |path| original_way(path, &events))
            },
        ],
    );
    let per_second = |seconds: f64| count as f64 / seconds;
    Ok(vec![
        Figure::new("bare serde_json + write", per_second(bare), "events/s"),
        Figure::new("checks, open, append, close", per_second(original), "events/s"),
        Figure::ratio("bare / checks, open, append, close", original, bare).at_least(1.0),
    ])
}

/// A fresh file for every round: nobody profits from what an earlier one wrote.
fn timed(path: &Path, mut write: impl FnMut(&Path) -> std::io::Result<()>) -> Duration {
    std::fs::remove_file(path).ok();
    let mut result = Ok(());
    let took = wall(|| result = write(path));
    // A contender that failed early must not win.
    if result.is_ok() { took } else { Duration::MAX }
}

fn line(kind: &str, sequence: usize, data: &Value) -> serde_json::Result<Vec<u8>> {
    let event = json!({
        "traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "session-1",
        "source": "runtime", "type": kind, "ts": "2026-06-01T10:00:00.000Z", "seq": sequence,
        "sourceSeq": sequence, "sessionId": "session-1", "data": data,
    });
    let mut line = serde_json::to_vec(&event)?;
    line.push(b'\n');
    Ok(line)
}

/// (a) One open file, one `write` per line, no check of any kind.
fn bare_lines(path: &Path, events: &[(&str, Value)]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    for (sequence, (kind, data)) in events.iter().enumerate() {
        file.write_all(&line(kind, sequence, data)?)?;
    }
    Ok(())
}

/// (b) Per event: look at every folder above, at the file, open, look again, append, close.
fn original_way(path: &Path, events: &[(&str, Value)]) -> std::io::Result<()> {
    for (sequence, (kind, data)) in events.iter().enumerate() {
        let line = line(kind, sequence, data)?;
        for folder in path.ancestors().skip(1) {
            if !folder.symlink_metadata()?.is_dir() {
                return Err(std::io::Error::other("a folder above is not a folder"));
            }
        }
        let before = path.symlink_metadata().ok();
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)?;
        let opened = file.metadata()?;
        let same = before.is_none_or(|old| old.ino() == opened.ino() && old.dev() == opened.dev());
        if !same || !opened.is_file() || opened.nlink() > 1 {
            return Err(std::io::Error::other("the file is not the one that was looked at"));
        }
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all(&line)?;
    }
    Ok(())
}
