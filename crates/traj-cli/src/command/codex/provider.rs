//! The environment variables that the provider of the model needs.

use serde::Serialize;

use crate::compose::Host;
use crate::terminal_text::escape_control;

/// The provider of the model, as Codex's configuration describes it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Provider")]
pub(crate) struct ProviderReport {
    /// Its name.
    pub(crate) name: String,
    /// The environment variables that its configuration names. traj passes them to Codex.
    pub(crate) variables: Vec<ProviderVariable>,
}

/// A variable that the configuration of the provider names.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProviderVariable {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is set.
    pub(crate) is_set: bool,
}

impl ProviderReport {
    /// The provider `named`, or else the one that Codex's configuration selects.
    pub(crate) fn of(named: Option<&str>, host: &Host) -> Self {
        let configuration = host.codex_configuration();
        let provider = configuration.provider(named);
        let variable = |name: &String| ProviderVariable {
            name: name.clone(),
            is_set: host.facts.variables.get(name).is_some(),
        };
        let variables = configuration.variables(provider).iter().map(variable).collect();
        Self { name: provider.to_owned(), variables }
    }

    /// The variables that are not set.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        let missing = self.variables.iter().filter(|variable| !variable.is_set);
        missing.map(|variable| variable.name.as_str())
    }

    /// For people: its name, and what Codex gets for it.
    pub(crate) fn shown(&self) -> String {
        let each = |variable: &ProviderVariable| {
            let state = if variable.is_set { "passed on" } else { "NOT SET" };
            format!("{} ({state})", escape_control(&variable.name))
        };
        let variables: Vec<String> = self.variables.iter().map(each).collect();
        let name = escape_control(&self.name);
        if variables.is_empty() {
            format!("{name}, which needs no variables")
        } else {
            format!("{name}, which needs {}", variables.join(", "))
        }
    }
}
