//! Which apps of which plugins a thread was started with.

use std::collections::BTreeMap;

use crate::json::{Json, Object};

/// Marketplaces whose plugins a record may name.
const MARKETPLACES: [&str; 3] = ["openai-curated", "openai-bundled", "openai-primary-runtime"];

/// The plugin policy of a thread, kept whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginPolicyContext {
    /// The hash of the policy.
    pub fingerprint: String,
    /// Per app id, what it may do.
    pub apps: BTreeMap<String, PluginApp>,
    /// Per configuration key, the ids of its apps.
    pub app_ids: BTreeMap<String, Vec<String>>,
}

/// One app of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginApp {
    /// The key of the plugin in the host's configuration.
    pub config_key: String,
    /// Where the plugin comes from.
    pub marketplace: String,
    /// The plugin's name.
    pub plugin: String,
    /// Whether actions that destroy are allowed.
    pub allow_destructive_actions: bool,
    /// MCP servers that the app brings.
    pub mcp_servers: Vec<String>,
}

impl PluginPolicyContext {
    /// Reads a stored context; any malformed part makes the whole unusable.
    #[must_use]
    pub fn from_json(value: &Json<'_>) -> Option<Self> {
        let fingerprint = value.get("fingerprint")?.as_str()?.to_owned();
        let apps = value.get("apps")?.as_object()?;
        let apps = apps
            .iter()
            .map(|(id, app)| Some((id.to_owned(), PluginApp::from_json(app)?)))
            .collect::<Option<_>>()?;
        let app_ids = match value.get("pluginAppIds") {
            None | Some(Json::Null) => BTreeMap::new(),
            Some(ids) => ids
                .as_object()?
                .iter()
                .map(|(key, ids)| Some((key.to_owned(), texts(ids)?)))
                .collect::<Option<_>>()?,
        };
        Some(Self { fingerprint, apps, app_ids })
    }

    /// The stored form.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let mut object = Object::new();
        object.push("fingerprint", self.fingerprint.clone());
        let apps = self.apps.iter().map(|(id, app)| (id.clone(), app.to_json()));
        object.push("apps", apps.collect::<Object<'static>>());
        let ids = self.app_ids.iter().map(|(key, ids)| (key.clone(), Json::from(ids.clone())));
        object.push("pluginAppIds", ids.collect::<Object<'static>>());
        object.into()
    }
}

impl PluginApp {
    fn from_json(value: &Json<'_>) -> Option<Self> {
        // An entry that repeats its own id is of a retired layout.
        if value.get("appId").is_some() {
            return None;
        }
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let marketplace = text("marketplaceName")?;
        MARKETPLACES.contains(&marketplace.as_str()).then_some(Self {
            config_key: text("configKey")?,
            marketplace,
            plugin: text("pluginName")?,
            allow_destructive_actions: value.get("allowDestructiveActions")?.as_bool()?,
            mcp_servers: texts(value.get("mcpServerNames")?)?,
        })
    }

    fn to_json(&self) -> Json<'static> {
        let mut object = Object::new();
        object.push("configKey", self.config_key.clone());
        object.push("marketplaceName", self.marketplace.clone());
        object.push("pluginName", self.plugin.clone());
        object.push("allowDestructiveActions", self.allow_destructive_actions);
        object.push("mcpServerNames", self.mcp_servers.clone());
        object.into()
    }
}

fn texts(value: &Json<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = r#"{"fingerprint":"f","apps":{"a":{"configKey":"k","marketplaceName":"openai-curated","pluginName":"p","allowDestructiveActions":false,"mcpServerNames":["m"]}},"pluginAppIds":{"k":["a"]}}"#;

    #[test]
    fn a_context_survives_the_round_trip() {
        let context = PluginPolicyContext::from_json(&Json::parse(CONTEXT).unwrap()).unwrap();
        assert_eq!(context.to_json().to_line(), CONTEXT);
    }

    /// Scenario 7, and its neighbours: one malformed part drops the whole context.
    #[test]
    fn any_malformed_part_drops_the_whole() {
        for (from, to) in [
            (r#""configKey":"k","#, r#""configKey":"k","appId":"a","#),
            ("openai-curated", "elsewhere"),
            (r#"["m"]"#, "[1]"),
            (r#"{"k":["a"]}"#, r#"["a"]"#),
            (r#""f""#, "1"),
        ] {
            let text = CONTEXT.replace(from, to);
            assert_eq!(
                PluginPolicyContext::from_json(&Json::parse(&text).unwrap()),
                None,
                "{from}"
            );
        }
    }
}
