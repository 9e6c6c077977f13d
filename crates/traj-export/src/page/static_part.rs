//! The summary as plain HTML: for mail previews, and for readers without
//! scripts.

use std::fmt::Write as _;

use super::PageFinding;
use super::frame::escape;
use super::overview::Overview;
use crate::inspect::{Summary, cost_in_words, counted, duration_in_words, grouped};

/// At most this many findings are listed; the others are counted.
const MOST_FINDINGS: usize = 200;

/// The summary.
pub(super) fn summary(
    title: &str,
    summary: &Summary,
    overview: &Overview,
    review: Option<&[PageFinding]>,
) -> String {
    let mut html = String::from("<div id=\"static\">\n");
    if let Some(findings) = review {
        add_findings(&mut html, findings);
    }
    // Writing to a string does not fail, here and below.
    writeln!(html, "<h1>{}</h1>\n<p>{}</p>", escape(title), escape(&overview.ended_text)).ok();
    if let Some(failure) = &overview.failure {
        writeln!(html, "<h2>What went wrong</h2>\n<p>{}</p>", escape(&failure.sentence())).ok();
        if !failure.last_lines.is_empty() {
            writeln!(html, "<pre>{}</pre>", escape(&failure.last_lines.join("\n"))).ok();
        }
    }
    html.push_str("<h2>Summary</h2>\n<dl>\n");
    for (name, value) in facts(summary) {
        writeln!(html, "<dt>{name}</dt><dd>{}</dd>", escape(&value)).ok();
    }
    html.push_str("</dl>\n");
    if !overview.worth.is_empty() {
        html.push_str("<h2>Worth a look</h2>\n<ul>\n");
        for place in &overview.worth {
            writeln!(html, "<li>{}</li>", escape(&place.text)).ok();
        }
        html.push_str("</ul>\n");
    }
    add_tools(&mut html, summary);
    html.push_str(
        "<p>The conversation is in this file. A browser with JavaScript shows it; nothing is \
         loaded from the network.</p>\n</div>\n",
    );
    html
}

fn facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let usage = &summary.usage;
    let models: Vec<&str> = summary.models.keys().map(String::as_str).collect();
    let time = |millis: i64| u64::try_from(millis).ok().filter(|millis| *millis > 0);
    let calls = match summary.calls.errors {
        0 => counted(summary.calls.calls, "call"),
        failed => format!("{} ({} failed)", counted(summary.calls.calls, "call"), grouped(failed)),
    };
    let tokens = format!(
        "{} in ({} cached), {} out",
        grouped(usage.input_tokens),
        grouped(usage.cached_tokens),
        grouped(usage.output_tokens)
    );
    let facts = [
        ("Session", summary.session_id.clone()),
        ("Agent", summary.agent.clone()),
        ("Models", (!models.is_empty()).then(|| models.join(", "))),
        ("Started", summary.started_at.clone()),
        ("Ended", summary.ended_at.clone()),
        ("Duration", time(summary.duration_millis).map(duration_in_words)),
        ("Model time", time(summary.time.model_millis).map(duration_in_words)),
        ("Tool time", time(summary.time.tool_millis).map(duration_in_words)),
        ("Waiting for a person", time(summary.time.person_millis).map(duration_in_words)),
        ("Turns", Some(grouped(summary.turns))),
        ("Tool calls", Some(calls)),
        ("Model calls", Some(grouped(usage.calls))),
        ("Tokens", (usage.calls > 0).then_some(tokens)),
        ("Largest context", (usage.calls > 0).then(|| grouped(summary.context.peak_tokens))),
        ("Cost", (usage.calls > 0).then(|| cost_in_words(usage))),
        ("Events", Some(grouped(summary.events))),
        ("Redacted values", summary.redaction.as_ref().map(|hidden| grouped(hidden.total))),
        ("Warnings", (!summary.warnings.is_empty()).then(|| warnings(summary))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn warnings(summary: &Summary) -> String {
    let lines =
        summary.warnings.iter().map(|warning| format!("{} × {}", warning.count, warning.code));
    lines.collect::<Vec<_>>().join(", ")
}

fn add_tools(html: &mut String, summary: &Summary) {
    if summary.tools.is_empty() {
        return;
    }
    html.push_str("<h2>Tools</h2>\n<table>\n<tr><th>Tool</th><th>Calls</th><th>Failed</th></tr>\n");
    for (name, tool) in &summary.tools {
        let (name, calls) = (escape(name), grouped(tool.calls));
        writeln!(html, "<tr><td>{name}</td><td>{calls}</td><td>{}</td></tr>", grouped(tool.errors))
            .ok();
    }
    html.push_str("</table>\n");
}

fn add_findings(html: &mut String, findings: &[PageFinding]) {
    html.push_str("<h2>For review only: do not send this page</h2>\n");
    if findings.is_empty() {
        html.push_str("<p>Nothing suspicious is left.</p>\n");
        return;
    }
    html.push_str("<ul>\n");
    for finding in findings.iter().take(MOST_FINDINGS) {
        let (rule, file) = (escape(&finding.rule), escape(&finding.file));
        writeln!(html, "<li>{rule} in {file} row {} ({})</li>", finding.row, finding.count).ok();
    }
    html.push_str("</ul>\n");
    let more = findings.len().saturating_sub(MOST_FINDINGS) as u64;
    if more > 0 {
        writeln!(html, "<p>and {}</p>", counted(more, "more place")).ok();
    }
}
