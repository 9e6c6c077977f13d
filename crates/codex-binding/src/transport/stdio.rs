//! An app-server as a child process, connected through its standard input and output.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::{StderrTail, Transport};
use traj_core::port::CloseCause;

/// How to start a server. Nothing is inherited implicitly from this process.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServerCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its complete environment.
    pub environment: Vec<(String, String)>,
    /// Its working directory.
    pub directory: PathBuf,
}

impl std::fmt::Debug for ServerCommand {
    /// Shows variables by name only: their values may be secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("ServerCommand")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("environment", &names)
            .field("directory", &self.directory)
            .finish()
    }
}

impl ServerCommand {
    /// `<program> app-server`.
    #[must_use]
    pub fn codex(
        program: impl Into<PathBuf>,
        environment: Vec<(String, String)>,
        directory: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: vec!["app-server".to_owned()],
            environment,
            directory: directory.into(),
        }
    }
}

/// A server that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {}", program.display())]
#[non_exhaustive]
pub struct SpawnError {
    /// The executable.
    pub program: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// Starts a server in a new process group, so that the processes it starts end with it.
///
/// # Errors
/// The executable cannot be started.
pub fn spawn(command: &ServerCommand) -> Result<Transport, SpawnError> {
    let failed = |source| SpawnError { program: command.program.clone(), source };
    let mut child = Command::new(&command.program)
        .args(&command.arguments)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&command.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let missing = || failed(std::io::Error::other("a standard stream is missing"));
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let tail = StderrTail::default();
    // The task ends with the child's standard error.
    drop(tokio::spawn(tail.clone().drain(stderr)));
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let child = ChildProcess { child, group, stderr: tail };
    Ok(Transport { reader: Box::new(stdout), writer: Box::new(stdin), child: Some(child) })
}

/// A running server.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    child: Child,
    group: Option<Pid>,
    stderr: StderrTail,
}

impl ChildProcess {
    pub(crate) fn stderr(&self) -> StderrTail {
        self.stderr.clone()
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the process to end. Returns how it ended.
    pub(crate) async fn wait(&mut self) -> CloseCause {
        use std::os::unix::process::ExitStatusExt as _;
        match self.child.wait().await {
            Ok(status) => CloseCause::exited(status.code(), status.signal()),
            Err(_) => CloseCause::exited(None, None),
        }
    }

    /// Ends the process after its input was closed: waits, then terminates and kills it. No process
    /// is left.
    pub(crate) async fn stop(&mut self, patience: Duration) -> CloseCause {
        for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
            if let (Some(signal), Some(group)) = (signal, self.group) {
                // It may have just exited.
                let _gone = kill_process_group(group, signal);
            }
            if let Ok(cause) = tokio::time::timeout(patience, self.wait()).await {
                self.end_group();
                return cause;
            }
        }
        CloseCause::exited(None, None)
    }

    /// Ends the processes that the server started and left running.
    fn end_group(&self) {
        if let Some(group) = self.group {
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // After it was waited for, its id may belong to another process.
        if self.child.id().is_some() {
            self.end_group();
        }
    }
}
