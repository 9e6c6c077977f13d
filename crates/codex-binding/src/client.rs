//! A connection to one app-server: outgoing calls, incoming events and questions, clean shutdown.

mod app_server;
mod driver;
mod options;
mod outbox;
mod questions;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use traj_core::json::Json;
use traj_core::port::{AppServerError, CloseCause};

pub use driver::ClientCounters;
pub use options::ClientOptions;

use driver::{Caller, ClientCommand, ClientSignals, ConnectionDriver, DriverReports};
use routes::Routes;

use crate::protocol::{VersionFloor, greeting, initialize_params, method};
use crate::transport::{StderrTail, Transport};

/// The minimum timeout of a call; a shorter one would always expire.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(100);

/// A client of one server. Clones share the connection; dropping the last one stops the server.
#[derive(Clone)]
pub struct Client {
    inner: Arc<SharedClient>,
}

struct SharedClient {
    commands: mpsc::Sender<ClientCommand>,
    signals: ClientSignals,
    routes: Routes,
    closed: watch::Receiver<Option<CloseCause>>,
    counters: watch::Receiver<ClientCounters>,
    finished: watch::Receiver<bool>,
    options: ClientOptions,
    stderr: Option<StderrTail>,
    process: Option<u32>,
    version: std::sync::OnceLock<String>,
    home: std::sync::OnceLock<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Client")
            .field("process", &self.inner.process)
            .field("version", &self.inner.version.get())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Takes over a connection, performs the handshake and checks the server's version.
    ///
    /// Must be called within a tokio runtime, which then drives the connection.
    ///
    /// # Errors
    /// The server does not answer, rejects the handshake, or is too old. It is then stopped.
    pub async fn connect(
        transport: Transport,
        options: ClientOptions,
    ) -> Result<Self, AppServerError> {
        let admitted = options.in_flight.saturating_add(options.waiting_calls);
        let admitted = admitted.clamp(1, Semaphore::MAX_PERMITS - 1);
        // Each call holds its permit, so the queue has room for all of them and a notification.
        let (commands, received) = mpsc::channel(admitted + 1);
        let (closing, closed) = watch::channel(None);
        let (counting, counters) = watch::channel(ClientCounters::default());
        let (finishing, finished) = watch::channel(false);
        let signals = ClientSignals {
            admission: Arc::new(Semaphore::new(admitted)),
            abandoned: Arc::new(Notify::new()),
            stop: CancellationToken::new(),
        };
        let routes = Routes::default();
        let stderr = transport.child.as_ref().map(crate::transport::ChildProcess::stderr);
        let process = transport.child.as_ref().and_then(crate::transport::ChildProcess::id);
        let reports = DriverReports { closing, counting, finishing };
        let driver = ConnectionDriver::new(&options, routes.clone(), signals.clone(), reports);
        // Ends when the last client is dropped or the server is gone.
        drop(tokio::spawn(driver.run(transport, received)));
        let client = Self {
            inner: Arc::new(SharedClient {
                commands,
                signals,
                routes,
                closed,
                counters,
                finished,
                options,
                stderr,
                process,
                version: std::sync::OnceLock::new(),
                home: std::sync::OnceLock::new(),
            }),
        };
        match client.handshake().await {
            Ok(()) => Ok(client),
            Err(error) => {
                client.stop().await;
                Err(error)
            }
        }
    }

    async fn handshake(&self) -> Result<(), AppServerError> {
        let options = &self.inner.options;
        let params = initialize_params(&options.name, &options.title, &options.version);
        let answer = self.call(method::INITIALIZE, params, options.handshake_timeout).await?;
        let greeting = greeting(&answer);
        if let Some(home) = greeting.home {
            let _already_known = self.inner.home.set(home);
        }
        let floor = VersionFloor(options.version_floor);
        match greeting.version {
            Some(version) if version.reaches(floor) => {
                let _already_known = self.inner.version.set(version.as_str().to_owned());
                let initialized = ClientCommand::Notify(method::INITIALIZED);
                let sent = self.inner.commands.send(initialized).await;
                sent.map_err(|_| self.closed_error())
            }
            other => {
                let found = other.map(|version| version.as_str().to_owned());
                Err(AppServerError::Closed { cause: CloseCause::UnsupportedVersion { found } })
            }
        }
    }

    /// Calls a method. Dropping the future discards the answer; the call may still take effect.
    ///
    /// Waits while too many calls are in flight. The wait counts towards the timeout.
    pub(crate) async fn call(
        &self,
        method: &'static str,
        params: Json<'static>,
        timeout: Duration,
    ) -> Result<Json<'static>, AppServerError> {
        let timeout = timeout.max(SHORTEST_TIMEOUT);
        let began = Instant::now();
        let signals = &self.inner.signals;
        let admission = Arc::clone(&signals.admission).acquire_owned();
        let admission = match tokio::time::timeout(timeout, admission).await {
            Ok(Ok(admission)) => admission,
            Ok(Err(_closed)) => return Err(self.closed_error()),
            Err(_elapsed) => return Err(AppServerError::TimedOut { method }),
        };
        // Dropped after `answer`: the driver looks for callers whose receiver was dropped.
        let mut abandon = AbandonedCall { signals, is_armed: true };
        let (reply, answer) = oneshot::channel();
        let timeout = timeout.saturating_sub(began.elapsed());
        let caller = Caller { reply, _admission: admission };
        let call = ClientCommand::Call { method, params, timeout, caller };
        let settled = match self.inner.commands.send(call).await {
            Ok(()) => answer.await.ok(),
            Err(_closed) => None,
        };
        abandon.is_armed = false;
        // Without an answer, the driver has ended and reported why.
        settled.unwrap_or_else(|| Err(self.closed_error()))
    }

    fn closed_error(&self) -> AppServerError {
        AppServerError::Closed { cause: self.close_cause() }
    }

    fn close_cause(&self) -> CloseCause {
        self.inner.closed.borrow().clone().unwrap_or(CloseCause::ByUs)
    }

    /// Why the connection ended; `None` while it is open.
    #[must_use]
    pub fn closed(&self) -> Option<CloseCause> {
        self.inner.closed.borrow().clone()
    }

    /// Waits for the end of the connection.
    pub async fn wait_closed(&self) -> CloseCause {
        let mut closed = self.inner.closed.clone();
        match closed.wait_for(Option::is_some).await {
            Ok(cause) => cause.clone().unwrap_or(CloseCause::ByUs),
            Err(_) => CloseCause::ByUs,
        }
    }

    /// Stops the server: closes its input, waits, then terminates and kills it. All waiting calls
    /// end at once.
    pub async fn stop(&self) {
        self.inner.signals.stop.cancel();
        let mut finished = self.inner.finished.clone();
        // If the driver has ended, it has already stopped everything.
        let _gone = finished.wait_for(|is_finished| *is_finished).await;
    }

    /// The server's version.
    #[must_use]
    pub fn server_version(&self) -> Option<&str> {
        self.inner.version.get().map(String::as_str)
    }

    /// The server's process id.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.inner.process
    }

    /// Counters of protocol errors so far.
    #[must_use]
    pub fn counters(&self) -> ClientCounters {
        let mut counters = *self.inner.counters.borrow();
        counters.stderr_bytes = self.inner.stderr.as_ref().map_or(0, StderrTail::bytes);
        counters
    }

    /// The end of the server's standard error output, redacted.
    #[must_use]
    pub fn stderr_tail(&self) -> Option<String> {
        Some(self.inner.stderr.as_ref()?.text(&self.inner.options.redactor))
    }
}

/// Notifies the driver if the caller is dropped before the answer.
struct AbandonedCall<'a> {
    signals: &'a ClientSignals,
    is_armed: bool,
}

impl Drop for AbandonedCall<'_> {
    fn drop(&mut self) {
        if self.is_armed {
            self.signals.abandoned.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
