//! Finds and reads the configuration file of this host, and the price file
//! that it may name.

use std::error::Error;
use std::io::Read as _;
use std::path::Path;

use traj_core::limits::Reading;
use traj_core::run::Prices;
use traj_core::settings::codex::CodexConfiguration;
use traj_core::settings::configuration::{Configuration, ConfigurationError, ConfigurationPlace};
use traj_fs::open_file;

use super::{Host, real_path};
use crate::command_error::CommandError;
use crate::resolve::codex_home;

/// The configuration file, and whether it can be used.
#[derive(Debug, Default)]
pub(crate) struct ConfigurationFile {
    /// Where it is or would be, if a location is known.
    pub(crate) place: Option<ConfigurationPlace>,
    /// Whether it exists.
    pub(crate) exists: bool,
    /// Why it cannot be used as it is. A verb that needs it then fails; the
    /// others use the valid keys.
    pub(crate) fault: Option<CommandError>,
}

impl Host {
    /// This host with the settings of its configuration file.
    pub(super) fn with_configuration(mut self) -> Self {
        self.configuration.place = ConfigurationPlace::of_host(&self.facts);
        if let Err(fault) = self.configure() {
            self.configuration.fault = Some(fault);
        }
        self
    }

    fn configure(&mut self) -> Result<(), CommandError> {
        let Some(place) = &self.configuration.place else {
            return Ok(());
        };
        let path = Path::new(&place.path);
        let Some(text) = self.small_text_if_any(path)? else {
            if place.is_named() {
                let message = format!("there is no configuration file {}", path.display());
                return Err(CommandError::usage(message).hint("correct TRAJ_CONFIG, or unset it"));
            }
            return Ok(());
        };
        self.configuration.exists = true;
        let parsed = Configuration::parse(&place.path, &text);
        let configuration = parsed.map_err(|error| unusable(path, &[error]))?;
        let fault = match configuration.problems.as_slice() {
            [] => Ok(()),
            problems => Err(unusable(path, problems)),
        };
        self.facts = std::mem::take(&mut self.facts).configured_by(&configuration);
        fault
    }

    /// The prices in effect: the built-in ones, overridden by those of the file
    /// that a flag names, else of the configured file.
    pub(crate) fn prices(&self, named: Option<&Path>) -> Result<Prices, CommandError> {
        let shipped = Prices::shipped();
        Ok(match self.own_prices(named)? {
            Some(own) => shipped.overridden_by(own),
            None => shipped,
        })
    }

    /// The prices of the user: of the file that a flag names, else of the one
    /// that is configured.
    pub(crate) fn own_prices(&self, named: Option<&Path>) -> Result<Option<Prices>, CommandError> {
        let configured = || self.facts.price_file();
        let Some(path) =
            named.map(|path| self.absolute(path)).or_else(|| configured().map(Into::into))
        else {
            return Ok(None);
        };
        let text = self.small_text_if_any(&path)?.ok_or_else(|| {
            CommandError::usage(format!("there is no price file {}", path.display()))
                .hint("`traj config show --origin` shows where the path comes from")
        })?;
        let prices = Prices::parse(&text).map_err(|error| {
            CommandError::usage(format!("cannot use the prices in {}", path.display()))
                .because(error)
                .hint("docs/configuration.md describes price files")
        })?;
        Ok(Some(prices))
    }

    /// Codex's own configuration, as far as it can be read. Codex reports what is
    /// wrong with it.
    pub(crate) fn codex_configuration(&self) -> CodexConfiguration {
        let home = codex_home(self);
        let text = home.and_then(|home| self.small_text_if_any(&home.join("config.toml")).ok()?);
        text.and_then(|text| CodexConfiguration::parse(&text)).unwrap_or_default()
    }

    /// The text of one of the user's files, if it exists. Links are followed,
    /// since users link to files that they keep elsewhere.
    pub(crate) fn small_text_if_any(&self, path: &Path) -> Result<Option<String>, CommandError> {
        let cannot = |error: Box<dyn Error + Send + Sync>| {
            CommandError::usage(format!("cannot read {}", path.display())).because(error)
        };
        let Some(real) = real_path(path) else {
            return Ok(None);
        };
        let (folder, name) = self.folder_of(&real)?;
        let file = open_file(&folder, &name).map_err(|error| cannot(error.into()))?;
        // One byte above the limit shows that the file is too large.
        let most = Reading::standard().configuration_bytes;
        let mut bytes = Vec::new();
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| cannot(error.into()))?;
        if bytes.len() > most {
            return Err(cannot(ConfigurationError::TooLarge.into()));
        }
        String::from_utf8(bytes).map(Some).map_err(|error| cannot(error.into()))
    }
}

/// The error for an invalid file at `path`, with a hint for each key that has
/// one.
fn unusable(path: &Path, problems: &[ConfigurationError]) -> CommandError {
    /// How many problems are listed.
    const MOST: usize = 20;
    let mut said: Vec<_> = problems.iter().take(MOST).map(ToString::to_string).collect();
    if let Some(omitted) = problems.len().checked_sub(MOST).filter(|omitted| *omitted > 0) {
        said.push(format!("and {omitted} more"));
    }
    let error =
        CommandError::usage(format!("cannot use the configuration file {}", path.display()))
            .because(said.join("; "));
    let hints = problems.iter().take(MOST).filter_map(ConfigurationError::hint);
    hints.fold(error, CommandError::hint).hint("docs/configuration.md lists the keys")
}
