//! Facts about the host, as a plain value that the caller collects once.

use std::collections::BTreeMap;

use crate::settings::configuration::{self, Configuration, SettingOrigin};

/// Environment variables by name, with values from the configuration file for
/// those that are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    environment: BTreeMap<String, String>,
    configured: BTreeMap<&'static str, (String, SettingOrigin)>,
}

impl Variables {
    /// The variable `TRAJ_<suffix>`, else `OPENCLAW_<suffix>`; trimmed, blank
    /// counts as unset.
    #[must_use]
    pub fn shared(&self, suffix: &str) -> Option<&str> {
        self.shared_values(suffix).next()
    }

    /// A variable, trimmed; blank counts as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    /// The values of `TRAJ_<suffix>`: from the environment with either prefix,
    /// then from the file.
    pub(crate) fn shared_values(&self, suffix: &str) -> impl Iterator<Item = &str> {
        let set = self.shared_name(suffix).and_then(|name| self.environment(&name));
        set.into_iter().chain(self.configured(&format!("TRAJ_{suffix}")).map(|(value, _)| value))
    }

    /// The values of a variable: from the environment, then from the file.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.environment(name).into_iter().chain(self.configured(name).map(|(value, _)| value))
    }

    /// The name of the environment variable that sets `<suffix>`.
    pub(crate) fn shared_name(&self, suffix: &str) -> Option<String> {
        let names = [format!("TRAJ_{suffix}"), format!("OPENCLAW_{suffix}")];
        names.into_iter().find(|name| self.environment(name).is_some())
    }

    /// A variable from the environment only, trimmed; blank counts as unset.
    pub(crate) fn environment(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The file's value for a variable, and its position.
    pub(crate) fn configured(&self, name: &str) -> Option<(&str, &SettingOrigin)> {
        self.configured.get(name).map(|(value, origin)| (value.as_str(), origin))
    }

    /// Where the value of a variable comes from.
    #[must_use]
    pub fn origin(&self, name: &str) -> SettingOrigin {
        if self.environment(name).is_some() {
            return SettingOrigin::Variable(name.to_owned());
        }
        self.configured(name).map_or(SettingOrigin::DEFAULT, |(_, origin)| origin.clone())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let pairs = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { environment: pairs.collect(), configured: BTreeMap::new() }
    }
}

/// Facts about the machine and the user's account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostFacts {
    /// Environment variables.
    pub variables: Variables,
    /// The base of relative paths.
    pub current_dir: String,
    /// The account name.
    pub user: Option<String>,
    /// The host name.
    pub host_name: Option<String>,
    /// The directories in [`Self::usual_state_dirs`] that exist.
    pub existing_state_dirs: Vec<String>,
}

impl HostFacts {
    /// Facts with these variables and this current directory.
    #[must_use]
    pub fn new(variables: Variables, current_dir: impl Into<String>) -> Self {
        Self { variables, current_dir: current_dir.into(), ..Self::default() }
    }

    /// Adds the values of a configuration file. Environment variables override
    /// them.
    #[must_use]
    pub fn configured_by(mut self, configuration: &Configuration) -> Self {
        let values = configuration.values();
        let values = values.map(|(name, value, origin)| (*name, (value.clone(), origin.clone())));
        self.variables.configured = values.collect();
        self
    }

    /// Where to look for sessions: `TRAJ_ROOTS`, separated by colons, else
    /// `roots` from the configuration file. If empty, sessions are looked for
    /// where the harness keeps them.
    #[must_use]
    pub fn roots(&self) -> Vec<String> {
        let roots = self.variables.get(configuration::ROOTS).unwrap_or_default().split(':');
        let roots = roots.map(str::trim).filter(|root| !root.is_empty());
        roots.map(|root| self.absolute(root)).collect()
    }

    /// The configured price file: `TRAJ_PRICES`, else `prices` from the
    /// configuration file, as an absolute path.
    #[must_use]
    pub fn price_file(&self) -> Option<String> {
        self.variables.get(configuration::PRICES).map(|path| self.absolute(path))
    }

    /// The home directory: `TRAJ_HOME`, else `OPENCLAW_HOME`, else `HOME`, else
    /// `USERPROFILE`.
    #[must_use]
    pub fn home(&self) -> Option<String> {
        let account_home = ["HOME", "USERPROFILE"].iter().find_map(|name| self.real(name));
        match self.variables.shared("HOME").filter(|value| is_real(value)) {
            Some(home) => Some(match (home.strip_prefix('~'), &account_home) {
                (Some(rest), Some(base)) => format!("{base}{rest}"),
                _ => home.to_owned(),
            }),
            None => account_home,
        }
    }

    /// The harness's state directory: `TRAJ_STATE_DIR`, else
    /// `OPENCLAW_STATE_DIR`, else `.openclaw` in the home directory, or
    /// `.clawdbot` if only that exists.
    #[must_use]
    pub fn state_dir(&self) -> Option<String> {
        if let Some(directory) = self.variables.shared("STATE_DIR").filter(|value| is_real(value)) {
            return Some(self.absolute(directory));
        }
        let usual = self.usual_state_dirs();
        let existing = usual.iter().find(|directory| self.existing_state_dirs.contains(directory));
        existing.or(usual.first()).cloned()
    }

    /// The directory whose `agents/ID/sessions` hold the sessions of the
    /// harness: `TRAJ_PATH`, else `OPENCLAW_PATH`, else the state directory.
    #[must_use]
    pub fn agents_root(&self) -> Option<String> {
        let named = self.variables.shared("PATH").filter(|value| is_real(value));
        named.map(|path| self.absolute(path)).or_else(|| self.state_dir())
    }

    /// The default state directory, under its current and its former name.
    #[must_use]
    pub fn usual_state_dirs(&self) -> Vec<String> {
        let home = self.home();
        let home = home.iter().map(|home| home.trim_end_matches('/'));
        home.flat_map(|home| [".openclaw", ".clawdbot"].map(|name| format!("{home}/{name}")))
            .collect()
    }

    /// Makes a user's path absolute: `~` is the home directory, and relative
    /// paths start in the current directory.
    #[must_use]
    pub fn absolute(&self, path: &str) -> String {
        let home = || self.home().unwrap_or_else(|| self.current_dir.clone());
        match path.strip_prefix('~') {
            Some("") => return home(),
            Some(rest) if rest.starts_with('/') => return format!("{}{rest}", home()),
            _ => {}
        }
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.current_dir.trim_end_matches('/'))
        }
    }

    /// The value of a variable, unless it is a placeholder.
    pub(crate) fn real(&self, name: &str) -> Option<String> {
        self.variables.get(name).filter(|value| is_real(value)).map(str::to_owned)
    }
}

/// Whether a value is not one of the words that scripts pass for unset
/// variables.
fn is_real(value: &str) -> bool {
    value != "undefined" && value != "null"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(variables: &[(&str, &str)]) -> HostFacts {
        HostFacts::new(variables.iter().copied().collect(), "/srv/app")
    }

    #[test]
    fn traj_variables_override_the_shared_ones() {
        let host = host(&[("OPENCLAW_TRAJECTORY", "0"), ("TRAJ_TRAJECTORY", " 1 ")]);
        assert_eq!(host.variables.shared("TRAJECTORY"), Some("1"));
        assert_eq!(host.variables.shared("TRAJECTORY_DIR"), None);
    }

    #[test]
    fn directories_follow_the_variables() {
        assert_eq!(host(&[("HOME", "/h/me")]).state_dir().as_deref(), Some("/h/me/.openclaw"));
        let moved = host(&[("HOME", "/h/me"), ("OPENCLAW_STATE_DIR", "~/state")]);
        assert_eq!(moved.state_dir().as_deref(), Some("/h/me/state"));
        let other = host(&[("HOME", "/h/me"), ("OPENCLAW_HOME", "~/alt")]);
        assert_eq!(other.home().as_deref(), Some("/h/me/alt"));
        assert_eq!(host(&[("HOME", "undefined")]).home(), None);
        assert_eq!(host(&[]).absolute("x/y"), "/srv/app/x/y");
    }

    #[test]
    fn the_former_state_directory_is_used_if_only_it_exists() {
        let state_dir = |variables: &[(&str, &str)], existing: &[&str]| {
            let mut host = host(variables);
            let usual = host.usual_state_dirs();
            host.existing_state_dirs = usual
                .into_iter()
                .filter(|path| existing.iter().any(|end| path.ends_with(end)))
                .collect();
            host.state_dir().unwrap()
        };
        let home = ("HOME", "/h/me/");
        assert_eq!(state_dir(&[home], &[]), "/h/me/.openclaw");
        assert_eq!(state_dir(&[home], &[".clawdbot"]), "/h/me/.clawdbot");
        assert_eq!(state_dir(&[home], &[".openclaw", ".clawdbot"]), "/h/me/.openclaw");
        let named = [home, ("OPENCLAW_STATE_DIR", "/state")];
        assert_eq!(state_dir(&named, &[".clawdbot"]), "/state");
    }
}
