//! When Codex asks before it acts, and who answers.

use crate::json::{Json, Object};

const GRANULAR: &str = "granular";

/// When Codex asks before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalPolicy {
    /// Never asks; actions that the sandbox forbids fail.
    Never,
    /// Asks when the model wants to leave the sandbox.
    OnRequest,
    /// Asks for everything that is not known to be safe.
    Untrusted,
    /// Asks for the selected kinds of actions; the others are refused without asking.
    Granular(GranularApproval),
}

impl ApprovalPolicy {
    /// Reads a policy that is a single word. `on-failure`, which newer servers reject, is
    /// `on-request`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "never" => Some(Self::Never),
            "on-request" | "on-failure" => Some(Self::OnRequest),
            "untrusted" => Some(Self::Untrusted),
            _ => None,
        }
    }

    /// Reads a stored or wire value: a word, or an object with the member `granular`.
    #[must_use]
    pub fn from_json(value: &Json<'_>) -> Option<Self> {
        match value.as_str() {
            Some(word) => Self::parse(word),
            None => GranularApproval::from_json(value.get(GRANULAR)?).map(Self::Granular),
        }
    }

    /// The stored and wire value.
    #[must_use]
    pub fn to_json(self) -> Json<'static> {
        let Self::Granular(granular) = self else { return Json::from(self.as_str()) };
        let mut object = Object::new();
        object.push(GRANULAR, granular.to_json());
        object.into()
    }

    /// A name for people: the wire value of a word, and `granular` for the object.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::OnRequest => "on-request",
            Self::Untrusted => "untrusted",
            Self::Granular(_) => GRANULAR,
        }
    }

    /// Whether somebody may be asked at all.
    #[must_use]
    pub fn may_ask(self) -> bool {
        match self {
            Self::Never => false,
            Self::OnRequest | Self::Untrusted => true,
            Self::Granular(granular) => granular != GranularApproval::default(),
        }
    }
}

/// The kinds of actions that Codex asks for. A kind that is off is refused without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "Codex has one switch for each kind")]
pub struct GranularApproval {
    /// Commands that want to leave the sandbox.
    pub sandbox: bool,
    /// Commands that one of the user's rules says to ask about.
    pub rules: bool,
    /// Scripts of skills.
    pub skills: bool,
    /// Requests for more permissions.
    pub permissions: bool,
    /// Questions from MCP servers, and the use of their tools.
    pub mcp: bool,
}

impl GranularApproval {
    fn from_json(value: &Json<'_>) -> Option<Self> {
        let required = |name: &str| value.get(name)?.as_bool();
        let optional = |name: &str| value.get(name).map_or(Some(false), Json::as_bool);
        Some(Self {
            sandbox: required("sandbox_approval")?,
            rules: required("rules")?,
            skills: optional("skill_approval")?,
            permissions: optional("request_permissions")?,
            mcp: required("mcp_elicitations")?,
        })
    }

    fn to_json(self) -> Object<'static> {
        let mut object = Object::new();
        object.push("sandbox_approval", self.sandbox);
        object.push("rules", self.rules);
        object.push("skill_approval", self.skills);
        object.push("request_permissions", self.permissions);
        object.push("mcp_elicitations", self.mcp);
        object
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<ApprovalPolicy> {
        ApprovalPolicy::from_json(&Json::parse(text).unwrap())
    }

    #[test]
    fn on_failure_becomes_on_request_because_the_server_refuses_it() {
        assert_eq!(ApprovalPolicy::parse("on-failure"), Some(ApprovalPolicy::OnRequest));
        assert_eq!(ApprovalPolicy::parse("sometimes"), None);
    }

    #[test]
    fn a_granular_policy_is_an_object_and_survives_the_round_trip() {
        let text = r#"{"granular":{"sandbox_approval":true,"rules":false,"skill_approval":false,"request_permissions":true,"mcp_elicitations":false}}"#;
        let policy = read(text).unwrap();
        assert_eq!(policy.to_json().to_line(), text);
        assert_eq!(policy.as_str(), "granular");
        assert_eq!(read(r#""never""#), Some(ApprovalPolicy::Never));
    }

    #[test]
    fn a_granular_policy_with_a_missing_or_malformed_switch_is_not_one() {
        let short =
            r#"{"granular":{"sandbox_approval":true,"rules":true,"mcp_elicitations":true}}"#;
        assert!(read(short).is_some(), "two switches are optional");
        assert_eq!(read(&short.replace("\"rules\":true,", "")), None);
        assert_eq!(read(&short.replace("\"rules\":true", "\"rules\":1")), None);
        for text in [r#"{"granular":true}"#, "{}", "7", "null", r#""granular""#] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_granular_policy_asks_if_any_switch_is_on() {
        let none = GranularApproval::default();
        assert!(!ApprovalPolicy::Granular(none).may_ask());
        assert!(ApprovalPolicy::Granular(GranularApproval { mcp: true, ..none }).may_ask());
        assert!(!ApprovalPolicy::Never.may_ask() && ApprovalPolicy::OnRequest.may_ask());
    }
}
