//! `traj trim --undo`: lists the trims that can be undone, and undoes them.

use traj_core::care::trim::{TrimError, UndoReport, UndoSelection, UndoableTrim, undo, undoable};
use traj_core::json::{Json, Object};
use traj_core::port::RewriteMode;
use traj_core::timestamp::UnixMillis;

use super::{TrimReport, TrimWork, failed};
use crate::command::Outcome;
use crate::command_error::CommandError;
use crate::output::CommandOutput;
use crate::quantity;

/// Parses the time that identifies a trim.
pub(super) fn made_at(text: &str) -> Result<UnixMillis, String> {
    UnixMillis::parse_iso(text)
        .ok_or_else(|| "a time like 2026-06-01T10:00:05.000Z, as --undo --dry-run lists it".into())
}

impl TrimWork<'_> {
    pub(super) fn undo(&self, made_at: Option<UnixMillis>, output: &CommandOutput) -> Outcome {
        let selection = match made_at {
            Some(_) if self.arguments.all => {
                return Err(CommandError::usage("--all cannot be combined with a time"));
            }
            Some(at) => UndoSelection::MadeAt(at),
            None if self.arguments.all => UndoSelection::All,
            None => UndoSelection::Last,
        };
        let trims =
            undoable(self.journal, self.now).map_err(|error| failed(TrimError::from(error)))?;
        if let UndoSelection::MadeAt(at) = selection
            && trims.iter().all(|trim| trim.at != at)
        {
            return Err(CommandError::failure("no trim made at that time can be undone")
                .hint("list the trims that can be undone with --undo --dry-run"));
        }
        let undone =
            undo(&self.ports, self.journal, selection, self.now, self.mode).map_err(failed)?;
        let is_preview = self.mode == RewriteMode::Preview;
        let restored = undone.session_lines + undone.sidecar_lines + undone.blobs;
        let is_listed = is_preview && !trims.is_empty();
        if restored == 0 && undone.remaining() == 0 && !is_listed {
            return Err(CommandError::failure("there is nothing to undo")
                .hint("a trim can only be undone within its --keep-undo time"));
        }
        let mut json = json_of(&undone);
        if is_preview {
            json.push("trims", trims.iter().map(trim_json).collect::<Vec<_>>());
        }
        let report = self.report("undo", false, Json::Object(json));
        let human = |_: &TrimReport| {
            let mut lines: Vec<String> =
                trims.iter().filter(|_| is_preview).map(shown_trim).collect();
            let verb = if is_preview { "would restore" } else { "restored" };
            lines.push(format!(
                "{verb} {} of the session, {} of the sidecar, {}\n",
                quantity::counted(undone.session_lines, "line"),
                quantity::counted(undone.sidecar_lines, "event"),
                quantity::counted(undone.blobs, "blob"),
            ));
            lines.concat()
        };
        match left(&undone) {
            Some(error) => output.failed_result(&report, &error, human),
            None => output.verdict(&report, None, human),
        }
    }
}

/// The error for what could not be undone.
fn left(undone: &UndoReport) -> Option<CommandError> {
    let hints = [
        (undone.not_found, "lines changed after the trim and were kept"),
        (undone.out_of_reach, "events and blobs belong to a sidecar that was not found"),
    ];
    let mut hints = hints.into_iter().filter(|(count, _)| *count > 0).peekable();
    hints.peek()?;
    let mut error = CommandError::failure("not everything could be undone");
    for (count, meaning) in hints {
        error = error.hint(format!("{count} {meaning}"));
    }
    if undone.out_of_reach > 0 {
        error = error.hint("set TRAJ_TRAJECTORY_DIR to its value when the session was recorded");
    }
    Some(error.hint("the journal keeps the originals; try --undo again"))
}

fn json_of(undone: &UndoReport) -> Object<'static> {
    let mut json = Object::new();
    json.push("session_lines", undone.session_lines);
    json.push("sidecar_events", undone.sidecar_lines);
    json.push("blobs", undone.blobs);
    json.push("not_found", undone.not_found);
    json.push("out_of_reach", undone.out_of_reach);
    json.push("expired", undone.expired);
    json
}

fn trim_json(trim: &UndoableTrim) -> Json<'static> {
    let mut json = Object::new();
    json.push("made_at", trim.at.to_iso());
    json.push("until", trim.until.to_iso());
    json.push("session_lines", trim.session_lines);
    json.push("sidecar_events", trim.sidecar_lines);
    json.push("blobs", trim.blobs);
    json.push("bytes", trim.bytes);
    Json::Object(json)
}

fn shown_trim(trim: &UndoableTrim) -> String {
    format!(
        "{}: {}, {}, {}, {}, until {}\n",
        trim.at.to_iso(),
        quantity::counted(trim.session_lines, "line"),
        quantity::counted(trim.sidecar_lines, "event"),
        quantity::counted(trim.blobs, "blob"),
        quantity::shown_size(trim.bytes),
        trim.until.to_iso()
    )
}
