//! Keeps each known member of an event once.
//!
//! A sidecar row may repeat a member. Readers that know the member treat that
//! as damage.

use std::borrow::Cow;

use traj_core::dialect::particulars;
use traj_core::event::TRACE_SCHEMA;
use traj_core::json::{Json, Object};

/// The member that holds an event's number. An event is numbered when all
/// events before it are known; until then, the member holds a placeholder.
pub(super) const PLACE: &str = "seq";

/// The number of known members.
const KNOWN: usize = 18;

/// The index of a known member.
fn number_of(name: &str) -> Option<usize> {
    Some(match name {
        "traceSchema" => 0,
        "schemaVersion" => 1,
        "traceId" => 2,
        "source" => 3,
        "type" => 4,
        "ts" => 5,
        "seq" => 6,
        "sourceSeq" => 7,
        "sessionId" => 8,
        "sessionKey" => 9,
        "runId" => 10,
        "workspaceDir" => 11,
        "provider" => 12,
        "modelId" => 13,
        "modelApi" => 14,
        "entryId" => 15,
        "parentEntryId" => 16,
        "data" => 17,
        _ => return None,
    })
}

/// Adds the placeholder for the number, and keeps each known member once: at
/// its first position, with its last value.
pub(super) fn settle(event: &mut Object<'_>) {
    let mut seen = 0_u32;
    let mut is_repeated = false;
    for (name, _) in event.iter() {
        if let Some(number) = number_of(name) {
            is_repeated |= seen & 1 << number != 0;
            seen |= 1 << number;
        }
    }
    if is_repeated {
        collapse(event);
    }
    event.insert(PLACE, 0_u64);
}

fn collapse(event: &mut Object<'_>) {
    let mut places = [None; KNOWN];
    let mut kept: Vec<(Cow<'_, str>, Json<'_>)> = Vec::with_capacity(event.len());
    for (name, value) in std::mem::take(event) {
        match number_of(&name).and_then(|number| places.get_mut(number)) {
            Some(Some(place)) => {
                if let Some((_, first)) = kept.get_mut(*place) {
                    *first = value;
                }
            }
            Some(place) => {
                *place = Some(kept.len());
                kept.push((name, value));
            }
            None => kept.push((name, value)),
        }
    }
    *event = kept.into_iter().collect();
}

/// Whether an event still matches its schema. A user's own rules may have
/// redacted a required member.
pub(super) fn fits(event: &Json<'_>) -> bool {
    let text = |name| event.get(name).and_then(Json::as_str);
    let has_texts = ["type", "ts", "sessionId"].into_iter().all(|name| text(name).is_some());
    has_texts
        && text("traceSchema") == Some(TRACE_SCHEMA)
        && text("source") == Some("runtime")
        && event.get("schemaVersion").and_then(Json::as_f64).is_some()
        && event.get(PLACE).and_then(Json::as_u64).is_some()
        && particulars::data_of(event).is_none_or(|data| data.as_object().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::schema;

    fn settled(row: &str) -> String {
        let mut event = Json::parse(row).unwrap();
        settle(event.as_object_mut().unwrap());
        event.to_line()
    }

    #[test]
    fn repeated_members_keep_the_first_place_and_the_last_value() {
        let row =
            r#"{"x":1,"seq":4,"type":"a","x":2,"data":{"d":1,"d":2},"type":"b","seq":9,"data":{}}"#;
        assert_eq!(settled(row), r#"{"x":1,"seq":0,"type":"b","x":2,"data":{}}"#);
        assert_eq!(settled(r#"{"b":1,"b":2,"seq":1}"#), r#"{"b":1,"b":2,"seq":0}"#);
    }

    #[test]
    fn fits_agrees_with_the_schema() {
        const GOOD: &str = r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"x","ts":"t","seq":3,"sessionId":"s","data":{}}"#;
        let spoiled = [
            ("openclaw-trajectory", "<redacted:x>"),
            (r#""runtime""#, r#""<redacted:x>""#),
            (r#""type":"x""#, r#""type":7"#),
            (r#""seq":3"#, r#""seq":3.5"#),
            (r#""schemaVersion":1"#, r#""schemaVersion":"<redacted:x>""#),
            (r#""data":{}"#, r#""data":[]"#),
        ];
        let check = |row: &str| {
            let fits = fits(&Json::parse(row).unwrap());
            assert_eq!(fits, schema::event_of(row.as_bytes()).is_some(), "{row}");
            fits
        };
        assert!(check(GOOD));
        for (good, bad) in spoiled {
            assert!(!check(&GOOD.replace(good, bad)), "{bad}");
        }
    }

    #[test]
    fn every_member_that_the_schema_names_is_known() {
        let schema: serde_json::Value =
            serde_json::from_str(&schema::SchemaName::Event.to_json()).unwrap();
        let members = schema["properties"].as_object().unwrap();
        let mut numbers: Vec<usize> = members.keys().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..KNOWN).collect::<Vec<_>>());
        assert_eq!(members.len(), KNOWN);
    }
}
