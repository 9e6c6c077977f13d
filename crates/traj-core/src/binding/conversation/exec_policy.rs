//! What a bound conversation may execute, and when stored permissions apply.
//!
//! A binding's stored permissions apply until any layer *touches* the execution policy. From then
//! on they are ignored: an old record must not keep more rights than its owner grants today.

use crate::binding::{ApprovalPolicy, SandboxMode};

/// How much may be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ExecSecurity {
    /// Everything.
    Full,
    /// What is on the allowlist.
    Allowlist,
    /// Nothing.
    Deny,
}

/// When a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ExecAsk {
    /// Never.
    Off,
    /// When something is not on the allowlist.
    OnMiss,
    /// Every time.
    Always,
}

/// What one layer of configuration sets: a mode, single settings, or nothing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExecLayer {
    /// `deny`, `allowlist`, `ask`, `auto` or `full`; replaces both settings.
    pub mode: Option<String>,
    /// Replaces the security setting.
    pub security: Option<ExecSecurity>,
    /// Replaces the ask setting.
    pub ask: Option<ExecAsk>,
}

impl ExecLayer {
    /// A layer that only sets a mode.
    #[must_use]
    pub fn mode(mode: &str) -> Self {
        Self { mode: Some(mode.to_owned()), ..Self::default() }
    }
}

/// The effective policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecPolicy {
    /// How much may be executed.
    pub security: ExecSecurity,
    /// When a person is asked.
    pub ask: ExecAsk,
    /// Whether any layer set something, or a floor made it stricter.
    pub touched: bool,
    /// The mode by name.
    pub mode: &'static str,
}

impl ExecPolicy {
    /// Applies layers from the most general to the most specific, then the host's floors.
    #[must_use]
    pub fn resolve(layers: &[ExecLayer], floor: Option<(ExecSecurity, ExecAsk)>) -> Self {
        let mut policy =
            Self { security: ExecSecurity::Full, ask: ExecAsk::Off, touched: false, mode: "full" };
        for layer in layers {
            policy.apply(layer);
        }
        if let Some((security, ask)) = floor {
            let stricter = (policy.security.max(security), policy.ask.max(ask));
            if stricter != (policy.security, policy.ask) {
                (policy.security, policy.ask) = stricter;
                policy.touched = true;
                policy.mode = derived_mode(policy.security, policy.ask);
            }
        }
        policy
    }

    fn apply(&mut self, layer: &ExecLayer) {
        if let Some((mode, security, ask)) = layer.mode.as_deref().and_then(known_mode) {
            *self = Self { security, ask, touched: true, mode };
            return;
        }
        if layer.security.is_some() || layer.ask.is_some() {
            self.security = layer.security.unwrap_or(self.security);
            self.ask = layer.ask.unwrap_or(self.ask);
            self.touched = true;
            self.mode = derived_mode(self.security, self.ask);
        }
    }
}

fn known_mode(mode: &str) -> Option<(&'static str, ExecSecurity, ExecAsk)> {
    match mode {
        "deny" => Some(("deny", ExecSecurity::Deny, ExecAsk::Off)),
        "allowlist" => Some(("allowlist", ExecSecurity::Allowlist, ExecAsk::Off)),
        "ask" => Some(("ask", ExecSecurity::Allowlist, ExecAsk::OnMiss)),
        "auto" => Some(("auto", ExecSecurity::Allowlist, ExecAsk::OnMiss)),
        "full" => Some(("full", ExecSecurity::Full, ExecAsk::Off)),
        _ => None,
    }
}

const fn derived_mode(security: ExecSecurity, ask: ExecAsk) -> &'static str {
    match (security, ask) {
        (ExecSecurity::Deny, _) => "deny",
        (ExecSecurity::Allowlist, ExecAsk::Off) => "allowlist",
        (ExecSecurity::Full, ExecAsk::Off | ExecAsk::OnMiss) => "full",
        _ => "ask",
    }
}

/// Why a bound turn may not run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecRefusal {
    /// Execution is denied or limited to an allowlist, which Codex cannot enforce.
    #[error("Codex app-server local execution is not available when tools.exec.mode={mode}")]
    Mode {
        /// The effective mode.
        mode: &'static str,
    },
    /// The runtime would ask for approval, and nobody could answer.
    #[error("native conversation binding cannot route interactive approvals")]
    Interactive,
}

/// The permissions with which a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permissions {
    /// When Codex asks.
    pub approval: ApprovalPolicy,
    /// What commands may touch.
    pub sandbox: SandboxMode,
}

impl Permissions {
    /// An approval policy with a sandbox mode.
    #[must_use]
    pub const fn new(approval: ApprovalPolicy, sandbox: SandboxMode) -> Self {
        Self { approval, sandbox }
    }
}

/// The permissions of a turn: the binding's own while the policy is untouched, else the runtime's.
///
/// # Errors
/// A touched policy forbids local execution or requires someone to approve.
pub fn effective_permissions(
    policy: &ExecPolicy,
    stored: (Option<ApprovalPolicy>, Option<SandboxMode>),
    runtime: Permissions,
) -> Result<Permissions, ExecRefusal> {
    if !policy.touched {
        return Ok(Permissions {
            approval: stored.0.unwrap_or(runtime.approval),
            sandbox: stored.1.unwrap_or(runtime.sandbox),
        });
    }
    if matches!(policy.mode, "deny" | "allowlist") {
        return Err(ExecRefusal::Mode { mode: policy.mode });
    }
    // `ask` and `auto` make the runtime ask; a bound conversation has nobody to answer.
    if runtime.approval.may_ask() || matches!(policy.mode, "ask" | "auto") {
        return Err(ExecRefusal::Interactive);
    }
    Ok(runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: Permissions =
        Permissions::new(ApprovalPolicy::Never, SandboxMode::DangerFullAccess);
    const STORED: (Option<ApprovalPolicy>, Option<SandboxMode>) =
        (Some(ApprovalPolicy::OnRequest), Some(SandboxMode::ReadOnly));

    fn effective(layers: &[ExecLayer]) -> Result<Permissions, ExecRefusal> {
        effective_permissions(&ExecPolicy::resolve(layers, None), STORED, RUNTIME)
    }

    #[test]
    fn stored_permissions_apply_while_the_policy_is_untouched() {
        let own = Permissions::new(ApprovalPolicy::OnRequest, SandboxMode::ReadOnly);
        assert_eq!(effective(&[]), Ok(own));
        assert_eq!(effective(&[ExecLayer::mode("nonsense")]), Ok(own));
        assert_eq!(effective(&[ExecLayer::mode("full")]), Ok(RUNTIME));
    }

    /// Scenarios 53 and 54.
    #[test]
    fn modes_that_codex_cannot_enforce_are_refused() {
        for mode in ["deny", "allowlist"] {
            assert!(matches!(effective(&[ExecLayer::mode(mode)]), Err(ExecRefusal::Mode { .. })));
        }
        for mode in ["ask", "auto"] {
            assert_eq!(effective(&[ExecLayer::mode(mode)]), Err(ExecRefusal::Interactive));
        }
        let floor = Some((ExecSecurity::Deny, ExecAsk::Off));
        let policy = ExecPolicy::resolve(&[], floor);
        let refused = effective_permissions(&policy, STORED, RUNTIME).unwrap_err();
        assert!(refused.to_string().ends_with("tools.exec.mode=deny"));
    }

    #[test]
    fn later_layers_replace_and_floors_only_tighten() {
        let special = ExecLayer { ask: Some(ExecAsk::Always), ..ExecLayer::default() };
        let policy = ExecPolicy::resolve(&[ExecLayer::mode("full"), special], None);
        assert_eq!((policy.mode, policy.touched), ("ask", true));
        let floor = Some((ExecSecurity::Full, ExecAsk::Off));
        assert!(!ExecPolicy::resolve(&[], floor).touched, "a floor that changes nothing");
    }
}
