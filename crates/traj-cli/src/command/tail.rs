//! `traj tail`: the newest events of a session, live.

mod gathered;
mod shown_rows;
mod view;

use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use globset::Glob;
use regex::Regex;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use traj_core::run::Origin;
use traj_fs::{FolderWatch, FollowedFile, FsError, open_file};

use self::gathered::GatheredFiles;
use self::shown_rows::ShownRows;
use self::view::{View, unreadable};
use super::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::gathered::is_gathered;
use crate::resolve::{self, SubjectArguments, Unnamed};

/// The polling interval if no notification arrives.
const POLL: Duration = Duration::from_millis(1_000);

#[derive(Debug, Args)]
#[command(
    long_about = "Prints the newest events of a session, redacted, one line per event: time, \
                  type, session, what happened, duration, tokens and errors.\n\n--follow keeps \
                  printing as events are recorded. It survives rotation, replacement, \
                  overwriting and truncation of the file without losing or repeating an event. \
                  --json prints one JSON object per line (schema traj-tail/2). Without SESSION, \
                  shows the newest session of this workspace, or else of this machine.",
    after_help = concat!(
        "Examples:\n",
        "  traj tail                           the newest session of this workspace\n",
        "  traj tail agent:main:main -f        by key, and keep following\n",
        "  traj tail 0197f2c4 --type 'tool.*'  by the beginning of an id, tools only\n",
        "\n",
        "Exit codes: 0 reached the end · 1 the file cannot be read · 2 wrong usage · 4 the \
         store is damaged · 130 ended by SIGINT · 143 ended by SIGTERM"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Keep printing as events are recorded
    #[arg(long, short)]
    follow: bool,
    /// The number of past events to print first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 80)]
    tail: usize,
    /// Only events whose type matches, such as `tool.*`
    #[arg(long = "type", value_name = "GLOB")]
    kind: Option<Glob>,
    /// Only events whose printed line or redacted row matches
    #[arg(long, value_name = "REGEX")]
    grep: Option<Regex>,
    /// Include the rows of the transcript
    #[arg(long)]
    transcript: bool,
}

/// Why the wait ended.
#[derive(Clone, Copy, Debug)]
enum Wake {
    Change,
    Signal(i32),
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of_lines::<view::TailLine<'static>>("tail");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let (sender, receiver) = channel();
    if arguments.follow {
        watch_signals(sender.clone())?;
    }
    let place = resolve::session(&arguments.subject, Unnamed::Newest, host, output)?;
    let file = arguments.subject.session.clone().unwrap_or_else(|| place.path.clone());
    let filter = ShownRows::new(arguments.kind.as_ref(), arguments.grep.as_ref(), host)?;
    let view = View::new(filter, arguments.tail, output);
    let mut files = Vec::new();
    let mut watches = Vec::new();
    if is_gathered(&place.folder, &place.name) {
        watches.extend(place.path.parent().and_then(|path| watch(path, &sender)));
        let mut copies = GatheredFiles::of(&place, arguments.transcript, host)?;
        let mut files = copies.followed()?;
        view.begin(&mut files)?;
        if !arguments.follow {
            return Ok(ExitCode::SUCCESS);
        }
        return follow(&mut files, &mut || copies.refresh(), &view, &receiver);
    }
    let search = place.sidecar(host)?;
    search.notes().for_each(|note| output.note(&note));
    if search.found.is_none() {
        let session = open_file(&place.folder, &place.name);
        no_trajectory(arguments, &file, session.err(), output)?;
    }
    // Without a sidecar, watch the location where it would appear.
    if let Some(sidecar) = search.found.or(search.awaited) {
        watches.extend(sidecar.path.parent().and_then(|path| watch(path, &sender)));
        files.push(FollowedFile::new(sidecar.folder, sidecar.name, Origin::Runtime));
    }
    if arguments.transcript {
        watches.extend(place.path.parent().and_then(|path| watch(path, &sender)));
        files.push(FollowedFile::new(place.folder, place.name, Origin::Transcript));
    }
    view.begin(&mut files)?;
    if !arguments.follow {
        return Ok(ExitCode::SUCCESS);
    }
    follow(&mut files, &mut || Ok(()), &view, &receiver)
}

/// Reports a session without a sidecar; an error if there is no session at all.
fn no_trajectory(
    arguments: &Arguments,
    file: &Path,
    error: Option<FsError>,
    output: &CommandOutput,
) -> Result<(), CommandError> {
    match error {
        Some(error) if !error.is_not_found() => {
            let message = format!("cannot read the session {}", file.display());
            return Err(CommandError::failure(message).because(error));
        }
        Some(_) if !arguments.follow => {
            return Err(CommandError::failure(format!("there is no session {}", file.display()))
                .hint(
                    "run `traj sessions` to list the sessions, or wait for this one with --follow",
                ));
        }
        None if !arguments.follow && !arguments.transcript && !output.is_json() => {
            output
                .note("the session has no recorded events; --transcript shows the session itself");
        }
        _ => {}
    }
    Ok(())
}

fn watch(folder: &Path, sender: &Sender<Wake>) -> Option<FolderWatch> {
    FolderWatch::start(folder, sender.clone(), Wake::Change)
}

fn watch_signals(sender: Sender<Wake>) -> Result<(), CommandError> {
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| CommandError::failure("cannot listen for signals").because(error))?;
    let wake = move || {
        for signal in signals.forever() {
            sender.send(Wake::Signal(signal)).ok();
        }
    };
    let started = thread::Builder::new().spawn(wake);
    let cannot = |error| CommandError::failure("cannot start a thread").because(error);
    started.map(drop).map_err(cannot)
}

/// Shows new events. `refresh` brings files up to date that are only copies.
fn follow(
    files: &mut [FollowedFile],
    refresh: &mut dyn FnMut() -> Result<(), CommandError>,
    view: &View<'_>,
    wakes: &Receiver<Wake>,
) -> Outcome {
    loop {
        refresh()?;
        for file in files.iter_mut() {
            let mut failed = None;
            let polled = file.poll(view.filter(), &mut |event| {
                if failed.is_none() {
                    failed = view.show(event).err();
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
            polled.map_err(unreadable)?;
        }
        let mut woken = wakes.recv_timeout(POLL);
        // One read covers all changes that were reported in the meantime.
        while let Ok(Wake::Change) = woken {
            woken = match wakes.try_recv() {
                Ok(wake) => Ok(wake),
                Err(_) => break,
            };
        }
        match woken {
            Ok(Wake::Signal(signal)) => {
                let code = u8::try_from(signal).map_or(1, |signal| signal.saturating_add(128));
                return Ok(ExitCode::from(code));
            }
            Ok(Wake::Change) | Err(RecvTimeoutError::Timeout) => {}
            // Cannot happen while this thread holds a sender; keep polling.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
        }
    }
}
