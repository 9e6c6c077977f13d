//! What an object says about its value: by a name beside it, by a flag, or by the
//! name that the object itself has.

use super::member::{says_field, says_name, says_secret};
use crate::json::{Json, Object};
use crate::redaction::field_name::{NameClass, NameTable, is_harmless_inside};
use crate::redaction::rule::Frame;

/// Maximum number of members of an object that names its value.
const MAX_MEMBERS: usize = 32;
/// Longest name of a value.
const LONGEST_NAME: usize = 64;

/// The class that an object gives to its `value`: `{"name":"DB_PASSWORD","value":…}`,
/// `{"selector":"#password","text":…}`, `{"sensitive":true,"value":…}`.
pub(super) fn named_class(object: &Object<'_>, names: NameTable) -> NameClass {
    if object.len() > MAX_MEMBERS {
        return NameClass::Plain;
    }
    object
        .iter()
        .map(|(name, value)| match value {
            Json::String(text) if says_name(name) && text.len() <= LONGEST_NAME => {
                // The last segment of a path is the name: `/spec/password`.
                let last = text.rsplit(['/', '.']).next().unwrap_or(text);
                names.class_of_member(last)
            }
            Json::String(text) if says_field(name) => names.class_of_field(text),
            Json::String(text) if says_secret(name) => class_of_type(text, names),
            Json::Bool(true) if says_secret(name) => NameClass::Strong(Frame::Secret),
            _ => NameClass::Plain,
        })
        .find(|class| *class != NameClass::Plain)
        .unwrap_or(NameClass::Plain)
}

/// The class of a value of this type: `password`, `SecureString`. A token is also
/// a unit of text, and a key is also a key of a keyboard.
fn class_of_type(text: &str, names: NameTable) -> NameClass {
    if text == "SecureString" {
        return NameClass::Strong(Frame::Secret);
    }
    match names.class_of_member(text) {
        class @ NameClass::Strong(Frame::Password | Frame::Passphrase | Frame::Secret) => class,
        _ => NameClass::Plain,
    }
}

/// Whether an object describes data instead of being data.
pub(super) fn is_schema(object: &Object<'_>) -> bool {
    const TYPES: &[&str] = &["string", "number", "integer", "boolean", "object", "array", "null"];
    object.len() <= MAX_MEMBERS
        && object.iter().any(|(name, value)| match name {
            "$ref" | "properties" | "$schema" => true,
            "type" => match value {
                Json::String(kind) => TYPES.contains(&kind.as_ref()),
                Json::Array(_) => true,
                _ => false,
            },
            _ => false,
        })
}

/// The class of a member of class `own`, inside a value of class `outer`: if its
/// own name does not say that it is a secret, the outer one counts.
pub(super) fn class_inside(
    outer: NameClass,
    own: NameClass,
    name: &str,
    is_value: bool,
) -> NameClass {
    let (NameClass::Strong(frame) | NameClass::Field(frame) | NameClass::Inside(frame)) = outer
    else {
        return own;
    };
    match own {
        NameClass::Plain if is_value && outer == NameClass::Strong(frame) => outer,
        NameClass::Plain if !is_harmless_inside(name) => NameClass::Inside(frame),
        NameClass::Weak(frame) => NameClass::Inside(frame),
        _ => own,
    }
}

/// The class of an item of a list of this class. Among several passwords, a number
/// is not a count; among several tokens, it is.
pub(super) const fn class_of_item(class: NameClass) -> NameClass {
    match class {
        NameClass::Field(frame @ (Frame::Password | Frame::Secret)) => NameClass::Strong(frame),
        _ => class,
    }
}
