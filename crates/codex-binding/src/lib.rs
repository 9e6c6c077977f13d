//! Keeps conversations bound to the right Codex thread, over the real codex app-server.
//!
//! The layers, from the wire up:
//!
//! - `rpc`: lines, frames and a session state machine without any IO;
//! - [`transport`]: a child process, or a pair of pipes in this process;
//! - [`Client`]: one connection; implements the ports
//!   [`ThreadService`](traj_core::port::ThreadService) and
//!   [`TurnService`](traj_core::port::TurnService).

mod bound_turn;
mod client;
mod conversation;
mod lanes;
mod lifecycle;
mod pool;
mod protocol;
mod rpc;
pub mod transport;
mod turn;

pub use bound_turn::{BoundTurn, BoundTurnError, TurnSpec, run_bound_turn};
pub use client::{Client, ClientCounters, ClientOptions};
pub use conversation::{ControlOutcome, ConversationOptions, Conversations, Handled, Inbound};
pub use lanes::{LaneError, LanePass, Lanes};
pub use lifecycle::{
    HowOpened, LifecycleError, LoadedThreads, LostHistory, PluginApps, PluginBuild, ReadyThread,
    ThreadKeeper, ThreadPlan,
};
pub use pool::{ClientPool, Connection, Connector, Lease, PoolKey};
pub use turn::{
    TurnCollector, TurnEnd, TurnError, TurnFacts, TurnObserver, TurnOptions, TurnOutcome,
    TurnReport, run_turn,
};
