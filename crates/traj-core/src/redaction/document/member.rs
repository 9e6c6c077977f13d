//! The role of a member, by its name: a secret, the name or value of a pair, a
//! part of a medium.

use super::columns;
use crate::redaction::field_name::{self, NameClass, NameTable};
use crate::redaction::media;

/// Whether the value of a member with this name is the name of another member.
pub(super) fn says_name(name: &str) -> bool {
    matches!(
        name,
        "name"
            | "key"
            | "label"
            | "field"
            | "header"
            | "variable"
            | "id"
            | "Name"
            | "Key"
            | "title"
            | "param"
            | "parameter"
            | "path"
            | "headerName"
            | "parameterName"
            | "ParameterKey"
            | "attribute"
            | "env"
    )
}

/// Whether the value of a member with this name describes an input field.
pub(super) fn says_field(name: &str) -> bool {
    matches!(
        name,
        "selector"
            | "element"
            | "locator"
            | "target"
            | "xpath"
            | "css"
            | "css_selector"
            | "placeholder"
            | "ariaLabel"
            | "aria-label"
            | "accessibleName"
            | "inputType"
            | "question"
            | "prompt"
    )
}

/// Whether a member with this name may say that the value of its object is secret.
pub(super) fn says_secret(name: &str) -> bool {
    matches!(
        name,
        "sensitive"
            | "isSensitive"
            | "is_sensitive"
            | "isSecret"
            | "is_secret"
            | "masked"
            | "secure"
            | "secret"
            | "type"
            | "Type"
    )
}

/// Whether a member with this name may contain the value of a pair.
fn holds_value(name: &str) -> bool {
    matches!(
        name,
        "value"
            | "val"
            | "input"
            | "Value"
            | "text"
            | "content"
            | "default"
            | "secret"
            | "data"
            | "answer"
            | "current"
            | "$value"
            | "$val"
            | "_value"
            | "@value"
            | "#text"
            | "$t"
            | "_text"
            | "plaintext"
            | "keys"
            | "fill"
            | "ParameterValue"
    )
}

/// The roles that names give to one member, or to all members of an object. Most
/// members have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles {
    /// May contain the value of a pair.
    pub(in crate::redaction) value: bool,
    /// May contain the name of a pair, or describe its value otherwise.
    pub(in crate::redaction) name: bool,
    /// Contains payload if it is long.
    pub(in crate::redaction) payload: bool,
    /// May contain the names of columns or the rows of a table.
    pub(in crate::redaction) table: bool,
    /// May contain the bytes of a medium.
    pub(in crate::redaction) bytes: bool,
    /// May declare a media type.
    pub(in crate::redaction) kind: bool,
    /// Marks a JSON web key.
    pub(in crate::redaction) jwk: bool,
}

impl Roles {
    fn of(name: &str) -> Self {
        Self {
            value: holds_value(name),
            name: says_name(name) || says_field(name) || says_secret(name),
            payload: field_name::is_payload(name),
            table: columns::names_columns(name),
            bytes: media::holds_bytes(name),
            kind: media::says_type(name),
            jwk: name == "kty",
        }
    }

    /// The roles of both.
    pub(in crate::redaction) const fn with(self, other: Self) -> Self {
        Self {
            value: self.value | other.value,
            name: self.name | other.name,
            payload: self.payload | other.payload,
            table: self.table | other.table,
            bytes: self.bytes | other.bytes,
            kind: self.kind | other.kind,
            jwk: self.jwk | other.jwk,
        }
    }
}

/// What a name says about its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct NameFacts {
    pub(in crate::redaction) class: NameClass,
    pub(super) roles: Roles,
    /// Whether the name itself has nothing to hide: it is short, or it was searched.
    pub(super) is_clean: bool,
    /// Whether the name needs no escaping in a JSON Pointer.
    pub(super) is_plain_step: bool,
}

impl NameFacts {
    /// The facts about a name that has not been searched yet.
    pub(in crate::redaction) fn of(name: &str, names: NameTable) -> Self {
        // Too short to contain a secret.
        let is_clean = name.len() < 12;
        let is_plain_step = memchr::memchr2(b'~', b'/', name.as_bytes()).is_none();
        Self { class: names.class_of_member(name), roles: Roles::of(name), is_clean, is_plain_step }
    }
}
