//! What traj needs to know of Codex's own configuration, `config.toml` in
//! `CODEX_HOME`: which environment variables the selected provider reads.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// The provider that Codex uses if nothing selects one.
const BUILT_IN_PROVIDER: &str = "openai";

/// The providers in Codex's own configuration. Only names are kept: the file may
/// contain secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodexConfiguration {
    selected: Option<String>,
    variables: BTreeMap<String, Vec<String>>,
}

impl CodexConfiguration {
    /// Reads the text of the file; `None` if it is not TOML. Codex itself reports
    /// what is wrong with it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let table: Table = text.parse().ok()?;
        let profile = table.get("profile").and_then(Value::as_str);
        let profile = profile.and_then(|name| table.get("profiles")?.get(name));
        let of_profile = profile.and_then(|profile| profile.get("model_provider"));
        let selected = of_profile.or_else(|| table.get("model_provider"));
        let providers = table.get("model_providers").and_then(Value::as_table);
        let providers = providers.into_iter().flatten();
        Some(Self {
            selected: selected.and_then(Value::as_str).map(str::to_owned),
            variables: providers.map(|(name, all)| (name.clone(), variables_in(all))).collect(),
        })
    }

    /// The provider of the model: `named`, or else the one of the selected
    /// profile, the configured one, or the built-in one.
    #[must_use]
    pub fn provider<'a>(&'a self, named: Option<&'a str>) -> &'a str {
        named.or(self.selected.as_deref()).unwrap_or(BUILT_IN_PROVIDER)
    }

    /// The environment variables that the configuration of a provider names: its
    /// key, and those whose values become headers. Sorted.
    #[must_use]
    pub fn variables(&self, provider: &str) -> &[String] {
        self.variables.get(provider).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The environment variables that a provider's table names.
fn variables_in(provider: &Value) -> Vec<String> {
    let key = provider.get("env_key").and_then(Value::as_str);
    let headers = provider.get("env_http_headers").and_then(Value::as_table);
    let headers = headers.into_iter().flat_map(Table::values).filter_map(Value::as_str);
    let mut names: Vec<String> = key.into_iter().chain(headers).map(str::to_owned).collect();
    names.retain(|name| !name.is_empty() && !name.contains(['=', '\0']));
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
model_provider = "mine"
[model_providers.mine]
env_key = "MY_KEY"
[model_providers.mine.env_http_headers]
"X-Team" = "MY_TEAM"
"X-Same" = "MY_KEY"
[model_providers.other]
env_key = "OTHER_KEY"
[profiles.away]
model_provider = "other"
"#;

    fn variables(text: &str, named: Option<&str>) -> Vec<String> {
        let configuration = CodexConfiguration::parse(text).unwrap();
        configuration.variables(configuration.provider(named)).to_vec()
    }

    #[test]
    fn the_selected_provider_names_its_variables() {
        assert_eq!(variables(TEXT, None), ["MY_KEY", "MY_TEAM"]);
        assert_eq!(variables(TEXT, Some("other")), ["OTHER_KEY"]);
        assert_eq!(variables(&format!("profile = 'away'\n{TEXT}"), None), ["OTHER_KEY"]);
    }

    #[test]
    fn a_provider_without_a_configuration_names_nothing() {
        assert_eq!(variables(TEXT, Some("unknown")), Vec::<String>::new());
        assert_eq!(variables("", None), Vec::<String>::new());
        let odd = "model_provider = 'x'\nmodel_providers = 3\nprofiles = []\nprofile = 'x'\n";
        assert_eq!(variables(odd, None), Vec::<String>::new());
        let hostile = "[model_providers.openai]\nenv_key = 'A=B'\n";
        assert_eq!(variables(hostile, None), Vec::<String>::new());
        assert_eq!(CodexConfiguration::parse("not = [toml"), None);
    }
}
