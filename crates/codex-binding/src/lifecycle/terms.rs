//! What a thread is opened with: what was asked for, what is stored, what the runtime uses.

use traj_core::binding::{BindingRecord, resolve_provider};
use traj_core::port::ThreadSettings;

use super::plan::ThreadPlan;

/// What a thread is opened with, before its configuration is known.
#[derive(Clone, Debug)]
pub(super) struct ThreadTerms {
    pub(super) settings: ThreadSettings,
    pub(super) cwd: String,
    pub(super) auth_profile: Option<String>,
}

impl ThreadTerms {
    /// The terms of a plan. The first that has a value counts: the plan, the stored binding, the
    /// runtime.
    pub(super) fn of(plan: &ThreadPlan, stored: Option<&BindingRecord>) -> Self {
        let (asked, defaults) = (&plan.settings, &plan.defaults);
        let mut settings = asked.clone();
        settings.approval_policy =
            asked.approval_policy.or_else(|| stored?.approval_policy).or(defaults.approval_policy);
        settings.sandbox = asked.sandbox.or_else(|| stored?.sandbox).or(defaults.sandbox);
        settings.approvals_reviewer = asked.approvals_reviewer.or(defaults.approvals_reviewer);
        let tier = stored.and_then(|record| record.service_tier.as_ref());
        settings.service_tier =
            asked.service_tier.as_ref().or(tier).or(defaults.service_tier.as_ref()).cloned();
        (settings.model, settings.model_provider) = model_of(plan, stored);
        let instructions = &mut settings.developer_instructions;
        *instructions = instructions
            .take()
            .or_else(|| defaults.developer_instructions.clone())
            .filter(|text| !text.trim().is_empty());
        let profile = stored.and_then(|record| record.auth_profile.as_ref());
        let profile = plan.auth_profile.as_ref().or(profile).or(plan.default_auth_profile.as_ref());
        Self {
            settings,
            cwd: plan.working_directory(stored).to_owned(),
            auth_profile: profile.cloned(),
        }
    }
}

/// The model and its provider. A stored model is not sent to the provider of the runtime: the model
/// may not exist there.
fn model_of(plan: &ThreadPlan, stored: Option<&BindingRecord>) -> (Option<String>, Option<String>) {
    let (asked, defaults) = (&plan.settings, &plan.defaults);
    let stored_model = stored.and_then(|record| record.model.as_ref());
    let stored_provider = stored.and_then(|record| record.model_provider.as_ref());
    let provider = asked.model_provider.as_ref().or(stored_provider);
    let default = defaults.model_provider.as_ref().filter(|_| stored_model.is_none());
    let provider = provider.or(default);
    let provider = provider.and_then(|provider| resolve_provider(provider, plan.credential));
    let model = asked.model.as_ref().or(stored_model).or(defaults.model.as_ref());
    (model.cloned(), provider)
}

#[cfg(test)]
mod tests {
    use traj_core::binding::{BindingOrigin, CredentialKind, SandboxMode, ServiceTier};
    use traj_core::id::ThreadId;
    use traj_core::port::BindingKey;
    use traj_core::timestamp::UnixMillis;

    use super::*;

    fn plan() -> ThreadPlan {
        ThreadPlan::new(BindingKey::parse("s.jsonl").unwrap(), "/fallback")
    }

    fn record() -> BindingRecord {
        let thread = ThreadId::parse("t").unwrap();
        let mut record =
            BindingRecord::new(thread, "/bound", BindingOrigin::Started, UnixMillis::EPOCH);
        record.model = Some("chosen".to_owned());
        record.model_provider = Some("openai-codex".to_owned());
        record.service_tier = ServiceTier::parse("flex");
        record.sandbox = Some(SandboxMode::ReadOnly);
        record.auth_profile = Some("work".to_owned());
        record
    }

    #[test]
    fn a_persons_choice_beats_a_default_of_the_runtime() {
        let mut plan = plan();
        plan.defaults.model = Some("runtime".to_owned());
        plan.defaults.model_provider = Some("elsewhere".to_owned());
        plan.defaults.service_tier = ServiceTier::parse("priority");
        plan.defaults.sandbox = Some(SandboxMode::DangerFullAccess);
        plan.default_auth_profile = Some("first".to_owned());
        let fresh = ThreadTerms::of(&plan, None);
        assert_eq!(fresh.settings.model.as_deref(), Some("runtime"));
        assert_eq!(fresh.settings.model_provider.as_deref(), Some("elsewhere"));
        assert_eq!(
            (fresh.cwd.as_str(), fresh.auth_profile.as_deref()),
            ("/fallback", Some("first"))
        );
        let record = record();
        let bound = ThreadTerms::of(&plan, Some(&record));
        assert_eq!(bound.settings.model.as_deref(), Some("chosen"));
        assert_eq!(bound.settings.model_provider.as_deref(), Some("openai"), "a name Codex knows");
        assert_eq!(bound.settings.service_tier, ServiceTier::parse("flex"));
        assert_eq!(bound.settings.sandbox, Some(SandboxMode::ReadOnly));
        assert_eq!((bound.cwd.as_str(), bound.auth_profile.as_deref()), ("/bound", Some("work")));
        plan.settings.model = Some("asked".to_owned());
        plan.workspace = Some("/moved".to_owned());
        plan.credential = CredentialKind::Subscription;
        let asked = ThreadTerms::of(&plan, Some(&record));
        assert_eq!(asked.settings.model.as_deref(), Some("asked"));
        assert_eq!(asked.settings.model_provider, None, "Codex's own under a subscription");
        assert_eq!(asked.cwd, "/moved");
    }

    #[test]
    fn a_conversation_is_told_where_its_replies_go_unless_the_host_says_otherwise() {
        let mut plan = plan();
        let instructions =
            |plan: &ThreadPlan| ThreadTerms::of(plan, None).settings.developer_instructions;
        assert_eq!(instructions(&plan), None, "Codex's own configuration counts");
        plan = plan.in_conversation();
        assert!(instructions(&plan).unwrap().contains("final message"));
        plan.settings.developer_instructions = Some("ours".to_owned());
        assert_eq!(instructions(&plan).as_deref(), Some("ours"));
        plan.settings.developer_instructions = Some(" ".to_owned());
        assert_eq!(instructions(&plan), None);
    }
}
