//! The pure core of traj: redaction, typed runs of several agents, events and
//! their limits, bindings, and the ports to storage and the app-server.
//!
//! Start with [`redaction`] to redact values, with [`dialect`] and [`run`] to
//! read runs, and with [`event`] and [`capture`] to record them.
//!
//! The modules, in reading order:
//!
//! - [`json`]: JSON values, and splitting bytes into lines.
//! - [`id`]: checked identifiers, and the file names made from them.
//! - [`timestamp`]: timestamps, as agents write them.
//! - [`limits`]: how large events, files and lines may be.
//! - [`event`]: what a host records.
//! - [`redaction`]: hides secrets, paths and images.
//! - [`capture`]: turns events into redacted lines within limits, and decides
//!   when a recorder retries, truncates or gives up.
//! - [`dialect`]: turns rows of each agent's files into facts.
//! - [`gather`]: turns databases, compressed files and documents into such rows.
//! - [`run`]: turns facts into a run, with calls, tokens, time and cost.
//! - [`agents`]: where each agent stores its sessions.
//! - [`location`]: finds the sidecar of a session.
//! - [`settings`]: facts about the host, the configuration file and the
//!   recorder's settings.
//! - [`care`]: watches, trims, repairs and prunes recorded sessions.
//! - [`binding`]: decides which Codex thread continues a session.
//! - [`port`]: the traits that adapters implement.
//! - `memory`: strict in-memory adapters for tests (feature `memory`).
//!
//! The crate never touches a file, a clock, the environment, a thread or a
//! runtime. It reaches the outside world only through the traits in [`port`];
//! facts about the host arrive as plain values
//! ([`settings::host::HostFacts`]).
//!
//! Recorded data flows one way: [`capture::Capture`] redacts an
//! [`event::Event`] and cuts it to its limits, the writer of the file numbers
//! the line, and from then on the line is only read. Sidecars and bundles
//! accept only [`redaction::Redacted`] values, and only redaction can make
//! those.
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
//! let key = MarkerKey::from_random(getrandom::fill)?;
//! let redactor = Redactor::new(RedactionPolicy::standard(key));
//! let context = RunContext::new(SessionId::parse("chat-1")?);
//! let capture = Capture::new(redactor, Limits::standard(), &context);
//!
//! let password = ["correct", "horse", "battery"].join("-");
//! let command = format!("curl -u admin:{password} https://example.com");
//! let call = ToolCall::new("call-1", "bash").arguments(Object::from_iter([("command", command)]));
//! let mut line = String::new();
//! capture.prepare(call.event(), UnixMillis::EPOCH).encode(1)?.write(1, &mut line);
//!
//! assert!(!line.contains(&password), "the secret is redacted");
//! let row = RuntimeRow::parse(line.trim_end()).expect("a written line can be read");
//! assert_eq!(row.kind(), "tool.call");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod agents;
pub mod binding;
pub mod capture;
pub mod care;
pub mod dialect;
pub mod event;
pub mod gather;
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
