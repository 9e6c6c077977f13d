//! The wire protocol: frames, and a session that matches answers to calls.
//!
//! The session is a state machine without I/O: `step` takes lines and times, and returns what to
//! do.

mod frame;
mod session;

pub(crate) use frame::notification_line;
pub(crate) use session::{CallToken, RpcInput, RpcLimits, RpcOutput, RpcSession};
