//! A host on tokio that records a run next to its session.
//!
//! ```console
//! $ cargo run -p traj-examples --bin record -- chat.jsonl
//! recorded 3 events, dropped 0
//! ```
//!
//! The marker key is in a private file of the host, and the settings come from
//! the environment: `TRAJ_TRAJECTORY=0` turns recording off.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a host passes its files and its environment to traj, and prints"
)]

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use traj_core::event::{PromptSubmitted, RunContext, SessionStarted, ToolCall};
use traj_core::id::SessionId;
use traj_core::json::Json;
use traj_core::redaction::{PathLabels, RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_core::settings::host::HostFacts;
use traj_fs::cap_std::ambient_authority;
use traj_fs::cap_std::fs::Dir;
use traj_fs::{FsTrajectoryStore, Recorder, SystemClock, load_or_create_key};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let session = std::env::args().nth(1).context("give the session file")?;
    let recorder = start_recorder(Path::new(&session))?;

    // The agent runs. Each call returns at once, however slow the disk is.
    recorder.record(SessionStarted::default().event());
    let prompt = "Why does the import fail?".to_owned();
    recorder.record(PromptSubmitted { prompt, ..PromptSubmitted::default() }.event());
    let arguments = Json::parse(r#"{"command":"import --token=k7Q2mX9vLb4Rt8Zp"}"#)?;
    recorder.record(ToolCall::new("call-1", "shell").arguments(arguments).event());

    // Wait until everything is on disk. The runtime keeps running meanwhile.
    let report = recorder.flush_async().await;
    anyhow::ensure!(report.is_complete(), "some events are not on disk");
    let (_, stats) = recorder.finish();
    println!("recorded {} events, dropped {}", stats.written_events, stats.dropped.total());
    Ok(())
}

/// A recorder for the session in this file.
fn start_recorder(session: &Path) -> anyhow::Result<Recorder> {
    let current_dir = std::env::current_dir()?;
    let facts = HostFacts::new(std::env::vars().collect(), current_dir.to_string_lossy());
    let settings = Settings::from_host(&facts);

    let path = current_dir.join(session);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        anyhow::bail!("this is not the path of a file");
    };
    let name = name.to_str().context("the name is not UTF-8")?;
    let directory = Dir::open_ambient_dir(parent, ambient_authority())?;

    // One key for the whole host, so that equal secrets have equal markers in
    // every run. The file is private; nobody can guess a secret from a marker
    // without it.
    let key = load_or_create_key(&directory, "marker.key", || {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(bytes)
    })?;
    let labels = PathLabels::of_host(&facts, Some(&facts.current_dir));
    let redactor = Redactor::new(RedactionPolicy::standard(key).with_paths(labels));

    let store = FsTrajectoryStore::beside(directory, &parent.to_string_lossy(), name)?;
    let id = SessionId::parse(name.strip_suffix(".jsonl").unwrap_or(name))?;
    let clock = Arc::new(SystemClock::new());
    Ok(Recorder::start(Arc::new(store), clock, redactor, RunContext::new(id), &settings))
}
