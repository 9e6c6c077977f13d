//! The configuration file: TOML with prices, roots, limits and defaults.
//!
//! `docs/configuration.md` describes its keys. This module only parses it; the caller finds and
//! opens the file. Environment variables override the file (see
//! [`HostFacts::configured_by`](crate::settings::host::HostFacts::configured_by)).

mod key;
mod nearest;
mod origin;
mod place;
mod preferences;

#[cfg(test)]
mod tests;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use origin::SettingOrigin;
pub use place::ConfigurationPlace;
pub use preferences::{Color, Preference, Preferences};

pub(crate) use key::{ConfigurationKey, key_of_variable};

use crate::limits::Reading;
use crate::settings::toml_fault;

/// Where to look for sessions, separated by colons.
pub(crate) const ROOTS: &str = "TRAJ_ROOTS";
/// A price file.
pub(crate) const PRICES: &str = "TRAJ_PRICES";

/// What is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// The file is too large. It is ignored.
    #[error("the file is larger than {} bytes", Reading::standard().configuration_bytes)]
    TooLarge,
    /// The file is not TOML. It is ignored.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, counted from one.
        line: usize,
        /// What is wrong, without values from the file.
        problem: String,
    },
    /// An unknown key.
    #[error("line {line}: unknown key `{key}`")]
    UnknownKey {
        /// The line, counted from one.
        line: usize,
        /// The key, with its section.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A value of the wrong type.
    #[error("line {line}: `{key}` takes {expected}")]
    WrongValue {
        /// The line, counted from one.
        line: usize,
        /// The key, with its section.
        key: &'static str,
        /// The expected type.
        expected: String,
    },
}

impl ConfigurationError {
    /// A hint, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::TooLarge
            | Self::Syntax { .. }
            | Self::UnknownKey { .. }
            | Self::WrongValue { .. } => None,
        }
    }
}

/// The values of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Configuration {
    /// Keys and values that are invalid, in the order of their lines. All others take effect.
    pub problems: Vec<ConfigurationError>,
    /// The variables that it provides: name, value and origin.
    values: Vec<(&'static str, String, SettingOrigin)>,
}

impl Configuration {
    /// Parses the content of the file at `path`, which is absolute.
    ///
    /// # Errors
    /// When the file is too large or not TOML. Invalid keys and values are listed in
    /// [`problems`](Self::problems) and do not affect the others.
    pub fn parse(path: &str, text: &str) -> Result<Self, ConfigurationError> {
        if text.len() > Reading::standard().configuration_bytes {
            return Err(ConfigurationError::TooLarge);
        }
        let table = DeTable::parse(text).map_err(|error| {
            let (line, problem) = toml_fault::line_and_problem(text, &error);
            ConfigurationError::Syntax { line, problem }
        })?;
        let mut reader = ConfigurationReader { path, text, configuration: Self::default() };
        for (name, value) in table.get_ref() {
            reader.member(name.get_ref(), name.span().start, value);
        }
        let mut configuration = reader.configuration;
        configuration.problems.sort_by_key(line_of);
        Ok(configuration)
    }

    /// The variables that it provides.
    pub(crate) fn values(&self) -> impl Iterator<Item = &(&'static str, String, SettingOrigin)> {
        self.values.iter()
    }
}

/// Reads the members of one file.
struct ConfigurationReader<'t> {
    path: &'t str,
    text: &'t str,
    configuration: Configuration,
}

impl ConfigurationReader<'_> {
    /// A top-level member: a key, or a section of keys.
    fn member(&mut self, name: &str, at: usize, value: &Spanned<DeValue<'_>>) {
        match (ConfigurationKey::named(name), value.get_ref()) {
            (Some(key), value) => self.value(key, at, value),
            (None, DeValue::Table(members)) if ConfigurationKey::is_section(name) => {
                for (member, value) in members {
                    let (name, at) = (format!("{name}.{}", member.get_ref()), member.span().start);
                    match ConfigurationKey::named(&name) {
                        Some(key) => self.value(key, at, value.get_ref()),
                        None => self.unknown(&name, at),
                    }
                }
            }
            (None, _) => self.unknown(name, at),
        }
    }

    fn value(&mut self, key: &'static ConfigurationKey, at: usize, value: &DeValue<'_>) {
        let line = toml_fault::line_at(self.text, at);
        let directory = self.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        match key.kind.read(value, directory) {
            Some(value) => {
                let origin = SettingOrigin::File { path: self.path.to_owned(), line };
                self.configuration.values.push((key.variable, value, origin));
            }
            None => {
                let expected = key.kind.to_string();
                let problem = ConfigurationError::WrongValue { line, key: key.name, expected };
                self.configuration.problems.push(problem);
            }
        }
    }

    fn unknown(&mut self, name: &str, at: usize) {
        // A long string in place of a key is shortened in the error.
        const LONGEST: usize = 60;
        let problem = ConfigurationError::UnknownKey {
            line: toml_fault::line_at(self.text, at),
            key: name.chars().take(LONGEST).collect(),
            nearest: nearest::nearest_key(name),
        };
        self.configuration.problems.push(problem);
    }
}

const fn line_of(problem: &ConfigurationError) -> usize {
    match problem {
        ConfigurationError::TooLarge => 0,
        ConfigurationError::Syntax { line, .. }
        | ConfigurationError::UnknownKey { line, .. }
        | ConfigurationError::WrongValue { line, .. } => *line,
    }
}
