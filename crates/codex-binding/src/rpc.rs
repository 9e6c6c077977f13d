//! The wire: frames, and a session that knows which answer belongs to which call.
//!
//! Everything here is a value with `step`: bytes and time come in, what to do comes out. Nothing
//! reads, writes or waits.

mod frame;
mod session;

pub(crate) use frame::notification_line;
pub(crate) use session::{CallToken, RpcInput, RpcLimits, RpcOutput, RpcSession};
