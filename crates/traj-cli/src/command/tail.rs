//! `traj tail`: the newest events of a session, live.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use globset::{Glob, GlobMatcher};
use regex::Regex;
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use traj_core::redaction::{RedactionPolicy, RedactionReport, Redactor};
use traj_core::tail::{Origin, Severity, TailEvent, Timings};
use traj_core::timestamp::UnixMillis;
use traj_fs::{Access, FolderWatch, FollowedFile, FsError, open_regular};

use super::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::Output;
use crate::session_place::SessionPlace;
use crate::store_place::StorePlace;
use crate::terminal_text::{escape_control, escape_json};

/// How often we look when no notification comes.
const POLL: Duration = Duration::from_millis(1_000);

/// So many events are held at once, to be put in order: some 16 MiB.
const MOST_HELD: usize = 32_768;

/// No event is shorter than this, its line end included.
const SHORTEST_LINE: u64 = "{\"type\":\"\"}\n".len() as u64;

/// What is there to begin with is printed in portions of this size.
const PAGE: usize = 64 * 1024;

#[derive(Debug, Args)]
#[command(
    long_about = "Prints the newest events of a session's trajectory, one readable line each: \
                  time, type, session, what happened, how long it took, tokens and errors. With \
                  --follow it goes on as events are recorded, through rotation, replacement, \
                  overwriting and truncation of the file, without losing or repeating one. With \
                  --json every event is one JSON object on a line of its own, schema traj-tail/1.",
    after_help = "Exit codes: 0 the end was reached · 1 the file cannot be read · 2 wrong usage · \
                  4 the store is damaged · 130 ended by SIGINT · 143 ended by SIGTERM"
)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["session", "session_key"])))]
pub(crate) struct Arguments {
    /// The session's transcript
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// The session's key in the store
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
    /// The store that lists the key
    #[arg(long, value_name = "FILE", requires = "session_key")]
    store: Option<PathBuf>,
    /// Go on as events are recorded
    #[arg(long, short)]
    follow: bool,
    /// How many events to begin with
    #[arg(long, short = 'n', value_name = "N", default_value_t = 80)]
    tail: usize,
    /// Only events whose type matches, for example `tool.*`
    #[arg(long = "type", value_name = "GLOB")]
    kind: Option<Glob>,
    /// Only events whose line matches
    #[arg(long, value_name = "REGEX")]
    grep: Option<Regex>,
    /// Rows of the transcript too
    #[arg(long)]
    transcript: bool,
}

/// An event for scripts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    schema: &'static str,
    at: Option<String>,
    origin: &'static str,
    #[serde(rename = "type")]
    kind: &'a str,
    session: &'a str,
    severity: &'static str,
    preview: &'a str,
    duration_ms: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    error: Option<&'a str>,
}

/// Why the wait ended.
#[derive(Clone, Copy, Debug)]
enum Wake {
    Change,
    Signal(i32),
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let file = match (&arguments.session, &arguments.session_key) {
        (Some(file), _) => file.clone(),
        (None, Some(key)) => StorePlace::file_of_key(key, arguments.store.as_deref(), host)?,
        (None, None) => return Err(CommandError::usage("name a session")),
    };
    let (sender, receiver) = channel();
    if arguments.follow {
        watch_signals(sender.clone())?;
    }
    let place = SessionPlace::of(&file, host)?;
    let mut view = View::new(arguments, host, output);
    let mut files = Vec::new();
    let mut watches = Vec::new();
    let sidecar = place.sidecar(host)?;
    if sidecar.is_none() {
        let session = open_regular(&place.folder, &place.name, Access::Read);
        no_trajectory(arguments, &file, session.err(), output)?;
    }
    let sidecar_folder =
        sidecar.as_ref().map_or(place.path.as_path(), |sidecar| sidecar.path.as_path()).parent();
    watches.extend(sidecar_folder.and_then(|path| watch(path, &sender)));
    files.push(match sidecar {
        Some(sidecar) => FollowedFile::new(sidecar.folder, sidecar.name, Origin::Sidecar),
        None => {
            let name = traj_core::location::sidecar_beside(&place.name);
            let folder = host.folder_of(&file)?.0;
            FollowedFile::new(folder, name, Origin::Sidecar)
        }
    });
    if arguments.transcript {
        watches.extend(place.path.parent().and_then(|path| watch(path, &sender)));
        files.push(FollowedFile::new(place.folder, place.name, Origin::Transcript));
    }
    view.begin(&mut files)?;
    if !arguments.follow {
        return Ok(ExitCode::SUCCESS);
    }
    follow(&mut files, &mut view, &receiver)
}

/// A session without a sidecar may get one, unless it is none at all.
fn no_trajectory(
    arguments: &Arguments,
    file: &Path,
    error: Option<FsError>,
    output: &Output,
) -> Result<(), CommandError> {
    match error {
        Some(error) if !error.is_not_found() => {
            let message = format!("cannot read the session {}", file.display());
            return Err(CommandError::failure(message).because(error));
        }
        Some(_) if !arguments.follow => {
            return Err(CommandError::failure(format!("there is no session {}", file.display()))
                .hint("run `traj sessions` to see which there are, or wait for it with --follow"));
        }
        None if !arguments.follow && !arguments.transcript && !output.is_json() => {
            output.note("the session has no trajectory; --transcript shows the session itself");
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

fn follow(files: &mut [FollowedFile], view: &mut View<'_>, wakes: &Receiver<Wake>) -> Outcome {
    loop {
        for file in files.iter_mut() {
            let mut failed = None;
            let polled = file.poll(&mut |event| {
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
        // One look serves all the changes that were told meanwhile.
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
            // Cannot happen while we hold a sender; polling goes on.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
        }
    }
}

fn unreadable(error: FsError) -> CommandError {
    CommandError::failure("cannot read the events of the session").because(error)
}

/// What is shown, and how.
struct View<'a> {
    output: &'a Output,
    host: &'a Host,
    tail: usize,
    kind: Option<GlobMatcher>,
    grep: Option<&'a Regex>,
    timings: Timings,
    /// Made with the first text that needs it: most lines need none.
    redactor: OnceCell<Redactor>,
}

impl<'a> View<'a> {
    fn new(arguments: &'a Arguments, host: &'a Host, output: &'a Output) -> Self {
        Self {
            output,
            host,
            tail: arguments.tail,
            kind: arguments.kind.as_ref().map(Glob::compile_matcher),
            grep: arguments.grep.as_ref(),
            timings: Timings::default(),
            redactor: OnceCell::new(),
        }
    }

    /// Shows the newest events of all files, by time.
    fn begin(&mut self, files: &mut [FollowedFile]) -> Result<(), CommandError> {
        if self.tail > MOST_HELD {
            return self.begin_far_back(files);
        }
        let mut events = Vec::new();
        for file in files {
            let mut keep = |event: &TailEvent| self.wants(event);
            events.extend(file.last(self.tail, &mut keep).map_err(unreadable)?);
        }
        events.sort_by_key(|event| event.at);
        let surplus = events.len().saturating_sub(self.tail);
        let mut page = String::new();
        for event in events.into_iter().skip(surplus) {
            page.push_str(&self.line(event)?);
            if page.len() >= PAGE {
                self.print(&page)?;
                page.clear();
            }
        }
        self.print(&page)
    }

    /// As [`Self::begin`], for more events than are held at once: they are
    /// read in the order of their files, and those of several files put
    /// together by time.
    fn begin_far_back(&mut self, files: &mut [FollowedFile]) -> Result<(), CommandError> {
        let mut bytes = 0;
        for file in files.iter() {
            bytes += file.length().map_err(unreadable)?;
        }
        // Then it is everything, and nobody has to count.
        let is_counted = bytes / SHORTEST_LINE > self.tail as u64;
        let mut total = 0;
        for file in files.iter_mut() {
            let mut keep = |event: &TailEvent| self.wants(event);
            let wanted = is_counted.then_some(self.tail);
            total += file.go_back(wanted, &mut keep).map_err(unreadable)?;
        }
        let mut surplus = total.saturating_sub(self.tail);
        let mut waiting: Vec<VecDeque<TailEvent>> = files.iter().map(|_| VecDeque::new()).collect();
        let mut page = String::new();
        loop {
            for (file, waiting) in files.iter_mut().zip(&mut waiting) {
                while waiting.is_empty()
                    && file.page(&mut |event| waiting.push_back(event)).map_err(unreadable)?
                {
                }
            }
            let first = waiting.iter_mut().filter(|waiting| !waiting.is_empty());
            let first = first.min_by_key(|waiting| waiting.front().map(|event| event.at));
            let Some(event) = first.and_then(VecDeque::pop_front) else { break };
            if surplus > 0 && self.wants(&event) {
                surplus -= 1;
                continue;
            }
            page.push_str(&self.line(event)?);
            if page.len() >= PAGE {
                self.print(&page)?;
                page.clear();
            }
        }
        self.print(&page)
    }

    fn wants(&self, event: &TailEvent) -> bool {
        self.kind.as_ref().is_none_or(|kind| kind.is_match(&event.kind))
            && self.grep.is_none_or(|grep| grep.is_match(&event.layout()))
    }

    fn show(&mut self, event: TailEvent) -> Result<(), CommandError> {
        let line = self.line(event)?;
        self.print(&line)
    }

    fn print(&self, lines: &str) -> Result<(), CommandError> {
        if lines.is_empty() {
            Ok(())
        } else if self.output.is_json() {
            self.output.write_bytes(lines.as_bytes())
        } else {
            self.output.write_text(lines)
        }
    }

    /// The event as it is printed; nothing when it is not wanted.
    fn line(&mut self, mut event: TailEvent) -> Result<String, CommandError> {
        self.timings.annotate(&mut event);
        if !self.wants(&event) {
            return Ok(String::new());
        }
        if event.origin == Origin::Transcript {
            event.preview = self.redacted(&event.preview)?;
        }
        if let Some(error) = event.error.take() {
            event.error = Some(self.redacted(&error)?);
        }
        if self.output.is_json() {
            let text = serde_json::to_string(&line_of(&event)).unwrap_or_default();
            let mut text = escape_json(text);
            text.push('\n');
            return Ok(text);
        }
        for text in [&mut event.kind, &mut event.session, &mut event.preview] {
            *text = escape_control(text).into_owned();
        }
        event.error = event.error.map(|error| escape_control(&error).into_owned());
        let style = match event.severity {
            Severity::Error => Style::new().fg_color(Some(AnsiColor::Red.into())),
            Severity::Warning => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
            _ => Style::new(),
        };
        Ok(format!("{style}{}{style:#}\n", event.layout()))
    }

    fn redacted(&self, text: &str) -> Result<String, CommandError> {
        let redactor = match self.redactor.get() {
            Some(redactor) => redactor,
            None => {
                let key = self.host.marker_key().or_else(|_| Host::passing_key())?;
                self.redactor.get_or_init(|| Redactor::new(RedactionPolicy::standard(key)))
            }
        };
        let mut report = RedactionReport::default();
        Ok(redactor.text(text, &mut report).into_inner().into_owned())
    }
}

fn line_of(event: &TailEvent) -> Line<'_> {
    Line {
        schema: "traj-tail/1",
        at: event.at.map(UnixMillis::to_iso),
        origin: if event.origin == Origin::Sidecar { "sidecar" } else { "transcript" },
        kind: &event.kind,
        session: &event.session,
        severity: match event.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            _ => "normal",
        },
        preview: &event.preview,
        duration_ms: event.duration,
        input_tokens: event.tokens.map(|(input, _)| input),
        output_tokens: event.tokens.map(|(_, output)| output),
        error: event.error.as_deref(),
    }
}
