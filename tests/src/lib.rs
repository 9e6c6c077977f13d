//! Helpers that the integration tests in `tests/it` share.
//!
//! - [`contract`]: what each port promises, for every adapter
//! - [`rows`], [`session_fixtures`]: rows, and whole sessions of every dialect
//! - [`sidecar`]: sidecars and stores for tests of the recorder
//! - [`export_fixture`], [`export_home`]: exports in memory, and with the binary
//! - [`fault_server`], [`tls_server`]: receivers of traces, and stores, with faults
//! - [`s3_server`]: a server that speaks S3
//! - [`page_file`]: reads a page as a browser does
//! - [`traj_binary`], [`json_schema`]: the command under test and its `--json`
//! - [`codex_rig`], [`model_server`]: the real Codex CLI with a scripted model
//! - [`agents`]: other real agents with a scripted model
//! - [`host`]: programs and permissions of the host, and what to do without them
//! - [`redaction_laws`]: what holds for any redacted input
//! - [`dice`]: random choices that can be repeated
#![expect(clippy::expect_used, reason = "a suite fails by panicking, with a reason")]

pub mod agents;
pub mod codex_rig;
pub mod contract;
pub mod dice;
pub mod export_fixture;
pub mod export_home;
pub mod fault_server;
pub mod host;
pub mod json_schema;
pub mod model_server;
pub mod page_file;
pub mod redaction_laws;
pub mod rows;
pub mod s3_server;
pub mod session_fixtures;
pub mod sidecar;
pub mod tls_server;
pub mod traj_binary;
