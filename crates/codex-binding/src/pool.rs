//! Shared servers: one start, counted leases, a clean stop.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::OnceCell;
use traj_core::binding::Fingerprint;
use traj_core::port::{AppServer, AppServerError};
use traj_core::redaction::MarkerKey;

use crate::client::Client;
use crate::lifecycle::LoadedThreads;
use crate::transport::ServerCommand;

/// A connection that can be shared.
#[async_trait]
pub trait Connection: AppServer {
    /// Whether the connection has ended.
    fn is_closed(&self) -> bool;

    /// Stops the server.
    async fn stop(&self);
}

#[async_trait]
impl Connection for Client {
    fn is_closed(&self) -> bool {
        self.closed().is_some()
    }

    async fn stop(&self) {
        Self::stop(self).await;
    }
}

/// Opens connections.
#[async_trait]
pub trait Connector: Debug + Send + Sync {
    /// Opens a connection.
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError>;
}

/// Identifies a server. The string contains no secrets: values of variables are hashed with a key
/// of this process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolKey(String);

impl PoolKey {
    /// The key of a server with this command and credential profile.
    #[must_use]
    pub fn of(command: &ServerCommand, auth_profile: Option<&str>, key: &MarkerKey) -> Self {
        let mut variables: Vec<String> = command
            .environment
            .iter()
            .map(|(name, value)| {
                let keyed = format!("{:?}\0{name}\0{value}", key.as_bytes());
                format!("{name}={}", Fingerprint::opaque(&keyed).as_str())
            })
            .collect();
        variables.sort_unstable();
        Self(format!(
            "{}\n{:?}\n{}\n{auth_profile:?}\n{}",
            command.program.display(),
            command.arguments,
            command.directory.display(),
            variables.join("\n")
        ))
    }

    /// The key as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Servers by key. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ClientPool {
    entries: Arc<Mutex<BTreeMap<PoolKey, Arc<PoolEntry>>>>,
}

#[derive(Debug, Default)]
struct PoolEntry {
    connection: OnceCell<Arc<dyn Connection>>,
    loaded: LoadedThreads,
    leases: AtomicUsize,
    is_retired: AtomicBool,
}

impl PoolEntry {
    fn is_usable(&self) -> bool {
        self.connection.get().is_none_or(|connection| !connection.is_closed())
    }

    fn stop_if_unused(&self) {
        let is_unused = self.leases.load(Ordering::Acquire) == 0;
        if let (true, true, Some(connection)) =
            (self.is_retired.load(Ordering::Acquire), is_unused, self.connection.get())
        {
            let connection = Arc::clone(connection);
            // The task ends when the server has stopped.
            drop(tokio::spawn(async move { connection.stop().await }));
        }
    }
}

impl ClientPool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PoolKey, Arc<PoolEntry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases the server of `key`, and starts it if it is not running. Callers that arrive during a
    /// start wait for the same start. A failed start does not affect the next one.
    ///
    /// # Errors
    /// The server does not start.
    pub async fn lease(
        &self,
        key: &PoolKey,
        connector: &dyn Connector,
    ) -> Result<Lease, AppServerError> {
        let entry = {
            let mut entries = self.lock();
            let known = entries.get(key).filter(|entry| entry.is_usable()).cloned();
            let entry = known.unwrap_or_default();
            entries.insert(key.clone(), Arc::clone(&entry));
            entry.leases.fetch_add(1, Ordering::AcqRel);
            entry
        };
        // Returned even if the start fails or its caller is dropped.
        let lease = Lease { entry };
        lease.entry.connection.get_or_try_init(|| connector.connect()).await?;
        Ok(lease)
    }

    /// Stops leasing the server. It ends when the last lease is dropped.
    pub fn retire(&self, lease: &Lease) {
        self.lock().retain(|_, entry| !Arc::ptr_eq(entry, &lease.entry));
        lease.entry.is_retired.store(true, Ordering::Release);
    }

    /// How many servers are registered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no server is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stops every server, leased or not.
    pub async fn stop(&self) {
        let entries = std::mem::take(&mut *self.lock());
        for entry in entries.into_values() {
            if let Some(connection) = entry.connection.get() {
                connection.stop().await;
            }
        }
    }
}

/// The right to use a shared server. Dropping it returns the server.
#[derive(Debug)]
pub struct Lease {
    entry: Arc<PoolEntry>,
}

impl Lease {
    /// The server; `None` only while it is starting.
    #[must_use]
    pub fn server(&self) -> Option<&Arc<dyn Connection>> {
        self.entry.connection.get()
    }

    /// The threads that the server has loaded.
    #[must_use]
    pub fn loaded(&self) -> &LoadedThreads {
        &self.entry.loaded
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.entry.leases.fetch_sub(1, Ordering::AcqRel);
        self.entry.stop_if_unused();
    }
}

#[cfg(test)]
pub(crate) mod tests;
