//! Starts Codex processes, for one turn or for a pool.

use std::sync::Arc;

use async_trait::async_trait;
use traj_core::port::{AppServerError, CloseCause};
use traj_core::redaction::MarkerKey;

use crate::client::{Client, ClientOptions};
use crate::pool::{Connection, Connector, PoolKey};
use crate::transport::{ServerCommand, spawn};

/// Starts a Codex process for each connection.
#[derive(Clone, Debug)]
pub struct CodexProcess {
    command: ServerCommand,
    options: ClientOptions,
}

impl CodexProcess {
    /// Starts processes like this.
    #[must_use]
    pub const fn new(command: ServerCommand, options: ClientOptions) -> Self {
        Self { command, options }
    }

    /// The key of such a process in a pool, for this credential profile.
    #[must_use]
    pub fn pool_key(&self, auth_profile: Option<&str>, key: &MarkerKey) -> PoolKey {
        PoolKey::of(&self.command, auth_profile, key)
    }

    /// Starts a process and connects to it.
    ///
    /// # Errors
    /// The program cannot be started, exits, does not answer in time, or is too old. No process is
    /// left. An exit carries the last lines of its standard error, redacted.
    pub async fn start(&self) -> Result<Client, AppServerError> {
        let transport = spawn(&self.command).map_err(|error| {
            let reason = error.source.to_string();
            AppServerError::Closed { cause: CloseCause::NoProgram { reason } }
        })?;
        Client::connect(transport, self.options.clone()).await
    }
}

#[async_trait]
impl Connector for CodexProcess {
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError> {
        Ok(Arc::new(self.start().await?))
    }
}
