//! The plugin apps of a thread.

use std::error::Error;
use std::fmt::Debug;

use async_trait::async_trait;
use traj_core::binding::{Fingerprint, PluginPolicyContext};
use traj_core::json::Object;

/// Finds the apps that a plugin policy allows.
#[async_trait]
pub trait PluginApps: Debug + Send + Sync {
    /// The apps. If they cannot be found, no thread is started: it would lack apps that its record
    /// claims, or have apps that nobody allowed.
    async fn build(&self) -> Result<PluginBuild, Box<dyn Error + Send + Sync>>;
}

/// The apps that a plugin policy allows.
#[derive(Clone)]
#[non_exhaustive]
pub struct PluginBuild {
    /// The hash of the apps.
    pub fingerprint: Fingerprint,
    /// What the apps may do.
    pub policy: PluginPolicyContext,
    /// Configuration for the thread. It is merged into the other layers, and the plan's final
    /// configuration has the last word.
    pub config: Object<'static>,
}

impl PluginBuild {
    /// Apps with their policy and configuration.
    #[must_use]
    pub const fn new(
        fingerprint: Fingerprint,
        policy: PluginPolicyContext,
        config: Object<'static>,
    ) -> Self {
        Self { fingerprint, policy, config }
    }
}

impl Debug for PluginBuild {
    /// Shows only the names of the configuration: the values may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let config: Vec<&str> = self.config.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("PluginBuild")
            .field("fingerprint", &self.fingerprint)
            .field("policy", &self.policy)
            .field("config", &config)
            .finish()
    }
}
