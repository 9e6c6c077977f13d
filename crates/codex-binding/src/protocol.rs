//! The messages of the app-server protocol: outgoing parameters, incoming answers and events.
//!
//! Readers require only what every version has (a thread's id, a turn's id) and accept anything
//! else, since members and enum values change between releases.

mod approval;
mod event;
mod handshake;
mod history;
mod login;
pub(crate) mod method;
mod request;
mod thread;
mod turn;
mod version;

pub use approval::{ApprovalQuestion, ApprovalTopic};
pub(crate) use approval::{asked_approval, asks_for_more, command_words, ruling};
pub(crate) use event::read_event;
pub(crate) use handshake::{greeting, initialize_params};
pub(crate) use history::{history_params, past_messages};
pub(crate) use login::expired_login;
pub(crate) use request::{answer_json, read_request};
pub(crate) use thread::{
    opened_thread, resume_params, start_params, thread_summary, tool_definition,
};
pub(crate) use turn::{interrupt_params, steer_params, turn_id, turn_params};
pub(crate) use version::{ServerVersion, VersionFloor};
pub use version::{TESTED_VERSIONS, is_newer_than_tested};

use traj_core::json::{Json, Object};

/// Parameters that only name a thread.
pub(crate) fn thread_params(thread: &str) -> Json<'static> {
    Json::Object(std::iter::once(("threadId", thread.to_owned())).collect())
}

/// Parameters that name a thread whose turns the answer should list.
pub(crate) fn turns_params(thread: &str) -> Json<'static> {
    let mut params = Object::new();
    params.push("threadId", thread.to_owned());
    params.push("includeTurns", true);
    params.into()
}
