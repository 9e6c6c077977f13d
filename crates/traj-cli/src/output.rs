//! The output of a verb, as text or as one JSON document: results on standard
//! output, everything else on standard error.

mod file;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;
use traj_core::settings::configuration::{Color, Preferences};

use crate::arguments::{Cli, ColorChoice};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::terminal_text::{escape_control, escape_json};
pub(crate) use file::{OutputFailure, OutputFile, stoppable, write_complete};

/// The schema name and version of every printed JSON document. Within a
/// version, members are only ever added.
pub(crate) const ENVELOPE_SCHEMA: &str = "traj-cli/2";

/// One JSON document: a result, an error, or both.
#[derive(Serialize)]
struct Envelope<'a, R: Serialize> {
    schema: &'static str,
    version: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorDocument<'a>>,
}

/// Why a verb failed.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct ErrorDocument<'a> {
    /// What the exit code says: `usage`, `failure`, `findings`, `damaged` or
    /// `interrupted`.
    kind: &'static str,
    /// What went wrong.
    message: &'a str,
    /// Why, nearest first.
    causes: Vec<String>,
    /// What to do.
    hints: Vec<&'a str>,
}

/// Where output goes, and in which form.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    json: bool,
    quiet: bool,
}

impl CommandOutput {
    pub(crate) fn new(cli: &Cli, host: &Host) -> Self {
        let preferred = || Preferences::from_host(&host.facts).color.value;
        match cli.color.map_or_else(preferred, ColorChoice::preference) {
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
            _ => anstream::ColorChoice::Auto,
        }
        .write_global();
        Self { json: cli.json, quiet: cli.quiet }
    }

    /// Whether `--json` was given.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Whether notes are not printed.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether progress may be shown: on a terminal, with neither `--json` nor
    /// `--quiet`.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.json && !self.quiet && io::stderr().is_terminal()
    }

    /// The terminal's width in columns; `None` if output does not go to a
    /// terminal.
    pub(crate) fn terminal_width(&self, host: &Host) -> Option<usize> {
        io::stdout().is_terminal().then(|| host.terminal_width())
    }

    /// Prints the result of a successful verb: the document, or the text that
    /// `human` returns.
    pub(crate) fn result<R: Serialize>(
        &self,
        result: &R,
        human: impl FnOnce(&R) -> String,
    ) -> Result<(), CommandError> {
        self.verdict(result, None, human).map(|_| ())
    }

    /// Prints a result that may report problems, and returns its exit code,
    /// which agrees with `ok` in the document.
    pub(crate) fn verdict<R: Serialize>(
        &self,
        result: &R,
        fault: Option<ErrorKind>,
        human: impl FnOnce(&R) -> String,
    ) -> Result<ExitCode, CommandError> {
        let printed = if self.json {
            self.write_bytes(result_document(result, fault).as_bytes())
        } else {
            self.write_text(&human(result))
        };
        match fault {
            None => printed.map(|()| ExitCode::SUCCESS),
            Some(fault) => whoever_reads(printed).map(|()| fault.exit_code()),
        }
    }

    /// Prints a result together with the error that made it incomplete, as one
    /// document. Returns the exit code of the error.
    pub(crate) fn failed_result<R: Serialize>(
        &self,
        result: &R,
        error: &CommandError,
        human: impl FnOnce(&R) -> String,
    ) -> Result<ExitCode, CommandError> {
        if !self.json {
            whoever_reads(self.write_text(&human(result)))?;
            return Ok(self.fail(error));
        }
        let (schema, version) = (ENVELOPE_SCHEMA, env!("CARGO_PKG_VERSION"));
        let (result, described) = (Some(result), Some(described(error)));
        let envelope = Envelope { schema, version, ok: false, result, error: described };
        whoever_reads(self.write_bytes(document(&envelope).as_bytes()))?;
        Ok(error.kind.exit_code())
    }

    /// For verbs whose standard output carries data: prints the document, or
    /// the text that `human` returns, to standard error. Returns the exit code,
    /// as [`CommandOutput::verdict`] does.
    pub(crate) fn summary<R: Serialize>(
        &self,
        result: &R,
        fault: Option<ErrorKind>,
        human: impl FnOnce(&R) -> String,
    ) -> ExitCode {
        if self.json {
            // Standard error may be closed; the work is done.
            io::stderr().write_all(result_document(result, fault).as_bytes()).ok();
        } else {
            human(result).lines().for_each(|line| self.note(line));
        }
        fault.map_or(ExitCode::SUCCESS, ErrorKind::exit_code)
    }

    /// Writes text, styled if the terminal supports it. The caller must escape
    /// any data in it (see [`escape_control`]).
    pub(crate) fn write_text(&self, text: &str) -> Result<(), CommandError> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(cannot_print)
    }

    /// Writes data unchanged.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(cannot_print)
    }

    /// Prints a note for people on standard error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            // Standard error may be closed; the work goes on.
            writeln!(anstream::stderr(), "{}", escape_control(text)).ok();
        }
    }

    /// Prints an error as text or JSON. Returns its exit code.
    pub(crate) fn fail(&self, error: &CommandError) -> ExitCode {
        if error.kind == ErrorKind::ClosedPipe {
            return error.kind.exit_code();
        }
        if self.json {
            // If standard output is closed, the exit code has to suffice.
            self.write_bytes(error_document(error).as_bytes()).ok();
        } else {
            let mut lines = vec![format!("error: {}", error.message)];
            lines.extend(error.causes().into_iter().map(|cause| format!("  because: {cause}")));
            lines.extend(error.hints().into_iter().map(|hint| format!("  hint: {hint}")));
            for line in lines {
                writeln!(anstream::stderr(), "{}", escape_control(&line)).ok();
            }
        }
        error.kind.exit_code()
    }
}

/// Prints help, or a usage error that clap found, as text.
pub(crate) fn print_usage(error: &clap::Error) {
    let plain = error.render().to_string();
    let lines: Vec<_> = plain.lines().map(escape_control).collect();
    let is_harmless = lines.iter().all(|line| matches!(line, Cow::Borrowed(_)));
    // If even this cannot be printed, nothing is left to do.
    if is_harmless {
        error.print().ok();
    } else {
        // The message repeats control characters that the user typed; they are
        // escaped here, and colours are dropped.
        writeln!(io::stderr(), "{}", lines.join("\n")).ok();
    }
}

/// Prints a usage error that clap found as a JSON document.
pub(crate) fn usage_error_as_json(error: &clap::Error) -> ExitCode {
    let rendered = error.to_string();
    // The problem comes before the empty line, the usage after it.
    let said = rendered.lines().map(str::trim).take_while(|line| !line.is_empty());
    let message = said.collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let error = CommandError::usage(message).hint("run the command with --help");
    CommandOutput { json: true, quiet: true }.fail(&error)
}

fn result_document<R: Serialize>(result: &R, fault: Option<ErrorKind>) -> String {
    let (schema, version) = (ENVELOPE_SCHEMA, env!("CARGO_PKG_VERSION"));
    let ok = fault.is_none();
    document(&Envelope { schema, version, ok, result: Some(result), error: None })
}

fn error_document(error: &CommandError) -> String {
    let (schema, version) = (ENVELOPE_SCHEMA, env!("CARGO_PKG_VERSION"));
    let error = Some(described(error));
    document(&Envelope::<()> { schema, version, ok: false, result: None, error })
}

fn described(error: &CommandError) -> ErrorDocument<'_> {
    let (kind, message, hints) = (error.kind.name(), error.message.as_str(), error.hints());
    ErrorDocument { kind, message, causes: error.causes(), hints }
}

fn document(envelope: &impl Serialize) -> String {
    // Serialization fails only for maps with non-string keys; there are none.
    let mut text = serde_json::to_string_pretty(envelope).unwrap_or_default();
    text.push('\n');
    escape_json(text)
}

/// Ignores a closed pipe, so that the exit code still reports the problem:
/// `verify | head` must not report a damaged bundle as valid.
fn whoever_reads(printed: Result<(), CommandError>) -> Result<(), CommandError> {
    printed.or_else(|error| match error.kind {
        ErrorKind::ClosedPipe => Ok(()),
        _ => Err(error),
    })
}

/// Turns a failed write to standard output into an error of the verb.
pub(crate) fn cannot_print(error: io::Error) -> CommandError {
    let kind = if error.kind() == io::ErrorKind::BrokenPipe {
        ErrorKind::ClosedPipe
    } else {
        ErrorKind::Failure
    };
    CommandError::new(kind, "cannot write to standard output").because(error)
}
