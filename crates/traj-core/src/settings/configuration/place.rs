//! Where the configuration file is.

use super::SettingOrigin;
use crate::settings::host::HostFacts;

/// Names the configuration file.
const FILE: &str = "TRAJ_CONFIG";

/// Where the configuration file is, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigurationPlace {
    /// Its path, absolute.
    pub path: String,
    /// Which variable led there. A file that `TRAJ_CONFIG` names has to exist.
    pub origin: SettingOrigin,
}

impl ConfigurationPlace {
    /// The place on this host: `TRAJ_CONFIG`, else `traj/config.toml` in
    /// `XDG_CONFIG_HOME`, else in `.config` of the home directory. `None`
    /// where there is no home directory.
    #[must_use]
    pub fn of_host(host: &HostFacts) -> Option<Self> {
        if let Some(path) = host.variables.get(FILE) {
            let origin = SettingOrigin::Variable(FILE.to_owned());
            return Some(Self { path: host.absolute(path), origin });
        }
        // The standard says that a relative one is to be ignored.
        let shared = host.variables.get("XDG_CONFIG_HOME").filter(|path| path.starts_with('/'));
        let (directory, origin) = match shared {
            Some(path) => (path.to_owned(), SettingOrigin::Variable("XDG_CONFIG_HOME".to_owned())),
            None => {
                (format!("{}/.config", host.home()?.trim_end_matches('/')), SettingOrigin::DEFAULT)
            }
        };
        Some(Self { path: format!("{}/traj/config.toml", directory.trim_end_matches('/')), origin })
    }

    /// Whether the user named it, so that it has to exist.
    #[must_use]
    pub fn is_named(&self) -> bool {
        matches!(&self.origin, SettingOrigin::Variable(name) if name == FILE)
    }
}
