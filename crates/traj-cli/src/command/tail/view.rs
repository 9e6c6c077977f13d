//! How `traj tail` prints and orders events.

use std::collections::VecDeque;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use traj_core::care::tail::{Severity, TailEvent};
use traj_core::run::Origin;
use traj_core::timestamp::UnixMillis;
use traj_fs::{FollowedFile, FsError};

use super::shown_rows::ShownRows;
use crate::command_error::CommandError;
use crate::output::CommandOutput;
use crate::terminal_text::{escape_control, escape_json};

/// At most this many events are held in memory for sorting: about 16 MiB.
const MOST_HELD: usize = 32_768;

/// The length of the shortest event, including the newline.
const SHORTEST_LINE: u64 = "{\"type\":\"\"}\n".len() as u64;

/// Past events are printed in portions of this size.
const PAGE: usize = 64 * 1024;

/// An event for scripts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Line")]
pub(super) struct TailLine<'a> {
    /// `traj-tail/2`.
    schema: &'static str,
    /// When it happened.
    at: Option<String>,
    /// `sidecar` or `transcript`.
    origin: &'static str,
    /// The type of the event.
    #[serde(rename = "type")]
    kind: &'a str,
    /// The session.
    session: &'a str,
    /// `normal`, `warning` or `error`.
    severity: &'static str,
    /// What happened, in one line.
    preview: &'a str,
    /// How long it took.
    duration_ms: Option<u64>,
    /// Tokens that a model read, cached ones included.
    input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    output_tokens: Option<u64>,
    /// What went wrong.
    error: Option<&'a str>,
    /// The tool call.
    call_id: Option<&'a str>,
    /// Its command.
    command: Option<&'a str>,
    /// How it ended.
    outcome: Option<&'static str>,
    /// Its exit code.
    exit_code: Option<i64>,
}

pub(super) fn unreadable(error: FsError) -> CommandError {
    CommandError::failure("cannot read the events of the session").because(error)
}

/// The events to show, and their form.
pub(super) struct View<'a> {
    output: &'a CommandOutput,
    tail: usize,
    filter: ShownRows<'a>,
}

impl<'a> View<'a> {
    pub(super) const fn new(filter: ShownRows<'a>, tail: usize, output: &'a CommandOutput) -> Self {
        Self { output, tail, filter }
    }

    pub(super) const fn filter(&self) -> &ShownRows<'a> {
        &self.filter
    }

    /// Shows the newest events of all files, by time.
    pub(super) fn begin(&self, files: &mut [FollowedFile]) -> Result<(), CommandError> {
        if self.tail > MOST_HELD {
            return self.begin_far_back(files);
        }
        let mut events = Vec::new();
        for file in files {
            events.extend(file.last(self.tail, &self.filter).map_err(unreadable)?);
        }
        events.sort_by_key(|event| event.at);
        let surplus = events.len().saturating_sub(self.tail);
        let mut page = String::new();
        for event in events.into_iter().skip(surplus) {
            page.push_str(&self.line(event));
            if page.len() >= PAGE {
                self.print(&page)?;
                page.clear();
            }
        }
        self.print(&page)
    }

    /// Like [`Self::begin`], for more events than fit in memory: reads each file
    /// in order and merges the files by time.
    fn begin_far_back(&self, files: &mut [FollowedFile]) -> Result<(), CommandError> {
        let mut bytes = 0;
        for file in files.iter() {
            bytes += file.length().map_err(unreadable)?;
        }
        // If every event is wanted, there is no need to count.
        let is_counted = bytes / SHORTEST_LINE > self.tail as u64;
        let mut total = 0;
        for file in files.iter_mut() {
            let wanted = is_counted.then_some(self.tail);
            total += file.go_back(wanted, &self.filter).map_err(unreadable)?;
        }
        let mut surplus = total.saturating_sub(self.tail);
        let mut waiting: Vec<VecDeque<TailEvent>> = files.iter().map(|_| VecDeque::new()).collect();
        let mut page = String::new();
        loop {
            for (file, waiting) in files.iter_mut().zip(&mut waiting) {
                while waiting.is_empty()
                    && file
                        .page(&self.filter, &mut |event| waiting.push_back(event))
                        .map_err(unreadable)?
                {}
            }
            let first = waiting.iter_mut().filter(|waiting| !waiting.is_empty());
            let first = first.min_by_key(|waiting| waiting.front().map(|event| event.at));
            let Some(event) = first.and_then(VecDeque::pop_front) else { break };
            if surplus > 0 && event.is_wanted {
                surplus -= 1;
                continue;
            }
            page.push_str(&self.line(event));
            if page.len() >= PAGE {
                self.print(&page)?;
                page.clear();
            }
        }
        self.print(&page)
    }

    pub(super) fn show(&self, event: TailEvent) -> Result<(), CommandError> {
        self.print(&self.line(event))
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

    /// The event as printed; empty if it is filtered out.
    fn line(&self, mut event: TailEvent) -> String {
        if !event.is_wanted {
            return String::new();
        }
        if self.output.is_json() {
            let text = serde_json::to_string(&line_of(&event)).unwrap_or_default();
            let mut text = escape_json(text);
            text.push('\n');
            return text;
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
        format!("{style}{}{style:#}\n", event.layout())
    }
}

fn line_of(event: &TailEvent) -> TailLine<'_> {
    TailLine {
        schema: "traj-tail/2",
        at: event.at.map(UnixMillis::to_iso),
        origin: if event.origin == Origin::Runtime { "sidecar" } else { "transcript" },
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
        call_id: event.call_id.as_deref(),
        command: event.command.as_deref(),
        outcome: event.outcome,
        exit_code: event.exit_code,
    }
}
