//! The start and end of a session or of one of its runs.

use std::borrow::Cow;

/// The start of a session, or of a run of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct SessionStart<'r> {
    /// The session's id.
    pub session: Option<&'r str>,
    /// The program that runs the agent.
    pub agent: Option<Cow<'r, str>>,
    /// Its version.
    pub agent_version: Option<&'r str>,
    /// The directory that the agent works in.
    pub workspace: Option<&'r str>,
    /// The provider of the model.
    pub provider: Option<&'r str>,
    /// The model.
    pub model: Option<&'r str>,
    /// The session that this one continues or was forked from.
    pub parent: Option<&'r str>,
    /// Whether it belongs to that session and is read with it.
    pub is_part: bool,
    /// Whether a run begins here. A transcript's header and the metadata only
    /// describe one.
    pub begins_run: bool,
}

/// How a run or a turn ended.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a status and the reason for it")]
pub struct SessionEnd<'r> {
    /// The status.
    pub status: EndStatus<'r>,
    /// The error, if it failed.
    pub error: Option<Cow<'r, str>>,
    /// The reason if it did not fail: a person interrupted the turn, or another
    /// turn replaced it.
    pub reason: Option<Cow<'r, str>>,
    /// Whether this is the final statement about the run. Artifacts are written
    /// before the end, and count only if nothing else states it.
    pub is_final: bool,
}

/// The status with which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndStatus<'r> {
    /// With an answer.
    Success,
    /// With an error.
    Error,
    /// Stopped from outside, or by a timeout.
    Interrupted,
    /// Cleaned up after the host lost track of it.
    Cleanup,
    /// Any other status of the source.
    Other(Cow<'r, str>),
}

impl<'r> EndStatus<'r> {
    /// The status with this name.
    #[must_use]
    pub fn parse(name: &'r str) -> Self {
        match name {
            "success" => Self::Success,
            "error" => Self::Error,
            "interrupted" => Self::Interrupted,
            "cleanup" => Self::Cleanup,
            other => Self::Other(Cow::Borrowed(other)),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::Cleanup => "cleanup",
            Self::Other(name) => name,
        }
    }
}
