//! The session of an agent, by its id, as hosts describe it to their tools.

use std::path::Path;

use traj_core::care::trim::{SessionContext, SessionLookupError, host_session_file};

use super::Arguments;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::Session;

/// Finds the file of the session that `--session-id`, `--agent` and `--agent-dir` describe.
pub(super) fn session(arguments: &Arguments, host: &Host) -> Result<Session, CommandError> {
    let agent = arguments.subject.agent.as_deref();
    let agent = agent.or_else(|| arguments.agent_dir.is_none().then_some("main"));
    let agent_dir = arguments.agent_dir.as_deref().map(|folder| host.absolute(folder));
    let context = SessionContext {
        agent_dir: agent_dir.map(|folder| folder.to_string_lossy().into_owned()),
        agent_id: agent.map(str::to_owned),
        session_id: arguments.session_id.clone(),
    };
    let is_there = |file: &str| {
        host.folder_of(Path::new(file)).is_ok_and(|(folder, name)| {
            folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_file())
        })
    };
    let found = host_session_file(&context, &host.facts, is_there);
    let file = found.map_err(|error| match error {
        SessionLookupError::MissingSessionId => CommandError::usage(error.to_string())
            .hint("pass the id with --session-id; `traj sessions` lists the sessions"),
        error => CommandError::failure(error.to_string())
            .hint("check --agent and --agent-dir, and OPENCLAW_PATH if the agents are elsewhere"),
    })?;
    Session::at(Path::new(&file), host)
}
