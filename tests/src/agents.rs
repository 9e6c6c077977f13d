//! Real coding agents, offline: each runs in a sandbox against one scripted model on the loopback.
//!
//! - `scenario`: the prompts, and what the model answers to each;
//! - `tools`: the same action as a call to whichever tool an agent offers;
//! - `wire`: the APIs that agents speak to a model;
//! - `model`: the server;
//! - `sandbox`: a home, a workspace with made-up secrets, and an environment that reaches only the
//!   loopback;
//! - `program`: how to start each agent, and where it writes its sessions.
//!
//! The model remembers what it served. A test compares that with what `traj` reads from the files
//! that the agent wrote.

mod model;
mod program;
mod sandbox;
mod scenario;
mod tools;
mod wire;

pub use model::{AgentModel, Served};
pub use program::{Agent, Invocation};
pub use sandbox::{AgentSandbox, SECRETS, Step};
pub use scenario::{
    AGREE, ASIDE, COUNT, DELEGATE, GO_ON, LONG, NOTE, REFUSE, REPAIR, SUMMARY, WAIT,
};
pub use tools::ServedCall;
pub use wire::Tokens;
