//! How a session or a run of it begins and ends.

use std::borrow::Cow;

/// A session or a run of it began.
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
    /// Whether a run begins here. A transcript's header, or metadata, only
    /// describes one.
    pub begins_run: bool,
}

/// How a run or a turn ended.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a status and what is said of it")]
pub struct SessionEnd<'r> {
    /// How.
    pub status: EndStatus<'r>,
    /// What went wrong.
    pub error: Option<Cow<'r, str>>,
    /// Why, where nothing went wrong: a turn is interrupted by a person, or
    /// replaced by another.
    pub reason: Option<Cow<'r, str>>,
    /// Whether this is the final statement on the run. Artifacts, which are written
    /// before the end, count only where nothing else states it.
    pub is_final: bool,
}

/// How a run ended.
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
    /// As the source says.
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
