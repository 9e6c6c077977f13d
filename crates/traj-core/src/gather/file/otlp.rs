//! Spans in OTLP-JSON. Exporters write a span when it ends, so parents come after
//! their children, and one file may have spans of several traces. Here, the spans
//! of one conversation become rows in chronological order.
//!
//! - `span`: a span with its attributes as one object;
//! - `family`: which spans belong to the conversation, and to which of its agents;
//! - `rows`: the rows of a span.

mod family;
mod rows;
mod span;

use std::ops::ControlFlow;

use super::super::{GatherError, RowWriter};
use super::lines::{each_line, read};
use crate::dialect::SpanRow;
use crate::json::Json;
use crate::json::lines::Line;
use crate::port::Source;
use crate::run::is_bomb;
use family::Family;
use rows::SpanRows;
use span::OtlpSpan;

/// The spans of a file are held in memory.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
const MOST_SPANS: usize = 1_000_000;

/// What was read of a file.
#[derive(Debug, Default)]
struct Spans {
    spans: Vec<OtlpSpan>,
    /// Lines that are not requests, and those that are too long.
    damaged: u64,
    too_long: u64,
    too_long_bytes: u64,
}

/// Writes the rows of a file.
pub(super) fn rows(source: &dyn Source, out: &mut RowWriter<'_>) -> Result<(), GatherError> {
    if source.len() > MOST_BYTES {
        return Err(GatherError::TooLarge);
    }
    let mut spans = Spans::default();
    each_line(source, 0, &mut |_, line| {
        match line {
            Line::Whole(line) | Line::Cut(line) => spans.line(line)?,
            Line::TooLong { .. } => {
                spans.too_long += 1;
                spans.too_long_bytes = spans.too_long_bytes.saturating_add(line.span());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if spans.spans.is_empty() && spans.damaged > 0 {
        // One document over several lines.
        let bytes = read(source, 0, source.len())?;
        spans = Spans::default();
        spans.line(&bytes)?;
        if spans.damaged > 0 {
            return Err(GatherError::Damaged);
        }
    }
    spans.write(out)
}

impl Spans {
    fn line(&mut self, line: &[u8]) -> Result<(), GatherError> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let row = if is_bomb(line) { None } else { Json::parse_lossy(line).ok() };
        let resources = row.as_ref().and_then(|row| row.get("resourceSpans")?.as_array());
        let Some(resources) = resources else {
            self.damaged += 1;
            return Ok(());
        };
        for resource in resources {
            let about = resource.get("resource").map(span::attributes_of).unwrap_or_default();
            let scopes = resource.get("scopeSpans").and_then(Json::as_array).unwrap_or_default();
            let spans = scopes.iter().filter_map(|scope| scope.get("spans")?.as_array()).flatten();
            for span in spans {
                if self.spans.len() >= MOST_SPANS {
                    return Err(GatherError::TooLarge);
                }
                self.spans.push(OtlpSpan::of(span, &about));
            }
        }
        Ok(())
    }

    fn write(self, out: &mut RowWriter<'_>) -> Result<(), GatherError> {
        let family = Family::of(&self.spans);
        let mut rows = SpanRows::default();
        let mut strangers = 0;
        for (index, span) in self.spans.iter().enumerate() {
            match family.thread_of(index) {
                Some(thread) => rows.add(span, thread, family.starter_of(index)),
                None => strangers += 1,
            }
        }
        let mut lost = |reason: &'static str, spans: u64, bytes: u64| {
            if spans > 0 {
                let mut row = SpanRow::Lost.row(rows.next_number());
                row.push("reason", reason);
                row.push("spans", spans);
                row.push("bytes", bytes);
                rows.push(None, row);
            }
        };
        lost("spans of another conversation", strangers, 0);
        lost("lines that are not requests", self.damaged, 0);
        lost("lines that are too long", self.too_long, self.too_long_bytes);
        rows.write(family.session(), family.root(), out)
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;
    use crate::json::Json;

    fn span(id: &str, parent: &str, operation: &str, seconds: [u64; 2], more: &str) -> String {
        let [start, end] = seconds.map(|second| second * 1_000_000_000);
        format!(
            r#"{{"traceId":"t1","spanId":"{id}","parentSpanId":"{parent}","name":"{operation} x","startTimeUnixNano":"{start}","endTimeUnixNano":{end},"attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"{operation}"}}}}{more}]}}"#
        )
    }

    fn request(spans: &[String]) -> String {
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
    }

    fn told(content: &str) -> Vec<String> {
        let rows = gathered("t.jsonl", content).unwrap();
        let row = |row: &str| {
            let row = Json::parse(row).unwrap();
            let text = |name: &str| row.get(name).and_then(|value| value.as_str());
            let kind = text("type").unwrap().trim_start_matches("otlp/");
            format!("{kind} {}", text("thread").unwrap_or_default()).trim_end().to_owned()
        };
        rows.lines().map(row).collect()
    }

    #[test]
    fn spans_become_rows_in_order_of_time_with_the_agent_whose_they_are() {
        let agent = r#",{"key":"gen_ai.agent.id","value":{"stringValue":"helper"}}"#;
        let other = span("z", "", "chat", [1, 2], "").replace("t1", "t2");
        let spans = [
            span("c", "b", "chat", [4, 5], ""),
            span("d", "a", "execute_tool", [2, 9], ""),
            span("b", "d", "invoke_agent", [3, 6], agent),
            span("a", "", "invoke_agent", [1, 10], ""),
            other,
        ];
        let expected = ["session", "call", "span helper", "chat helper", "result", "end", "lost"];
        assert_eq!(told(&request(&spans)), expected);
        let lines: Vec<String> =
            spans.iter().map(|span| request(std::slice::from_ref(span))).collect();
        assert_eq!(told(&lines.join("\n")), expected, "one request per line");
        let spread = request(&spans).replace(",\"", ",\n\"").replacen('{', "{\n", 1);
        assert_eq!(told(&spread), expected, "one document over many lines");
    }
}
