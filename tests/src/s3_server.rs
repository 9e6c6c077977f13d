//! A server that speaks S3, on this machine: moto, which `cargo xtask ci`
//! installs into `target/fleet`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use traj_core::settings::host::Variables;
use traj_lake::{DatasetRoot, ObjectStoreDataset, StoreEnvironment};

use crate::host::pinned::program_of_fleet;

/// Starts moto, prints its address, and ends when its input ends.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fleet/s3_server.py");

/// A store with one bucket, `runs`, that stops when this value is dropped.
#[derive(Debug)]
pub struct S3Server {
    address: String,
    child: Child,
    // The server reads it until it is closed.
    input: Option<ChildStdin>,
}

impl S3Server {
    /// Starts a server; if moto is not installed, the test is reported as
    /// skipped.
    ///
    /// # Panics
    /// If moto is installed, but does not start.
    pub fn start() -> Option<Self> {
        program_of_fleet("python").map(|python| Self::run(&python))
    }

    fn run(python: &Path) -> Self {
        let mut child = Command::new(python)
            .arg(SCRIPT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("moto starts");
        let output = child.stdout.take().expect("it is piped");
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address).expect("moto states its address");
        assert!(address.starts_with("http://"), "moto ended: {:?}", child.wait());
        let input = child.stdin.take();
        Self { address: address.trim().to_owned(), child, input }
    }

    /// The address that it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The dataset at a prefix of the bucket.
    ///
    /// # Panics
    /// If the prefix cannot be part of a URL.
    pub fn dataset(&self, prefix: &str) -> ObjectStoreDataset {
        open(&format!("{}/runs/{prefix}", self.address))
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().ok();
    }
}

/// Opens a dataset at the address of a store on this machine.
///
/// # Panics
/// If there is no dataset at such an address.
pub fn open(url: &str) -> ObjectStoreDataset {
    let root = DatasetRoot::parse(url).expect("a URL");
    ObjectStoreDataset::open(&root, &environment()).expect("credentials and an address")
}

/// Credentials that moto accepts.
pub fn environment() -> StoreEnvironment {
    let variables: Variables =
        [("AWS_ACCESS_KEY_ID", "fleet"), ("AWS_SECRET_ACCESS_KEY", "made-up-secret")]
            .into_iter()
            .collect();
    StoreEnvironment { variables, ..StoreEnvironment::default() }
}
