//! The keys of the configuration file, in one table.
//!
//! Each key provides the value of an environment variable that is not set, so
//! code that reads the variable needs no knowledge of the file.

use std::fmt;

use toml::de::DeValue;

use crate::limits::Reading;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// `true` or `false`.
    Switch,
    /// A positive integer.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A path; relative paths start in the directory of the file.
    Path,
    /// A list of paths, joined by colons in the variable.
    Paths,
    /// A path, or the name of a program in `PATH`.
    Program,
    /// Any non-empty string.
    Text,
}

/// A key of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConfigurationKey {
    /// Section and name, as written in the file.
    pub(crate) name: &'static str,
    pub(crate) variable: &'static str,
    pub(super) kind: ValueKind,
}

impl ConfigurationKey {
    /// The key with this name, section included.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Whether any key starts with this name and a dot.
    pub(super) fn is_section(name: &str) -> bool {
        SECTIONS.contains(&name)
    }
}

const fn key(name: &'static str, variable: &'static str, kind: ValueKind) -> ConfigurationKey {
    ConfigurationKey { name, variable, kind }
}

/// The sections of keys.
pub(super) const SECTIONS: [&str; 4] = ["recording", "limits", "reading", "defaults"];

/// All keys.
pub(super) const KEYS: [ConfigurationKey; 22] = [
    key("roots", super::ROOTS, ValueKind::Paths),
    key("prices", super::PRICES, ValueKind::Path),
    key("recording.enabled", "TRAJ_TRAJECTORY", ValueKind::Switch),
    key("recording.directory", "TRAJ_TRAJECTORY_DIR", ValueKind::Path),
    // The fallback variable: every other variable for this timeout overrides
    // the file.
    key("recording.flush-timeout-ms", "TRAJ_AGENT_CLEANUP_TIMEOUT_MS", ValueKind::Number),
    key("recording.when-full", "TRAJ_WHEN_FULL", ValueKind::Word(&["stop", "roll"])),
    key("recording.durability", "TRAJ_DURABILITY", ValueKind::Word(&["relaxed", "flush", "batch"])),
    key("recording.queue-events", "TRAJ_MAX_QUEUE_EVENTS", ValueKind::Number),
    key("recording.queue-bytes", "TRAJ_MAX_QUEUE_BYTES", ValueKind::Number),
    key("limits.line-bytes", "TRAJ_MAX_LINE_BYTES", ValueKind::Number),
    key("limits.text-characters", "TRAJ_MAX_TEXT_CHARS", ValueKind::Number),
    key("limits.array-items", "TRAJ_MAX_ARRAY_ITEMS", ValueKind::Number),
    key("limits.object-members", "TRAJ_MAX_OBJECT_KEYS", ValueKind::Number),
    key("limits.depth", "TRAJ_MAX_DEPTH", ValueKind::Number),
    key("limits.sidecar-bytes", "TRAJ_MAX_SIDECAR_BYTES", ValueKind::Number),
    key("limits.blob-bytes", "TRAJ_MAX_BLOB_BYTES", ValueKind::Number),
    key("limits.preview-characters", "TRAJ_PREVIEW_CHARS", ValueKind::Number),
    key("reading.line-bytes", Reading::LINE_BYTES, ValueKind::Number),
    key("defaults.color", "TRAJ_COLOR", ValueKind::Word(&["auto", "always", "never"])),
    key("defaults.pager", "TRAJ_PAGER", ValueKind::Text),
    key("defaults.timezone", "TRAJ_TIMEZONE", ValueKind::Text),
    key("defaults.codex", "TRAJ_CODEX", ValueKind::Program),
];

/// The key for a variable.
pub(crate) fn key_of_variable(variable: &str) -> Option<&'static ConfigurationKey> {
    KEYS.iter().find(|key| key.variable == variable)
}

impl ValueKind {
    /// The value in the form of the variable; `None` if it has the wrong type.
    /// `directory` is the directory of the file.
    pub(super) fn read(self, value: &DeValue<'_>, directory: &str) -> Option<String> {
        let text = || value.as_str().map(str::trim).filter(|text| !text.is_empty());
        match self {
            Self::Switch => value.as_bool().map(|on| if on { "on" } else { "off" }.to_owned()),
            Self::Number => {
                let number = value.as_integer()?;
                let number = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
                crate::settings::positive(Some(&number.to_string())).map(|value| value.to_string())
            }
            Self::Word(words) => text().filter(|word| words.contains(word)).map(str::to_owned),
            Self::Path => text().map(|path| resolved(path, directory)),
            Self::Paths => {
                let paths = value.as_array()?.iter().map(|path| {
                    let path = path.get_ref().as_str().map(str::trim)?;
                    let path = Some(path).filter(|path| !path.is_empty())?;
                    Some(resolved(path, directory)).filter(|path| !path.contains(':'))
                });
                Some(paths.collect::<Option<Vec<_>>>()?.join(":"))
            }
            Self::Program => text().map(|program| match program.contains('/') {
                true => resolved(program, directory),
                false => program.to_owned(),
            }),
            Self::Text => text().map(str::to_owned),
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => formatter.write_str("true or false"),
            Self::Number => formatter.write_str("a whole number above 0"),
            Self::Word(words) => write!(formatter, "one of: {}", words.join(", ")),
            Self::Path => formatter.write_str("a path"),
            Self::Paths => formatter.write_str("a list of paths without a colon"),
            Self::Program => formatter.write_str("a program"),
            Self::Text => formatter.write_str("a string that is not empty"),
        }
    }
}

/// Resolves a path from the file: absolute, in the home directory, or relative
/// to the directory of the file.
fn resolved(path: &str, directory: &str) -> String {
    if path.starts_with(['/', '~']) {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    }
}
