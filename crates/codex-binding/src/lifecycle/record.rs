//! The record of a thread after it was loaded or started.

use traj_core::binding::{
    BindingOrigin, BindingRecord, FormerReason, RotateReason, WantedPlugins, stored_provider,
};
use traj_core::port::OpenedThread;
use traj_core::timestamp::UnixMillis;

use super::plan::ThreadPlan;
use super::plugins::PluginBuild;
use super::terms::ThreadTerms;

/// What the server reported when it opened a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenedFacts<'a> {
    pub(super) thread: &'a OpenedThread,
    pub(super) home: Option<&'a str>,
    pub(super) now: UnixMillis,
}

pub(super) fn resumed_record(
    plan: &ThreadPlan,
    terms: &ThreadTerms,
    old: &BindingRecord,
    tolerated: &[RotateReason],
    opened: OpenedFacts<'_>,
) -> BindingRecord {
    let mut record = old.clone();
    plan.describe(&mut record, tolerated);
    record.origin = BindingOrigin::Started;
    let has_directory = plan.workspace.is_some() || !old.cwd.is_empty();
    let reported = opened.thread.cwd.as_ref().filter(|_| !has_directory);
    record.cwd.clone_from(reported.unwrap_or(&terms.cwd));
    write_terms(&mut record, plan, terms, opened);
    // A thread keeps the apps that it was started with, so the stored value stands. An attached
    // thread has none stored, and is assumed to have the apps wanted now.
    if let (WantedPlugins::Enabled { input, built, .. }, None) =
        (&plan.wanted.plugins, &old.fingerprints.plugin_input)
    {
        record.fingerprints.plugin_input = Some(input.clone());
        record.fingerprints.plugin_apps.clone_from(built);
    }
    record.updated_at = opened.now;
    record
}

/// The record of a new thread; `old` is the record that it replaces, and why.
pub(super) fn started_record(
    plan: &ThreadPlan,
    terms: &ThreadTerms,
    old: Option<(&BindingRecord, FormerReason)>,
    opened: OpenedFacts<'_>,
    built: Option<PluginBuild>,
) -> BindingRecord {
    let mut record = successor(BindingOrigin::Started, old, opened);
    plan.describe(&mut record, &[]);
    record.cwd.clone_from(opened.thread.cwd.as_ref().unwrap_or(&terms.cwd));
    write_terms(&mut record, plan, terms, opened);
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
    terms: &ThreadTerms,
    old: Option<&BindingRecord>,
    opened: OpenedFacts<'_>,
) -> BindingRecord {
    let replaced = old.map(|old| (old, FormerReason::Rebound));
    let mut record = successor(BindingOrigin::Attached, replaced, opened);
    // A thread has a directory of its own, unless the binding already chose one for it.
    let is_same = old.is_some_and(|old| old.thread == record.thread && !old.cwd.is_empty());
    let reported = opened.thread.cwd.as_ref().filter(|_| plan.workspace.is_none() && !is_same);
    record.cwd.clone_from(reported.unwrap_or(&terms.cwd));
    write_terms(&mut record, plan, terms, opened);
    remember_choices(&mut record, plan);
    record
}

/// A record of the thread that replaces another. What a person chose for the binding outlives the
/// thread.
fn successor(
    origin: BindingOrigin,
    old: Option<(&BindingRecord, FormerReason)>,
    opened: OpenedFacts<'_>,
) -> BindingRecord {
    let thread = opened.thread.thread.clone();
    let mut record = BindingRecord::new(thread, "", origin, opened.now);
    if let Some((old, reason)) = old {
        record.approval_policy = old.approval_policy;
        record.sandbox = old.sandbox;
        record.service_tier.clone_from(&old.service_tier);
        record.former_threads = old.former_after(&record.thread, reason, opened.now);
        record.unknown = old.unknown.clone();
        if old.thread == record.thread {
            record.turns = old.turns;
            record.history_covered_through = old.history_covered_through;
            record.rollout_path.clone_from(&old.rollout_path);
        }
    }
    record
}

/// Stores the permissions and the tier that were asked for. Only binding does this: a turn may ask
/// for more than the session is to have.
pub(super) fn remember_choices(record: &mut BindingRecord, plan: &ThreadPlan) {
    let asked = &plan.settings;
    record.approval_policy = asked.approval_policy.or(record.approval_policy);
    record.sandbox = asked.sandbox.or(record.sandbox);
    if asked.service_tier.is_some() {
        record.service_tier.clone_from(&asked.service_tier);
    }
}

/// Writes the terms; where they leave something open, writes what the server reported.
fn write_terms(
    record: &mut BindingRecord,
    plan: &ThreadPlan,
    terms: &ThreadTerms,
    opened: OpenedFacts<'_>,
) {
    let (settings, thread) = (&terms.settings, opened.thread);
    record.auth_profile.clone_from(&terms.auth_profile);
    record.model = settings.model.clone().or_else(|| thread.model.clone());
    let provider = settings.model_provider.as_ref().or(thread.model_provider.as_ref());
    record.model_provider =
        provider.and_then(|provider| stored_provider(provider, plan.credential));
    if let Some(home) = opened.home {
        record.codex_home = Some(home.to_owned());
    }
    if thread.rollout_path.is_some() {
        record.rollout_path.clone_from(&thread.rollout_path);
    }
}
