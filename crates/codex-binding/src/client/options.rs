//! How a client behaves.

use std::sync::Arc;
use std::time::Duration;

use traj_core::binding::BindingProfile;
use traj_core::limits::Reading;
use traj_core::port::{DenyAll, RequestHandler};
use traj_core::redaction::Redactor;

/// The behaviour of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The name by which the server knows the client.
    pub name: String,
    /// The client's name for people.
    pub title: String,
    /// The client's version.
    pub version: String,
    /// The oldest server that is accepted.
    pub version_floor: (u64, u64, u64),
    /// How long the server has to introduce itself.
    pub handshake_timeout: Duration,
    /// How long a call may take.
    pub request_timeout: Duration,
    /// How long each step of stopping the server may take.
    pub stop_patience: Duration,
    /// Calls under way at once.
    pub in_flight: usize,
    /// Calls that may wait until one of those is answered. Further callers wait to be admitted.
    pub waiting_calls: usize,
    /// Bytes that the server has not read yet, above which calls wait to be written.
    pub unsent_bytes: usize,
    /// Questions of the server answered at once; the rest gets the safe default.
    pub open_questions: usize,
    /// The longest line that is read.
    pub longest_line: usize,
    /// Wordings, limits and other rules.
    pub profile: BindingProfile,
    /// Hides secrets in the server's standard error output.
    pub redactor: Redactor,
    /// Answers questions that belong to no thread.
    pub handler: Arc<dyn RequestHandler>,
}

impl ClientOptions {
    /// The default behaviour.
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
