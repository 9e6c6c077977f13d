//! How to show results, unless a flag overrides it.

use super::SettingOrigin;
use crate::settings::host::HostFacts;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Color {
    /// Only on a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// The name of the value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Auto, Self::Always, Self::Never].into_iter().find(|color| color.as_str() == name)
    }
}

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preference<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: SettingOrigin,
}

/// How to show results, unless a flag overrides it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preferences {
    /// When to use colours: `TRAJ_COLOR`, `NO_COLOR`, `defaults.color`.
    pub color: Preference<Color>,
    /// The pager for long output: `TRAJ_PAGER`, `PAGER`, `defaults.pager`;
    /// `None` leaves the choice to the command.
    pub pager: Preference<Option<String>>,
    /// The time zone for display: `TRAJ_TIMEZONE`, `TZ`, `defaults.timezone`;
    /// `None` means the system's.
    pub timezone: Preference<Option<String>>,
}

impl Preferences {
    /// The preferences in effect on this host.
    #[must_use]
    pub fn from_host(host: &HostFacts) -> Self {
        Self {
            color: color(host),
            pager: text(host, "TRAJ_PAGER", "PAGER"),
            timezone: text(host, "TRAJ_TIMEZONE", "TZ"),
        }
    }
}

fn color(host: &HostFacts) -> Preference<Color> {
    const NAME: &str = "TRAJ_COLOR";
    let variables = &host.variables;
    let from_variable =
        |name: &str, value| Preference { value, origin: SettingOrigin::Variable(name.to_owned()) };
    let set = variables.environment(NAME);
    if let Some(value) = set.and_then(Color::parse) {
        return from_variable(NAME, value);
    }
    if variables.environment("NO_COLOR").is_some() {
        return from_variable("NO_COLOR", Color::Never);
    }
    match variables.configured(NAME) {
        Some((value, origin)) => {
            Preference { value: Color::parse(value).unwrap_or_default(), origin: origin.clone() }
        }
        None => {
            let ignored = set.map(|_| NAME.to_owned());
            Preference { value: Color::Auto, origin: SettingOrigin::Default { ignored } }
        }
    }
}

/// `own`, then the variable `common` of other programs, then the file.
fn text(host: &HostFacts, own: &str, common: &str) -> Preference<Option<String>> {
    let variables = &host.variables;
    for name in [own, common] {
        if let Some(value) = variables.environment(name) {
            let origin = SettingOrigin::Variable(name.to_owned());
            return Preference { value: Some(value.to_owned()), origin };
        }
    }
    match variables.configured(own) {
        Some((value, origin)) => {
            Preference { value: Some(value.to_owned()), origin: origin.clone() }
        }
        None => Preference { value: None, origin: SettingOrigin::DEFAULT },
    }
}
