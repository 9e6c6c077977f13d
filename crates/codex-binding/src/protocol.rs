//! The words of the app-server that we use: parameters out, answers and events in.
//!
//! Readers ask only for what every version has (a thread's id, a turn's id) and take everything else
//! as it comes: members and enum values come and go between releases.

mod approval;
mod event;
mod request;
mod thread;
mod turn;
mod version;

pub(crate) use approval::{asked_approval, verdict};
pub(crate) use event::read_event;
pub(crate) use request::{answer_json, read_request};
pub(crate) use thread::{opened_thread, resume_params, start_params, thread_summary};
pub(crate) use turn::{steer_params, turn_id, turn_params};
pub(crate) use version::{ServerVersion, VersionFloor};

use traj_core::json::{Json, Object};

/// Parameters that name a thread and nothing else.
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
    // Host tools, collaboration modes and environments are part of it.
    params.push("capabilities", std::iter::once(("experimentalApi", true)).collect::<Object<'_>>());
    params.into()
}
