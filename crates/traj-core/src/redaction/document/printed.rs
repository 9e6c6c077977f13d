//! Secrets that a command prints: one event has the command, the next one its output.

use std::borrow::Cow;

use super::DocumentPass;
use super::streams::wraps;
use crate::json::Json;
use crate::redaction::engine::span::Span;

/// Members that hold a command line.
const COMMANDS: &[&str] = &["command", "cmd", "script", "commandLine", "shell_command"];
/// Members in which a command is described.
const ACTIONS: &[&str] = &["arguments", "args", "input", "data", "function", "toolCall", "params"];
/// Members that hold what a command printed.
const OUTPUTS: &[&str] =
    &["stdout", "output", "result", "content", "text", "data", "aggregated_output"];
/// The longest command and the longest output that are read together. An output
/// that is a secret is short.
const MAX_COMMAND: usize = 512;
const MAX_OUTPUT: usize = 4096;
/// How deep the command and the output may be in their events.
const MAX_DEPTH: u8 = 5;

impl DocumentPass<'_> {
    /// Hides the output of a command that prints a secret: `printenv API_TOKEN`.
    pub(super) fn printed(&mut self, action: &Json<'_>, result: &mut Json<'_>) {
        let Some(command) = command_of(action, 0) else { return };
        if command.len() > MAX_COMMAND
            || command.contains('\n')
            || !self.finder.engine.may_match(command.as_bytes())
        {
            return;
        }
        let Some(output) = output_of(result, 0).filter(|output| output.len() <= MAX_OUTPUT) else {
            return;
        };
        let whole = format!("$ {command}\n{output}");
        let offset = whole.len() - output.len();
        let found = self.finder.find(&whole).spans.into_iter().filter(|span| span.start >= offset);
        let spans: Vec<Span> = found
            .map(|span| Span { start: span.start - offset, end: span.end - offset, ..span })
            .collect();
        if !spans.is_empty() {
            let hidden = self.hide_spans(output, &spans);
            *output = Cow::Owned(hidden);
        }
    }
}

/// The command line of an event, which may be in its arguments, or in JSON there.
fn command_of<'j>(event: &'j Json<'_>, depth: u8) -> Option<Cow<'j, str>> {
    let Json::Object(object) = event else { return None };
    let own = object.iter().find_map(|(name, value)| {
        value.as_str().filter(|_| COMMANDS.contains(&name)).map(Cow::Borrowed)
    });
    own.or_else(|| {
        let actions = object.iter().filter(|(name, _)| ACTIONS.contains(name) || wraps(name));
        actions.filter(|_| depth < MAX_DEPTH).find_map(|(_, value)| match value {
            Json::String(text) if text.starts_with('{') && text.len() <= 2 * MAX_COMMAND => {
                let inner = Json::parse(text).ok()?;
                command_of(&inner, MAX_DEPTH).map(|command| Cow::Owned(command.into_owned()))
            }
            _ => command_of(value, depth + 1),
        })
    })
}

/// The text that a command printed.
fn output_of<'l, 'a>(event: &'l mut Json<'a>, depth: u8) -> Option<&'l mut Cow<'a, str>> {
    match event {
        Json::String(text) if depth > 0 => Some(text),
        Json::Object(object) if depth < MAX_DEPTH => {
            let holds = |name: &str| OUTPUTS.contains(&name) || wraps(name);
            let place = object.iter().position(|(name, value)| {
                holds(name) && !matches!(value, Json::Null | Json::Bool(_) | Json::Number(_))
            })?;
            object.iter_mut().nth(place).and_then(|(_, value)| output_of(value, depth + 1))
        }
        Json::Array(items) if depth < MAX_DEPTH => {
            let [item] = items.as_mut_slice() else { return None };
            output_of(item, depth + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Json;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    fn redacted(text: &str) -> String {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let once = redactor.json(Json::parse(text).unwrap(), &mut RedactionReport::new());
        let mut out = String::new();
        once.into_inner().write_compact(&mut out);
        out
    }

    #[test]
    fn what_a_command_prints_is_hidden_in_the_next_event() {
        for events in [
            r#"[{"command":"printenv SMTP_PASSWORD"},{"stdout":"m4ple!Wood7\n"}]"#,
            r#"[{"type":"tool.call","data":{"name":"bash","arguments":{"command":"cat /run/secrets/mail"}}},{"type":"tool.result","data":{"result":{"content":[{"type":"text","text":"m4ple!Wood7"}]}}}]"#,
            r#"[{"function":{"name":"sh","arguments":"{\"cmd\":\"echo $DB_PASSWORD\"}"}},{"output":"m4ple!Wood7"}]"#,
        ] {
            let hidden = redacted(events);
            assert!(!hidden.contains("m4ple"), "{hidden}");
            assert_eq!(redacted(&hidden), hidden);
        }
        for events in [
            r#"[{"command":"printenv SHELL_NAME"},{"stdout":"m4ple!Wood7\n"}]"#,
            r#"[{"command":"ls /run/secrets"},{"stdout":"mail\nm4ple-7\n"}]"#,
        ] {
            assert_eq!(redacted(events), events);
        }
    }
}
