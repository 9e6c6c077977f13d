//! Which model provider a thread uses.

/// The kind of credential in a profile.
///
/// The host looks this up. The profile's *name* does not say: `openai:work` may
/// hold an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialKind {
    /// A ChatGPT or Codex subscription.
    Subscription,
    /// An API key, another provider's login, or unknown.
    Other,
}

/// The provider to store in a record. Under a subscription, `openai` means Codex's own provider;
/// naming it would change how the turn is billed. `openai-codex`, a name that Codex does not know,
/// is an older name for `openai`.
#[must_use]
pub fn stored_provider(provider: &str, credential: CredentialKind) -> Option<String> {
    let trimmed = provider.trim();
    let named = if trimmed.eq_ignore_ascii_case("openai-codex") { "openai" } else { trimmed };
    let is_native =
        credential == CredentialKind::Subscription && named.eq_ignore_ascii_case("openai");
    (!named.is_empty() && !is_native).then(|| named.to_owned())
}

/// The provider to send with a thread; `None` for Codex's own.
#[must_use]
pub fn resolve_provider(provider: &str, credential: CredentialKind) -> Option<String> {
    let kept = stored_provider(provider, credential)?;
    // The server has no provider called `codex`.
    if kept.eq_ignore_ascii_case("codex") {
        return None;
    }
    Some(if kept.eq_ignore_ascii_case("openai") { "openai".to_owned() } else { kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenarios 2 to 5: the credential decides, not the profile's name.
    #[test]
    fn openai_under_any_name_is_dropped_only_under_a_subscription() {
        use CredentialKind as C;
        let rows = [
            ("openai", C::Subscription, None, None),
            (" OpenAI ", C::Other, Some("OpenAI"), Some("openai")),
            ("codex", C::Other, Some("codex"), None),
            ("openai-codex", C::Subscription, None, None),
            ("OpenAI-Codex", C::Other, Some("openai"), Some("openai")),
            ("mock", C::Subscription, Some("mock"), Some("mock")),
            ("  ", C::Other, None, None),
        ];
        for (provider, credential, stored, sent) in rows {
            assert_eq!(stored_provider(provider, credential).as_deref(), stored, "{provider}");
            assert_eq!(resolve_provider(provider, credential).as_deref(), sent, "{provider}");
        }
    }
}
