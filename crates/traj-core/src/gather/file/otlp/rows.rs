//! The rows of spans, in chronological order.

use super::span::{Operation, OtlpSpan};
use crate::dialect::{STARTED_BY, SpanRow};
use crate::gather::{GatherError, RowWriter};
use crate::json::{Json, Object};
use crate::timestamp::UnixMillis;

/// A tool call without a result has this outcome.
const UNANSWERED: &str = "unanswered";

/// Rows with their times.
#[derive(Debug, Default)]
pub(super) struct SpanRows {
    rows: Vec<(Option<UnixMillis>, Object<'static>)>,
    number: u64,
}

impl SpanRows {
    pub(super) const fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Adds a row; one without a time comes last.
    pub(super) fn push(&mut self, at: Option<UnixMillis>, row: Object<'static>) {
        self.rows.push((at, row));
    }

    /// Adds the rows of a span. `starter` is the call that started its agent.
    pub(super) fn add(&mut self, span: &OtlpSpan, thread: Option<&str>, starter: Option<&str>) {
        match span.operation {
            Operation::Agent => {
                if thread.is_some() {
                    let starter = starter.map(|call| (STARTED_BY, call.to_owned().into()));
                    self.span(SpanRow::Other, span, thread, span.start, starter.as_slice());
                }
                self.exceptions(span, thread);
            }
            Operation::Chat => {
                if let Some(messages) = new_messages(span) {
                    let own = [("messages", messages)];
                    self.span(SpanRow::Input, span, thread, span.start, &own);
                }
                let mut own = error_of(span);
                own.extend(
                    span.attributes
                        .get("gen_ai.output.messages")
                        .map(|messages| ("messages", messages.clone())),
                );
                self.exceptions(span, thread);
                self.span(SpanRow::Chat, span, thread, span.end.or(span.start), &own);
            }
            Operation::Tool => {
                self.span(SpanRow::Call, span, thread, span.start, &[]);
                if span.attribute("traj.tool.outcome") != Some(UNANSWERED) {
                    let end = span.end.or(span.start);
                    self.span(SpanRow::Result, span, thread, end, &error_of(span));
                }
            }
            Operation::Other => self.span(SpanRow::Other, span, thread, span.start, &[]),
        }
    }

    fn span(
        &mut self,
        kind: SpanRow,
        span: &OtlpSpan,
        thread: Option<&str>,
        at: Option<UnixMillis>,
        own: &[(&'static str, Json<'static>)],
    ) {
        let mut row = kind.row(self.next_number());
        row.push_some("timestamp", at.map(UnixMillis::to_iso));
        row.push("id", span.id.clone());
        row.push_some("thread", thread.map(str::to_owned));
        row.push("name", span.name.clone());
        row.push_some("millis", span.millis());
        for (name, value) in own {
            row.push(*name, value.clone());
        }
        if matches!(kind, SpanRow::Chat | SpanRow::Call | SpanRow::Result) {
            let named = |name: &str| match kind {
                SpanRow::Call => name != "gen_ai.tool.call.result",
                SpanRow::Result => name != "gen_ai.tool.call.arguments",
                _ => !name.ends_with(".messages"),
            };
            let kept = span.attributes.iter().filter(|(name, _)| named(name));
            let kept: Object<'static> =
                kept.map(|(name, value)| (name.to_owned(), value.clone())).collect();
            row.push("attributes", kept);
        }
        self.push(at, row);
    }

    fn exceptions(&mut self, span: &OtlpSpan, thread: Option<&str>) {
        for (at, error) in &span.exceptions {
            let own = [("error", Json::Object(error.clone()))];
            self.span(SpanRow::Error, span, thread, at.or(span.end), &own);
        }
    }

    /// Writes the rows below one for the session.
    pub(super) fn write(
        mut self,
        session: &str,
        root: Option<&OtlpSpan>,
        out: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        self.rows.sort_by_key(|(at, _)| (at.is_none(), *at));
        let first = self.rows.first().and_then(|(at, _)| *at);
        let mut head = SpanRow::Session.row(0);
        let start = root.and_then(|root| root.start).or(first);
        head.push_some("timestamp", start.map(UnixMillis::to_iso));
        head.push("session", session.to_owned());
        if let Some(root) = root {
            head.push("attributes", root.attributes.clone());
            head.push("resource", root.resource.clone());
            if let Some(end) = end_of(root, self.number + 1) {
                // Before rows without a time.
                let place = self.rows.partition_point(|(at, _)| at.is_some());
                self.rows.insert(place, (root.end, end));
            }
        }
        out.row(&Json::Object(head))?;
        for (_, row) in self.rows {
            out.row(&Json::Object(row))?;
        }
        Ok(())
    }
}

/// What a model call was given that no earlier one was: what follows the last
/// answer. Some programs repeat the whole conversation.
fn new_messages(span: &OtlpSpan) -> Option<Json<'static>> {
    let messages = span.attributes.get("gen_ai.input.messages")?.as_array()?;
    let is_answer =
        |message: &Json<'_>| message.get("role").and_then(Json::as_str) == Some("assistant");
    let new = messages.iter().rposition(is_answer).map_or(0, |place| place + 1);
    let new = messages.get(new..).filter(|new| !new.is_empty())?;
    Some(Json::Array(new.to_vec()))
}

fn error_of(span: &OtlpSpan) -> Vec<(&'static str, Json<'static>)> {
    let error = span.error.clone();
    error.map(|error| ("error", Json::Object(error))).into_iter().collect()
}

/// How the run ended.
fn end_of(root: &OtlpSpan, number: u64) -> Option<Object<'static>> {
    let is_ours = root.attributes.contains("traj.has_content");
    let status = match root.attribute("traj.run.status") {
        Some(status) => status,
        // What `traj convert` does not state is not known.
        None if is_ours => return None,
        None if root.error.is_some() => "error",
        None => "success",
    };
    let mut row = SpanRow::End.row(number);
    row.push_some("timestamp", root.end.map(UnixMillis::to_iso));
    row.push("status", status.to_owned());
    let message = root.error.as_ref().and_then(|error| error.get("message"));
    row.push_some("error", message.cloned());
    Some(row)
}
