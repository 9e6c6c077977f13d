//! Checks JSON documents against the JSON Schemas of this repository.
//!
//! It is stricter than the standard: a member that the schema of an object does not
//! name is a violation, and so is a keyword that is not implemented here. Nothing
//! passes unchecked.

use serde_json::{Map, Value};

/// Keywords that describe the schema and do not restrict the document.
const NOTES: [&str; 6] = ["$schema", "$defs", "title", "description", "format", "default"];

/// The violations, with their positions.
///
/// # Panics
/// If the schema is invalid.
pub fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let mut check = Check { root: schema, found: Vec::new() };
    check.value(schema, document, "");
    check.found
}

struct Check<'s> {
    root: &'s Value,
    found: Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, place: &str) {
        let Some(schema) = schema.as_object() else {
            if schema != &Value::Bool(true) {
                self.add(place, "nothing may be here");
            }
            return;
        };
        let schema = &self.resolved(schema);
        for (keyword, wanted) in schema {
            match keyword.as_str() {
                "type" => self.kind(wanted, value, place),
                "const" if wanted != value => self.add(place, "is another constant"),
                "enum" if !list(wanted).contains(value) => self.add(place, "is not in the list"),
                "const" | "enum" => {}
                "anyOf" | "oneOf" => {
                    let forms: Vec<Value> =
                        list(wanted).iter().map(|form| with_members(form, schema)).collect();
                    self.any_of(&forms, value, place);
                }
                "minimum" => {
                    let least = wanted.as_f64().expect("a number");
                    if value.as_f64().is_some_and(|number| number < least) {
                        self.add(place, "is too small");
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(wanted, item, &format!("{place}/{index}"));
                    }
                }
                "required" => {
                    let names = list(wanted).iter().filter_map(Value::as_str);
                    for name in names.filter(|name| value.is_object() && value.get(name).is_none())
                    {
                        self.add(place, &format!("`{name}` is missing"));
                    }
                }
                "properties" | "additionalProperties" => {}
                note if NOTES.contains(&note) => {}
                unknown => self.add(place, &format!("the keyword `{unknown}` cannot be checked")),
            }
        }
        self.members(schema, value, place);
    }

    /// A schema whose reference is replaced by its target.
    fn resolved(&self, schema: &Map<String, Value>) -> Map<String, Value> {
        let mut own = schema.clone();
        let Some(reference) = own.remove("$ref") else { return own };
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        let target = target.and_then(Value::as_object).expect("a reference leads to a schema");
        for (keyword, wanted) in self.resolved(target) {
            match (own.get_mut(&keyword), wanted) {
                (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
                (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
                (Some(_), _) => {}
                (None, wanted) => drop(own.insert(keyword, wanted)),
            }
        }
        own
    }

    fn members(&mut self, schema: &Map<String, Value>, value: &Value, place: &str) {
        let (named, others) = (schema.get("properties"), schema.get("additionalProperties"));
        // With several forms, each form is checked together with the shared members.
        let has_forms = schema.contains_key("oneOf") || schema.contains_key("anyOf");
        if has_forms || (named.is_none() && others.is_none()) {
            return;
        }
        for (name, member) in value.as_object().into_iter().flatten() {
            let place = format!("{place}/{name}");
            match named.and_then(|named| named.get(name)).or(others) {
                Some(schema) => self.value(schema, member, &place),
                None => self.add(&place, "is not in the schema"),
            }
        }
    }

    fn kind(&mut self, wanted: &Value, value: &Value, place: &str) {
        let kinds = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice);
        let fits = kinds.iter().any(|kind| match kind.as_str() {
            Some("null") => value.is_null(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("string") => value.is_string(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            _ => false,
        });
        if !fits {
            self.add(place, &format!("is not of type {wanted}"));
        }
    }

    fn any_of(&mut self, forms: &[Value], value: &Value, place: &str) {
        let before = self.found.len();
        for form in forms {
            let seen = self.found.len();
            self.value(form, value, place);
            if self.found.len() == seen {
                self.found.truncate(before);
                return;
            }
        }
    }

    fn add(&mut self, place: &str, problem: &str) {
        self.found.push(format!("{}: {problem}", if place.is_empty() { "/" } else { place }));
    }
}

/// One form of a value, with the members that all forms share.
fn with_members(form: &Value, all: &Map<String, Value>) -> Value {
    let mut form = form.clone();
    let common = all.get("properties").and_then(Value::as_object);
    if let (Some(common), Some(named)) =
        (common, form.get_mut("properties").and_then(Value::as_object_mut))
    {
        named.extend(common.clone());
    }
    form
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn violations_are_found() {
        let schema = json!({
            "type": "object",
            "required": ["a"],
            "properties": {
                "a": { "$ref": "#/$defs/Number" },
                "b": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/Number" }] },
                "c": { "type": ["array", "null"], "items": { "const": "x" } },
                "d": { "type": "object", "additionalProperties": { "enum": [1, 2] } },
                "f": {
                    "properties": { "all": true },
                    "oneOf": [{ "properties": { "one": true } }, { "properties": { "two": true } }],
                },
            },
            "$defs": { "Number": { "type": "integer", "minimum": 0 } },
        });
        let fits = json!({ "a": 1, "b": null, "c": ["x"], "d": { "any": 2 }, "f": { "all": 1, "two": 2 } });
        assert_eq!(violations(&schema, &fits), Vec::<String>::new());
        for (document, expected) in [
            (json!({}), "/: `a` is missing"),
            (json!([]), "/: is not of type \"object\""),
            (json!({ "a": -1 }), "/a: is too small"),
            (json!({ "a": "1" }), "/a: is not of type \"integer\""),
            (json!({ "a": 1, "b": -1 }), "/b: is not of type \"null\""),
            (json!({ "a": 1, "c": ["x", "y"] }), "/c/1: is another constant"),
            (json!({ "a": 1, "d": { "any": 3 } }), "/d/any: is not in the list"),
            (json!({ "a": 1, "e": 1 }), "/e: is not in the schema"),
            (
                json!({ "a": 1, "f": { "all": 1, "two": 2, "more": 3 } }),
                "/f/more: is not in the schema",
            ),
        ] {
            assert_eq!(violations(&schema, &document).first().map(String::as_str), Some(expected));
        }
    }
}
