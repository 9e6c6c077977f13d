//! Ready-made handlers for the server's requests.
//!
//! [`DenyAll`](traj_core::port::DenyAll) declines everything. [`AskHandler`] asks a callback, which
//! usually asks a person. [`AllowList`] grants what is on its list and passes everything else on.
//! Whatever they decide is recorded with the turn: what was asked, who decided, and for how long.

mod allow_list;
mod ask;
mod command_line;

pub use allow_list::AllowList;
pub use ask::{ApprovalAnswer, AskHandler};
