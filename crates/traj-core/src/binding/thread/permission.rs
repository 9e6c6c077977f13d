//! The words for permission and speed that records, threads and turns share.

use crate::json::{Json, Object};

/// When Codex asks before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalPolicy {
    /// Never asks; what the sandbox forbids fails.
    Never,
    /// Asks when the model wants to leave the sandbox.
    OnRequest,
    /// Asks for everything that is not known to be harmless.
    Untrusted,
}

impl ApprovalPolicy {
    /// Reads a stored or wire value. `on-failure`, which newer servers refuse, becomes `on-request`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "never" => Some(Self::Never),
            "on-request" | "on-failure" => Some(Self::OnRequest),
            "untrusted" => Some(Self::Untrusted),
            _ => None,
        }
    }

    /// The wire value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::OnRequest => "on-request",
            Self::Untrusted => "untrusted",
        }
    }
}

/// What commands of the thread may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxMode {
    /// Nothing is written.
    ReadOnly,
    /// Only the workspace is written.
    WorkspaceWrite,
    /// No sandbox at all.
    DangerFullAccess,
}

impl SandboxMode {
    /// Reads a stored or wire value.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "read-only" => Some(Self::ReadOnly),
            "workspace-write" => Some(Self::WorkspaceWrite),
            "danger-full-access" => Some(Self::DangerFullAccess),
            _ => None,
        }
    }

    /// The wire value of `thread/start` and `thread/resume`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }

    /// The object that `turn/start` takes: threads have a mode, turns a policy.
    #[must_use]
    pub fn turn_policy(self, workspace: &str) -> Json<'static> {
        let mut policy = Object::new();
        match self {
            Self::DangerFullAccess => policy.push("type", "dangerFullAccess"),
            Self::ReadOnly => {
                policy.push("type", "readOnly");
                policy.push("networkAccess", false);
            }
            Self::WorkspaceWrite => {
                policy.push("type", "workspaceWrite");
                policy.push("writableRoots", vec![workspace.to_owned()]);
                policy.push("networkAccess", false);
                policy.push("excludeTmpdirEnvVar", false);
                policy.push("excludeSlashTmp", false);
            }
        }
        policy.into()
    }
}

/// Who answers approval requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalsReviewer {
    /// The client, on behalf of a person.
    User,
    /// Codex's own reviewing agent.
    AutoReview,
}

impl ApprovalsReviewer {
    /// The wire value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::AutoReview => "auto_review",
        }
    }
}

/// The service tier of a thread: trimmed, with the known spellings folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceTier(String);

impl ServiceTier {
    /// Reads a tier; a blank string is `None`, and `fast` is an older name of `priority`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        let folded = trimmed.to_ascii_lowercase();
        match folded.as_str() {
            "" => None,
            "fast" | "priority" => Some(Self("priority".to_owned())),
            "flex" => Some(Self("flex".to_owned())),
            _ => Some(Self(trimmed.to_owned())),
        }
    }

    /// The wire value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_fold_their_known_spellings_and_keep_others() {
        let parse = |text: &str| ServiceTier::parse(text).map(|tier| tier.as_str().to_owned());
        assert_eq!(parse(" FAST "), Some("priority".to_owned()));
        assert_eq!(parse("Flex"), Some("flex".to_owned()));
        assert_eq!(parse(" Gold "), Some("Gold".to_owned()));
        assert_eq!(parse("  "), None);
    }

    #[test]
    fn on_failure_becomes_on_request_because_the_server_refuses_it() {
        assert_eq!(ApprovalPolicy::parse("on-failure"), Some(ApprovalPolicy::OnRequest));
        assert_eq!(ApprovalPolicy::parse("sometimes"), None);
    }

    #[test]
    fn a_turn_takes_an_object_where_a_thread_takes_a_mode() {
        insta::assert_snapshot!(
            SandboxMode::WorkspaceWrite.turn_policy("/w").to_line(),
            @r#"{"type":"workspaceWrite","writableRoots":["/w"],"networkAccess":false,"excludeTmpdirEnvVar":false,"excludeSlashTmp":false}"#
        );
        insta::assert_snapshot!(SandboxMode::ReadOnly.turn_policy("/w").to_line(), @r#"{"type":"readOnly","networkAccess":false}"#);
        insta::assert_snapshot!(SandboxMode::DangerFullAccess.turn_policy("/w").to_line(), @r#"{"type":"dangerFullAccess"}"#);
    }
}
