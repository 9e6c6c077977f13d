//! The record of a thread after it was loaded or started.

use traj_core::binding::{
    BindingOrigin, BindingRecord, BundledMcp, WantedPlugins, stored_provider,
};
use traj_core::port::{OpenedThread, ThreadSettings};
use traj_core::timestamp::UnixMillis;

use super::plan::{PluginBuild, ThreadPlan};

pub(super) fn resumed_record(
    plan: &ThreadPlan,
    old: &BindingRecord,
    opened: &OpenedThread,
    now: UnixMillis,
) -> BindingRecord {
    let mut record = old.clone();
    plan.describe(&mut record);
    record.origin = BindingOrigin::Started;
    record.auth_profile = plan.auth_profile.clone().or_else(|| old.auth_profile.clone());
    record.model = plan.settings.model.clone().or_else(|| opened.model.clone()).or(record.model);
    record.model_provider = provider_of(plan, opened);
    if plan.wanted.bundled_mcp == BundledMcp::NotEvaluated {
        record.fingerprints.bundled_mcp.clone_from(&old.fingerprints.bundled_mcp);
    }
    // The apps of a thread are those it was started with: what is stored goes on. An attached
    // thread has none stored, and is taken as having what is wanted now.
    if let (WantedPlugins::Enabled { input, built, .. }, None) =
        (&plan.wanted.plugins, &old.fingerprints.plugin_input)
    {
        record.fingerprints.plugin_input = Some(input.clone());
        record.fingerprints.plugin_apps.clone_from(built);
    }
    record.rollout_path = opened.rollout_path.clone().or_else(|| old.rollout_path.clone());
    record.updated_at = now;
    record
}

pub(super) fn started_record(
    plan: &ThreadPlan,
    old: Option<&BindingRecord>,
    opened: &OpenedThread,
    built: Option<PluginBuild>,
    now: UnixMillis,
) -> BindingRecord {
    let cwd = opened.cwd.as_deref().unwrap_or(&plan.cwd);
    let mut record = BindingRecord::new(opened.thread.clone(), cwd, BindingOrigin::Started, now);
    if let Some(old) = old {
        // What a person chose for the binding outlives the thread.
        record.approval_policy = old.approval_policy;
        record.sandbox = old.sandbox;
        record.service_tier.clone_from(&old.service_tier);
        record.unknown = old.unknown.clone();
    }
    plan.describe(&mut record);
    record.auth_profile.clone_from(&plan.auth_profile);
    record.model = opened.model.clone().or_else(|| plan.settings.model.clone());
    record.model_provider = provider_of(plan, opened);
    record.rollout_path.clone_from(&opened.rollout_path);
    if let WantedPlugins::Enabled { input, .. } = &plan.wanted.plugins {
        record.fingerprints.plugin_input = Some(input.clone());
    }
    if let Some(built) = built {
        record.fingerprints.plugin_apps = Some(built.fingerprint);
        record.plugin_policy = Some(built.policy);
    }
    record
}

/// A record of a thread that was attached: its terms are not known.
pub(super) fn attached_record(
    plan: &ThreadPlan,
    opened: &OpenedThread,
    now: UnixMillis,
) -> BindingRecord {
    let cwd = opened.cwd.as_deref().unwrap_or(&plan.cwd);
    let mut record = BindingRecord::new(opened.thread.clone(), cwd, BindingOrigin::Attached, now);
    record.model = opened.model.clone().or_else(|| plan.settings.model.clone());
    record.model_provider = provider_of(plan, opened);
    record.auth_profile.clone_from(&plan.auth_profile);
    record.approval_policy = plan.settings.approval_policy;
    record.sandbox = plan.settings.sandbox;
    record.service_tier.clone_from(&plan.settings.service_tier);
    record.rollout_path.clone_from(&opened.rollout_path);
    record
}

fn provider_of(plan: &ThreadPlan, opened: &OpenedThread) -> Option<String> {
    let told = opened.model_provider.as_ref().or(plan.settings.model_provider.as_ref())?;
    stored_provider(told, plan.credential)
}

/// Settings that the plan leaves open are those chosen for the binding.
pub(super) fn keep_chosen(settings: &mut ThreadSettings, record: &BindingRecord) {
    settings.approval_policy = settings.approval_policy.or(record.approval_policy);
    settings.sandbox = settings.sandbox.or(record.sandbox);
    if settings.service_tier.is_none() {
        settings.service_tier.clone_from(&record.service_tier);
    }
}
