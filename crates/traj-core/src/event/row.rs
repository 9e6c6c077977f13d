//! Parses a line of a sidecar.

use super::{SCHEMA_VERSION, TRACE_SCHEMA};
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// Why a row is not an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowProblem {
    /// The row is not JSON.
    NotJson,
    /// The row is JSON, but not a runtime event of this schema.
    NotAnEvent,
}

/// A runtime event from a sidecar, complete and unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeRow<'a> {
    value: Json<'a>,
    at: UnixMillis,
}

impl<'a> RuntimeRow<'a> {
    /// Parses a row; the caller has trimmed white space at its ends.
    ///
    /// # Errors
    /// When the row is not JSON, or not an event of the schema.
    pub fn parse(row: &'a str) -> Result<Self, RowProblem> {
        let value = Json::parse(row).map_err(|_| RowProblem::NotJson)?;
        Self::from_json(value)
    }

    /// Converts a value to an event.
    ///
    /// # Errors
    /// When the value is not an event of the schema.
    pub fn from_json(value: Json<'a>) -> Result<Self, RowProblem> {
        let at = valid_time(&value).ok_or(RowProblem::NotAnEvent)?;
        Ok(Self { value, at })
    }

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.value.get("type").and_then(Json::as_str).unwrap_or_default()
    }

    /// The time.
    #[must_use]
    pub const fn at(&self) -> UnixMillis {
        self.at
    }

    /// The session it belongs to.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.value.get("sessionId").and_then(Json::as_str).unwrap_or_default()
    }

    /// Its number in the file, else in its run.
    #[must_use]
    pub fn sequence(&self) -> Option<f64> {
        let number = |name| self.value.get(name).and_then(Json::as_f64);
        number("sourceSeq").or_else(|| number("seq"))
    }

    /// The run that it belongs to.
    #[must_use]
    pub fn run_id(&self) -> Option<&str> {
        self.said("runId")
    }

    /// The key of its session.
    #[must_use]
    pub fn session_key(&self) -> Option<&str> {
        self.said("sessionKey")
    }

    /// Whether it names a model.
    #[must_use]
    pub fn names_model(&self) -> bool {
        ["provider", "modelId", "modelApi"].iter().any(|name| self.said(name).is_some())
    }

    fn said(&self, name: &str) -> Option<&str> {
        self.value.get(name).and_then(Json::as_str).filter(|text| !text.is_empty())
    }

    /// The payload, if there is one.
    #[must_use]
    pub fn data(&self) -> Option<&Json<'a>> {
        self.value.get("data")
    }

    /// The whole row.
    #[must_use]
    pub const fn as_json(&self) -> &Json<'a> {
        &self.value
    }

    /// The whole row, by value.
    #[must_use]
    pub fn into_json(self) -> Json<'a> {
        self.value
    }
}

/// The time of a valid event.
fn valid_time(value: &Json<'_>) -> Option<UnixMillis> {
    let object = value.as_object()?;
    let text = |name| object.get(name).and_then(Json::as_str);
    let version = object.get("schemaVersion").and_then(Json::as_f64)?;
    #[expect(clippy::cast_precision_loss, reason = "versions are small")]
    let version_fits = (version - SCHEMA_VERSION as f64).abs() < f64::EPSILON;
    let data_fits = object.get("data").is_none_or(|data| data.as_object().is_some());
    object.get("seq").and_then(Json::as_f64)?;
    text("type")?;
    text("sessionId")?;
    let is_runtime = text("traceSchema")? == TRACE_SCHEMA && text("source")? == "runtime";
    let at = UnixMillis::parse_lenient(text("ts")?)?;
    (is_runtime && version_fits && data_fits).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1.0,"traceId":"s","source":"runtime","type":"x.y","ts":"2026-06-01T12:00:05+02:00","seq":3,"sourceSeq":7,"sessionId":"s","unknown":[1]}"#;

    #[test]
    fn an_event_is_read_whole() {
        let row = RuntimeRow::parse(GOOD).unwrap();
        assert_eq!((row.kind(), row.session_id(), row.sequence()), ("x.y", "s", Some(7.0)));
        assert_eq!(row.at().to_iso(), "2026-06-01T10:00:05.000Z");
        assert_eq!(row.into_json().to_line(), GOOD);
    }

    #[test]
    fn rows_that_are_not_events_are_classified() {
        assert_eq!(RuntimeRow::parse("{"), Err(RowProblem::NotJson));
        let spoiled = [
            ("\"runtime\"", "\"transcript\""),
            ("1.0", "2"),
            ("2026-06-01T12:00:05+02:00", "soon"),
            ("\"seq\":3", "\"seq\":\"3\""),
            ("\"unknown\":[1]", "\"data\":null"),
            ("\"unknown\":[1]", "\"data\":[]"),
            ("\"sessionId\":\"s\"", "\"sessionId\":5"),
        ];
        for (good, bad) in spoiled {
            let row = GOOD.replace(good, bad);
            assert_eq!(RuntimeRow::parse(&row), Err(RowProblem::NotAnEvent), "{bad}");
        }
    }
}
