//! The messages of the app-server protocol: outgoing parameters, incoming answers and events.
//!
//! Readers require only what every version has (a thread's id, a turn's id) and accept anything
//! else, since members and enum values change between releases.

mod approval;
mod event;
mod history;
mod request;
mod thread;
mod turn;
mod version;

pub use approval::{ApprovalQuestion, ApprovalTopic};
pub(crate) use approval::{asked_approval, asks_for_more, command_words, ruling};
pub(crate) use event::read_event;
pub(crate) use history::{history_params, past_messages};
pub(crate) use request::{answer_json, read_request};
pub(crate) use thread::{opened_thread, resume_params, start_params, thread_summary};
pub(crate) use turn::{steer_params, turn_id, turn_params};
pub(crate) use version::{ServerVersion, VersionFloor};
pub use version::{TESTED_VERSIONS, is_newer_than_tested};

use traj_core::json::{Json, Object};

/// Parameters that only name a thread.
pub(crate) fn thread_params(thread: &str) -> Json<'static> {
    Json::Object(std::iter::once(("threadId", thread.to_owned())).collect())
}

/// The first message of a connection.
pub(crate) fn initialize_params(name: &str, title: &str, version: &str) -> Json<'static> {
    let mut client = Object::new();
    client.push("name", name.to_owned());
    client.push("title", title.to_owned());
    client.push("version", version.to_owned());
    let mut params = Object::new();
    params.push("clientInfo", client);
    // Host tools, collaboration modes and environments need this capability.
    params.push("capabilities", std::iter::once(("experimentalApi", true)).collect::<Object<'_>>());
    params.into()
}
