//! `traj codex …`: sessions bound to threads of the Codex CLI.

mod bind;
mod detach;
mod explain;
mod list;
mod plan;
pub(crate) mod provider;
mod server;
mod status;
mod stop;
mod turn;

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use codex_binding::{LifecycleError, ThreadLifecycle, ThreadPlan};
use traj_core::binding::BindingRecord;
use traj_core::port::{BindingKey, BindingStore, BindingStoreError, LoadedBinding};
use traj_fs::{FsBindingStore, SystemClock};

use self::plan::{ChangeArguments, PlanArguments};
use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;

/// The exit codes of all subcommands.
const EXIT_CODES: &str =
    "Exit codes: 0 done · 1 failed · 2 wrong usage · 4 the binding or an input file is damaged";

/// The end of a help text.
fn help_end(examples: &[&str]) -> String {
    let examples: String = examples.iter().map(|line| format!("  {line}\n")).collect();
    format!("Examples:\n{examples}\n{EXIT_CODES}")
}

#[derive(Debug, Args)]
#[command(after_help = help_end(&[
    "traj codex turn --session s.jsonl --prompt 'Summarise this'",
    "traj codex status --session s.jsonl",
    "traj codex list --folder ~/chats",
]))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

// A doc comment would override the `long_about` of the arguments.
#[derive(Debug, Subcommand)]
enum Verb {
    #[command(about = "Bind a session to a new or existing thread")]
    Bind(bind::Arguments),
    #[command(about = "Run one turn on the thread of a session and print the reply")]
    Turn(turn::Arguments),
    #[command(about = "Show the binding of a session, and whether its thread exists")]
    Status(status::Arguments),
    #[command(about = "Explain what the next turn would do with the thread")]
    Explain(explain::Arguments),
    #[command(about = "Remove the binding of a session; Codex keeps the thread")]
    Detach(detach::Arguments),
    #[command(about = "List the bindings in a directory")]
    List(list::Arguments),
}

pub(crate) const DOCUMENTS: [JsonDocument; 6] = [
    bind::DOCUMENT,
    detach::DOCUMENT,
    explain::DOCUMENT,
    list::DOCUMENT,
    status::DOCUMENT,
    turn::DOCUMENT,
];

pub(super) fn run(arguments: Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    match arguments.verb {
        Verb::Bind(arguments) => bind::run(&arguments, host, output),
        Verb::Turn(arguments) => turn::run(&arguments, host, output),
        Verb::Status(arguments) => status::run(&arguments, host, output),
        Verb::Explain(arguments) => explain::run(&arguments, host, output),
        Verb::Detach(arguments) => detach::run(&arguments, host, output),
        Verb::List(arguments) => list::run(&arguments, host, output),
    }
}

/// The store of a session file's binding, and the key of the binding.
fn store(session: &Path, host: &Host) -> Result<(Arc<dyn BindingStore>, BindingKey), CommandError> {
    let (folder, name) = host.folder_of(session)?;
    let key = key_of(&name)?;
    let store = FsBindingStore::new(folder, Arc::new(SystemClock::new()));
    Ok((Arc::new(store), key))
}

fn key_of(name: &str) -> Result<BindingKey, CommandError> {
    BindingKey::parse(name).map_err(|error| {
        CommandError::usage("the session's file name cannot be used").because(error)
    })
}

/// A session's stored binding, and the requested plan for its thread.
struct Bound {
    store: Arc<dyn BindingStore>,
    stored: Option<LoadedBinding>,
    plan: ThreadPlan,
}

impl Bound {
    fn read(
        session: &Path,
        wanted: &PlanArguments,
        change: Option<&ChangeArguments>,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let (store, key) = store(session, host)?;
        let stored = store.load(&key).map_err(store_error)?;
        let mut plan = wanted.plan(key, host)?;
        if let Some(change) = change {
            change.apply(&mut plan);
        }
        let record = stored.as_ref().map(|loaded| &loaded.record);
        plan.cwd = plan.working_directory(record).to_owned();
        Ok(Self { store, stored, plan })
    }

    /// Checks that the directory of the agent exists: in a missing one, every tool would fail.
    fn check_workspace(&self, host: &Host) -> Result<(), CommandError> {
        let cwd = Path::new(&self.plan.cwd);
        if host.named_root(cwd).is_ok() {
            return Ok(());
        }
        let message = format!("the workspace {} does not exist", cwd.display());
        let is_bound = self.record().is_some_and(|record| record.cwd == self.plan.cwd);
        let hint = if is_bound {
            "the session is bound to this workspace; pass another directory with --workspace"
        } else {
            "create the directory, or pass another one with --workspace"
        };
        Err(CommandError::failure(message).hint(hint))
    }

    /// The provider of the model, if the flags or the binding name one.
    fn provider(&self) -> Option<&str> {
        let stored = || self.record().and_then(|record| record.model_provider.as_deref());
        self.plan.settings.model_provider.as_deref().or_else(stored)
    }

    fn record(&self) -> Option<&BindingRecord> {
        self.stored.as_ref().map(|loaded| &loaded.record)
    }
}

fn lifecycle(store: &Arc<dyn BindingStore>) -> ThreadLifecycle {
    ThreadLifecycle::new(Arc::clone(store), Arc::new(SystemClock::new()))
}

/// Converts a failure of the store to an error with a hint.
fn store_error(error: BindingStoreError) -> CommandError {
    match &error {
        BindingStoreError::Unreadable { .. } => {
            CommandError::new(ErrorKind::Damaged, "the binding cannot be read")
                .hint("`traj codex detach --set-aside` renames it, so that nothing is lost")
                .because(error)
        }
        _ => CommandError::failure("the binding cannot be used").because(error),
    }
}

/// Converts a failure of the lifecycle to an error with a hint.
fn lifecycle_error(error: LifecycleError) -> CommandError {
    let hint = match &error {
        LifecycleError::Archived { thread } => Some(format!("run `codex unarchive {thread}`")),
        LifecycleError::OpenElsewhere { .. } => {
            Some("end the other process that has the thread open, then try again".to_owned())
        }
        LifecycleError::OtherHome { stored, .. } => Some(format!(
            "the binding is unchanged; run the turn with CODEX_HOME={stored}, or start a new thread \
             with `traj codex bind --replace`"
        )),
        LifecycleError::DamagedThread { .. } | LifecycleError::InvalidThread { .. } => {
            Some("the binding is unchanged; `traj codex detach` removes it for good".to_owned())
        }
        LifecycleError::Store(_) => None,
        _ => Some("the binding is unchanged; the next turn tries the same thread again".to_owned()),
    };
    match error {
        LifecycleError::Store(error) => store_error(error),
        error => {
            let failed = CommandError::failure("cannot open the session's Codex thread");
            let failed = match &error {
                LifecycleError::Server(refused) => server::with_codex_words(failed, refused),
                _ => failed,
            };
            let failed = hint.into_iter().fold(failed, CommandError::hint);
            failed.because(error)
        }
    }
}
