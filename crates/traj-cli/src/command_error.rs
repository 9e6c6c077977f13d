//! Why a verb failed, for people and for scripts.

mod advice;
mod export_failure;
mod unreadable_bundle;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

pub(crate) use export_failure::explain_export;
pub(crate) use unreadable_bundle::{explain_unreadable, explain_unshowable};

/// What an error means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The command failed.
    Failure,
    /// The command was used wrongly.
    Usage,
    /// Secrets were found, or a rule failed.
    Findings,
    /// The input is damaged.
    Damaged,
    /// A signal ended the command.
    Interrupted { signal: u8 },
    /// The reader closed the pipe; no message is printed.
    ClosedPipe,
}

impl ErrorKind {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::ClosedPipe => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Findings => 3,
            Self::Damaged => 4,
            // The convention of shells.
            Self::Interrupted { signal } => signal.saturating_add(128),
        })
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Usage => "usage",
            Self::Findings => "findings",
            Self::Damaged => "damaged",
            Self::Interrupted { .. } => "interrupted",
            Self::ClosedPipe => "closed-pipe",
        }
    }
}

/// An error with hints on what to do about it.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    hints: Vec<String>,
    /// The hint to use if the verb has none.
    advice: Option<&'static str>,
    pub(crate) source: Option<Box<dyn Error + Send + Sync>>,
}

impl CommandError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), advice: None, source: None }
    }

    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failure, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The error for a file whose name is not UTF-8.
    pub(crate) fn not_utf8(path: &Path) -> Self {
        Self::usage(format!("{} is not named in UTF-8", path.display()))
            .hint("rename it, or copy it to another name")
    }

    /// The error for a bundle that still contains a secret.
    pub(crate) fn secret_left(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Findings, message).hint("run `traj verify` for details")
    }

    /// Adds a hint on what the user can do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Replaces all hints with this one.
    pub(crate) fn only_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints = vec![hint.into()];
        self
    }

    /// Adds the cause of this error.
    pub(crate) fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = source.into();
        self.advice = advice::about(&*source);
        self.source = Some(source);
        self
    }

    /// Adds the causes of `error`, whose own message is already shown.
    pub(crate) fn because_of(mut self, error: &dyn Error) -> Self {
        self.advice = error.source().and_then(advice::about);
        self.source = error.source().map(|source| Box::new(Cause::of(source)).into());
        self
    }

    /// Hints on what the user can do about it, the most helpful first.
    pub(crate) fn hints(&self) -> Vec<&str> {
        let general = self.advice.filter(|_| self.hints.is_empty());
        self.hints.iter().map(String::as_str).chain(general).collect()
    }

    /// The messages of the causes of this error, nearest first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next: Option<&(dyn Error + 'static)> =
            self.source.as_deref().map(|source| source as &(dyn Error + 'static));
        while let Some(error) = next {
            causes.push(error.to_string());
            next = error.source();
        }
        causes
    }
}

/// The message of an error, for chains that outlive the errors themselves.
#[derive(Debug)]
struct Cause {
    message: String,
    source: Option<Box<Self>>,
}

impl Cause {
    fn of(error: &dyn Error) -> Self {
        let source = error.source().map(|source| Box::new(Self::of(source)));
        Self { message: error.to_string(), source }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
