//! The documents that `--json` prints, and their JSON Schemas.
//!
//! Each schema is derived from the printed type. `docs/schema/cli` has a copy of
//! each, and `docs/json.md` lists them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::output::{ENVELOPE_SCHEMA, ErrorDocument};

/// A document that a verb prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonDocument {
    /// The words of the verb, joined by hyphens.
    pub(crate) verb: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl JsonDocument {
    /// The document of a verb that prints one, in the common envelope.
    pub(crate) const fn of<R: Serialize + JsonSchema>(verb: &'static str) -> Self {
        Self { verb, schema: in_envelope::<R> }
    }

    /// The document of a verb that prints one per line, without an envelope.
    pub(crate) const fn of_lines<L: Serialize + JsonSchema>(verb: &'static str) -> Self {
        Self { verb, schema: by_itself::<L> }
    }

    /// The JSON Schema, indented, with a final newline.
    pub(crate) fn to_json(self) -> String {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let mut schema = (self.schema)(&mut generator);
        let words = self.verb.replace('-', " ");
        schema.insert("title".to_owned(), format!("traj {words} --json").into());
        // A schema is a JSON value, so it can always be serialized.
        let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// A result that takes one of two forms.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is only described; a verb prints the form itself")]
pub(crate) enum Either<A, B> {
    /// The first form.
    One(A),
    /// The second form.
    Other(B),
}

fn in_envelope<R: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let result = Some(generator.subschema_for::<R>());
    let envelope = envelope(generator, result);
    whole(generator, envelope)
}

/// The schema of a line, or of an error document.
fn by_itself<L: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let line = generator.subschema_for::<L>();
    let failure = envelope(generator, None);
    whole(generator, json_schema!({ "anyOf": [line, failure] }))
}

fn envelope(generator: &mut SchemaGenerator, result: Option<Schema>) -> Schema {
    let error = generator.subschema_for::<ErrorDocument<'static>>();
    let mut envelope = json_schema!({
        "type": "object",
        "required": ["schema", "version", "ok"],
        "properties": {
            "schema": { "const": ENVELOPE_SCHEMA, "description": "The form of this document." },
            "version": { "type": "string", "description": "The version of traj." },
            "ok": { "type": "boolean", "description": "Whether the exit code is 0." },
            "error": error,
        },
    });
    let properties = envelope.pointer_mut("/properties").and_then(|all| all.as_object_mut());
    if let (Some(result), Some(properties)) = (result, properties) {
        properties.insert("result".to_owned(), result.into());
    }
    envelope
}

/// A schema together with the definitions that it refers to.
fn whole(generator: &mut SchemaGenerator, mut schema: Schema) -> Schema {
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    schema.insert("$schema".to_owned(), dialect.into());
    let definitions = generator.take_definitions(true);
    schema.insert("$defs".to_owned(), definitions.into());
    schema
}
