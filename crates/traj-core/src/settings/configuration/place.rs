//! Where the configuration file is.

use super::SettingOrigin;
use crate::settings::host::HostFacts;

/// The variable that names the configuration file.
const FILE: &str = "TRAJ_CONFIG";

/// Where the configuration file is, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigurationPlace {
    /// Its absolute path.
    pub path: String,
    /// The variable that determined it. A file named by `TRAJ_CONFIG` must
    /// exist.
    pub origin: SettingOrigin,
}

impl ConfigurationPlace {
    /// The location on this host: `TRAJ_CONFIG`, else `traj/config.toml` in
    /// `XDG_CONFIG_HOME`, else in `.config` in the home directory. `None` if
    /// there is no home directory.
    #[must_use]
    pub fn of_host(host: &HostFacts) -> Option<Self> {
        if let Some(path) = host.variables.get(FILE) {
            let origin = SettingOrigin::Variable(FILE.to_owned());
            return Some(Self { path: host.absolute(path), origin });
        }
        // The XDG specification says to ignore relative paths.
        let shared = host.variables.get("XDG_CONFIG_HOME").filter(|path| path.starts_with('/'));
        let (directory, origin) = match shared {
            Some(path) => (path.to_owned(), SettingOrigin::Variable("XDG_CONFIG_HOME".to_owned())),
            None => {
                (format!("{}/.config", host.home()?.trim_end_matches('/')), SettingOrigin::DEFAULT)
            }
        };
        Some(Self { path: format!("{}/traj/config.toml", directory.trim_end_matches('/')), origin })
    }

    /// Whether the user named it, so that it must exist.
    #[must_use]
    pub fn is_named(&self) -> bool {
        matches!(&self.origin, SettingOrigin::Variable(name) if name == FILE)
    }
}
