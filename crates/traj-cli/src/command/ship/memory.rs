//! What this host remembers about a dataset: a directory below the state directory
//! with a log of what was shipped, the files that wait, and how the last round went.

use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};
use traj_core::port::DatasetStore;
use traj_fs::{FsDataset, FsLineLog, FsProcess};
use traj_lake::{DatasetRoot, HostId};

use super::report::ShipReport;
use crate::command_error::CommandError;
use crate::compose::Host;

const LOG: &str = "log.jsonl";
const SPOOL: &str = "spool";
const STATUS: &str = "status.json";

/// A dataset, and what is remembered about it.
#[derive(Debug)]
pub(super) struct ShipMemory {
    pub(super) dataset: Arc<dyn DatasetStore>,
    pub(super) host: HostId,
    pub(super) log: FsLineLog,
    pub(super) spool: FsDataset,
    pub(super) process: FsProcess,
    pub(super) url: String,
    folder: Dir,
}

/// How the last round went.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DatasetStatus {
    /// The dataset.
    pub(crate) dataset: String,
    /// When traj last tried to ship to it.
    pub(crate) tried_at: Option<String>,
    /// When the dataset last had everything that was to be shipped.
    pub(crate) complete_at: Option<String>,
    /// How many sessions it lacked, or had in an older state, at the last attempt.
    pub(crate) behind: u64,
    /// How many segments wait on this host.
    pub(crate) waiting: u64,
    /// How many bytes their files have.
    pub(crate) waiting_bytes: u64,
    /// How many segments were ever dropped because too many waited.
    pub(crate) dropped: u64,
    /// Why the last attempt failed; null if it did not.
    pub(crate) last_error: Option<String>,
}

impl ShipMemory {
    pub(super) fn open(root: &DatasetRoot, host: &Host) -> Result<Self, CommandError> {
        let cannot = |error| CommandError::failure("cannot use the state directory").because(error);
        let url = root.to_string();
        let folder = host.shipping_folder(&root.short_digest())?;
        Ok(Self {
            dataset: host.dataset(root)?,
            host: host.host_id()?,
            log: FsLineLog::new(folder.try_clone().map_err(cannot)?, LOG.to_owned()),
            spool: FsDataset::new(folder.try_clone().map_err(cannot)?, vec![SPOOL.to_owned()]),
            process: Host::begin_process(folder.try_clone().map_err(cannot)?)?,
            url,
            folder,
        })
    }

    /// Remembers how a round went.
    pub(super) fn note(
        &self,
        report: &ShipReport,
        error: Option<&CommandError>,
    ) -> Result<(), CommandError> {
        let before = status_in(&self.folder).unwrap_or_default();
        let now = Host::now().to_iso();
        let described = |error: &CommandError| {
            std::iter::once(error.message.clone())
                .chain(error.causes())
                .collect::<Vec<_>>()
                .join(": ")
        };
        let last_error = error.map(described).or_else(|| report.first_problem());
        let status = DatasetStatus {
            dataset: self.url.clone(),
            tried_at: Some(now.clone()),
            complete_at: if last_error.is_none() { Some(now) } else { before.complete_at },
            behind: report.behind(),
            waiting: report.spool.segments,
            waiting_bytes: report.spool.bytes,
            dropped: report.spool.dropped,
            last_error,
        };
        // Texts and numbers always have a JSON form.
        let text = serde_json::to_string(&status).unwrap_or_default();
        traj_fs::write_private_file(&self.folder, STATUS, |file| file.write_all(text.as_bytes()))
            .map_err(|error| CommandError::failure("cannot remember how it went").because(error))
    }
}

/// What is remembered about each dataset.
pub(crate) fn remembered(host: &Host) -> Vec<DatasetStatus> {
    let place = host.shipping_place().ok();
    let folder = place.and_then(|place| host.folder_if_any(Path::new(&place)).ok().flatten());
    let Some(folder) = folder else { return Vec::new() };
    let names = folder.entries().into_iter().flatten().flatten();
    let mut names: Vec<String> =
        names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let status = |name: &String| status_in(&traj_fs::open_subfolder(&folder, name).ok()?);
    names.iter().filter_map(status).collect()
}

fn status_in(folder: &Dir) -> Option<DatasetStatus> {
    let file = traj_fs::open_file(folder, STATUS).ok()?;
    serde_json::from_reader(file).ok()
}
