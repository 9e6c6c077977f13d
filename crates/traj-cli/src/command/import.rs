//! `traj import`: any agent's session, redacted, in the format of OpenClaw.

mod check;

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use clap::Args;
use serde::Serialize;
use traj_core::agents::Agent;
use traj_core::dialect::transcribe::{TranscribedRow, Transcriber};
use traj_core::id::SessionId;
use traj_core::location::sidecar_beside;
use traj_core::run::{Fold, Prices, Run, Usage};
use traj_export::{ToolSummary, UsageSummary, counted, read_run, read_run_events};

use super::{Outcome, export};
use crate::command_error::{CommandError, ErrorKind, explain_unreadable};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::{CommandOutput, OutputFailure, write_complete};
use crate::resolve::{OpenedBundle, SubjectArguments};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Writes a session of any agent as a session of OpenClaw, for tools that read \
                  nothing else: a transcript and a sidecar with what a transcript cannot state. \
                  The session is redacted and checked like an export. The files are then read \
                  back: if calls, outcomes, tokens or errors differ from the source, no file is \
                  left.\n\nNo file is replaced, and nothing is written into a directory of an \
                  agent. SESSION can also be a bundle. Without SESSION, imports the newest \
                  session of this workspace, or else of this machine.",
    after_help = concat!(
        "Examples:\n",
        "  traj import 0199a213 --output imported   a session by the beginning of its id\n",
        "  traj import bug-1234.zip --output /tmp/s a bundle that somebody sent you\n",
        "\n",
        "Exit codes: 0 done · 1 failed, or a file exists · 2 wrong usage · 3 a secret survived · \
         4 damaged or not a bundle"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The directory for the files; it is created if it does not exist
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// The directory that the agent worked in; the files hide its path
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

/// What was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Imported {
    /// The transcript.
    session_file: String,
    /// The sidecar.
    trajectory: String,
    /// The session's id.
    session_id: String,
    /// The program that ran the agent.
    agent: Option<String>,
    /// Prompts.
    turns: u64,
    /// Tool calls, as in the source.
    calls: ToolSummary,
    /// Model calls and tokens, as in the source.
    usage: UsageSummary,
    /// Facts that the format cannot state: turns, modes and notes of the program.
    left_out: u64,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Imported>("import");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let target = host.absolute(&arguments.output);
    refuse_agents_folders(&target, host)?;
    host.check_outside_bundles(&target)?;
    let now = export::now(None, host)?;
    let opened = OpenedBundle::open(&arguments.subject, &arguments.workspace, now, host, output)?;
    if opened.is_damaged() {
        return Err(CommandError::new(ErrorKind::Damaged, "the bundle is damaged")
            .hint("run `traj verify` for details"));
    }
    let (source, too_long) =
        read_run(opened.bundle(), Prices::shipped()).map_err(explain_unreadable)?;
    if too_long > 0 {
        let events = counted(too_long, "event");
        return Err(CommandError::failure(format!("{events} too long to read")));
    }
    let stated = source.session.as_deref().and_then(|id| SessionId::parse(id).ok());
    let id = stated.map_or_else(|| opened.stem(), |id| id.to_string());
    let folder = host.folder_or_new(&target)?;
    let import = Import { opened: &opened, source: &source, id: &id, folder: &folder, host };
    let names = [format!("{id}.jsonl"), sidecar_beside(&format!("{id}.jsonl"))];
    for name in &names {
        if folder.symlink_metadata(name).is_ok() {
            let message = format!("{} exists", target.join(name).display());
            return Err(CommandError::failure(message).hint("name another directory"));
        }
    }
    let written = import.write(&target, &names);
    let left_out = written.inspect_err(|_| {
        // They are not what they should be.
        names.iter().for_each(|name| drop(folder.remove_file(name)));
    })?;
    let [session_file, trajectory] =
        names.map(|name| target.join(name).to_string_lossy().into_owned());
    let imported = Imported {
        session_file,
        trajectory,
        agent: source.agent.clone(),
        turns: source.turns,
        calls: ToolSummary::of(&source.calls),
        usage: UsageSummary::of(&source.models),
        session_id: id,
        left_out,
    };
    output.result(&imported, describe)?;
    Ok(std::process::ExitCode::SUCCESS)
}

/// Refuses directories in which an agent would mistake our files for its own.
fn refuse_agents_folders(target: &Path, host: &Host) -> Result<(), CommandError> {
    let real = host.real_path(target);
    for agent in Agent::all() {
        for folder in agent.own_folders(&host.facts) {
            let (named, folder) = (Path::new(&folder), host.real_path(Path::new(&folder)));
            if [target, &real]
                .iter()
                .any(|path| path.starts_with(named) || path.starts_with(&folder))
            {
                let message = format!("{} belongs to {}", target.display(), agent.title);
                return Err(CommandError::usage(message).hint("choose another directory"));
            }
        }
    }
    Ok(())
}

struct Import<'a> {
    opened: &'a OpenedBundle,
    source: &'a Run,
    id: &'a str,
    folder: &'a Dir,
    host: &'a Host,
}

/// Where the rows of an import go.
struct Outputs<'o> {
    transcript: &'o mut dyn Write,
    /// `None` if the sidecar is complete already.
    sidecar: Option<&'o mut dyn Write>,
}

impl Import<'_> {
    /// Writes both files and reads them back. Returns how many facts they cannot
    /// state.
    fn write(&self, target: &Path, names: &[String; 2]) -> Result<u64, CommandError> {
        let [transcript, sidecar] = names.each_ref().map(|name| target.join(name));
        let left_out = self.file(&sidecar, |events| {
            let written = self.file(&transcript, |rows| {
                let outputs = Outputs { transcript: rows, sidecar: Some(events) };
                self.rows(Usage::default(), outputs)
            });
            Ok(written?)
        })?;
        let read = check::read_back(&transcript, &sidecar, self.id, self.host)?;
        // Programs count calls that they do not record.
        let missing = self.source.models.usage.since(&read.models.usage);
        let read = if missing.is_zero() {
            read
        } else {
            self.file(&transcript, |rows| {
                self.rows(missing, Outputs { transcript: rows, sidecar: None })
            })?;
            check::read_back(&transcript, &sidecar, self.id, self.host)?
        };
        check::compare(self.source, &read)?;
        Ok(left_out)
    }

    /// Writes one of the files, which gets its name when it is complete.
    fn file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<u64, OutputFailure>,
    ) -> Result<u64, CommandError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        write_complete(self.folder, name, path, |file| {
            let mut out = BufWriter::new(file);
            let left_out = write(&mut out)?;
            out.flush().map_err(OutputFailure::Write)?;
            Ok(left_out)
        })
    }

    /// Writes the rows of both files.
    fn rows(&self, missing: Usage, mut outputs: Outputs<'_>) -> Result<u64, OutputFailure> {
        let mut fold = Fold::new(Prices::shipped()).without_moments();
        let mut transcriber = Transcriber::new(self.source, self.id);
        let mut line = String::new();
        let mut written = Ok(());
        let mut put = |row: TranscribedRow<'_>| {
            let (out, row) = match (&row, &mut outputs.sidecar) {
                (TranscribedRow::Transcript(row), _) => (&mut *outputs.transcript, row),
                (TranscribedRow::Sidecar(row), Some(sidecar)) => (&mut **sidecar, row),
                (TranscribedRow::Sidecar(_), None) => return,
            };
            if written.is_err() {
                return;
            }
            line.clear();
            row.write_compact(&mut line);
            line.push('\n');
            written = out.write_all(line.as_bytes());
        };
        transcriber.begin(&mut put);
        let too_long = read_run_events(self.opened.bundle(), &mut |event| {
            let taken = fold.read(event);
            transcriber.push(event, &taken, &mut put);
            ControlFlow::Continue(())
        });
        too_long.map_err(explain_unreadable)?;
        transcriber.end(missing, &mut put);
        written.map_err(OutputFailure::Write)?;
        Ok(transcriber.left_out())
    }
}

fn describe(imported: &Imported) -> String {
    let calls = counted(imported.calls.calls, "call");
    let failed = match imported.calls.errors {
        0 => String::new(),
        failed => format!(" ({failed} failed)"),
    };
    let tokens =
        format!("{} tokens in, {} out", imported.usage.input_tokens, imported.usage.output_tokens);
    let left_out = match imported.left_out {
        0 => String::new(),
        count => format!(", {} left out", counted(count, "note")),
    };
    format!(
        "wrote {}\n      {}\nread back: {calls}{failed}, {tokens}, as in the source{left_out}\n",
        escape_control(&imported.session_file),
        escape_control(&imported.trajectory),
    )
}
