//! Events that a host pipes in: one JSON object per line.

use super::{Event, EventKind};
use crate::json::{Json, ParseError};
use crate::timestamp::UnixMillis;

/// Why a line is not an event. Names the position or the member, never the
/// content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputProblem {
    /// The line is not JSON.
    #[error("not JSON: {0}")]
    NotJson(#[from] ParseError),
    /// The line is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// The type is missing or not a string.
    #[error("\"type\" must be a non-blank string")]
    Type,
    /// The data is not an object.
    #[error("\"data\" must be an object")]
    Data,
    /// The time is invalid.
    #[error("\"ts\" must be a date or milliseconds since 1970")]
    Time,
}

/// An event as read from a line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InputEvent {
    /// The event.
    pub event: Event,
    /// Members of the line that are unknown and ignored.
    pub unknown_members: usize,
}

impl InputEvent {
    /// Parses `{"type": …, "data": {…}, "ts": …}`; `data` and `ts` may be
    /// absent or null.
    ///
    /// # Errors
    /// When the line is not such an object.
    pub fn parse_line(line: &[u8]) -> Result<Self, InputProblem> {
        let Json::Object(mut object) = Json::parse_lossy(line.trim_ascii())?.into_owned() else {
            return Err(InputProblem::NotAnObject);
        };
        let kind = match object.get("type").and_then(Json::as_str) {
            Some(name) if !name.trim().is_empty() => EventKind::parse(name.to_owned()),
            _ => return Err(InputProblem::Type),
        };
        let at = match object.get("ts") {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => {
                Some(UnixMillis::parse_lenient(text).ok_or(InputProblem::Time)?)
            }
            Some(number) => {
                let millis = number.as_f64().ok_or(InputProblem::Time)?;
                Some(UnixMillis::from_f64(millis).ok_or(InputProblem::Time)?)
            }
        };
        let is_unknown = |name: &str| !matches!(name, "type" | "data" | "ts");
        let unknown_members = object.iter().filter(|(name, _)| is_unknown(name)).count();
        let data = match object.remove("data") {
            None | Some(Json::Null) => None,
            Some(Json::Object(data)) => Some(data),
            Some(_) => return Err(InputProblem::Data),
        };
        Ok(Self { event: Event { at, ..Event::new(kind, data) }, unknown_members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_problems_are_distinguished() {
        let parse = |line: &str| InputEvent::parse_line(line.as_bytes());
        let known = parse(r#" {"type":"tool.call","data":{"n":1},"ts":5} "#).unwrap();
        assert_eq!((known.event.kind, known.event.at), (EventKind::ToolCall, UnixMillis::new(5)));
        assert_eq!(known.unknown_members, 0);
        assert_eq!(parse(r#"{"a":1,"type":"x","b":{"c":1},"a":2}"#).unwrap().unknown_members, 3);
        let problem = |line: &str| parse(line).unwrap_err();
        assert!(matches!(problem("{"), InputProblem::NotJson(_)));
        assert_eq!(problem("[]"), InputProblem::NotAnObject);
        assert_eq!(problem(r#"{"type":" "}"#), InputProblem::Type);
        assert_eq!(problem(r#"{"type":"x","data":[]}"#), InputProblem::Data);
        assert_eq!(problem(r#"{"type":"x","ts":"soon"}"#), InputProblem::Time);
        assert_eq!(problem(r#"{"type":"x","ts":true}"#), InputProblem::Time);
    }
}
