//! Rows that do not count here: copies from another session, abandoned branches,
//! rows that were written again. The code that gathers a session marks them.

use std::borrow::Cow;

use super::message;
use crate::dialect::is_set;
use crate::json::Json;
use crate::run::{Attachment, Content, Fact};

/// The members that mark a row.
const MARKS: [&str; 3] = ["inherited", "left", "repeated"];

/// The mark of a row.
pub(super) fn mark_of(row: &Json<'_>) -> Option<&'static str> {
    MARKS.into_iter().find(|mark| is_set(row, mark))
}

/// The facts of a marked row. What was said in the session that this one was
/// copied from is context.
pub(super) fn facts<'r>(
    mark: &'static str,
    kind: &'r str,
    row: &'r Json<'r>,
    emit: &mut dyn FnMut(Fact<'r>),
) {
    let mut has_said = false;
    let mut context = |kind: &'static str, content: Content<'r>| {
        has_said = true;
        let kind = Some(Cow::Borrowed(kind));
        emit(Fact::Attachment(Attachment { kind, name: None, content }));
    };
    if mark == "inherited" {
        let mut show = |fact: Fact<'r>| match fact {
            Fact::Prompt(prompt) => context("inherited/prompt", prompt.content),
            Fact::AssistantText(text) => context("inherited/text", text),
            _ => {}
        };
        match kind {
            "user" => message::user_facts(row, &mut show),
            "assistant" => message::assistant_facts(row, &mut show),
            _ => {}
        }
    }
    if !has_said {
        let name = Cow::Owned(format!("{mark}/{kind}"));
        emit(Fact::Other { name, is_known: true });
    }
}
