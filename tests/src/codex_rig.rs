//! The real Codex CLI in a sandbox: a temporary home, a workspace, and a scripted model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use codex_binding::transport::{ServerCommand, child_environment, spawn};
use codex_binding::{
    Client, ClientOptions, LoadedThreads, ReadyThread, ThreadLifecycle, ThreadPlan, TurnFacts,
    TurnOptions, TurnReport, run_turn,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use traj_core::binding::TurnInput;
use traj_core::memory::{FixedClock, MemoryBindingStore, MemoryEventSink};
use traj_core::port::{
    BindingKey, DenyAll, EventSink, RequestHandler, StartTurn, ThreadService as _,
};
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};

use crate::host::pinned::{installed, variable};
use crate::model_server::ModelServer;

/// The pinned versions. Only [`newest`] is run, except by `cargo xtask sweep`.
pub const VERSIONS: [&str; 3] = codex_binding::TESTED_VERSIONS;

/// The newest pinned version, which every run of the tests uses.
#[must_use]
pub const fn newest() -> &'static str {
    VERSIONS[VERSIONS.len() - 1]
}

/// Whether this is the long run before a release.
#[must_use]
pub fn is_sweep() -> bool {
    variable("TRAJ_TEST_SWEEP").is_some()
}

/// How long a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A sandbox for one version of the CLI.
#[derive(Debug)]
pub struct CodexRig {
    root: TempDir,
    program: PathBuf,
    /// The model that answers.
    pub model: ModelServer,
    /// Where bindings are kept.
    pub store: MemoryBindingStore,
    /// Manages the threads.
    pub keeper: ThreadLifecycle,
    /// What was recorded.
    pub events: MemoryEventSink,
}

impl CodexRig {
    /// A sandbox; `None` if the version is not installed, or is an older one and this is not the
    /// sweep.
    #[must_use]
    pub fn new(version: &str) -> Option<Self> {
        if version != newest() && !is_sweep() {
            return None;
        }
        let program = installed("codex", version)?;
        let root = tempfile::tempdir().expect("a folder for the test");
        let model = ModelServer::start().expect("a model on the loopback");
        for folder in ["home", "work", "tmp"] {
            create_folder(&root.path().join(folder));
        }
        let store = MemoryBindingStore::new();
        let keeper = ThreadLifecycle::new(Arc::new(store.clone()), Arc::new(FixedClock::default()));
        let rig = Self { root, program, model, store, keeper, events: MemoryEventSink::new() };
        rig.configure("");
        Some(rig)
    }

    /// Writes Codex's configuration and appends `extra`.
    pub fn configure(&self, extra: &str) {
        let text = format!(
            r#"model = "scripted"
model_provider = "loopback"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[model_providers.loopback]
name = "Scripted model"
base_url = "{}"
wire_api = "responses"
requires_openai_auth = false
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = 60000
supports_websockets = false

[analytics]
enabled = false

[features]
plugins = false
{extra}
"#,
            self.model.base_url()
        );
        write_file(&self.codex_home().join("config.toml"), &text);
    }

    /// The root directory of the sandbox.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The `CODEX_HOME` of the sandbox.
    #[must_use]
    pub fn codex_home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The workspace of the agent.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// The executable.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The environment of a server, which must reach nothing but the loopback.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let home = text(self.root.path().to_path_buf());
        let codex_home = text(self.codex_home());
        let tmp = text(self.root.path().join("tmp"));
        // The discard port: unwanted requests fail at once.
        let nowhere = "http://127.0.0.1:9";
        child_environment(
            |name| (name == "PATH").then(|| variable("PATH")).flatten(),
            [
                ("HOME", home.as_str()),
                ("CODEX_HOME", codex_home.as_str()),
                ("TMPDIR", tmp.as_str()),
                ("SCRIPTED_KEY", "scripted"),
                ("HTTP_PROXY", nowhere),
                ("HTTPS_PROXY", nowhere),
                ("NO_PROXY", "127.0.0.1,localhost"),
            ],
        )
    }

    /// Starts a server process and connects to it.
    pub async fn connect(&self) -> Client {
        let command = ServerCommand::codex(&self.program, self.environment(), self.workspace());
        let transport = spawn(&command).expect("codex starts");
        Client::connect(transport, client_options()).await.expect("codex introduces itself")
    }

    /// The plan of a plain session.
    #[must_use]
    pub fn plan(&self) -> ThreadPlan {
        let key = BindingKey::parse("session.jsonl").expect("a plain name");
        ThreadPlan::new(key, &self.workspace().to_string_lossy())
    }

    /// Makes a session's thread ready.
    pub async fn ready(&self, client: &Client, plan: &ThreadPlan) -> ReadyThread {
        let cancel = CancellationToken::new();
        let loaded = LoadedThreads::new();
        let ready = self.keeper.ready(client, &loaded, plan, &cancel).await;
        ready.expect("the thread is ready")
    }

    /// Runs one turn with `prompt`; requests are not answered.
    pub async fn turn(&self, client: &Client, ready: &ReadyThread, prompt: &str) -> TurnReport {
        self.turn_with(client, ready, prompt, Arc::new(DenyAll::new())).await
    }

    /// Runs one turn whose requests `handler` answers.
    pub async fn turn_with(
        &self,
        client: &Client,
        ready: &ReadyThread,
        prompt: &str,
        handler: Arc<dyn RequestHandler>,
    ) -> TurnReport {
        let mut options = TurnOptions::standard(handler);
        options.timeout = PATIENCE;
        let report = self.run(client, ready, prompt, &options).await;
        let report = report.expect("the turn runs");
        let key = BindingKey::parse("session.jsonl").expect("a plain name");
        self.keeper.turn_ended(&key, ready.thread()).await.expect("the turn is noted");
        report
    }

    /// Runs one turn with these options.
    ///
    /// # Errors
    /// As [`run_turn`].
    pub async fn run(
        &self,
        client: &Client,
        ready: &ReadyThread,
        prompt: &str,
        options: &TurnOptions,
    ) -> Result<TurnReport, codex_binding::TurnError> {
        let start = StartTurn::new(ready.thread().clone(), TurnInput::text(prompt).items());
        let facts = TurnFacts::new(prompt);
        let sink: Arc<dyn EventSink> = Arc::new(self.events.clone());
        run_turn(client, start, options, &facts, &sink).await
    }

    /// Waits until a request to the model contains `text`.
    pub async fn asked(&self, text: &str) {
        let text = text.to_owned();
        let model = self.model.handle();
        let asked = tokio::task::spawn_blocking(move || model.wait_for_request(&text, PATIENCE));
        assert!(asked.await.expect("waiting ends"), "the model was not asked in time");
    }

    /// The number of turns that Codex stores for a thread.
    pub async fn turns(&self, client: &Client, ready: &ReadyThread) -> Option<u64> {
        client.read_thread(ready.thread()).await.expect("the thread is known").turns
    }
}

/// Ordinary client options.
#[must_use]
pub fn client_options() -> ClientOptions {
    let policy = RedactionPolicy::standard(MarkerKey::new([7; 32]));
    ClientOptions::standard(Redactor::new(policy))
}

#[expect(clippy::disallowed_methods, reason = "a directory of the test's own")]
fn create_folder(path: &Path) {
    std::fs::create_dir_all(path).expect("a folder for the test");
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn write_file(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file for the test");
}
