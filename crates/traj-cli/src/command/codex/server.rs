//! Starting the Codex CLI for a verb.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use codex_binding::transport::{ServerCommand, child_environment};
use codex_binding::{Client, ClientOptions, CodexProcess, TESTED_VERSIONS, is_newer_than_tested};
use traj_core::binding::RefusalKind;
use traj_core::port::{AppServerError, CloseCause};
use traj_core::redaction::{RedactionPolicy, Redactor};

use super::provider::ProviderReport;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

/// How many lines of Codex's standard error are shown.
const LAST_LINES: usize = 5;

#[derive(Debug, Args)]
pub(super) struct ServerArguments {
    /// The Codex executable [default: TRAJ_CODEX, else `codex` on the PATH]
    #[arg(long, value_name = "PATH")]
    codex: Option<PathBuf>,
    /// Also pass this environment variable to Codex; may be repeated
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

/// A redactor with the owner's key, or with a temporary one.
pub(super) fn redactor(host: &Host) -> Result<Redactor, CommandError> {
    let key = host.marker_key().or_else(|_| Host::passing_key())?;
    Ok(Redactor::new(RedactionPolicy::standard(key)))
}

/// The Codex that a verb starts.
#[derive(Debug)]
pub(super) struct CodexServer<'a> {
    process: CodexProcess,
    output: &'a CommandOutput,
    has_warned: AtomicBool,
    /// The provider of the model.
    pub(super) provider: ProviderReport,
}

impl ServerArguments {
    /// The Codex to start, with the variables that the configuration of `provider`, or else of the
    /// configured provider, names.
    pub(super) fn server<'a>(
        &self,
        provider: Option<&str>,
        host: &Host,
        output: &'a CommandOutput,
    ) -> Result<CodexServer<'a>, CommandError> {
        let program =
            host.program(self.codex.as_deref(), "TRAJ_CODEX", "codex").ok_or_else(|| {
                CommandError::failure("`codex` is not on the PATH").hint(
                    "install it with `npm install -g @openai/codex`, or pass its path with --codex",
                )
            })?;
        let provider = ProviderReport::of(provider, host);
        let variables = &host.facts.variables;
        let names =
            self.variables.iter().chain(provider.variables.iter().map(|variable| &variable.name));
        let added = names.filter_map(|name| Some((name.as_str(), variables.get(name)?)));
        let environment = child_environment(|name| variables.get(name).map(str::to_owned), added);
        let command = ServerCommand::codex(program, environment, &host.facts.current_dir);
        let process = CodexProcess::new(command, ClientOptions::standard(redactor(host)?));
        Ok(CodexServer { process, output, has_warned: AtomicBool::new(false), provider })
    }
}

impl CodexServer<'_> {
    /// Starts Codex and connects to it.
    pub(super) async fn connect(&self) -> Result<Client, CommandError> {
        self.start().await.map_err(not_connected)
    }

    /// Starts Codex and connects to it; [`not_connected`] explains a failure.
    pub(super) async fn start(&self) -> Result<Client, AppServerError> {
        let client = self.process.start().await?;
        self.warn_of_new_version(&client);
        Ok(client)
    }

    /// Warns once about a version that no test has run. It is used anyway: most releases
    /// work.
    fn warn_of_new_version(&self, client: &Client) {
        let version = client.server_version().unwrap_or_default();
        if is_newer_than_tested(version) && !self.has_warned.swap(true, Ordering::Relaxed) {
            let newest = TESTED_VERSIONS.last().copied().unwrap_or_default();
            self.output.note(&format!(
                "warning: Codex {version} is newer than {newest}, the newest version that was tested"
            ));
        }
    }
}

/// The last lines of a text that are not blank, without the colours that Codex writes anywhere.
pub(super) fn last_lines(text: &str) -> Vec<String> {
    let text = anstream::adapter::strip_str(text).to_string();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut lines: Vec<String> = lines.rev().take(LAST_LINES).map(str::to_owned).collect();
    lines.reverse();
    lines
}

/// Converts a failed start or handshake to an error that says what Codex printed.
pub(super) fn not_connected(error: AppServerError) -> CommandError {
    if matches!(&error, AppServerError::Closed { cause: CloseCause::NoProgram { .. } }) {
        return CommandError::failure("cannot start Codex")
            .because(error)
            .hint("pass the executable with --codex or in TRAJ_CODEX");
    }
    let has_exited = matches!(&error, AppServerError::Closed { cause: CloseCause::Exited { .. } });
    let words = error.close_cause().and_then(CloseCause::last_words).unwrap_or_default();
    let words = last_lines(words);
    let message = if has_exited {
        "Codex exited before it was ready"
    } else {
        "Codex did not complete the handshake"
    };
    let failed = CommandError::failure(message).because(error);
    let failed =
        words.into_iter().fold(failed, |failed, line| failed.hint(format!("Codex wrote: {line}")));
    failed.hint("`traj doctor` shows which Codex is started; `codex app-server` must run by itself")
}

/// Converts a failure of the server to an error.
pub(super) fn server_error(error: AppServerError) -> CommandError {
    with_codex_words(CommandError::failure("Codex rejected the request"), &error).because(error)
}

/// Adds the server's own message. The user started the turn, so they may see it.
pub(super) fn with_codex_words(failed: CommandError, error: &AppServerError) -> CommandError {
    match error {
        AppServerError::Refused { text, kind, .. } => {
            let failed = failed.hint(format!("Codex says: {}", text.reveal()));
            match kind {
                RefusalKind::LoginExpired => failed.hint("log in again with `codex login`"),
                _ => failed,
            }
        }
        _ => failed,
    }
}
