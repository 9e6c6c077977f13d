//! Keeps conversations bound to the right Codex thread, over the real codex app-server.
//!
//! The layers, from the wire up:
//!
//! - `rpc`: lines, frames and a session state machine without any IO;
//! - [`transport`]: a child process, or a pair of pipes in this process;
//! - [`Client`]: one connection; implements the ports
//!   [`ThreadService`](traj_core::port::ThreadService) and
//!   [`TurnService`](traj_core::port::TurnService);
//! - [`ThreadLifecycle`]: the thread of a session, resumed before anything is replaced;
//! - [`run_turn`], [`run_bound_turn`]: one turn, followed to its end and recorded;
//! - [`Conversations`]: chat messages, one at a time per conversation, on servers that are shared
//!   through a [`ClientPool`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use codex_binding::{
//!     BoundTurnRequest, LoadedThreads, ThreadLifecycle, ThreadPlan, TurnFacts, TurnOptions,
//!     TurnSpec, run_bound_turn,
//! };
//! use traj_core::binding::TurnInput;
//! use traj_core::memory::{FixedClock, MemoryBindingStore, MemoryCodexHome};
//! use traj_core::port::{BindingKey, DenyAll, EventSink, NoEvents};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A server in memory; the real one is `Client::connect(transport::spawn(&command)?, options)`.
//! let server = MemoryCodexHome::new().start_server();
//! let store = Arc::new(MemoryBindingStore::new());
//! let lifecycle = ThreadLifecycle::new(store, Arc::new(FixedClock::default()));
//! let plan = ThreadPlan::new(BindingKey::parse("session.jsonl")?, "/work");
//! let options = TurnOptions::standard(Arc::new(DenyAll::new()));
//! let sink: Arc<dyn EventSink> = Arc::new(NoEvents::new());
//!
//! let request = BoundTurnRequest {
//!     plan: &plan,
//!     spec: &TurnSpec::new(TurnInput::text("hello")),
//!     options: &options,
//!     facts: &TurnFacts::new("hello"),
//!     sink: &sink,
//! };
//! let turn = run_bound_turn(&lifecycle, &server, &LoadedThreads::new(), request).await?;
//! assert_eq!(turn.report.text, "echo: hello");
//! # Ok(())
//! # }
//! ```

mod bound_turn;
mod client;
mod conversation;
mod keyed_queue;
mod lifecycle;
mod pool;
mod protocol;
mod rpc;
pub mod transport;
mod turn;

pub use bound_turn::{BoundTurn, BoundTurnError, BoundTurnRequest, TurnSpec, run_bound_turn};
pub use client::{Client, ClientCounters, ClientOptions};
pub use conversation::{
    ControlOutcome, ConversationOptions, Conversations, Handled, HostPermissions, Inbound,
    ServerChoice,
};
pub use lifecycle::{
    HowOpened, LifecycleError, LoadedThreads, LostHistory, PluginApps, PluginBuild, ReadyThread,
    ThreadLifecycle, ThreadPlan,
};
pub use pool::{ClientPool, Connection, Connector, Lease, PoolKey};
pub use turn::{
    TurnCollector, TurnEnd, TurnError, TurnFacts, TurnObserver, TurnOptions, TurnOutcome,
    TurnReport, run_turn,
};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
