//! The store of a dataset, with the credentials that the environment has for it.

use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use traj_core::port::DatasetStore;
use traj_fs::{FsDataset, FsProcess};
use traj_lake::{DatasetRoot, ObjectStoreDataset, OpenError, StoreEnvironment};

use super::Host;
use crate::command_error::CommandError;

/// Variables that name a file with certificates, the first of which counts.
const CERTIFICATES: [&str; 2] = ["AWS_CA_BUNDLE", "SSL_CERT_FILE"];

/// The variable that names the key of a Google service account.
const GOOGLE_KEY: &str = "GOOGLE_APPLICATION_CREDENTIALS";

impl Host {
    /// The store of a dataset. Nothing is sent, and no directory is created, before
    /// it is used.
    pub(crate) fn dataset(
        &self,
        root: &DatasetRoot,
    ) -> Result<Arc<dyn DatasetStore>, CommandError> {
        if let Some(path) = root.directory() {
            let (folder, below) = self.nearest_root(Path::new(path))?;
            return Ok(Arc::new(FsDataset::new(folder, below)));
        }
        let opened = ObjectStoreDataset::open(root, &self.store_environment()?);
        Ok(Arc::new(opened.map_err(explain)?))
    }

    /// This process, as one of those that ship to a dataset.
    pub(crate) fn begin_process(folder: Dir) -> Result<FsProcess, CommandError> {
        let draw = || {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes)?;
            Ok(u64::from_le_bytes(bytes))
        };
        FsProcess::begin(folder, draw)
            .map_err(|error| CommandError::failure("cannot use the state directory").because(error))
    }

    fn store_environment(&self) -> Result<StoreEnvironment, CommandError> {
        let variables = self.facts.variables.clone();
        let named = |name: &&str| variables.get(name).is_some();
        let certificates = CERTIFICATES.iter().find(|name| named(name));
        let certificates = certificates.map(|name| self.read_named(name)).transpose()?.flatten();
        let google_key = self.read_named(GOOGLE_KEY)?;
        Ok(StoreEnvironment {
            variables,
            google_key,
            certificates: certificates.map(String::into_bytes),
            patience: None,
        })
    }

    /// The text of the file that a variable names, if it is set.
    fn read_named(&self, variable: &str) -> Result<Option<String>, CommandError> {
        let Some(path) = self.facts.variables.get(variable) else { return Ok(None) };
        // Secrets of containers are behind links.
        let text = self.read_text(&self.real_path(Path::new(path)));
        text.map(Some).map_err(|error| error.hint(format!("{variable} names this file")))
    }
}

fn explain(error: OpenError) -> CommandError {
    let failed = CommandError::usage("cannot open the dataset").because(error);
    match error {
        OpenError::Credentials { .. } => failed
            .hint("credentials are taken from the environment only; traj stores and prints none"),
        OpenError::Value { .. } => failed.hint("check the variables of the provider"),
        _ => failed,
    }
}
