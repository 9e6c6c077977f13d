//! A chat that stays bound to one Codex thread, even across restarts.
//!
//! ```console
//! $ cargo run -p traj-examples --bin converse -- codex /path/to/workspace
//! ```
//!
//! Each line of standard input is a message. Three lines are commands:
//!
//! - `/steer TEXT` adds a message to the running turn,
//! - `/interrupt` stops it,
//! - `/restart` ends the Codex process and starts another one.
//!
//! The directory of the session (the current one) gets the binding, the
//! recording and the marker key. `tools.rs` answers Codex's requests;
//! `notes_server.rs` is a small MCP server that Codex starts.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a host passes its files and its environment to traj, and prints"
)]

mod host;
mod notes_server;
mod tools;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::host::ChatHost;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().context("give the path of codex")?;
    if program == notes_server::ARGUMENT {
        return notes_server::serve();
    }
    let workspace = arguments.next().context("give the workspace")?;
    let mut host = ChatHost::open(program, workspace).await?;

    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("/steer", text) => host.steer(text).await?,
            ("/interrupt", _) => host.interrupt(),
            ("/restart", _) => host.restart().await?,
            // Messages of one conversation run one after the other.
            _ => host.message(&line).await?,
        }
    }
    host.close().await
}
