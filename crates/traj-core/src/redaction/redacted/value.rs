//! Reads, cuts and extends redacted JSON.
//!
//! These operations only add numbers, digests, constants of the program and
//! other redacted values.

use super::constant::ConstantText;
use super::proof::{Redacted, hexadecimal};
use crate::json::{Json, Object};

impl<'a> Redacted<Json<'a>> {
    /// A view of the value. Its parts are redacted too.
    #[must_use]
    pub const fn view(&self) -> Redacted<&Json<'a>> {
        Redacted(&self.0)
    }

    /// The same object with a digest as its last member.
    #[must_use]
    pub fn with_sha256(mut self, name: ConstantText, digest: &[u8; 32]) -> Self {
        if let Some(object) = self.0.as_object_mut() {
            object.push(name.as_str(), format!("sha256:{}", hexadecimal(digest)));
        }
        self
    }

    /// The same object, with the one-item lists under `member` turned into
    /// members with these names, in order. Redaction judged the values without
    /// their names, because not everything called `session` is a secret.
    #[must_use]
    pub fn with_names(mut self, member: &str, names: &[ConstantText]) -> Self {
        let list = self.0.as_object_mut().and_then(|object| object.get_mut(member));
        if let Some(list) = list
            && let Json::Array(items) = std::mem::take(list)
        {
            let values = items.into_iter().filter_map(|item| match item {
                Json::Array(values) => values.into_iter().next(),
                _ => None,
            });
            *list = Json::Object(names.iter().map(|name| name.as_str()).zip(values).collect());
        }
        self
    }

    /// The string, if this is one; otherwise the value unchanged.
    pub(crate) fn into_string(self) -> Result<Redacted<String>, Self> {
        match self.0 {
            Json::String(string) => Ok(Redacted(string.into_owned())),
            other => Err(Self(other)),
        }
    }

    /// The first `count` items of an array, or members of an object.
    #[must_use]
    pub(crate) fn truncated(mut self, count: usize) -> Self {
        match &mut self.0 {
            Json::Array(items) => items.truncate(count),
            Json::Object(object) => object.truncate(count),
            _ => {}
        }
        self
    }

    /// Replaces each item of an array, or each value in an object.
    #[must_use]
    pub(crate) fn map_children(self, mut replace: impl FnMut(Self) -> Self) -> Self {
        let mut child = |value| replace(Self(value)).0;
        Self(match self.0 {
            Json::Array(items) => Json::Array(items.into_iter().map(child).collect()),
            Json::Object(object) => {
                Json::Object(object.into_iter().map(|(name, value)| (name, child(value))).collect())
            }
            scalar => scalar,
        })
    }

    /// The same array or object with one more value at its end. For an object,
    /// the value needs a name.
    #[must_use]
    pub(crate) fn with_last(mut self, name: &'static str, value: Self) -> Self {
        match &mut self.0 {
            Json::Array(items) => items.push(value.0),
            Json::Object(object) => object.push(name, value.0),
            _ => {}
        }
        self
    }

    /// Calls `amend` for every object in the value, outer objects first.
    pub(crate) fn amend_objects(&mut self, amend: &mut impl FnMut(&mut Redacted<Object<'a>>)) {
        amend_objects(&mut self.0, amend);
    }
}

fn amend_objects<'a>(value: &mut Json<'a>, amend: &mut impl FnMut(&mut Redacted<Object<'a>>)) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| amend_objects(item, amend)),
        Json::Object(object) => {
            let mut redacted = Redacted(std::mem::take(object));
            amend(&mut redacted);
            *object = redacted.0;
            object.iter_mut().for_each(|(_, member)| amend_objects(member, amend));
        }
        _ => {}
    }
}

impl<'a> Redacted<Object<'a>> {
    /// An object without members.
    #[must_use]
    pub(crate) fn empty_object() -> Self {
        Self(Object::with_capacity(8))
    }

    /// Adds a number.
    pub(crate) fn push_number(&mut self, name: &'static str, number: usize) -> &mut Self {
        self.0.push(name, number);
        self
    }

    /// Adds a constant of the program.
    pub(crate) fn push_static(&mut self, name: &'static str, string: &'static str) -> &mut Self {
        self.0.push(name, string);
        self
    }

    /// Adds `true`.
    pub(crate) fn push_true(&mut self, name: &'static str) -> &mut Self {
        self.0.push(name, true);
        self
    }

    /// Adds a redacted string.
    pub(crate) fn push_string(
        &mut self,
        name: &'static str,
        string: Redacted<String>,
    ) -> &mut Self {
        self.0.push(name, string.0);
        self
    }

    /// Replaces the value of a member with `null`.
    pub(crate) fn set_null(&mut self, name: &'static str) {
        self.0.insert(name, Json::Null);
    }

    /// The object as a value.
    #[must_use]
    pub(crate) fn into_json(self) -> Redacted<Json<'a>> {
        Redacted(Json::Object(self.0))
    }
}

impl<'e, 'a> Redacted<&'e Json<'a>> {
    /// The member called `name`.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Self> {
        self.0.get(name).map(Redacted)
    }

    /// The items, if this is an array.
    pub fn items(self) -> Option<impl Iterator<Item = Self>> {
        self.0.as_array().map(|items| items.iter().map(Redacted))
    }

    /// The plain value, for decisions only.
    #[must_use]
    pub const fn value(self) -> &'e Json<'a> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant_text;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    #[test]
    fn added_names_do_not_affect_redaction() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let redact = |json: &'static str| {
            let value = redactor.json(Json::parse(json).unwrap(), &mut RedactionReport::new());
            value
                .with_names("files", &constant_text!(["session", "runtime"]))
                .to_line()
                .into_inner()
        };
        assert_eq!(
            redact(r#"{"a":1,"files":[["$WORKSPACE_DIR/s.jsonl"],["r"]],"b":2}"#),
            r#"{"a":1,"files":{"session":"$WORKSPACE_DIR/s.jsonl","runtime":"r"},"b":2}"#
        );
        assert_eq!(redact(r#"{"files":[["s"]]}"#), r#"{"files":{"session":"s"}}"#);
        assert_eq!(redact(r#"{"b":2}"#), r#"{"b":2}"#);
    }
}
