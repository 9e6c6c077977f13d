//! The known and unknown kinds of events.

use std::borrow::Cow;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What an event reports. Unknown kinds pass through unchanged.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[doc = $doc])+ $variant,)+
            /// A kind defined by the host.
            Other(String),
        }

        impl EventKind {
            /// Every known kind.
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
    /// The harness, model, configuration and plugins of the run.
    TraceMetadata = "trace.metadata",
    /// The context for the model was compiled.
    ContextCompiled = "context.compiled",
    /// A prompt went to the model.
    PromptSubmitted = "prompt.submitted",
    /// A prompt was not sent; the event states why.
    PromptSkipped = "prompt.skipped",
    /// The model called a tool.
    ToolCall = "tool.call",
    /// A tool returned a result.
    ToolResult = "tool.result",
    /// A tool did not return in time.
    ToolTimeout = "tool.timeout",
    /// An approval was requested.
    ApprovalAsked = "approval.asked",
    /// An approval was granted or denied.
    ApprovalDecided = "approval.decided",
    /// One model failed and another was tried.
    ModelFallbackStep = "model.fallback_step",
    /// The model finished its response.
    ModelCompleted = "model.completed",
    /// The results of the run, at its end.
    TraceArtifacts = "trace.artifacts",
    /// Events are missing, before or after this one.
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
    fn names_and_kinds_round_trip() {
        for kind in EventKind::KNOWN {
            assert_eq!(&EventKind::parse(kind.as_str()), kind);
        }
        assert_eq!(EventKind::parse("x.y"), EventKind::Other("x.y".into()));
    }
}
