//! A span with its attributes as one object.

use crate::json::{Json, Object};
use crate::timestamp::UnixMillis;

/// Attributes whose texts are JSON.
const JSON_TEXTS: [&str; 5] = [
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
];

/// The kind of operation that a span describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Agent,
    Chat,
    Tool,
    Other,
}

/// A span.
#[derive(Debug)]
pub(super) struct OtlpSpan {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) operation: Operation,
    pub(super) start: Option<UnixMillis>,
    pub(super) end: Option<UnixMillis>,
    pub(super) attributes: Object<'static>,
    pub(super) resource: Object<'static>,
    /// Its status, if it failed: a message and a type.
    pub(super) error: Option<Object<'static>>,
    /// The errors that happened meanwhile.
    pub(super) exceptions: Vec<(Option<UnixMillis>, Object<'static>)>,
}

impl OtlpSpan {
    pub(super) fn of(span: &Json<'_>, resource: &Object<'static>) -> Self {
        let own = |name: &str| text(span, name).unwrap_or_default().to_owned();
        let attributes = attributes_of(span);
        let name = own("name");
        let operation = operation_of(&attributes, &name);
        let is_agent = operation == Operation::Agent;
        Self {
            trace: own("traceId"),
            id: own("spanId"),
            parent: text(span, "parentSpanId").map(str::to_owned),
            operation,
            start: time(span.get("startTimeUnixNano")),
            end: time(span.get("endTimeUnixNano")),
            error: error_of(span, &attributes),
            exceptions: exceptions_of(span),
            resource: if is_agent { resource.clone() } else { Object::new() },
            attributes,
            name,
        }
    }

    /// A text among its attributes.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// How long it took, in milliseconds.
    pub(super) fn millis(&self) -> Option<u64> {
        let (start, end) = self.start.zip(self.end)?;
        u64::try_from(end.as_millis().saturating_sub(start.as_millis())).ok()
    }
}

fn text<'d>(value: &'d Json<'_>, name: &str) -> Option<&'d str> {
    value.get(name).and_then(Json::as_str).filter(|text| !text.trim().is_empty())
}

fn operation_of(attributes: &Object<'_>, name: &str) -> Operation {
    let stated = attributes.get("gen_ai.operation.name").and_then(Json::as_str);
    let named = stated.or_else(|| name.split(' ').next());
    match named.unwrap_or_default() {
        "invoke_agent" | "create_agent" | "invoke_workflow" => Operation::Agent,
        "chat" | "generate_content" | "text_completion" => Operation::Chat,
        "execute_tool" => Operation::Tool,
        _ => Operation::Other,
    }
}

/// The attributes of a span, a resource or an event.
pub(super) fn attributes_of(value: &Json<'_>) -> Object<'static> {
    let list = value.get("attributes").and_then(Json::as_array).unwrap_or_default();
    let mut attributes = Object::with_capacity(list.len());
    for attribute in list {
        let Some(name) = text(attribute, "key") else { continue };
        let value = attribute.get("value").map_or(Json::Null, |value| plain(value, DEEPEST));
        if attributes.contains(name) {
            continue;
        }
        match value.as_str().filter(|_| JSON_TEXTS.contains(&name)).map(Json::parse) {
            // A patch may look like JSON, but is neither an object nor a list.
            Some(Ok(parsed @ (Json::Object(_) | Json::Array(_)))) => {
                attributes.push(name.to_owned(), parsed.into_owned());
            }
            _ => attributes.push(name.to_owned(), value),
        }
    }
    attributes
}

/// Values do not nest deeper than this.
const DEEPEST: usize = 16;

/// The value that a typed one stands for.
fn plain(value: &Json<'_>, depth: usize) -> Json<'static> {
    let Some(members) = value.as_object().filter(|_| depth > 0) else { return Json::Null };
    let Some((kind, inner)) = members.iter().next() else { return Json::Null };
    match kind {
        "intValue" => match inner.as_str().and_then(|digits| digits.parse::<i64>().ok()) {
            Some(number) => number.into(),
            None => inner.clone().into_owned(),
        },
        "arrayValue" => {
            let values = inner.get("values").and_then(Json::as_array).unwrap_or_default();
            Json::Array(values.iter().map(|value| plain(value, depth - 1)).collect())
        }
        "kvlistValue" => {
            let values = inner.get("values").and_then(Json::as_array).unwrap_or_default();
            let pairs = values.iter().filter_map(|pair| {
                let value = pair.get("value").map_or(Json::Null, |value| plain(value, depth - 1));
                Some((text(pair, "key")?.to_owned(), value))
            });
            Json::Object(pairs.collect())
        }
        _ => inner.clone().into_owned(),
    }
}

/// Nanoseconds since 1970, as a text or a number.
fn time(value: Option<&Json<'_>>) -> Option<UnixMillis> {
    let value = value?;
    let nanos = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    let millis = i64::try_from(nanos / 1_000_000).ok()?;
    UnixMillis::new(millis).filter(|at| *at != UnixMillis::EPOCH)
}

fn error_of(span: &Json<'_>, attributes: &Object<'_>) -> Option<Object<'static>> {
    let status = span.get("status")?;
    let code = status.get("code")?;
    let is_error = code.as_u64() == Some(2) || code.as_str() == Some("STATUS_CODE_ERROR");
    let kind = attributes.get("error.type").and_then(Json::as_str);
    is_error.then(|| described(text(status, "message"), kind))
}

fn described(message: Option<&str>, kind: Option<&str>) -> Object<'static> {
    let mut error = Object::new();
    error.push_some("message", message.map(str::to_owned));
    error.push_some("type", kind.map(str::to_owned));
    error
}

/// The exceptions among the events of a span.
fn exceptions_of(span: &Json<'_>) -> Vec<(Option<UnixMillis>, Object<'static>)> {
    let events = span.get("events").and_then(Json::as_array).unwrap_or_default();
    let exceptions = events.iter().filter(|event| text(event, "name") == Some("exception"));
    exceptions
        .map(|event| {
            let attributes = attributes_of(event);
            let member = |name: &str| attributes.get(name).and_then(Json::as_str);
            let error = described(member("exception.message"), member("exception.type"));
            (time(event.get("timeUnixNano")), error)
        })
        .collect()
}
