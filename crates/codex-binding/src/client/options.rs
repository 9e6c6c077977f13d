//! The options of a client.

use std::sync::Arc;
use std::time::Duration;

use traj_core::binding::BindingProfile;
use traj_core::limits::Reading;
use traj_core::port::{DenyAll, RequestHandler};
use traj_core::redaction::Redactor;

/// The options of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The name by which the server knows the client.
    pub name: String,
    /// The client's name for people.
    pub title: String,
    /// The client's version.
    pub version: String,
    /// The oldest accepted server version.
    pub version_floor: (u64, u64, u64),
    /// How long the handshake may take.
    pub handshake_timeout: Duration,
    /// How long a call may take.
    pub request_timeout: Duration,
    /// How long each step of stopping the server may take.
    pub stop_patience: Duration,
    /// How many calls may be in flight at once.
    pub in_flight: usize,
    /// How many calls may wait for one of those to finish. Further callers wait to be admitted.
    pub waiting_calls: usize,
    /// Calls wait while more than this many bytes have not been read by the server.
    pub unsent_bytes: usize,
    /// How many questions of the server may be open at once; more get the safe default answer.
    pub open_questions: usize,
    /// The longest line to read, in bytes.
    pub longest_line: usize,
    /// Wordings, limits and other rules.
    pub profile: BindingProfile,
    /// Hides secrets in the server's standard error output.
    pub redactor: Redactor,
    /// Answers questions that do not belong to a thread.
    pub handler: Arc<dyn RequestHandler>,
}

impl ClientOptions {
    /// The default options.
    #[must_use]
    pub fn standard(redactor: Redactor) -> Self {
        Self {
            name: "traj".to_owned(),
            title: "traj".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            version_floor: (0, 125, 0),
            handshake_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            stop_patience: Duration::from_secs(2),
            in_flight: 32,
            waiting_calls: 256,
            unsent_bytes: 1 << 20,
            open_questions: 256,
            longest_line: Reading::standard().server_line_bytes,
            profile: BindingProfile::standard(),
            redactor,
            handler: Arc::new(DenyAll::new()),
        }
    }
}
