//! Objects whose kind says that what they hold is secret, whatever it is called.

use std::borrow::Cow;

use super::DocumentPass;
use crate::json::{Json, Object};
use crate::redaction::marker;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::is_placeholder;

/// What an object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// Anything.
    Any,
    /// Secrets under these members: a cluster's object of secrets.
    Values(&'static [&'static str]),
    /// Generated secrets, under the names that Terraform gives them.
    Generated,
}

/// Members with the values of a cluster's secret.
const SECRET_DATA: &[&str] = &["data", "stringData"];
/// Resources that generate a secret, and the attributes that hold it.
const GENERATORS: &[&str] = &["random_password", "random_string", "random_id", "random_bytes"];
const GENERATED: &[&str] = &["result", "bcrypt_hash", "hex", "b64_std", "b64_url", "base64"];
/// Attributes are below a list of instances.
const MAX_DEPTH: u8 = 4;
/// A shorter value is not a secret.
const SHORTEST: usize = 3;

impl Holding {
    /// What an object with a member that declares its kind holds.
    pub(super) fn of(object: &Object<'_>) -> Self {
        object
            .iter()
            .filter_map(|(name, value)| Some((name, value.as_str()?)))
            .find_map(|(name, value)| match name {
                "kind" if value == "Secret" => Some(Self::Values(SECRET_DATA)),
                "type" if GENERATORS.contains(&value) => Some(Self::Generated),
                _ => None,
            })
            .unwrap_or(Self::Any)
    }
}

impl DocumentPass<'_> {
    /// Hides the value of a member that its object declares secret.
    pub(super) fn held(&mut self, holding: Holding, name: &str, value: &mut Json<'_>) {
        match holding {
            Holding::Any => {}
            Holding::Values(members) => {
                if members.contains(&name)
                    && let Json::Object(object) = value
                {
                    object.iter_mut().for_each(|(_, value)| self.hide_whole(value));
                }
            }
            Holding::Generated => self.generated(value, 0),
        }
    }

    fn generated(&mut self, value: &mut Json<'_>, depth: u8) {
        match value {
            Json::Object(object) if depth < MAX_DEPTH => {
                for (name, value) in object.iter_mut() {
                    if GENERATED.contains(&name.as_ref()) {
                        self.hide_whole(value);
                    } else {
                        self.generated(value, depth + 1);
                    }
                }
            }
            Json::Array(items) if depth < MAX_DEPTH => {
                items.iter_mut().for_each(|item| self.generated(item, depth + 1));
            }
            _ => {}
        }
    }

    fn hide_whole(&mut self, value: &mut Json<'_>) {
        if let Json::String(text) = value
            && text.len() >= SHORTEST
            && !text.contains("<redacted:")
            && !is_placeholder(text.as_bytes())
        {
            debug_assert!(!marker::is_marker(text));
            let hidden = self.marker_of(Frame::Secret, text);
            *text = Cow::Owned(hidden);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Json;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    fn redacted(text: &str) -> String {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let once = redactor.json(Json::parse(text).unwrap(), &mut RedactionReport::new());
        let mut out = String::new();
        once.into_inner().write_compact(&mut out);
        out
    }

    #[test]
    fn values_of_a_kubernetes_secret_are_hidden_under_any_key() {
        let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"web"},"data":{"extra":"bWFwbGU="},"stringData":{"plain":"maple wood"}}"#;
        let hidden = redacted(secret);
        assert!(!hidden.contains("bWFwbGU") && !hidden.contains("maple"), "{hidden}");
        assert!(hidden.contains(r#""name":"web""#), "{hidden}");
        assert_eq!(redacted(&hidden), hidden);
        let map = r#"{"kind":"ConfigMap","data":{"extra":"bWFwbGU="}}"#;
        assert_eq!(redacted(map), map);
    }

    #[test]
    fn generated_passwords_of_a_state_file_are_hidden() {
        let state = r#"{"resources":[{"type":"random_password","instances":[{"attributes":{"length":12,"result":"maple!wood"}}]},{"type":"null_resource","instances":[{"attributes":{"result":"maple wood"}}]}]}"#;
        let hidden = redacted(state);
        assert!(!hidden.contains("maple!wood") && hidden.contains("maple wood"), "{hidden}");
    }
}
