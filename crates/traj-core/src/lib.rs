//! The pure core of traj: redaction, typed runs of several agents, events and
//! their limits, bindings, and the ports to storage and the app-server.
//!
//! Start with [`redaction`] to redact values, with [`dialect`] and [`run`] to
//! read runs, and with [`event`] and [`capture`] to record them.
//!
//! The modules, in reading order:
//!
//! - [`json`]: JSON values, and the splitting of bytes into lines.
//! - [`id`]: checked identifiers and the file names made from them.
//! - [`timestamp`]: instants, as agents write them.
//! - [`limits`]: how large events, files and lines may be.
//! - [`event`]: what a host records.
//! - [`redaction`]: hides secrets, paths and images.
//! - [`capture`]: events become redacted lines within limits, and a recorder
//!   decides when to retry, truncate or give up.
//! - [`dialect`]: rows of each agent's files become facts.
//! - [`run`]: facts become a run, with calls, tokens, time and cost.
//! - [`location`]: which sidecar belongs to a session.
//! - [`settings`]: the host's facts, the configuration file and the recorder's
//!   settings.
//! - [`care`]: watch, trim, repair and prune recorded sessions.
//! - [`binding`]: which Codex thread continues a session.
//! - [`port`]: the traits that adapters implement.
//! - `memory`: strict in-memory adapters for every port (feature `memory`).
//!
//! The crate never touches a file, a clock, the environment, a thread or a
//! runtime. It reaches the outside world only through the traits in [`port`];
//! facts about the host arrive as plain values
//! ([`settings::host::HostFacts`]).
//!
//! Recorded data flows one way: [`capture::Capture`] redacts an
//! [`event::Event`] and cuts it to its limits, the writer of the file numbers
//! the line, and from then on it is only read. Nothing reaches a sink unless it
//! is [`redaction::Redacted`], and only redaction makes that.
//!
//! ```
//! use traj_core::capture::Capture;
//! use traj_core::event::{RunContext, RuntimeRow, ToolCall};
//! use traj_core::id::SessionId;
//! use traj_core::json::Object;
//! use traj_core::limits::Limits;
//! use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
//! use traj_core::timestamp::UnixMillis;
//!
//! let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
//! let context = RunContext::new(SessionId::parse("chat-1")?);
//! let capture = Capture::new(redactor, Limits::standard(), &context);
//!
//! let password = ["correct", "horse", "battery"].join("-");
//! let command = format!("curl -u admin:{password} https://example.com");
//! let call = ToolCall::new("call-1", "bash").arguments(Object::from_iter([("command", command)]));
//! let mut line = String::new();
//! capture.prepare(call.event(), UnixMillis::EPOCH).encode(1)?.write(1, &mut line);
//!
//! assert!(!line.contains(&password), "the secret is gone");
//! let row = RuntimeRow::parse(line.trim_end()).expect("a written line can be read");
//! assert_eq!(row.kind(), "tool.call");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod binding;
pub mod capture;
pub mod care;
pub mod dialect;
pub mod event;
pub mod id;
pub mod json;
pub mod limits;
pub mod location;
#[cfg(feature = "memory")]
pub mod memory;
pub mod port;
pub mod redaction;
pub mod run;
pub mod settings;
pub mod timestamp;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
