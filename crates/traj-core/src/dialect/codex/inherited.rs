//! Rows that a rollout copied from another thread: the history of a fork, and
//! what a sub-agent learned about its parent.
//!
//! The calls, tokens and turns of such rows belong to the other thread. Which rows
//! they are depends on the header, so the code that gathers the rows marks them.

use std::borrow::Cow;

use crate::json::Json;
use crate::run::{Attachment, Fact};

/// The member that marks a row.
const MARK: &str = "inherited";

/// Marks a row, given as its line.
#[must_use]
pub(crate) fn mark_inherited(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii();
    match line.strip_prefix(b"{") {
        Some(members) if !members.trim_ascii_start().starts_with(b"}") => {
            [br#"{"inherited":true,"#, members].concat()
        }
        _ => line.to_vec(),
    }
}

/// Whether a row is marked.
pub(super) fn is_marked(row: &Json<'_>) -> bool {
    super::super::is_set(row, MARK)
}

/// Turns a fact of another thread into a fact of this one: what people and the
/// model said becomes context, and everything else a row without a fact.
pub(super) fn as_context<'r>(fact: Fact<'r>, kind: &'r str) -> Fact<'r> {
    let context = |kind: &'static str, content| {
        let kind = Some(Cow::Borrowed(kind));
        Fact::Attachment(Attachment { kind, name: None, content })
    };
    match fact {
        Fact::Prompt(prompt) => context("inherited/prompt", prompt.content),
        Fact::AssistantText(content) => context("inherited/text", content),
        _ => Fact::Other { name: Cow::Owned(format!("inherited/{kind}")), is_known: true },
    }
}
