//! A dataset of many hosts: written to S3 by random schedules, and read by the engines that people use.
//!
//! pip installs the pinned engines into `target/fleet`, and for a sweep also Spark and Iceberg into
//! `target/fleet-sweep`. They need Python 3.12 or newer; Spark needs Java 17.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xshell::cmd;

use super::{Outcome, python};
use crate::workspace::Workspace;

const SCRIPT: &str = "tests/fleet/check.py";

/// How large the fleet is, and what reads it.
struct Fleet {
    folder: &'static str,
    pins: &'static str,
    sessions: &'static str,
    hosts: &'static str,
    engines: &'static [&'static str],
    schedules: &'static str,
}

/// The engines that can be installed within a minute or two, with few sessions.
const SMALL: Fleet = Fleet {
    folder: "fleet",
    pins: "tests/fleet/requirements.txt",
    sessions: "20",
    hosts: "5",
    engines: &["duckdb", "clickhouse", "datafusion", "polars", "compaction"],
    schedules: "20",
};

/// Every engine, on a thousand sessions.
const LARGE: Fleet = Fleet {
    folder: "fleet-sweep",
    pins: "tests/fleet/requirements-sweep.txt",
    sessions: "1000",
    hosts: "50",
    engines: &["duckdb", "clickhouse", "datafusion", "polars", "spark", "iceberg", "compaction"],
    schedules: "1000",
};

/// Installs the engines, and the server that speaks S3, which tests also use.
pub(super) fn install(workspace: &Workspace) -> Result<Outcome> {
    Ok(python(workspace)?.map_or_else(not_installed, |_| Outcome::Passed))
}

/// The Python of the installed engines; `None` if they cannot be installed.
pub(crate) fn python(workspace: &Workspace) -> Result<Option<PathBuf>> {
    let target = workspace.target()?.join(SMALL.folder);
    Ok(python::environment(&workspace.sh, &target, SMALL.pins))
}

fn not_installed() -> Outcome {
    Outcome::Skipped(
        "Python 3.12 or the engines are NOT INSTALLED: no dataset is READ BY A QUERY ENGINE or \
         STORED IN S3"
            .to_owned(),
    )
}

/// Asks every engine the same questions, and compares the answers with what traj reports.
pub(super) fn engines(workspace: &Workspace) -> Result<Outcome> {
    check(workspace, &SMALL)
}

/// The same with Spark, Iceberg and many sessions.
pub(crate) fn every_engine(workspace: &Workspace) -> Result<Outcome> {
    check(workspace, &LARGE)
}

fn check(workspace: &Workspace, fleet: &Fleet) -> Result<Outcome> {
    let sh = &workspace.sh;
    let target = workspace.target()?.join(fleet.folder);
    let Some(python) = python::environment(sh, &target, fleet.pins) else {
        return Ok(not_installed());
    };
    let traj = workspace.target()?.join("debug/traj");
    if !traj.exists() {
        return Ok(Outcome::Skipped("the step `tests` builds the binary".to_owned()));
    }
    let work = target.join("work");
    let (sessions, hosts, engines) = (fleet.sessions, fleet.hosts, fleet.engines);
    cmd!(sh, "{python} {SCRIPT} {traj} {work} --sessions {sessions} --hosts {hosts} {engines...}")
        .run()
        .context("an engine does not agree with traj")?;
    let server = S3Server::start(&python)?;
    // The same build as that of the tests.
    let build = ["--locked", "--workspace", "--all-features", "--lib"];
    cmd!(sh, "cargo test {build...} -- {SCHEDULES}")
        .env("FLEET_S3", &server.address)
        .env("FLEET_SCHEDULES", fleet.schedules)
        .run()
        .context("an event is not in S3 exactly once")?;
    Ok(Outcome::Passed)
}

/// The test that ships by random schedules into S3.
const SCHEDULES: &str = "every_event_is_in_s3_exactly_once";

/// A server that speaks S3. It stops when this value is dropped.
struct S3Server {
    child: Child,
    address: String,
}

impl S3Server {
    fn start(python: &Path) -> Result<Self> {
        let mut command = Command::new(python);
        command.arg("tests/fleet/s3_server.py").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("moto does not start")?;
        let output = child.stdout.take().context("its output is piped")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim().to_owned();
        ensure!(address.starts_with("http://"), "moto ended early");
        Ok(Self { child, address })
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        // It ends when its input ends.
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}
