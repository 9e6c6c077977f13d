//! The keys for redaction markers: the owner's, one in a named file, or a
//! temporary one.

use std::path::Path;

use cap_std::fs::Dir;
use traj_core::redaction::MarkerKey;
use traj_lake::HostId;

use super::{Host, cannot_open};
use crate::command_error::CommandError;

/// The file of the owner's marker key, in `traj` below the state directory.
const KEY_FILE: &str = "redaction.key";

/// The file of the salt of the host's name, in the same directory.
const SALT_FILE: &str = "host.salt";

impl Host {
    /// The owner's marker key, created on first use in the state directory and
    /// readable only by its owner.
    pub(crate) fn marker_key(&self) -> Result<MarkerKey, CommandError> {
        let Some(state_dir) = self.facts.state_dir() else {
            return Err(CommandError::failure("there is no state directory for the redaction key")
                .hint("set HOME or TRAJ_STATE_DIR"));
        };
        let folder = self.key_folder(Path::new(&state_dir))?;
        traj_fs::load_or_create_key(&folder, KEY_FILE, fresh_key).map_err(|error| {
            CommandError::failure(format!("cannot use the redaction key in {state_dir}/traj"))
                .because(error)
                .hint("test it with `traj doctor --probe`, or set TRAJ_STATE_DIR to another directory")
        })
    }

    /// The name of this host in datasets: a digest of its own name, with a salt
    /// that is created on first use and that only the owner can read.
    pub(crate) fn host_id(&self) -> Result<HostId, CommandError> {
        let cannot = || CommandError::failure("cannot use the salt of this host's name");
        let Some(state_dir) = self.facts.state_dir() else {
            return Err(cannot().hint("set HOME or TRAJ_STATE_DIR"));
        };
        let folder = self.key_folder(Path::new(&state_dir))?;
        let salt = traj_fs::load_or_create_key(&folder, SALT_FILE, fresh_key)
            .map_err(|error| cannot().because(error))?;
        let name = self.facts.host_name.as_deref().unwrap_or_default();
        Ok(HostId::of(salt.as_bytes(), name))
    }

    /// The `traj` directory in the state directory, which may be a link.
    fn key_folder(&self, state_dir: &Path) -> Result<Dir, CommandError> {
        const OURS: &str = "traj";
        match self.named_root_if_any(state_dir)? {
            Some(state) => traj_fs::create_subfolder(&state, OURS)
                .map_err(|error| cannot_open(&state_dir.join(OURS), error)),
            None => self.folder_or_new(&state_dir.join(OURS)),
        }
    }

    /// The marker key in a file that the user named, created if it is missing.
    pub(crate) fn marker_key_in(&self, file: &Path) -> Result<MarkerKey, CommandError> {
        let (folder, name) = self.folder_of(file)?;
        traj_fs::load_or_create_key(&folder, &name, fresh_key).map_err(|error| {
            CommandError::failure(format!("cannot use the redaction key in {}", file.display()))
                .because(error)
                .hint("name a key file that traj created, or a file that does not exist yet")
        })
    }

    /// A temporary marker key, which is not stored.
    pub(crate) fn passing_key() -> Result<MarkerKey, CommandError> {
        fresh_key()
            .map(MarkerKey::new)
            .map_err(|error| CommandError::failure("cannot create a redaction key").because(error))
    }
}

fn fresh_key() -> std::io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(key)
}
