//! Which model provider a thread uses.

/// What kind of credential a profile holds.
///
/// The host looks this up. The profile's *name* does not show it: `openai:work` may hold an API
/// key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialKind {
    /// A ChatGPT or Codex subscription.
    Subscription,
    /// An API key, another provider's login, or nothing known.
    Other,
}

/// The provider as a record keeps it: under a subscription `openai` means Codex's own provider,
/// and naming it would switch how the turn is paid for.
#[must_use]
pub fn stored_provider(provider: &str, credential: CredentialKind) -> Option<String> {
    let trimmed = provider.trim();
    let is_native =
        credential == CredentialKind::Subscription && trimmed.eq_ignore_ascii_case("openai");
    (!trimmed.is_empty() && !is_native).then(|| trimmed.to_owned())
}

/// The provider to send with a thread, or none for Codex's own.
#[must_use]
pub fn resolve_provider(provider: &str, credential: CredentialKind) -> Option<String> {
    let trimmed = provider.trim();
    // The server knows no provider called `codex`.
    if trimmed.eq_ignore_ascii_case("codex") {
        return None;
    }
    let kept = stored_provider(trimmed, credential)?;
    Some(if kept.eq_ignore_ascii_case("openai") { "openai".to_owned() } else { kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenarios 2 to 5: the credential decides, not the profile's name.
    #[test]
    fn openai_is_dropped_only_under_a_subscription() {
        use CredentialKind as C;
        let rows = [
            ("openai", C::Subscription, None, None),
            (" OpenAI ", C::Other, Some("OpenAI"), Some("openai")),
            ("codex", C::Other, Some("codex"), None),
            ("mock", C::Subscription, Some("mock"), Some("mock")),
            ("  ", C::Other, None, None),
        ];
        for (provider, credential, stored, sent) in rows {
            assert_eq!(stored_provider(provider, credential).as_deref(), stored, "{provider}");
            assert_eq!(resolve_provider(provider, credential).as_deref(), sent, "{provider}");
        }
    }
}
