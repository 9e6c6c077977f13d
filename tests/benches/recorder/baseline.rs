//! The two baselines of the recorder.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use serde::Serialize;
use serde_json::{Value, json};

use super::sanitise::Sanitiser;

/// An event as both baselines write it, with OpenClaw's order of members.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, D> {
    trace_schema: &'static str,
    schema_version: u64,
    trace_id: &'static str,
    source: &'static str,
    #[serde(rename = "type")]
    kind: &'a str,
    ts: &'static str,
    seq: usize,
    source_seq: usize,
    session_id: &'static str,
    data: D,
}

fn line(kind: &str, sequence: usize, data: impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line {
        trace_schema: "openclaw-trajectory",
        schema_version: 1,
        trace_id: "session-1",
        source: "runtime",
        kind,
        ts: "2026-06-01T10:00:00.000Z",
        seq: sequence,
        source_seq: sequence,
        session_id: "session-1",
        data,
    })?;
    line.push(b'\n');
    Ok(line)
}

/// (a) One open file, one `write` per line, no checks.
pub(super) fn bare_lines(path: &Path, events: &[(&str, Value)]) -> io::Result<()> {
    let mut file = File::create(path)?;
    for (sequence, (kind, data)) in events.iter().enumerate() {
        file.write_all(&line(kind, sequence, data)?)?;
    }
    Ok(())
}

/// (b) The system calls of OpenClaw for each event: sanitise its data; `stat` every
/// directory below the root and the file; compare its size with the limit; open or
/// create it, `stat` it again, set its mode, append, close. The directory is created
/// once, before the first event.
///
/// `strace` of the writer of openclaw 2026.6.1, with the sessions seven directories
/// deep, shows for each event seven `statx` of directories from the root down, `statx`
/// of the file, `openat` (append, create, no-follow), `statx` of the open file,
/// `fchmod`, `write` and `close`. The only other calls are those with which its
/// threads wake each other.
///
/// Without a sanitiser, the data is written unchanged, which shows the cost of the
/// file handling alone.
pub(super) fn original_way(
    path: &Path,
    events: &[(&str, Value)],
    sanitiser: Option<&Sanitiser>,
) -> io::Result<()> {
    let folders: Vec<&Path> =
        path.ancestors().skip(1).filter(|folder| folder.parent().is_some()).collect();
    for (sequence, (kind, data)) in events.iter().enumerate() {
        let line = match sanitiser {
            Some(sanitiser) => line(kind, sequence, sanitiser.data(data))?,
            None => line(kind, sequence, data)?,
        };
        for folder in folders.iter().rev() {
            if !folder.symlink_metadata()?.is_dir() {
                return Err(io::Error::other("a folder above is not a folder"));
            }
        }
        let before = path.symlink_metadata().ok();
        let fits = |size: u64| size + line.len() as u64 <= u64::MAX / 2;
        if !before.as_ref().is_none_or(|file| file.is_file() && fits(file.size())) {
            return Err(io::Error::other("no file to append to"));
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)?;
        let opened = file.metadata()?;
        let same = before.is_none_or(|old| old.ino() == opened.ino() && old.dev() == opened.dev());
        if !same || !opened.is_file() || opened.nlink() > 1 || !fits(opened.size()) {
            return Err(io::Error::other("the file is not the one that was looked at"));
        }
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all(&line)?;
    }
    Ok(())
}

/// (b) in Node, OpenClaw's own runtime: events per second, or `None` without Node.
pub(super) fn original_in_node(folder: &Path, events: &[(&str, Value)]) -> io::Result<Option<f64>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recorder/original.mjs");
    let (input, output) = (folder.join("events.jsonl"), folder.join("node.jsonl"));
    let mut lines = String::new();
    for (kind, data) in events {
        lines.push_str(&json!({ "type": kind, "data": data }).to_string());
        lines.push('\n');
    }
    std::fs::write(&input, lines)?;
    let ran = match Command::new("node").arg(script).arg(&input).arg(&output).output() {
        Ok(ran) => ran,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let rate = String::from_utf8_lossy(&ran.stdout).trim().parse();
    rate.map(Some).map_err(|_| io::Error::other("the baseline in Node did not say its rate"))
}
