//! The kinds of runtime events, known and unknown.

use std::borrow::Cow;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What an event reports. Unknown kinds pass through unchanged.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[doc = $doc])+ $variant,)+
            /// A kind of the host's own.
            Other(String),
        }

        impl EventKind {
            /// Every kind that has a name of its own here.
            pub const KNOWN: &[Self] = &[$(Self::$variant),+];

            /// The kind with this name.
            #[must_use]
            pub fn parse<'a>(name: impl Into<Cow<'a, str>>) -> Self {
                let name = name.into();
                match name.as_ref() {
                    $($name => Self::$variant,)+
                    _ => Self::Other(name.into_owned()),
                }
            }

            /// The name used in files.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(name) => name,
                }
            }
        }
    };
}

kinds! {
    /// A run began.
    SessionStarted = "session.started",
    /// What the run was made of: harness, model, configuration, plugins.
    TraceMetadata = "trace.metadata",
    /// The context for the model was compiled.
    ContextCompiled = "context.compiled",
    /// A prompt went to the model.
    PromptSubmitted = "prompt.submitted",
    /// A prompt was not sent, for a reason.
    PromptSkipped = "prompt.skipped",
    /// The model called a tool.
    ToolCall = "tool.call",
    /// A tool answered.
    ToolResult = "tool.result",
    /// A tool did not answer in time.
    ToolTimeout = "tool.timeout",
    /// An approval was requested.
    ApprovalAsked = "approval.asked",
    /// It was allowed, or not.
    ApprovalDecided = "approval.decided",
    /// One model failed and another was tried.
    ModelFallbackStep = "model.fallback_step",
    /// The model finished its answer.
    ModelCompleted = "model.completed",
    /// What the run produced, at its end.
    TraceArtifacts = "trace.artifacts",
    /// Events are missing from here on, or were lost before.
    TraceTruncated = "trace.truncated",
    /// A run ended.
    SessionEnded = "session.ended",
    /// An assistant message was complete and nothing followed, so the turn was released.
    TurnAssistantCompletionIdleRelease = "turn.assistant_completion_idle_release",
    /// A turn made no progress for too long.
    TurnProgressIdleTimeout = "turn.progress_idle_timeout",
    /// A turn's completion did not arrive in time.
    TurnCompletionIdleTimeout = "turn.completion_idle_timeout",
    /// A turn's terminal notification did not arrive in time.
    TurnTerminalIdleTimeout = "turn.terminal_idle_timeout",
    /// A dynamic tool ended the turn.
    TurnDynamicToolTerminalRelease = "turn.dynamic_tool_terminal_release",
    /// The connection to the server closed during a turn.
    TurnClientClosed = "turn.client_closed",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_are_each_others_inverse() {
        for kind in EventKind::KNOWN {
            assert_eq!(&EventKind::parse(kind.as_str()), kind);
        }
        assert_eq!(EventKind::parse("x.y"), EventKind::Other("x.y".into()));
    }
}
