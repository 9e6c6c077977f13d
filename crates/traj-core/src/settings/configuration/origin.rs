//! Where a setting comes from.

use std::fmt;

/// Where the value of a setting comes from. A flag wins over a variable, a
/// variable over the configuration file, and the file over the default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingOrigin {
    /// Nothing sets it.
    Default {
        /// A variable that is set to something that cannot be used.
        ignored: Option<String>,
    },
    /// The configuration file.
    File {
        /// Its path.
        path: String,
        /// The line, counted from one.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// A flag of the command.
    Flag(&'static str),
}

impl SettingOrigin {
    /// What nothing sets.
    pub(crate) const DEFAULT: Self = Self::Default { ignored: None };

    /// The kind, as one word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Default { .. } => "default",
            Self::File { .. } => "file",
            Self::Variable(_) => "environment",
            Self::Flag(_) => "flag",
        }
    }

    /// Whether nothing sets it.
    pub(crate) const fn is_default(&self) -> bool {
        matches!(self, Self::Default { .. })
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default { ignored: None } => formatter.write_str("default"),
            Self::Default { ignored: Some(name) } => {
                write!(formatter, "default; {name} is not usable")
            }
            Self::File { path, line } => write!(formatter, "{path}:{line}"),
            Self::Variable(name) => formatter.write_str(name),
            Self::Flag(name) => formatter.write_str(name),
        }
    }
}
