//! Tests of leases with in-memory servers.

use traj_core::memory::{MemoryAppServer, MemoryCodexHome};

use super::*;

/// A home that counts its servers.
#[derive(Debug, Default)]
pub(crate) struct MemoryConnector {
    pub(crate) home: MemoryCodexHome,
    pub(crate) started: Mutex<Vec<MemoryAppServer>>,
    pub(crate) failing: AtomicUsize,
}

#[async_trait]
impl Connector for MemoryConnector {
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError> {
        tokio::task::yield_now().await;
        if self.failing.load(Ordering::Relaxed) > 0 {
            self.failing.fetch_sub(1, Ordering::Relaxed);
            return Err(AppServerError::TimedOut { method: "initialize" });
        }
        let server = self.home.start_server();
        self.started.lock().unwrap().push(server.clone());
        Ok(Arc::new(server))
    }
}

#[async_trait]
impl Connection for MemoryAppServer {
    fn is_closed(&self) -> bool {
        self.is_dead()
    }

    async fn stop(&self) {
        self.kill();
    }
}

fn command(value: &str) -> ServerCommand {
    ServerCommand::codex("codex", vec![("KEY".to_owned(), value.to_owned())], "/w")
}

/// Scenario 78: another variable, profile or program means another server, and
/// no key reveals a secret.
#[test]
fn keys_differ_and_tell_no_secret() {
    let marker = MarkerKey::new([3; 32]);
    let key = |value: &str, profile: Option<&str>| PoolKey::of(&command(value), profile, &marker);
    assert_eq!(key("hunter2", None), key("hunter2", None));
    assert_ne!(key("hunter2", None), key("hunter3", None));
    assert_ne!(key("hunter2", None), key("hunter2", Some("work")));
    assert!(!key("hunter2", None).as_str().contains("hunter2"));
}

/// Scenario 78: a server that fails does not touch another one.
#[tokio::test]
async fn one_failing_server_leaves_the_others_alone() {
    let pool = ClientPool::new();
    let (good, bad) = (MemoryConnector::default(), MemoryConnector::default());
    let key = |value: &str| PoolKey::of(&command(value), None, &MarkerKey::new([3; 32]));
    let lease = pool.lease(&key("good"), &good).await.unwrap();
    bad.failing.store(1, Ordering::Relaxed);
    assert!(pool.lease(&key("bad"), &bad).await.is_err());
    let other = pool.lease(&key("bad"), &bad).await.unwrap();
    bad.started.lock().unwrap()[0].kill();
    assert!(other.server().unwrap().is_closed());
    assert!(!lease.server().unwrap().is_closed());
    let again = pool.lease(&key("good"), &good).await.unwrap();
    assert_eq!(good.started.lock().unwrap().len(), 1, "the same server");
    drop(again);
}

/// Scenario 79: one start for all, and an end after the last lease.
#[tokio::test]
async fn one_start_is_shared_and_ends_with_the_last_lease() {
    let (pool, connector) = (ClientPool::new(), MemoryConnector::default());
    let key = PoolKey::of(&command("x"), None, &MarkerKey::new([3; 32]));
    let (first, second) = tokio::join!(pool.lease(&key, &connector), pool.lease(&key, &connector));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(connector.started.lock().unwrap().len(), 1);
    pool.retire(&first);
    assert!(pool.is_empty());
    drop(first);
    tokio::task::yield_now().await;
    assert!(!second.server().unwrap().is_closed(), "somebody still uses it");
    let next = pool.lease(&key, &connector).await.unwrap();
    assert_eq!(connector.started.lock().unwrap().len(), 2, "a retired server is not leased");
    drop(second);
    tokio::task::yield_now().await;
    assert!(connector.started.lock().unwrap()[0].is_dead());
    assert!(!next.server().unwrap().is_closed());
}

/// Scenario 80: a failed start is forgotten, and a dead server is replaced.
#[tokio::test]
async fn failures_and_deaths_are_forgotten() {
    let (pool, connector) = (ClientPool::new(), MemoryConnector::default());
    let key = PoolKey::of(&command("x"), None, &MarkerKey::new([3; 32]));
    connector.failing.store(1, Ordering::Relaxed);
    assert!(pool.lease(&key, &connector).await.is_err());
    let lease = pool.lease(&key, &connector).await.unwrap();
    connector.started.lock().unwrap()[0].kill();
    let next = pool.lease(&key, &connector).await.unwrap();
    assert!(lease.server().unwrap().is_closed() && !next.server().unwrap().is_closed());
    pool.stop().await;
    assert!(next.server().unwrap().is_closed());
}
