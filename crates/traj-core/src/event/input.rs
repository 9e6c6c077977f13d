//! Events as hosts hand them over in a pipe: one JSON object a line.

use super::{Event, EventKind};
use crate::json::{Json, ParseError};
use crate::timestamp::UnixMillis;

/// Why a line is no event. Names the place or the member, never the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputProblem {
    /// The line is not JSON.
    #[error("not JSON: {0}")]
    NotJson(#[from] ParseError),
    /// The line is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// There is no type, or it is not a text.
    #[error("\"type\" must be a text that is not blank")]
    Type,
    /// The data is something else than an object.
    #[error("\"data\" must be an object")]
    Data,
    /// The time cannot be understood.
    #[error("\"ts\" must be a date or milliseconds since 1970")]
    Time,
}

impl Event {
    /// Reads `{"type": …, "data": {…}, "ts": …}`; data and time may be absent
    /// or null.
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
        let data = match object.remove("data") {
            None | Some(Json::Null) => None,
            Some(Json::Object(data)) => Some(data),
            Some(_) => return Err(InputProblem::Data),
        };
        Ok(Self { at, ..Self::new(kind, data) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_problems_are_told_apart() {
        let event = Event::parse_line(br#" {"type":"tool.call","data":{"n":1},"ts":5} "#).unwrap();
        assert_eq!((event.kind, event.at), (EventKind::ToolCall, UnixMillis::new(5)));
        let problem = |line: &str| Event::parse_line(line.as_bytes()).unwrap_err();
        assert!(matches!(problem("{"), InputProblem::NotJson(_)));
        assert_eq!(problem("[]"), InputProblem::NotAnObject);
        assert_eq!(problem(r#"{"type":" "}"#), InputProblem::Type);
        assert_eq!(problem(r#"{"type":"x","data":[]}"#), InputProblem::Data);
        assert_eq!(problem(r#"{"type":"x","ts":"soon"}"#), InputProblem::Time);
        assert_eq!(problem(r#"{"type":"x","ts":true}"#), InputProblem::Time);
    }
}
