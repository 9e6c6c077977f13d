//! The plugin apps that a thread was started with.

use std::collections::BTreeMap;

use crate::json::{Json, Object};

/// The plugin policy of a thread, stored completely or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginPolicyContext {
    /// The hash of the policy.
    pub fingerprint: String,
    /// What each app may do, by app id.
    pub apps: BTreeMap<String, PluginApp>,
    /// The app ids of each configuration key.
    pub app_ids: BTreeMap<String, Vec<String>>,
}

/// One app of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginApp {
    /// The plugin's key in the host's configuration.
    pub config_key: String,
    /// The marketplace that the plugin comes from.
    pub marketplace: String,
    /// The plugin's name.
    pub plugin: String,
    /// Whether destructive actions are allowed.
    pub allow_destructive_actions: bool,
    /// MCP servers that the app provides.
    pub mcp_servers: Vec<String>,
}

impl PluginPolicyContext {
    /// A policy with its hash; nothing is allowed until apps are added.
    #[must_use]
    pub const fn new(fingerprint: String) -> Self {
        Self { fingerprint, apps: BTreeMap::new(), app_ids: BTreeMap::new() }
    }

    /// Reads a stored policy; a malformed part invalidates all of it.
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
    /// An app of a plugin that may not do anything destructive and provides no MCP servers.
    #[must_use]
    pub const fn new(config_key: String, marketplace: String, plugin: String) -> Self {
        Self {
            config_key,
            marketplace,
            plugin,
            allow_destructive_actions: false,
            mcp_servers: Vec::new(),
        }
    }

    fn from_json(value: &Json<'_>) -> Option<Self> {
        // Entries that repeat their own id use a retired layout.
        if value.get("appId").is_some() {
            return None;
        }
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        // Any marketplace: which ones are trusted is the host's decision, made before it stores one.
        let marketplace = text("marketplaceName").filter(|name| !name.trim().is_empty())?;
        Some(Self {
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

    #[test]
    fn a_policy_may_name_any_marketplace() {
        let mut built = PluginPolicyContext::new("f".to_owned());
        let app = PluginApp::new("k".to_owned(), "our-own-marketplace".to_owned(), "p".to_owned());
        built.apps.insert("a".to_owned(), app);
        assert_eq!(PluginPolicyContext::from_json(&built.to_json()), Some(built));
    }

    /// Scenario 7 and similar cases: a malformed part drops the whole policy.
    #[test]
    fn any_malformed_part_drops_the_whole() {
        for (from, to) in [
            (r#""configKey":"k","#, r#""configKey":"k","appId":"a","#),
            ("openai-curated", " "),
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
