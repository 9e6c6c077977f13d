//! Types for values that the schemas do not describe further, and for required
//! members that may be null.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, IgnoredAny};

/// The schema of a required member that may be null. Such a member is read with
/// [`nullable`]; a plain `Option` would also accept a missing one.
pub(crate) struct Nullable<T>(std::marker::PhantomData<T>);

/// Reads a [`Nullable`] member.
pub(crate) fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        <Option<T>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Option<T>>::json_schema(generator)
    }
}

/// Any JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Any;

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl JsonSchema for Any {
    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

/// Any JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnyObject;

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl AnyObject {
    /// Reads an optional member that must be an object if it is present, not
    /// null.
    pub(crate) fn present<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        Self::deserialize(deserializer).map(Some)
    }
}

struct ObjectVisitor;

impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
    type Value = AnyObject;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<AnyObject, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(AnyObject)
    }
}

impl JsonSchema for AnyObject {
    fn schema_name() -> Cow<'static, str> {
        "AnyObject".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// Any string, checked without keeping it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnyText;

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl serde::de::Visitor<'_> for TextVisitor {
    type Value = AnyText;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, _text: &str) -> Result<AnyText, E> {
        Ok(AnyText)
    }
}

impl JsonSchema for AnyText {
    fn schema_name() -> Cow<'static, str> {
        "AnyText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// The version of the trace format, which is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Other recorders may write 1.0.
        let version = f64::deserialize(deserializer)?;
        if (version - 1.0).abs() < f64::EPSILON {
            return Ok(Self);
        }
        Err(serde::de::Error::custom("another version"))
    }
}

impl JsonSchema for Version {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": 1 })
    }
}

/// The name of the trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
pub(crate) enum TraceSchema {
    #[serde(rename = "openclaw-trajectory")]
    OpenclawTrajectory,
}
