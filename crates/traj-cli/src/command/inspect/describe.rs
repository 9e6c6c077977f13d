//! A summary as text, most important first: how the run ended, what went wrong,
//! where time and tokens went. All of it is data from a bundle and is escaped.

use traj_export::{CallSummary, Summary, TimelineRow, UsageSummary};

use crate::command::verify;
use crate::quantity::counted;
use crate::terminal_text::escape_control;

/// How many rows of the timeline are printed, from its start and from its end.
const FIRST_ROWS: usize = 40;
const LAST_ROWS: usize = 20;

/// How many errors and slow calls are printed.
const ERRORS: usize = 10;
const SLOWEST: usize = 5;

/// The whole summary.
pub(super) fn describe(summary: &Summary) -> String {
    let mut lines = Vec::new();
    lines.extend(summary.problems.iter().map(verify::describe_problem));
    lines.extend(verify::describe_omitted(summary.problems_omitted));
    session(summary, &mut lines);
    ending(summary, &mut lines);
    failure(summary, &mut lines);
    time(summary, &mut lines);
    tokens(summary, &mut lines);
    tools(summary, &mut lines);
    slowest(summary, &mut lines);
    approvals(summary, &mut lines);
    counts(summary, &mut lines);
    redaction(summary, &mut lines);
    lines.extend(summary.warnings.iter().map(|warning| {
        format!("warning   {} × {}", warning.count, escape_control(&warning.message))
    }));
    timeline(summary, &mut lines);
    lines.join("\n") + "\n"
}

fn session(summary: &Summary, lines: &mut Vec<String>) {
    let shown =
        |value: &Option<String>| escape_control(value.as_deref().unwrap_or("-")).into_owned();
    lines.push(format!("session   {}", shown(&summary.session_id)));
    if summary.session_key.is_some() {
        lines.push(format!("key       {}", shown(&summary.session_key)));
    }
    if summary.agent.is_some() {
        lines.push(format!("agent     {}", shown(&summary.agent)));
    }
    if summary.other_branch_entries > 0 {
        let (branches, entries) = (summary.other_branches, summary.other_branch_entries);
        lines.push(format!(
            "branches  {branches} left out ({})",
            if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
        ));
    }
    for (id, count) in &summary.sub_runs {
        lines.push(format!("sub-agent {} ({})", escape_control(id), counted(*count, "event")));
    }
}

/// How the run ended, and what else went wrong.
fn ending(summary: &Summary, lines: &mut Vec<String>) {
    match summary.status.as_deref() {
        Some("open") => lines.push("ended     did not end".to_owned()),
        Some(status) => lines.push(format!("ended     {}", escape_control(status))),
        None => lines.push("ended     not stated".to_owned()),
    }
    if summary.endings.len() > 1 || summary.other_endings > 0 {
        let more = match summary.other_endings {
            0 => String::new(),
            count => format!(", … {count} more"),
        };
        lines.push(format!("runs      {}{more}", escape_control(&summary.endings.join(", "))));
    }
    let errors = summary.errors.iter().take(ERRORS);
    lines.extend(errors.map(|error| format!("error     {}", escape_control(error))));
    let more = summary.errors.len().saturating_sub(ERRORS) as u64 + summary.other_errors;
    if more > 0 {
        lines.push(format!("error     … {more} more"));
    }
    if summary.lost_events > 0 {
        lines.push(format!("lost      {} events", summary.lost_events));
    }
    let gaps = summary.gaps.iter();
    lines.extend(gaps.map(|gap| format!("gap       {}", escape_control(gap))));
}

/// The first failure, with the last lines of its output.
fn failure(summary: &Summary, lines: &mut Vec<String>) {
    let Some(failure) = &summary.first_failure else { return };
    match (&failure.call, &failure.error) {
        (Some(call), _) => {
            lines.push(format!("failed    {}", call_in_words(call)));
            let output = call.output.as_deref().unwrap_or_default();
            lines
                .extend(output.lines().map(|line| format!("          │ {}", escape_control(line))));
        }
        (None, Some(error)) => {
            let error = escape_control(error);
            lines.push(format!("failed    #{} {error}", failure.seq));
        }
        (None, None) => {}
    }
}

/// A call on one line: number, tool, command, outcome, duration.
fn call_in_words(call: &CallSummary) -> String {
    let command = call.command.as_deref().unwrap_or_default();
    let outcome = call.outcome_in_words();
    let seconds = call.millis.map(|millis| format!(", {}", seconds(millis))).unwrap_or_default();
    let (tool, command) = (escape_control(&call.tool), escape_control(command));
    let gap = if command.is_empty() { "" } else { " " };
    format!("#{} {tool}{gap}{command} ({outcome}{seconds})", call.seq)
}

fn seconds(millis: i64) -> String {
    format!("{:.1} s", millis as f64 / 1_000.0)
}

/// The duration of the run, and where the time went.
fn time(summary: &Summary, lines: &mut Vec<String>) {
    let shown =
        |value: &Option<String>| escape_control(value.as_deref().unwrap_or("-")).into_owned();
    let (started, ended) = (shown(&summary.started_at), shown(&summary.ended_at));
    lines.push(format!("from      {started} to {ended} ({})", seconds(summary.duration_millis)));
    let time = &summary.time;
    let shares = [
        ("model", time.model_millis),
        ("tools", time.tool_millis),
        ("waiting for a person", time.person_millis),
        ("idle", time.idle_millis),
    ];
    let shares = shares.into_iter().filter(|(_, millis)| *millis > 0);
    let shares: Vec<_> =
        shares.map(|(name, millis)| format!("{name} {}", seconds(millis))).collect();
    if !shares.is_empty() {
        lines.push(format!("time      {}", shares.join(", ")));
    }
}

/// Tokens, context and cost, in total and per model.
fn tokens(summary: &Summary, lines: &mut Vec<String>) {
    if summary.usage.calls > 0 {
        lines.push(format!("usage     {}", usage_in_words(&summary.usage)));
    }
    let context = &summary.context;
    if context.peak_tokens > 0 {
        let compacted = match context.compactions {
            0 => String::new(),
            1 => ", compacted once".to_owned(),
            times => format!(", compacted {times} times"),
        };
        lines.push(format!(
            "context   {} tokens at first, {} at most, {} at last{compacted}",
            context.first_tokens, context.peak_tokens, context.last_tokens
        ));
    }
    let models = summary.usage_by_model.iter();
    lines.extend(models.map(|(name, usage)| {
        let (name, usage) = (escape_control(name), usage_in_words(usage));
        format!("model     {name}: {usage}")
    }));
    if summary.other_models > 0 {
        lines.push(format!("model     … {} calls of other models", summary.other_models));
    }
}

fn usage_in_words(usage: &UsageSummary) -> String {
    let calls = if usage.calls == 1 { "call" } else { "calls" };
    let cost = match (usage.cost, usage.currency.as_deref()) {
        (Some(cost), Some(currency)) => {
            let origin =
                if usage.cost_origin.as_deref() == Some("stated") { "" } else { " (computed)" };
            format!("cost {cost:.4} {}{origin}", escape_control(currency))
        }
        _ => "cost unknown".to_owned(),
    };
    format!(
        "{} model {calls}, {} tokens in ({} cached), {} out, {cost}",
        usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens
    )
}

fn tools(summary: &Summary, lines: &mut Vec<String>) {
    if summary.tools.is_empty() {
        return;
    }
    lines.push("tools      calls  errors  no result  total s  longest s".to_owned());
    lines.extend(summary.tools.iter().map(|(name, tool)| {
        format!(
            "  {:>12}  {:>6}  {:>9}  {:>7.1}  {:>9.1}  {}",
            tool.calls,
            tool.errors,
            tool.unanswered,
            tool.total_millis as f64 / 1_000.0,
            tool.longest_millis as f64 / 1_000.0,
            escape_control(name),
        )
    }));
    lines.extend(others(12, summary.other_tools, "of other tools"));
}

fn slowest(summary: &Summary, lines: &mut Vec<String>) {
    let slowest = summary.slowest.iter().take(SLOWEST);
    lines.extend(slowest.map(|call| format!("slowest   {}", call_in_words(call))));
}

/// Who allowed what.
fn approvals(summary: &Summary, lines: &mut Vec<String>) {
    if summary.approvals_asked == 0 && summary.approvals.is_empty() {
        return;
    }
    let (asked, denied) = (summary.approvals_asked, summary.approvals_denied);
    lines.push(format!("approvals {asked} requested, {denied} denied"));
    lines.extend(summary.approvals.iter().map(|approval| {
        let decider = approval.decider.as_deref().map(|decider| format!(" by {decider}"));
        let scope = approval.scope.as_deref().filter(|scope| *scope != "once");
        let scope = scope.map(|scope| format!(" for the {scope}"));
        let reason = approval.reason.as_deref().map(|reason| format!(" ({reason})"));
        let line = format!(
            "  {:>6}  {}{}{}: {}{}",
            approval.seq,
            // The scope says the rest.
            approval.decision.map_or("decided", |decision| match decision {
                "approvedForSession" => "approved",
                other => other,
            }),
            decider.unwrap_or_default(),
            scope.unwrap_or_default(),
            approval.subject.as_deref().unwrap_or("something"),
            reason.unwrap_or_default(),
        );
        escape_control(&line).into_owned()
    }));
}

fn counts(summary: &Summary, lines: &mut Vec<String>) {
    lines.push(format!("events    {}", summary.events));
    let counted =
        |(name, count): (&String, &u64)| format!("  {count:>6}  {}", escape_control(name));
    lines.extend(summary.kinds.iter().map(counted));
    lines.extend(others(6, summary.other_kinds, "of other kinds"));
}

fn timeline(summary: &Summary, lines: &mut Vec<String>) {
    let rows = &summary.timeline;
    let printed = |row: &TimelineRow| {
        let (ts, about) = (escape_control(&row.ts), escape_control(&row.about));
        format!("  {:>6}  {ts:24}  {:9}  {about}", row.seq, row.kind).trim_end().to_owned()
    };
    lines.push("timeline".to_owned());
    lines.extend(rows.iter().take(FIRST_ROWS).map(printed));
    let last = rows.len().saturating_sub(LAST_ROWS).max(FIRST_ROWS);
    let between = last.min(rows.len()).saturating_sub(FIRST_ROWS) as u64;
    let between = between.saturating_add(summary.timeline_omitted);
    if between > 0 {
        lines.push(format!("       …  {between} more"));
    }
    lines.extend(rows.iter().skip(last).map(printed));
}

fn redaction(summary: &Summary, lines: &mut Vec<String>) {
    let Some(redaction) = &summary.redaction else {
        lines.push("redacted  unknown".to_owned());
        return;
    };
    lines.push(format!(
        "redacted  {}, {} media, {}",
        counted(redaction.total, "secret"),
        redaction.media,
        counted(redaction.paths, "path")
    ));
    let counted = redaction.rules.iter();
    lines
        .extend(counted.map(|rule| format!("  {:>6}  {}", rule.count, escape_control(&rule.rule))));
}

/// The line for items that are not listed.
fn others(width: usize, count: u64, what: &str) -> Option<String> {
    (count > 0).then(|| format!("  {count:>width$}  … {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_not_listed_are_counted() {
        let mut summary = Summary::default();
        (summary.usage.input_tokens, summary.usage.output_tokens) = (u64::MAX, u64::MAX);
        summary.tools.insert("t".to_owned(), Default::default());
        summary.endings = vec!["success".to_owned(), "error".to_owned()];
        summary.errors = vec!["429".to_owned(); 12];
        (summary.other_kinds, summary.other_models) = (1, 2);
        (summary.other_tools, summary.other_endings, summary.problems_omitted) = (3, 4, 5);
        let text = describe(&summary);
        for line in [
            "damaged  … 5 more places\n",
            "       1  … of other kinds\n",
            "model     … 2 calls of other models\n",
            "             3  … of other tools\n",
            "runs      success, error, … 4 more\n",
            "error     429\nerror     … 2 more\n",
            "redacted  unknown\n",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
    }

    #[test]
    fn an_unknown_cost_is_shown_as_unknown() {
        let mut summary = Summary::default();
        let used = |summary: &Summary| {
            let text = describe(summary);
            text.lines().find(|line| line.starts_with("usage")).map(str::to_owned)
        };
        assert_eq!(used(&summary), None);
        (summary.usage.calls, summary.usage.input_tokens) = (1, 7);
        let unknown = "usage     1 model call, 7 tokens in (0 cached), 0 out, cost unknown";
        assert_eq!(used(&summary).unwrap(), unknown);
        (summary.usage.cost, summary.usage.currency) = (Some(0.25), Some("USD".to_owned()));
        summary.usage.cost_origin = Some("stated".into());
        assert!(used(&summary).unwrap().ends_with("cost 0.2500 USD"));
    }

    #[test]
    fn a_run_that_was_killed_did_not_end() {
        let mut summary = Summary::default();
        summary.status = Some("open".to_owned());
        assert!(describe(&summary).contains("ended     did not end\n"));
    }
}
