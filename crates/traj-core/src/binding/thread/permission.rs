//! Sandbox modes and service tiers, as records, threads and turns share them.

/// What a thread's commands may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxMode {
    /// Nothing may be written.
    ReadOnly,
    /// Only the workspace may be written.
    WorkspaceWrite,
    /// No sandbox at all.
    DangerFullAccess,
}

impl SandboxMode {
    /// Reads the name of a mode.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "read-only" => Some(Self::ReadOnly),
            "workspace-write" => Some(Self::WorkspaceWrite),
            "danger-full-access" => Some(Self::DangerFullAccess),
            _ => None,
        }
    }

    /// The name of the mode, as Codex and the stored records spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

/// The service tier of a thread: trimmed, with known spellings normalized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceTier(String);

impl ServiceTier {
    /// Parses a tier; a blank string is `None`, and `fast` is an older name for `priority`.
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
    fn tiers_normalize_known_spellings_and_keep_others() {
        let parse = |text: &str| ServiceTier::parse(text).map(|tier| tier.as_str().to_owned());
        assert_eq!(parse(" FAST "), Some("priority".to_owned()));
        assert_eq!(parse("Flex"), Some("flex".to_owned()));
        assert_eq!(parse(" Gold "), Some("Gold".to_owned()));
        assert_eq!(parse("  "), None);
    }
}
