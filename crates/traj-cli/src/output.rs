//! What a verb says: results on standard output, everything else on standard
//! error; as text, or as one JSON document.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;
use traj_core::settings::configuration::{Color, Preferences};

use crate::arguments::{Cli, ColorChoice};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::terminal_text::{escape_control, escape_json};

/// Names the form of every JSON document we print. Members are only ever
/// added within a version.
pub(crate) const ENVELOPE_SCHEMA: &str = "traj-cli/2";

/// One JSON document: what was done, or why not.
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

/// Where output goes and in which form.
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

    /// Whether a JSON document was asked for.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Whether progress may be shown: on a terminal, as text, not silenced.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.json && !self.quiet && io::stderr().is_terminal()
    }

    /// How many columns a line may have; `None` where it is not a terminal
    /// that shows it.
    pub(crate) fn terminal_width(&self, host: &Host) -> Option<usize> {
        io::stdout().is_terminal().then(|| host.terminal_width())
    }

    /// Prints the result of work that was done: the document, or the text made
    /// by `human`.
    pub(crate) fn result<R: Serialize>(
        &self,
        result: &R,
        human: impl FnOnce(&R) -> String,
    ) -> Result<(), CommandError> {
        self.verdict(result, None, human).map(|_| ())
    }

    /// Prints a result that may be a bad one, and returns its exit code; `ok`
    /// in the document says the same.
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

    /// Prints a result that is not what was asked for, and why, in one
    /// document; returns the exit code of the error.
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

    /// Says what was done where standard output carries the data: the
    /// document, or the text made by `human`, goes to standard error. Returns
    /// the exit code, as [`CommandOutput::verdict`] does.
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
            self.note(&human(result));
        }
        fault.map_or(ExitCode::SUCCESS, ErrorKind::exit_code)
    }

    /// Writes text, styled where the terminal can show it. Data in it has to
    /// be escaped by the caller (see [`escape_control`]).
    pub(crate) fn write_text(&self, text: &str) -> Result<(), CommandError> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(cannot_print)
    }

    /// Writes data as it is.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(cannot_print)
    }

    /// Says something by the way, for people.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            // Standard error may be closed; the work goes on.
            writeln!(anstream::stderr(), "{}", escape_control(text)).ok();
        }
    }

    /// Prints an error in the form that was asked for; returns its exit code.
    pub(crate) fn fail(&self, error: &CommandError) -> ExitCode {
        if error.kind == ErrorKind::ClosedPipe {
            return error.kind.exit_code();
        }
        if self.json {
            // Where standard output is gone, the exit code has to do.
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

/// Help, or a usage error that clap found, as text.
pub(crate) fn print_usage(error: &clap::Error) {
    let plain = error.render().to_string();
    let lines: Vec<_> = plain.lines().map(escape_control).collect();
    let is_harmless = lines.iter().all(|line| matches!(line, Cow::Borrowed(_)));
    // Nothing is left to do when even this cannot be printed.
    if is_harmless {
        error.print().ok();
    } else {
        // It repeats what was typed, without colours then.
        writeln!(io::stderr(), "{}", lines.join("\n")).ok();
    }
}

/// A usage error that clap found, as a document.
pub(crate) fn usage_error_as_json(error: &clap::Error) -> ExitCode {
    let rendered = error.to_string();
    // Up to the blank line it says what is wrong, then how to call it.
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
    // Only a map with keys that are not text cannot be printed; ours have none.
    let mut text = serde_json::to_string_pretty(envelope).unwrap_or_default();
    text.push('\n');
    escape_json(text)
}

/// What was printed of bad news. Where nobody read it to its end, the exit code
/// still tells it: `verify | head` must not call a bundle sound.
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
