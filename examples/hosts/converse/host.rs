//! The conversation: one binding, one recorder, and a Codex process that may
//! be replaced at any time.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use codex_binding::transport::{ServerCommand, child_environment, spawn};
use codex_binding::{
    BoundTurnRequest, Client, ClientOptions, LoadedThreads, ThreadLifecycle, ThreadPlan,
    TurnObserver, TurnOutcome, run_bound_turn,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use traj_core::binding::TurnInput;
use traj_core::event::RunContext;
use traj_core::id::{SessionId, ThreadId, TurnId};
use traj_core::port::{BindingKey, ThreadEvent, TurnLeases as _, TurnService as _};
use traj_core::redaction::{PathLabels, RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_core::settings::host::HostFacts;
use traj_fs::cap_std::ambient_authority;
use traj_fs::cap_std::fs::Dir;
use traj_fs::{
    FsBindingStore, FsTrajectoryStore, FsTurnLeases, Recorder, SystemClock, load_or_create_key,
};

use crate::{notes_server, tools};

/// The session file. It need not exist: its name ties binding and recording
/// to the conversation.
const SESSION: &str = "chat.jsonl";

/// The variables with keys of model providers, as Codex's configuration names
/// them. The second one is for the scripted model of the tests.
const PROVIDER_KEYS: [&str; 2] = ["OPENAI_API_KEY", "SCRIPTED_KEY"];

pub(crate) struct ChatHost {
    command: ServerCommand,
    redactor: Redactor,
    lifecycle: Arc<ThreadLifecycle>,
    plan: ThreadPlan,
    recorder: Arc<Recorder>,
    leases: FsTurnLeases,
    client: Arc<Client>,
    /// The threads that this client has loaded.
    loaded: LoadedThreads,
    running: Option<RunningTurn>,
}

/// A turn that another task carries out.
struct RunningTurn {
    cancel: CancellationToken,
    started: watch::Receiver<Option<(ThreadId, TurnId)>>,
    task: JoinHandle<anyhow::Result<()>>,
}

impl ChatHost {
    pub(crate) async fn open(program: String, workspace: String) -> anyhow::Result<Self> {
        let current_dir = std::env::current_dir()?;
        let facts = HostFacts::new(std::env::vars().collect(), current_dir.to_string_lossy());
        let directory = Dir::open_ambient_dir(&current_dir, ambient_authority())?;
        let key = load_or_create_key(&directory, "marker.key", || {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes)?;
            Ok(bytes)
        })?;
        let labels = PathLabels::of_host(&facts, Some(&workspace));
        let redactor = Redactor::new(RedactionPolicy::standard(key).with_paths(labels));

        let clock = Arc::new(SystemClock::new());
        let store = FsTrajectoryStore::beside(directory.try_clone()?, &facts.current_dir, SESSION)?;
        let recorder = Arc::new(Recorder::start(
            Arc::new(store),
            clock.clone(),
            redactor.clone(),
            RunContext::new(SessionId::parse("chat")?),
            &Settings::from_host(&facts),
        ));
        let leases = FsTurnLeases::new(directory.try_clone()?);
        let bindings = FsBindingStore::new(directory, clock.clone());
        let lifecycle = Arc::new(ThreadLifecycle::new(Arc::new(bindings), clock));

        // Codex gets the variables it needs and the keys of model providers,
        // and nothing else.
        let variable = |name: &str| facts.variables.get(name).map(str::to_owned);
        let keys = PROVIDER_KEYS.into_iter();
        let keys = keys.filter_map(|name| Some((name, facts.variables.get(name)?)));
        let environment = child_environment(variable, keys);
        let command = ServerCommand::codex(PathBuf::from(program), environment, &workspace);
        let client = connect(&command, &redactor).await?;

        let plan = ThreadPlan::new(BindingKey::parse(SESSION)?, &workspace)
            .with_tools(tools::definitions()?);
        let plan = notes_server::add_to(plan)?;
        let (loaded, running) = (LoadedThreads::new(), None);
        Ok(Self { command, redactor, lifecycle, plan, recorder, leases, client, loaded, running })
    }

    /// Starts a turn, after the previous one has ended.
    pub(crate) async fn message(&mut self, text: &str) -> anyhow::Result<()> {
        self.finish_turn().await?;
        // Two processes must not run turns of one session at the same time.
        let Some(lease) = self.leases.try_take(&self.plan.key)? else {
            println!("busy: another process runs a turn of this chat");
            return Ok(());
        };
        let cancel = CancellationToken::new();
        let (sender, started) = watch::channel(None);
        let request = BoundTurnRequest::new(self.plan.clone(), TurnInput::text(text))
            .session_file(SESSION)
            .answered_by(tools::handler())
            .observed_by(Arc::new(TurnStarts(sender)))
            .cancelled_by(cancel.clone())
            .recorded_in(self.recorder.clone());
        let (client, lifecycle) = (self.client.clone(), self.lifecycle.clone());
        let loaded = self.loaded.clone();
        let task = tokio::spawn(async move {
            let turn = run_bound_turn(&lifecycle, &*client, &loaded, &request).await;
            drop(lease);
            let turn = match turn {
                // It was interrupted before Codex had started it.
                Err(_) if request.options.cancel.is_cancelled() => {
                    println!("interrupted");
                    return Ok(());
                }
                turn => turn?,
            };
            for notice in turn.ready.notices() {
                println!("notice: {notice}");
            }
            match turn.report.outcome {
                TurnOutcome::Completed => println!("reply: {}", turn.report.text),
                TurnOutcome::Interrupted => println!("interrupted"),
                other => println!("not completed: {other:?}"),
            }
            println!("thread: {}", turn.ready.thread());
            Ok(())
        });
        self.running = Some(RunningTurn { cancel, started, task });
        Ok(())
    }

    /// Adds a message to the running turn.
    pub(crate) async fn steer(&mut self, text: &str) -> anyhow::Result<()> {
        let running = self.running.as_mut().context("no turn is running")?;
        let started = running.started.wait_for(Option::is_some).await?.clone();
        let (thread, turn) = started.context("the turn has not started")?;
        self.client.steer_turn(&thread, &turn, TurnInput::text(text).items()).await?;
        println!("steered");
        Ok(())
    }

    /// Stops the running turn. The thread and its history stay.
    pub(crate) fn interrupt(&self) {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
    }

    /// Ends the Codex process and starts another one. The next message resumes
    /// the thread.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        self.finish_turn().await?;
        self.client.stop().await;
        self.client = connect(&self.command, &self.redactor).await?;
        self.loaded = LoadedThreads::new();
        println!("restarted");
        Ok(())
    }

    pub(crate) async fn close(mut self) -> anyhow::Result<()> {
        self.finish_turn().await?;
        self.client.stop().await;
        let report = self.recorder.flush_async().await;
        anyhow::ensure!(report.is_complete(), "some events are not on disk");
        Ok(())
    }

    async fn finish_turn(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(running) => running.task.await?,
            None => Ok(()),
        }
    }
}

async fn connect(command: &ServerCommand, redactor: &Redactor) -> anyhow::Result<Arc<Client>> {
    let transport = spawn(command)?;
    let client = Client::connect(transport, ClientOptions::standard(redactor.clone())).await?;
    Ok(Arc::new(client))
}

/// Remembers the running turn, so that a message can be added to it.
#[derive(Debug)]
struct TurnStarts(watch::Sender<Option<(ThreadId, TurnId)>>);

impl TurnObserver for TurnStarts {
    fn started(&self, thread: &ThreadId, turn: &TurnId) {
        self.0.send_replace(Some((thread.clone(), turn.clone())));
    }

    fn event(&self, _event: &ThreadEvent) {}
}
