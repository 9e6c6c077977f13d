//! Secrets that one event asks for and the next one gives: the answer to a prompt,
//! and what somebody types after a click into a field.

use std::borrow::Cow;

use super::DocumentPass;
use super::streams::{TEXTS, wraps};
use super::walk::piece;
use crate::json::{Json, Object};
use crate::redaction::engine::span::Span;
use crate::redaction::field_name::{NameClass, NameTable};
use crate::redaction::marker;
use crate::redaction::rule::Frame;
use crate::redaction::text::context::{Style, judge};
use crate::redaction::text::value::{is_placeholder, looks_chosen};

/// Members that name the field into which somebody types.
const FIELDS: &[&str] =
    &["selector", "target", "field", "element", "label", "placeholder", "locator", "name", "ref"];
/// Members that hold what somebody enters.
const INPUTS: &[&str] = &["input", "stdin", "answer", "keys", "response", "reply"];
/// Members that hold what somebody is asked.
const PROMPTS: &[&str] = &["prompt", "question"];
/// Members that hold the arguments of an action.
const ARGUMENTS: &[&str] = &["arguments", "args", "input", "parameters", "options"];
/// Members that name an action, and words in their values.
const ACTIONS: &[&str] =
    &["action", "type", "tool", "name", "event", "method", "command", "kind", "op"];
const TYPING: &[&str] = &["type", "fill", "input", "paste", "sendkeys", "send_keys", "enter"];
const FOCUSING: &[&str] = &["click", "focus", "tap", "press", "select", "activate"];
/// The longest prompt and the longest answer that are read together.
const MAX_PROMPT: usize = 160;
const MAX_ANSWER: usize = 256;

impl DocumentPass<'_> {
    /// Hides what is typed after a click into a field for a secret:
    /// `{"action":"click","selector":"#password"}`, `{"action":"type","text":"…"}`.
    pub(super) fn typed_after_focus(&mut self, focus: &mut Json<'_>, typed: &mut Json<'_>) {
        let names = self.finder.engine.names();
        let is_secret = arguments_of(focus).is_some_and(|object| names_secret_field(object, names));
        let (Json::Object(before), Json::Object(event)) = (&*focus, &*typed) else { return };
        if !is_secret || !says(before, FOCUSING) || !says(event, TYPING) {
            return;
        }
        let Some(object) = arguments_of(typed) else { return };
        if object.iter().any(|(name, _)| FIELDS.contains(&name) && name != "name") {
            return;
        }
        let entered = object.iter_mut().find_map(|(name, value)| match value {
            Json::String(text) if TEXTS.contains(&name.as_ref()) => Some(text),
            _ => None,
        });
        if let Some(text) = entered
            && (4..=MAX_ANSWER).contains(&text.len())
            && !marker::is_marker(text)
            && !is_placeholder(text.as_bytes())
        {
            let span = Span::frame(0, text.len(), Frame::Password.rule());
            let hidden = self.hide_spans(text, &[span]);
            *text = Cow::Owned(hidden);
        }
    }

    /// Hides the answer to a prompt such as `Password:` in the event before it.
    pub(super) fn answer(&mut self, prompt: &mut Json<'_>, answer: &mut Json<'_>) {
        let (Some(prompt), Some(answer)) = (asked(prompt), entered(answer)) else {
            return;
        };
        let question = prompt.trim_end().rsplit('\n').next().unwrap_or_default();
        let given = answer.trim();
        if question.len() > MAX_PROMPT
            || !question.ends_with([':', '=', '?', '>'])
            || !(4..=MAX_ANSWER).contains(&given.len())
            || given.contains(char::is_whitespace)
            || given.ends_with([':', '='])
        {
            return;
        }
        let whole = format!("{question} {given}");
        let offset = whole.len() - given.len();
        let found = self.finder.find(&whole).spans.into_iter().find(|span| span.start >= offset);
        let asked = || {
            let names = self.finder.engine.names();
            let class = asked_class(question, names).filter(|class| {
                looks_chosen(given.as_bytes()) && judge(given.as_bytes(), *class, Style::Prose)
            });
            Some(Span::frame(offset, whole.len(), class?.frame()?.rule()))
        };
        let Some(found) = found.or_else(asked) else { return };
        let start = answer.len() - answer.trim_start().len() + found.start - offset;
        let end = start + found.end - found.start;
        let span = Span { start, end, ..found };
        let hidden = self.hide_spans(answer, &[span]);
        *answer = Cow::Owned(hidden);
    }
}

/// The text of an event that asks: a member of [`PROMPTS`], else its piece.
fn asked<'l>(event: &'l mut Json<'_>) -> Option<&'l str> {
    let is_prompt = |(name, value): (&str, &Json<'_>)| {
        PROMPTS.contains(&name) && matches!(value, Json::String(_))
    };
    let has_prompt = matches!(&*event, Json::Object(object) if object.iter().any(is_prompt));
    if !has_prompt {
        return piece(event, 0).map(|text| &**text);
    }
    let Json::Object(object) = &*event else { return None };
    object.iter().find(|member| is_prompt(*member)).and_then(|(_, value)| value.as_str())
}

/// The class of what a question asks for: `What is the password of the database?`
fn asked_class(question: &str, names: NameTable) -> Option<NameClass> {
    const OPENINGS: &[&str] =
        &["what is", "what's", "which is", "please provide", "please enter", "enter", "provide"];
    let lower = question.to_ascii_lowercase();
    if !question.ends_with('?') || !OPENINGS.iter().any(|opening| lower.contains(opening)) {
        return None;
    }
    // `password policy` is something else.
    const BEHIND: &[&str] = &["", "of", "for", "to", "on", "in", "at", "you", "i", "we", "please"];
    let mut words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).peekable();
    while let Some(word) = words.next() {
        let is_last = words.peek().is_none_or(|behind| BEHIND.contains(behind));
        if let class @ NameClass::Strong(Frame::Password | Frame::Passphrase | Frame::Secret) =
            names.class_of_member(word)
            && is_last
        {
            return Some(class);
        }
    }
    None
}

/// The text that an event enters: a member of [`INPUTS`], else its piece.
fn entered<'l, 'a>(event: &'l mut Json<'a>) -> Option<&'l mut Cow<'a, str>> {
    let is_input =
        |name: &str, value: &Json<'_>| INPUTS.contains(&name) && matches!(value, Json::String(_));
    let place = match &*event {
        Json::Object(object) => object.iter().position(|(name, value)| is_input(name, value)),
        _ => None,
    };
    let Some(place) = place else { return piece(event, 0) };
    let Json::Object(object) = event else { return None };
    match object.iter_mut().nth(place) {
        Some((_, Json::String(text))) => Some(text),
        _ => None,
    }
}

/// The object that describes what an action does: its arguments, or the event itself.
fn arguments_of<'l, 'a>(event: &'l mut Json<'a>) -> Option<&'l mut Object<'a>> {
    let Json::Object(object) = event else { return None };
    let holds = |(name, value): (&str, &Json<'_>)| {
        matches!(value, Json::Object(_)) && (ARGUMENTS.contains(&name) || wraps(name))
    };
    let Some(place) = object.iter().position(holds) else { return Some(object) };
    match object.iter_mut().nth(place) {
        Some((_, Json::Object(inner))) => Some(inner),
        _ => None,
    }
}

/// Whether a member with this name says what is entered, or where.
pub(super) fn is_about_input(name: &str) -> bool {
    FIELDS.contains(&name) || INPUTS.contains(&name) || ARGUMENTS.contains(&name)
}

/// Whether an event clicks or types somewhere.
pub(super) fn is_action(event: &Json<'_>) -> bool {
    let Json::Object(object) = event else { return false };
    says(object, FOCUSING) || says(object, TYPING)
}

/// Whether an event names an action with one of the words: `{"action":"type"}`.
fn says(object: &Object<'_>, words: &[&str]) -> bool {
    object.iter().filter(|(name, _)| ACTIONS.contains(name)).any(|(_, value)| {
        value.as_str().is_some_and(|text| {
            let text = text.to_ascii_lowercase();
            words.iter().any(|word| text.contains(word))
        })
    })
}

/// Whether an event names a field for a secret: `#login-password`.
pub(super) fn names_secret_field(object: &Object<'_>, names: NameTable) -> bool {
    object
        .iter()
        .filter(|(name, _)| FIELDS.contains(name))
        .filter_map(|(_, value)| value.as_str())
        .filter(|text| text.len() <= MAX_ANSWER)
        .flat_map(|text| {
            text.split(|letter: char| {
                !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_')
            })
        })
        .any(|word| matches!(names.class_of_member(word), NameClass::Strong(_)))
}

#[cfg(test)]
mod tests {
    use super::super::twice::redacted;

    #[test]
    fn an_answer_to_a_prompt_is_hidden() {
        let events = r#"[{"type":"prompt","text":"Password for ada:"},{"type":"answer","text":"m4ple!Wood7"}]"#;
        assert!(!redacted(events).contains("m4ple"));
        let events =
            r#"[{"type":"prompt","text":"Directory:"},{"type":"answer","text":"crates/core7"}]"#;
        assert_eq!(redacted(events), events);
    }

    #[test]
    fn an_answer_to_a_question_is_hidden() {
        let events = r#"[{"role":"assistant","content":"What is the password of the mail host?"},{"role":"user","content":"m4ple-Wood7"}]"#;
        assert!(!redacted(events).contains("m4ple"));
        let events = r#"[{"prompt":"Passphrase:"},{"answer":"m4ple-Wood7"}]"#;
        assert!(!redacted(events).contains("m4ple"));
        for events in [
            r#"[{"role":"assistant","content":"Shall I reset the password?"},{"role":"user","content":"please-do"}]"#,
            r#"[{"role":"assistant","content":"What is the password file?"},{"role":"user","content":"config/users7.txt"}]"#,
            r#"[{"role":"assistant","content":"What is your password policy?"},{"role":"user","content":"rotate-90d"}]"#,
        ] {
            assert_eq!(redacted(events), events);
        }
    }

    #[test]
    fn what_is_typed_into_a_field_after_a_click_is_hidden() {
        let events = r##"[{"action":"click","selector":"#password"},{"action":"type","text":"ember willow 7"}]"##;
        assert!(!redacted(events).contains("ember"));
        let events = r##"[{"tool":"browser_click","arguments":{"element":"Password field"}},{"tool":"browser_type","arguments":{"text":"emberwillow"}}]"##;
        assert!(!redacted(events).contains("ember"));
        for harmless in [
            r##"[{"action":"click","selector":"#search"},{"action":"type","text":"ember willow 7"}]"##,
            r##"[{"action":"click","selector":"#password"},{"action":"type","selector":"#city","text":"ember willow"}]"##,
        ] {
            assert_eq!(redacted(harmless), harmless);
        }
    }

    #[test]
    fn what_a_program_reads_after_its_prompt_is_hidden() {
        let events = r#"[{"tool":"terminal","output":"Password: "},{"tool":"terminal","input":"m4ple!Wood7\n"}]"#;
        assert!(!redacted(events).contains("m4ple"));
    }
}
