//! What a turn wants of its thread, and how the thread was opened.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use traj_core::binding::{
    BindingRecord, BundledMcp, CredentialKind, Fingerprint, PluginPolicyContext, RotateReason,
    TransientReason, WantedPlugins, WantedThread, WantedTools,
};
use traj_core::id::ThreadId;
use traj_core::json::{Json, Object};
use traj_core::port::{BindingKey, ThreadSettings};
use traj_core::timestamp::UnixMillis;

/// What a turn wants of its thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadPlan {
    /// The session.
    pub key: BindingKey,
    /// What the thread's identity depends on.
    pub wanted: WantedThread,
    /// Where the agent works.
    pub cwd: String,
    /// Settings; permissions and tier left open are those chosen for the binding.
    pub settings: ThreadSettings,
    /// Tools of the host.
    pub tools: Vec<Json<'static>>,
    /// Execution environments.
    pub environments: Option<Vec<Json<'static>>>,
    /// The host's name.
    pub service_name: String,
    /// The credential profile; none keeps the stored one.
    pub auth_profile: Option<String>,
    /// What the profile holds.
    pub credential: CredentialKind,
    /// Lets hooks of the thread keep validating; none keeps the stored one.
    pub hook_relay_generation: Option<String>,
    /// Looks plugin apps up when they matter.
    pub plugins: Option<Arc<dyn PluginApps>>,
}

impl ThreadPlan {
    /// A plain thread in `cwd`.
    #[must_use]
    pub fn new(key: BindingKey, cwd: &str) -> Self {
        Self {
            key,
            wanted: WantedThread::plain(),
            cwd: cwd.to_owned(),
            settings: ThreadSettings::default(),
            tools: Vec::new(),
            environments: None,
            service_name: "traj".to_owned(),
            auth_profile: None,
            credential: CredentialKind::Other,
            hook_relay_generation: None,
            plugins: None,
        }
    }

    /// The same thread with tools of the host.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<Json<'static>>) -> Self {
        self.wanted.tools = WantedTools::of(&tools);
        self.tools = tools;
        self
    }

    /// Writes what is wanted into a record.
    pub(super) fn describe(&self, record: &mut BindingRecord) {
        record.cwd.clone_from(&self.cwd);
        let fingerprints = &mut record.fingerprints;
        fingerprints.dynamic_tools = Some(self.wanted.tools.fingerprint.clone());
        fingerprints.tools_were_empty = self.wanted.tools.is_empty;
        fingerprints.user_mcp.clone_from(&self.wanted.user_mcp);
        fingerprints.environment.clone_from(&self.wanted.environment);
        fingerprints.bundled_mcp = match &self.wanted.bundled_mcp {
            BundledMcp::Evaluated(now) => now.clone(),
            _ => None,
        };
        record.tools_contain_deferred = Some(self.wanted.tools.contain_deferred);
        record.context_engine.clone_from(&self.wanted.context_engine);
        if self.hook_relay_generation.is_some() {
            record.hook_relay_generation.clone_from(&self.hook_relay_generation);
        }
    }

    /// Looks plugin apps up; a failure leaves things as they are.
    pub(super) async fn build_plugins(&mut self) -> Option<PluginBuild> {
        let plugins = self.plugins.clone()?;
        let WantedPlugins::Enabled { built, .. } = &mut self.wanted.plugins else { return None };
        let found = plugins.build().await?;
        *built = Some(found.fingerprint.clone());
        Some(found)
    }
}

/// Looks up the apps that a plugin policy leads to.
#[async_trait]
pub trait PluginApps: Debug + Send + Sync {
    /// The apps; none when they cannot be looked up now.
    async fn build(&self) -> Option<PluginBuild>;
}

/// The apps that a plugin policy leads to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PluginBuild {
    /// Their hash.
    pub fingerprint: Fingerprint,
    /// What they may do.
    pub policy: PluginPolicyContext,
    /// Configuration for the thread.
    pub config: Object<'static>,
}

impl PluginBuild {
    /// Apps.
    #[must_use]
    pub const fn new(
        fingerprint: Fingerprint,
        policy: PluginPolicyContext,
        config: Object<'static>,
    ) -> Self {
        Self { fingerprint, policy, config }
    }
}

/// A thread that is loaded and stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadyThread {
    /// Its record. The record of a transient thread is not stored.
    pub record: BindingRecord,
    /// How it was opened.
    pub how: HowOpened,
}

impl ReadyThread {
    pub(super) const fn new(record: BindingRecord, how: HowOpened) -> Self {
        Self { record, how }
    }

    /// The thread.
    #[must_use]
    pub const fn thread(&self) -> &ThreadId {
        &self.record.thread
    }
}

/// How a thread was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HowOpened {
    /// The session had no thread.
    Started,
    /// The stored one, with its history.
    Resumed,
    /// The stored one no longer fits; a new one took its place.
    Rotated {
        /// The thread before.
        previous: ThreadId,
        /// What changed.
        reasons: Vec<RotateReason>,
    },
    /// Nothing was left of the stored one; a new one took its place.
    Replaced {
        /// What was lost with it.
        lost: LostHistory,
    },
    /// A thread for this turn only; the stored one stays.
    Transient {
        /// Why.
        reason: TransientReason,
    },
}

impl HowOpened {
    /// A short name for people and for machines.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Resumed => "resumed",
            Self::Rotated { .. } => "rotated",
            Self::Replaced { .. } => "replaced",
            Self::Transient { .. } => "transient",
        }
    }
}

/// What is known of a history that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostHistory {
    /// The thread.
    pub thread: ThreadId,
    /// Turns that ended on it, as far as known. If zero, nothing was lost.
    pub turns: u64,
    /// Messages up to this time were known to it.
    pub covered_through: Option<UnixMillis>,
    /// Where it was kept.
    pub rollout_path: Option<String>,
}

impl LostHistory {
    pub(super) fn of(record: &BindingRecord) -> Self {
        Self {
            thread: record.thread.clone(),
            turns: record.turns,
            covered_through: record.history_covered_through,
            rollout_path: record.rollout_path.clone(),
        }
    }
}
