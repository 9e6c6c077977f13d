//! What a member is by its name: a secret, the name or value of a pair, a part
//! of a medium.

use crate::redaction::field_name::{self, NameClass};
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
    )
}

/// Whether a member of this name holds the value for such a name.
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
    )
}

/// What the names of members, one or all of an object, make of them. Most
/// names mean nothing special, and every event has many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles {
    /// May hold the value for a name.
    pub(in crate::redaction) value: bool,
    /// May say that name.
    pub(in crate::redaction) name: bool,
    /// May hold the bytes of a medium.
    pub(in crate::redaction) bytes: bool,
    /// May name a media type.
    pub(in crate::redaction) kind: bool,
    /// A JSON web key.
    pub(in crate::redaction) jwk: bool,
    /// A description of data rather than data.
    pub(in crate::redaction) schema: bool,
}

impl Roles {
    fn of(name: &str) -> Self {
        Self {
            value: holds_value(name),
            name: says_name(name),
            bytes: media::holds_bytes(name),
            kind: media::says_type(name),
            jwk: name == "kty",
            schema: matches!(name, "type" | "$ref"),
        }
    }

    /// These and those.
    pub(in crate::redaction) const fn with(self, other: Self) -> Self {
        Self {
            value: self.value | other.value,
            name: self.name | other.name,
            bytes: self.bytes | other.bytes,
            kind: self.kind | other.kind,
            jwk: self.jwk | other.jwk,
            schema: self.schema | other.schema,
        }
    }
}

/// What a name says of its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct NameFacts {
    pub(in crate::redaction) class: NameClass,
    pub(super) roles: Roles,
    /// Whether the name itself was searched and is clean.
    pub(super) is_clean: bool,
    /// Whether a JSON Pointer writes it as it is.
    pub(super) is_plain_step: bool,
}

impl NameFacts {
    /// The facts about a name that was not searched yet.
    pub(in crate::redaction) fn of(name: &str) -> Self {
        // Shorter than anything that must be hidden.
        let is_clean = name.len() < 12;
        let is_plain_step = memchr::memchr2(b'~', b'/', name.as_bytes()).is_none();
        Self {
            class: field_name::class_of_member(name),
            roles: Roles::of(name),
            is_clean,
            is_plain_step,
        }
    }
}
