//! Starting the Codex CLI for a verb.

use std::path::PathBuf;

use clap::Args;
use codex_binding::transport::{ServerCommand, child_environment, spawn};
use codex_binding::{Client, ClientOptions};
use traj_core::port::AppServerError;
use traj_core::redaction::{RedactionPolicy, Redactor};

use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

#[derive(Debug, Args)]
pub(super) struct ServerArguments {
    /// The Codex executable [default: TRAJ_CODEX, else `codex` on the PATH]
    #[arg(long, value_name = "PATH")]
    codex: Option<PathBuf>,
    /// Pass this environment variable to Codex, besides the harmless ones; may be repeated
    #[arg(long = "env", value_name = "NAME")]
    variables: Vec<String>,
}

/// A runtime for one verb.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::failure("cannot start the runtime").because(error))
}

/// Hides secrets with the owner's key, or with one of this run.
pub(super) fn redactor(host: &Host) -> Result<Redactor, CommandError> {
    let key = host.marker_key().or_else(|_| Host::passing_key())?;
    Ok(Redactor::new(RedactionPolicy::standard(key)))
}

/// Starts Codex and connects to it.
pub(super) async fn connect(
    arguments: &ServerArguments,
    host: &Host,
    output: &CommandOutput,
) -> Result<Client, CommandError> {
    let program = host.program(arguments.codex.as_deref(), "CODEX", "codex").ok_or_else(|| {
        CommandError::failure("`codex` is not on the PATH")
            .hint("install it with `npm install -g @openai/codex`, or pass its path with --codex")
    })?;
    let variables = &host.facts.variables;
    let asked: Vec<(&str, &str)> = arguments
        .variables
        .iter()
        .filter_map(|name| Some((name.as_str(), variables.get(name)?)))
        .collect();
    let environment = child_environment(|name| variables.get(name).map(str::to_owned), asked);
    let command = ServerCommand::codex(program, environment, &host.facts.current_dir);
    let transport = spawn(&command).map_err(|error| {
        CommandError::failure("cannot start Codex")
            .because(error)
            .hint("pass the executable with --codex or in TRAJ_CODEX")
    })?;
    let connected = Client::connect(transport, ClientOptions::standard(redactor(host)?)).await;
    connected.map_err(|error| {
        output.note("Codex did not complete the handshake");
        server_error(error)
    })
}

/// A failure of the server.
pub(super) fn server_error(error: AppServerError) -> CommandError {
    let text = match &error {
        AppServerError::Refused { text, .. } => Some(text.reveal().to_owned()),
        _ => None,
    };
    let failed = CommandError::failure("Codex rejected the request").because(error);
    // The person whose turn it is may read the server's own words.
    text.into_iter().fold(failed, |failed, text| failed.hint(format!("Codex says: {text}")))
}
