//! `traj config`: the settings in effect, and where each comes from.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;
use traj_core::settings::configuration::SettingOrigin;
use traj_core::settings::report::{EffectiveSetting, effective_settings};

use super::Outcome;
use crate::arguments::ColorChoice;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    after_help = concat!(
        "Examples:\n",
        "  traj config show --origin  every setting, and where it comes from\n",
        "  traj config path           the location of the configuration file\n",
        "\n",
        "Exit codes: 0 done · 1 failed · 2 the configuration file cannot be used"
    )
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

// A doc comment would override the `long_about` of the arguments.
#[derive(Debug, Subcommand)]
enum Verb {
    #[command(about = "Show every setting in effect")]
    Show(ShowArguments),
    #[command(about = "Print the path of the configuration file")]
    Path(PathArguments),
}

#[derive(Debug, Args)]
#[command(
    long_about = "Shows every setting in effect with its key in the configuration file. A flag \
                  overrides an environment variable, a variable overrides the file, and the file \
                  overrides the default.",
    after_help = concat!(
        "Examples:\n",
        "  traj config show                        every setting in effect\n",
        "  traj config show --origin               and where each value comes from\n",
        "  TRAJ_CONFIG=team.toml traj config show  with another file\n",
        "\n",
        "Exit codes: 0 done · 1 failed · 2 the configuration file cannot be used"
    )
)]
struct ShowArguments {
    /// Show where each value comes from: a flag, a variable, a line of the file, or the default
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, Args)]
#[command(
    long_about = "Prints the path of the configuration file, whether or not it exists: TRAJ_CONFIG if \
                  set, else traj/config.toml in XDG_CONFIG_HOME, else ~/.config/traj/config.toml.",
    after_help = concat!(
        "Examples:\n",
        "  traj config path\n",
        "  $EDITOR \"$(traj config path)\"\n",
        "\n",
        "Exit codes: 0 done · 1 the location is unknown · 2 wrong usage"
    )
)]
struct PathArguments {}

/// The report of `config show`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Shown")]
struct ConfigReport {
    /// The configuration file.
    file: ConfigFile,
    /// Every setting.
    settings: Vec<ConfigSetting>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "File")]
struct ConfigFile {
    /// Where it is, or would be.
    path: String,
    /// Whether it is there.
    exists: bool,
    /// What says so.
    origin: Source,
}

/// A setting in effect.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Setting")]
struct ConfigSetting {
    /// Its name.
    name: &'static str,
    /// Its key in the file, if it has one.
    key: Option<&'static str>,
    /// The variable that sets it.
    variable: &'static str,
    /// Its value, for people.
    value: String,
    /// Where the value comes from.
    origin: Source,
}

/// Where a value comes from.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Source {
    /// `default`, `file`, `environment` or `flag`.
    kind: &'static str,
    /// The variable or flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The line of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// A variable that is set, but not to something usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<String>,
    /// All of this for people.
    #[serde(skip)]
    text: String,
}

impl From<&SettingOrigin> for Source {
    fn from(origin: &SettingOrigin) -> Self {
        let (name, path, line, ignored) = match origin {
            SettingOrigin::Variable(name) => (Some(name.clone()), None, None, None),
            SettingOrigin::Flag(name) => (Some((*name).to_owned()), None, None, None),
            SettingOrigin::File { path, line } => (None, Some(path.clone()), Some(*line), None),
            SettingOrigin::Default { ignored } => (None, None, None, ignored.clone()),
            _ => (None, None, None, None),
        };
        Self { kind: origin.kind(), name, path, line, ignored, text: origin.to_string() }
    }
}

pub(crate) const DOCUMENTS: [JsonDocument; 2] = [
    JsonDocument::of::<ConfigReport>("config-show"),
    JsonDocument::of::<ConfigFile>("config-path"),
];

pub(crate) fn run(
    arguments: &Arguments,
    color: Option<ColorChoice>,
    host: &Host,
    output: &CommandOutput,
) -> Outcome {
    match &arguments.verb {
        Verb::Show(arguments) => show(arguments, color, host, output),
        Verb::Path(_) => path(host, output),
    }
}

impl Arguments {
    /// Whether the command runs even if the configuration file is invalid.
    pub(super) const fn works_without_configuration(&self) -> bool {
        matches!(self.verb, Verb::Path(_))
    }
}

fn show(
    arguments: &ShowArguments,
    color: Option<ColorChoice>,
    host: &Host,
    output: &CommandOutput,
) -> Outcome {
    let settings = effective_settings(&host.facts).into_iter();
    let settings = settings.map(|setting| of_flag(setting, color)).collect();
    let shown = ConfigReport { file: file(host)?, settings };
    output.result(&shown, |shown| describe(shown, arguments.origin))?;
    Ok(ExitCode::SUCCESS)
}

/// A setting, overridden by `--color` where that applies.
fn of_flag(setting: EffectiveSetting, color: Option<ColorChoice>) -> ConfigSetting {
    let EffectiveSetting { name, key, variable, value, origin, .. } = setting;
    match color {
        Some(color) if key == Some("defaults.color") => {
            let origin = Source::from(&SettingOrigin::Flag("--color"));
            ConfigSetting {
                name,
                key,
                variable,
                value: color.preference().as_str().to_owned(),
                origin,
            }
        }
        _ => ConfigSetting { name, key, variable, value, origin: Source::from(&origin) },
    }
}

fn path(host: &Host, output: &CommandOutput) -> Outcome {
    output.result(&file(host)?, |file| format!("{}\n", escape_control(&file.path)))?;
    Ok(ExitCode::SUCCESS)
}

fn file(host: &Host) -> Result<ConfigFile, CommandError> {
    let place = host.configuration.place.as_ref().ok_or_else(|| {
        CommandError::failure("the location of the configuration file is unknown")
            .hint("set HOME or TRAJ_CONFIG")
    })?;
    Ok(ConfigFile {
        path: place.path.clone(),
        exists: host.configuration.exists,
        origin: Source::from(&place.origin),
    })
}

fn describe(shown: &ConfigReport, with_origin: bool) -> String {
    let state = if shown.file.exists { "" } else { " (does not exist)" };
    let mut lines = vec![format!("file: {}{state}\n", escape_control(&shown.file.path))];
    let keys = shown.settings.iter().map(|setting| setting.key.unwrap_or(setting.name).len());
    let width = keys.max().unwrap_or(0);
    for setting in &shown.settings {
        let key = setting.key.unwrap_or(setting.name);
        let value = escape_control(&setting.value);
        let origin = escape_control(&setting.origin.text);
        let origin = if with_origin { format!("  ({origin})") } else { String::new() };
        lines.push(format!("{key:width$}  {value}{origin}\n"));
    }
    lines.concat()
}
