//! Secrets that span the events of a list: one text in deltas, chunks or
//! keystrokes.
//!
//! Events belong to one stream if they agree in their type, their call and the
//! member that carries the text. The pieces of a stream are searched as one
//! string, with names and context, because they are one string.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::DocumentPass;
use super::answers::{is_about_input, is_action, names_secret_field};
use super::walk::{MAX_JOINED, MAX_JOINED_BYTES};
use crate::json::{Json, Object};
use crate::redaction::engine::span::Span;
use crate::redaction::field_name::NameTable;
use crate::redaction::rule::Frame;

/// Members that carry a piece of a stream, whatever the type of the event.
const PIECES: &[&str] = &[
    "delta",
    "chunk",
    "partial_json",
    "partialJson",
    "fragment",
    "token",
    "output",
    "stdout",
    "stderr",
    "data",
    "arguments",
];
/// Members that wrap what an event carries.
const WRAPPERS: &[&str] = &["params", "payload", "event", "update", "msg", "notification"];

/// Whether a member with this name wraps what an event carries.
pub(super) fn wraps(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

/// Members that carry a key that was pressed.
const KEYS: &[&str] = &["key", "char", "character", "keys"];
/// Members that carry a piece if the type of the event says so.
pub(super) const TEXTS: &[&str] = &["text", "content", "value", "input", "message", "body"];
/// Words in the type of an event whose text is a piece of a stream.
const STREAMING: &[&str] = &["delta", "chunk", "stream", "partial", "stdout", "stderr", "append"];
/// Members in which the events of one stream agree.
const SAME: &[&str] = &[
    "type",
    "ev",
    "event",
    "t",
    "kind",
    "method",
    "role",
    "stream",
    "fd",
    "channel",
    "call_id",
    "callId",
    "item_id",
    "itemId",
    "index",
    "output_index",
    "content_index",
    "run_id",
    "runId",
    "selector",
    "target",
];
/// How deep a piece may be in its event.
const MAX_DEPTH: u8 = 4;

/// Whether an object may belong to others: it carries or enters a piece, or acts.
pub(in crate::redaction) fn can_join(object: &Object<'_>) -> bool {
    object.iter().any(|(name, value)| {
        matches!(value, Json::String(_) | Json::Object(_))
            && (is_piece(name) || wraps(name) || is_about_input(name))
    })
}

/// Whether a member with this name can carry a piece of a stream.
pub(in crate::redaction) fn is_piece(name: &str) -> bool {
    PIECES.contains(&name) || KEYS.contains(&name) || TEXTS.contains(&name)
}

/// The pieces of one stream.
#[derive(Default)]
struct EventStream<'l, 'a> {
    pieces: Vec<&'l mut Cow<'a, str>>,
    /// Whether somebody types into a field for a secret.
    is_secret: bool,
}

impl DocumentPass<'_> {
    /// Hides secrets that span the events of a list.
    pub(super) fn events_together(&mut self, items: &mut [Json<'_>]) {
        if !(2..=MAX_JOINED).contains(&items.len())
            || !items.iter().all(|item| matches!(item, Json::Object(_)))
        {
            return;
        }
        for mut stream in streams(items, self.finder.engine.names()) {
            self.join_stream(&mut stream);
        }
        for place in 1..items.len() {
            let (head, tail) = items.split_at_mut(place);
            if let (Some(prompt), Some(answer)) = (head.last_mut(), tail.first_mut()) {
                self.printed(prompt, answer);
                self.answer(prompt, answer);
                self.typed_after_focus(prompt, answer);
            }
        }
    }

    /// Hides secrets that span the rows of a session. An action and the next one
    /// belong together, whatever the program answers between them.
    pub(in crate::redaction) fn rows_together(&mut self, rows: &mut [Json<'_>]) {
        self.events_together(rows);
        let acts: Vec<usize> =
            rows.iter().enumerate().filter(|(_, row)| is_action(row)).map(|(at, _)| at).collect();
        for pair in acts.windows(2) {
            let [first, second] = pair else { continue };
            let (head, tail) = rows.split_at_mut(*second);
            if let (Some(focus), Some(typed)) = (head.get_mut(*first), tail.first_mut()) {
                self.typed_after_focus(focus, typed);
            }
        }
        self.share_learned();
    }

    /// Hides findings in the joined string `whole` in the pieces that they span;
    /// `starts` says where each piece begins.
    pub(super) fn hide_in_pieces(
        &mut self,
        whole: &str,
        starts: &[usize],
        pieces: &mut [&mut Cow<'_, str>],
        spans: &[Span],
    ) {
        let mut first = 0;
        let mut known = None;
        for (start, piece) in starts.iter().copied().zip(pieces.iter_mut()) {
            if piece.is_empty() {
                continue;
            }
            let end = start + piece.len();
            while spans.get(first).is_some_and(|span| span.end <= start) {
                first += 1;
                known = None;
            }
            let mut changed = String::new();
            let mut copied = 0;
            for found in spans.iter().skip(first).take_while(|span| span.start < end) {
                // The digits of a secret are the same in every piece.
                let from = found.start.saturating_sub(start);
                changed.push_str(piece.get(copied..from).unwrap_or_default());
                let secret = whole.get(found.start..found.end).unwrap_or_default();
                let digits = known.take().filter(|_| found.start < start);
                let digits = self.write_marker(&mut changed, found.rule, secret, digits);
                known = (found.end > end).then_some(digits);
                copied = (found.end - start).min(piece.len());
            }
            if copied > 0 {
                changed.push_str(piece.get(copied..).unwrap_or_default());
                **piece = Cow::Owned(changed);
            }
        }
    }

    /// Searches the pieces of one stream as one string.
    fn join_stream(&mut self, stream: &mut EventStream<'_, '_>) {
        let total: usize = stream.pieces.iter().map(|piece| piece.len()).sum();
        if stream.pieces.len() < 2 || !(4..=MAX_JOINED_BYTES).contains(&total) {
            return;
        }
        let mut whole = String::with_capacity(total);
        let mut starts = Vec::with_capacity(stream.pieces.len());
        for piece in &stream.pieces {
            starts.push(whole.len());
            whole.push_str(piece);
        }
        let spans = if stream.is_secret && !whole.contains("<redacted:") {
            vec![Span::frame(0, whole.len(), Frame::Password.rule())]
        } else if self.finder.engine.may_match(whole.as_bytes()) {
            self.finder.find(&whole).spans
        } else {
            Vec::new()
        };
        self.hide_in_pieces(&whole, &starts, &mut stream.pieces, &spans);
    }
}

/// The streams in a list of events, in the order of their first event.
fn streams<'l, 'a>(items: &'l mut [Json<'a>], names: NameTable) -> Vec<EventStream<'l, 'a>> {
    let mut streams: Vec<EventStream<'l, 'a>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for item in items {
        let Json::Object(object) = item else { continue };
        let mut identity = String::new();
        let is_streaming = identify(object, &mut identity, 0);
        let is_secret = names_secret_field(object, names);
        let Some((piece, is_key)) = streamed(object, is_streaming, &mut identity, 0) else {
            continue;
        };
        // A named key, such as `Enter`, is not a character.
        if is_key && piece.chars().count() > 1 {
            continue;
        }
        let place = *places.entry(identity).or_insert_with(|| {
            streams.push(EventStream::default());
            streams.len() - 1
        });
        if let Some(stream) = streams.get_mut(place) {
            stream.is_secret |= is_key && is_secret;
            stream.pieces.push(piece);
        }
    }
    streams
}

/// Whether the events of one stream agree in a member: [`SAME`], or the id of a
/// call.
fn is_shared(name: &str) -> bool {
    SAME.contains(&name) || name.ends_with("CallId") || name.ends_with("_call_id")
}

/// Writes the members in which the events of a stream agree. Returns whether the
/// event says that its text is a piece.
fn identify(object: &Object<'_>, identity: &mut String, depth: u8) -> bool {
    let mut is_streaming = false;
    for (name, value) in object.iter() {
        match value {
            Json::String(text) if is_shared(name) && text.len() <= 128 => {
                is_streaming |= STREAMING.iter().any(|word| text.contains(word));
                let _ = writeln!(identity, "{name}={text}");
            }
            Json::Number(number) if is_shared(name) => {
                let _ = writeln!(identity, "{name}={}", number.as_text());
            }
            Json::Object(inner)
                if depth < MAX_DEPTH && (PIECES.contains(&name) || WRAPPERS.contains(&name)) =>
            {
                is_streaming |= identify(inner, identity, depth + 1);
            }
            _ => {}
        }
    }
    is_streaming
}

/// The piece that an event carries, and whether it is a pressed key.
fn streamed<'l, 'a>(
    object: &'l mut Object<'a>,
    is_streaming: bool,
    identity: &mut String,
    depth: u8,
) -> Option<(&'l mut Cow<'a, str>, bool)> {
    let carries = |name: &str| {
        PIECES.contains(&name) || KEYS.contains(&name) || is_streaming && TEXTS.contains(&name)
    };
    let (name, value) = object.iter_mut().find(|(name, value)| match value {
        Json::String(_) => carries(name),
        Json::Object(_) => carries(name) || WRAPPERS.contains(&name.as_ref()),
        _ => false,
    })?;
    identity.push_str(name);
    let is_key = KEYS.contains(&name.as_ref());
    match value {
        Json::String(text) => Some((text, is_key)),
        Json::Object(inner) if depth < MAX_DEPTH => {
            streamed(inner, is_streaming, identity, depth + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::twice::redacted;

    #[test]
    fn a_value_split_over_chunks_is_hidden_in_each() {
        let events = r#"[{"ev":"out","chunk":"export API_TOKEN=q8Zt4"},{"ev":"out","chunk":"Lr2Wm9Xc1Vb\n"}]"#;
        let hidden = redacted(events);
        assert!(!hidden.contains("q8Zt4") && !hidden.contains("Lr2Wm9"), "{hidden}");
        let events = r#"[{"type":"input_json_delta","partial_json":"{\"passphrase\": \"Vx7"},{"type":"input_json_delta","partial_json":"kq0Zt31m\"}"}]"#;
        let hidden = redacted(events);
        assert!(!hidden.contains("Vx7") && !hidden.contains("kq0Z"), "{hidden}");
    }

    #[test]
    fn interleaved_calls_are_joined_one_by_one() {
        let events = r#"[{"call_id":"a","delta":"DB_PASSWORD="},{"call_id":"b","delta":"building the crate"},{"call_id":"a","delta":"pX93kqLm02"},{"call_id":"b","delta":" and the docs"}]"#;
        let hidden = redacted(events);
        assert!(!hidden.contains("pX93"), "{hidden}");
        assert!(hidden.contains("building the crate") && hidden.contains(" and the docs"));
    }

    #[test]
    fn keystrokes_in_a_password_field_are_hidden() {
        let keys = ["m", "4", "p", "l", "e", "!", "7"].map(|key| {
            format!("{{\"type\":\"keydown\",\"selector\":\"#login-password\",\"key\":\"{key}\"}}")
        });
        let hidden = redacted(&format!("[{}]", keys.join(",")));
        assert!(!hidden.contains("\"key\":\"m\""), "{hidden}");
        let keys = ["h", "e", "l", "l", "o"].map(|key| {
            format!("{{\"type\":\"keydown\",\"selector\":\"#search\",\"key\":\"{key}\"}}")
        });
        let events = format!("[{}]", keys.join(","));
        assert_eq!(redacted(&events), events);
    }

    #[test]
    fn deltas_inside_of_notifications_are_joined() {
        let events = r#"[{"method":"item/outputDelta","params":{"itemId":"x","delta":"PGPASSWORD=vfBTs"}},{"method":"item/outputDelta","params":{"itemId":"x","delta":"GW3grJdT6vR\nPATH=/bin\n"}}]"#;
        let hidden = redacted(events);
        assert!(!hidden.contains("vfBTs") && !hidden.contains("GW3gr"), "{hidden}");
        assert!(hidden.contains("PATH=/bin"), "{hidden}");
    }
}
