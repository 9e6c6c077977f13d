//! The configuration that is sent with a thread: merged layers, then overriding rules.

use crate::json::{Json, Object};

const CODE_MODE: &str = "features.code_mode";
const CODE_MODE_ONLY: &str = "features.code_mode_only";
const STREAMING_PATCHES: &str = "features.apply_patch_streaming_events";
const MULTI_AGENT: &str = "features.multi_agent";
const PROJECT_DOC: &str = "project_doc_max_bytes";
/// Models that cannot run sub-agents.
const SINGLE_AGENT_MODELS: [&str; 1] = ["gpt-5.4-nano"];

/// How code mode is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeMode {
    /// On unless the configuration disables it.
    Default,
    /// Only code mode, regardless of the configuration.
    Only,
    /// Off, because Codex's own tools are off.
    Off,
    /// As the layers and Codex's own configuration say; nothing is added.
    AsConfigured,
}

/// What the rules set after the layers are merged.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ThreadConfigRules<'a> {
    /// Code mode.
    pub code_mode: CodeMode,
    /// The model of the turn.
    pub model: &'a str,
    /// Whether to leave project documents out.
    pub lightweight: bool,
}

impl<'a> ThreadConfigRules<'a> {
    /// The default rules for a model.
    #[must_use]
    pub const fn for_model(model: &'a str) -> Self {
        Self { code_mode: CodeMode::Default, model, lightweight: false }
    }
}

/// Merges layers from left to right and applies the rules.
///
/// Objects merge member by member; other values replace. A dotted name is a separate name and does
/// not merge with nested objects, because the server treats it that way.
#[must_use]
pub fn thread_config<'a>(
    layers: impl IntoIterator<Item = &'a Object<'static>>,
    rules: ThreadConfigRules<'_>,
) -> Object<'static> {
    let mut config = Object::new();
    if matches!(rules.code_mode, CodeMode::Default | CodeMode::Only) {
        config.push(CODE_MODE, true);
        config.push(CODE_MODE_ONLY, false);
        config.push(STREAMING_PATCHES, true);
    }
    for layer in layers {
        merge(&mut config, layer);
    }
    match rules.code_mode {
        CodeMode::Default | CodeMode::AsConfigured => {}
        CodeMode::Only => {
            config.insert(CODE_MODE, true);
            config.insert(CODE_MODE_ONLY, true);
        }
        CodeMode::Off => {
            config.insert(CODE_MODE, false);
            config.insert(CODE_MODE_ONLY, false);
            config.remove(STREAMING_PATCHES);
        }
    }
    let model = rules.model.rsplit('/').next().unwrap_or(rules.model).to_lowercase();
    if SINGLE_AGENT_MODELS.contains(&model.as_str()) {
        config.insert(MULTI_AGENT, false);
    }
    if rules.lightweight {
        config.insert(PROJECT_DOC, 0_u64);
    }
    config
}

fn merge(into: &mut Object<'static>, layer: &Object<'static>) {
    for (name, value) in layer.iter() {
        match (into.get_mut(name), value) {
            (Some(Json::Object(existing)), Json::Object(added)) => merge(existing, added),
            (Some(existing), _) => *existing = value.clone(),
            (None, _) => into.push(name.to_owned(), value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object<'static> {
        match Json::parse(text).unwrap().into_owned() {
            Json::Object(object) => object,
            _ => Object::new(),
        }
    }

    fn config(layers: &[&str], rules: ThreadConfigRules<'_>) -> String {
        let layers: Vec<Object<'static>> = layers.iter().map(|text| object(text)).collect();
        Json::Object(thread_config(&layers, rules)).to_line()
    }

    /// Scenario 42.
    #[test]
    fn the_last_layer_wins_and_objects_merge() {
        let layers = [r#"{"a":{"x":1,"y":[1,2]},"b":1}"#, r#"{"a":{"y":[3]}}"#, r#"{"b":null}"#];
        insta::assert_snapshot!(
            config(&layers, ThreadConfigRules::for_model("m")),
            @r#"{"features.code_mode":true,"features.code_mode_only":false,"features.apply_patch_streaming_events":true,"a":{"x":1,"y":[3]},"b":null}"#
        );
    }

    /// Scenario 43.
    #[test]
    fn code_mode_is_a_default_a_choice_or_a_must() {
        let opted_in = [r#"{"features.code_mode_only":true}"#];
        let mut rules = ThreadConfigRules::for_model("m");
        assert!(config(&opted_in, rules).contains(r#""features.code_mode_only":true"#));
        rules.code_mode = CodeMode::Only;
        assert!(
            config(&[r#"{"features.code_mode_only":false}"#], rules).contains(r#"_only":true"#)
        );
        rules.code_mode = CodeMode::Off;
        insta::assert_snapshot!(
            config(&[r#"{"features.apply_patch_streaming_events":true}"#], rules),
            @r#"{"features.code_mode":false,"features.code_mode_only":false}"#
        );
        rules.code_mode = CodeMode::AsConfigured;
        assert_eq!(config(&[r#"{"a":1}"#], rules), r#"{"a":1}"#);
    }

    /// Scenario 44, and models that cannot run sub-agents.
    #[test]
    fn lightweight_and_small_models_override_the_layers() {
        let mut rules = ThreadConfigRules::for_model("vendor/GPT-5.4-nano");
        assert!(
            config(&[r#"{"features.multi_agent":true}"#], rules).contains(r#"multi_agent":false"#)
        );
        let layer = [r#"{"project_doc_max_bytes":9}"#];
        assert!(config(&layer, rules).contains(r#""project_doc_max_bytes":9"#));
        rules.lightweight = true;
        assert!(config(&layer, rules).contains(r#""project_doc_max_bytes":0"#));
    }
}
