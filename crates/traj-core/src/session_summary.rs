//! A session at a glance, from the last lines of its files.

use crate::json::Json;
use crate::timestamp::UnixMillis;

/// What the newest lines tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// When the newest of them was written, in whichever file.
    pub last_at: Option<UnixMillis>,
    /// The model that answered last.
    pub model: Option<String>,
    /// How the last run ended; `None` while it goes on, or when nothing tells.
    pub status: Option<String>,
    /// Tokens of the last answer that says: in and out.
    pub tokens: Option<(u64, u64)>,
}

impl SessionSummary {
    /// Hears a line of the sidecar or transcript, the newest first.
    pub fn line(&mut self, line: &[u8]) {
        let Ok(row) = Json::parse_lossy(line) else { return };
        let text = |value: &Json<'_>, name: &str| {
            value.get(name).and_then(Json::as_str).map(str::to_owned)
        };
        let stamp = text(&row, "ts").or_else(|| text(&row, "timestamp"));
        self.last_at = self.last_at.max(stamp.as_deref().and_then(UnixMillis::parse_lenient));
        let kind = text(&row, "type").unwrap_or_default();
        let holder = match row.get("message") {
            Some(message) if text(message, "role").as_deref() == Some("assistant") => message,
            _ => row.get("data").unwrap_or(&Json::Null),
        };
        if self.model.is_none() {
            let model = text(&row, "modelId").or_else(|| text(holder, "model"));
            let provider = text(&row, "provider").or_else(|| text(holder, "provider"));
            self.model = match (provider, model) {
                (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
                (None, model) => model,
                (Some(_), None) => None,
            };
        }
        if self.status.is_none() {
            self.status = match kind.as_str() {
                "session.ended" => text(holder, "status").or_else(|| Some("ended".to_owned())),
                // Something began after the last end.
                "session.started" | "prompt.submitted" => Some("open".to_owned()),
                _ => None,
            };
        }
        if self.tokens.is_none() {
            self.tokens = holder.get("usage").and_then(|usage| {
                let first = |names: [&str; 3]| {
                    names.iter().find_map(|name| usage.get(name).and_then(Json::as_u64))
                };
                let input = first(["input", "inputTokens", "input_tokens"]);
                let output = first(["output", "outputTokens", "output_tokens"]);
                Some((input?, output.unwrap_or(0)))
            });
        }
    }

    /// Whether older lines of a file could not add anything.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.model.is_some() && self.status.is_some() && self.tokens.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A line of a sidecar or transcript that tells some things and not others.
    fn line() -> impl Strategy<Value = String> {
        let kind = proptest::sample::select(vec![
            "session.started",
            "session.ended",
            "model.completed",
            "message",
            "x",
        ]);
        let tells = any::<(bool, bool, bool, bool)>();
        (kind, tells, 0_u32..60, 0_u32..9).prop_map(
            |(kind, (model, status, usage, time), second, number)| {
                let part =
                    |is_there: bool, text: String| if is_there { text } else { String::new() };
                let data = part(usage, format!(r#""usage":{{"input":{number},"output":1}},"#))
                    + &part(status, format!(r#""status":"s{number}","#));
                let message = if kind == "message" {
                    r#","message":{"role":"assistant","model":"m"}"#
                } else {
                    ""
                };
                format!(
                    r#"{{"type":"{kind}",{}{}"data":{{{data}"x":1}}{message}}}"#,
                    part(time, format!(r#""ts":"2026-06-01T10:00:{second:02}Z","#)),
                    part(model, format!(r#""modelId":"m{number}","#)),
                )
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_known_stays_and_the_time_never_goes_back(
            lines in proptest::collection::vec(prop_oneof![line(), ".{0,20}"], 0..12),
        ) {
            let mut summary = SessionSummary::default();
            for line in &lines {
                let before = summary.clone();
                summary.line(line.as_bytes());
                prop_assert!(before.model.is_none() || before.model == summary.model);
                prop_assert!(before.status.is_none() || before.status == summary.status);
                prop_assert!(before.tokens.is_none() || before.tokens == summary.tokens);
                prop_assert!(before.last_at <= summary.last_at);
                if before.is_complete() {
                    prop_assert_eq!(&before, &SessionSummary { last_at: before.last_at, ..summary.clone() });
                }
            }
            // Hearing everything again tells nothing new.
            let known = summary.clone();
            for line in &lines {
                summary.line(line.as_bytes());
            }
            prop_assert_eq!(known, summary);
        }

        #[test]
        fn any_bytes_are_heard(line in proptest::collection::vec(any::<u8>(), 0..60)) {
            SessionSummary::default().line(&line);
        }
    }

    #[test]
    fn the_newest_line_that_says_wins() {
        let mut summary = SessionSummary::default();
        for line in [
            r#"{"type":"session.ended","ts":"2026-06-01T10:00:09Z","data":{"status":"success"}}"#,
            r#"{"type":"model.completed","ts":"2026-06-01T10:00:08Z","provider":"openai","modelId":"gpt","data":{"usage":{"input":12,"output":3}}}"#,
            "not json",
            r#"{"type":"session.started","ts":"2026-06-01T10:00:00Z","modelId":"older"}"#,
        ] {
            summary.line(line.as_bytes());
        }
        assert!(summary.is_complete());
        assert_eq!(summary.status.as_deref(), Some("success"));
        assert_eq!(summary.model.as_deref(), Some("openai/gpt"));
        assert_eq!(summary.tokens, Some((12, 3)));
        assert_eq!(summary.last_at.unwrap().to_iso(), "2026-06-01T10:00:09.000Z");
    }

    #[test]
    fn a_transcript_tells_too() {
        let mut summary = SessionSummary::default();
        summary.line(br#"{"type":"message","timestamp":"2026-06-01T10:00:00Z","message":{"role":"assistant","provider":"p","model":"m","usage":{"input":1,"output":2}}}"#);
        assert_eq!((summary.model.as_deref(), summary.tokens), (Some("p/m"), Some((1, 2))));
        assert!(!summary.is_complete());
    }
}
