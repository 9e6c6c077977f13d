//! The pure core of traj: redaction, typed runs of several agents, events and
//! their limits, bindings, and the ports to storage and the app-server.
//!
//! Start with [`redaction`] to redact values, with [`dialect`] and [`run`] to
//! read runs, and with [`event`] and [`capture`] to record them.
//!
//! Nothing here touches a file, a clock, the environment, a thread or a
//! runtime. What the domain needs of the world it asks for through the traits
//! in [`port`]; what the host knows about itself arrives as plain values
//! ([`settings::host::HostFacts`]).
//!
//! What a run leaves behind goes one way: an [`event::Event`] is redacted and
//! cut to its limits by [`capture::Capture`], becomes a line with a number from
//! whoever holds the file, and from then on is only read. Nothing reaches a
//! sink unless it is [`redaction::Redacted`], and only redaction makes that.
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
//! assert!(!line.contains(&password), "no character of the secret stays");
//! let row = RuntimeRow::parse(line.trim_end()).expect("what is written reads back");
//! assert_eq!(row.kind(), "tool.call");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `memory` adds strict in-memory adapters for every port.

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
pub mod recording;
pub mod redaction;
pub mod run;
pub mod settings;
pub mod timestamp;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
