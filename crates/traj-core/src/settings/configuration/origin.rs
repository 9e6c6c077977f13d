//! Where a setting comes from.

use std::fmt;

/// Where the value of a setting comes from. A flag overrides a variable, a
/// variable overrides the configuration file, and the file overrides the
/// default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingOrigin {
    /// Nothing sets it.
    Default {
        /// A variable that is set, but to an invalid value.
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
    /// A command-line flag.
    Flag(&'static str),
}

impl SettingOrigin {
    /// The origin of a setting that nothing sets.
    pub(crate) const DEFAULT: Self = Self::Default { ignored: None };

    /// The kind, in one word.
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
                write!(formatter, "default; {name} is invalid")
            }
            Self::File { path, line } => write!(formatter, "{path}:{line}"),
            Self::Variable(name) => formatter.write_str(name),
            Self::Flag(name) => formatter.write_str(name),
        }
    }
}
