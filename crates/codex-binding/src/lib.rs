//! Keeps conversations bound to the right Codex thread, over the real codex app-server.
//!
//! The layers, from the wire up:
//!
//! - `rpc`: lines, frames and a session state machine without I/O;
//! - [`transport`]: a child process, or a pair of pipes in this process;
//! - [`Client`]: one connection; implements the ports
//!   [`ThreadService`](traj_core::port::ThreadService) and
//!   [`TurnService`](traj_core::port::TurnService);
//! - [`ThreadLifecycle`]: the thread of a session, always resumed before it is replaced;
//! - [`run_turn`], [`run_bound_turn`], [`run_connected_turn`]: one turn, followed to its end and
//!   recorded;
//! - [`AllowList`], [`AskHandler`]: who grants what the server asks for;
//! - [`Conversations`]: chat messages, one at a time per conversation, on servers that are shared
//!   through a [`ClientPool`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use codex_binding::{
//!     BoundTurnRequest, LoadedThreads, ThreadLifecycle, ThreadPlan, run_bound_turn,
//! };
//! use traj_core::binding::TurnInput;
//! use traj_core::memory::{FixedClock, MemoryBindingStore, MemoryCodexHome, MemoryEventSink};
//! use traj_core::port::BindingKey;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An in-memory server; `CodexProcess` starts a real one.
//! let server = MemoryCodexHome::new().start_server();
//! let store = Arc::new(MemoryBindingStore::new());
//! let lifecycle = ThreadLifecycle::new(store, Arc::new(FixedClock::default()));
//! let plan = ThreadPlan::new(BindingKey::parse("session.jsonl")?, "/work");
//! let events = MemoryEventSink::new();
//!
//! // Nothing is granted unless `answered_by` names a handler that grants it.
//! let request = BoundTurnRequest::new(plan, TurnInput::text("hello"))
//!     .recorded_in(Arc::new(events.clone()));
//! let turn = run_bound_turn(&lifecycle, &server, &LoadedThreads::new(), &request).await?;
//! assert_eq!(turn.report.text, "echo: hello");
//! assert!(events.kinds().contains(&"prompt.submitted".to_owned()));
//! # Ok(())
//! # }
//! ```

mod bound_turn;
mod client;
mod codex_process;
mod conversation;
mod handler;
mod keyed_queue;
mod lifecycle;
mod pool;
mod protocol;
mod rpc;
pub mod transport;
mod turn;

pub use bound_turn::{
    BoundTurn, BoundTurnError, BoundTurnRequest, TurnStage, run_bound_turn, run_connected_turn,
};
pub use client::{Client, ClientCounters, ClientOptions};
pub use codex_process::CodexProcess;
pub use conversation::{
    BindError, ControlOutcome, ConversationOptions, Conversations, Handled, HostPermissions,
    Inbound, ServerChoice,
};
pub use handler::{AllowList, ApprovalAnswer, AskHandler};
pub use lifecycle::{
    HowOpened, LifecycleError, LoadedThreads, LostHistory, PluginApps, PluginBuild, ReadyThread,
    ThreadLifecycle, ThreadPlan,
};
pub use pool::{ClientPool, Connection, Connector, Lease, PoolKey};
pub use protocol::{ApprovalQuestion, ApprovalTopic, TESTED_VERSIONS, is_newer_than_tested};
pub use turn::{
    TurnCollector, TurnEnd, TurnError, TurnFacts, TurnObserver, TurnOptions, TurnOutcome,
    TurnReport, run_turn,
};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
