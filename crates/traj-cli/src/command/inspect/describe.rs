//! A summary as text, a section at a time. Everything in it is data from a
//! bundle, and is escaped.

use traj_export::{Moment, Summary};

use crate::command::verify;
use crate::terminal_text::escape_control;

/// Moments of the timeline that are printed, from its start and from its end.
const FIRST_MOMENTS: usize = 40;
const LAST_MOMENTS: usize = 20;

/// Errors that are printed.
const ERRORS: usize = 10;

/// The whole summary.
pub(super) fn describe(summary: &Summary) -> String {
    let mut lines = Vec::new();
    lines.extend(summary.problems.iter().map(verify::describe_problem));
    lines.extend(verify::describe_omitted(summary.problems_omitted));
    session(summary, &mut lines);
    counts(summary, &mut lines);
    tools(summary, &mut lines);
    ends(summary, &mut lines);
    timeline(summary, &mut lines);
    redaction(summary, &mut lines);
    lines.extend(summary.warnings.iter().map(|warning| {
        format!("warning   {} × {}", warning.count, escape_control(&warning.message))
    }));
    lines.join("\n") + "\n"
}

fn session(summary: &Summary, lines: &mut Vec<String>) {
    let shown =
        |value: &Option<String>| escape_control(value.as_deref().unwrap_or("-")).into_owned();
    lines.push(format!("session   {}", shown(&summary.session_id)));
    if summary.session_key.is_some() {
        lines.push(format!("key       {}", shown(&summary.session_key)));
    }
    let seconds = summary.duration_millis as f64 / 1_000.0;
    let (started, ended) = (shown(&summary.started_at), shown(&summary.ended_at));
    lines.push(format!("from      {started} to {ended} ({seconds:.1} s)"));
}

fn counts(summary: &Summary, lines: &mut Vec<String>) {
    lines.push(format!("events    {}", summary.events));
    let counted =
        |(name, count): (&String, &u64)| format!("  {count:>6}  {}", escape_control(name));
    lines.extend(summary.kinds.iter().map(counted));
    lines.extend(others(6, summary.other_kinds, "of other kinds"));
    if !summary.models.is_empty() {
        lines.push("models, and how many events name them".to_owned());
        lines.extend(summary.models.iter().map(counted));
        lines.extend(others(6, summary.other_models, "of other models"));
    }
}

fn tools(summary: &Summary, lines: &mut Vec<String>) {
    if summary.tools.is_empty() {
        return;
    }
    lines.push("tools      calls  errors  no answer  total s  longest s".to_owned());
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

fn ends(summary: &Summary, lines: &mut Vec<String>) {
    let usage = &summary.usage;
    let tokens = (usage.tokens() > 0).then(|| {
        format!(
            "{} tokens in ({} cached), {} out",
            usage.input_tokens, usage.cached_tokens, usage.output_tokens
        )
    });
    let cost = usage.cost.map(|cost| format!("cost {cost:.4}"));
    let used: Vec<String> = tokens.into_iter().chain(cost).collect();
    if !used.is_empty() {
        lines.push(format!("usage     {}", used.join(", ")));
    }
    if !summary.endings.is_empty() {
        let more = match summary.other_endings {
            0 => String::new(),
            count => format!(", … {count} more"),
        };
        lines.push(format!("ended     {}{more}", escape_control(&summary.endings.join(", "))));
    }
    let errors = summary.errors.iter().take(ERRORS);
    lines.extend(errors.map(|error| format!("error     {}", escape_control(error))));
    let more = summary.errors.len().saturating_sub(ERRORS) as u64 + summary.other_errors;
    if more > 0 {
        lines.push(format!("error     … {more} more"));
    }
}

fn timeline(summary: &Summary, lines: &mut Vec<String>) {
    let moments = &summary.timeline;
    let printed = |moment: &Moment| {
        let (ts, kind) = (escape_control(&moment.ts), escape_control(&moment.kind));
        let about = escape_control(&moment.about);
        format!("  {:>6}  {ts}  {kind}  {about}", moment.seq).trim_end().to_owned()
    };
    lines.push("timeline".to_owned());
    lines.extend(moments.iter().take(FIRST_MOMENTS).map(printed));
    let last = moments.len().saturating_sub(LAST_MOMENTS).max(FIRST_MOMENTS);
    let between = last.min(moments.len()).saturating_sub(FIRST_MOMENTS) as u64;
    let between = between.saturating_add(summary.timeline_omitted);
    if between > 0 {
        lines.push(format!("       …  {between} more events"));
    }
    lines.extend(moments.iter().skip(last).map(printed));
}

fn redaction(summary: &Summary, lines: &mut Vec<String>) {
    let Some(redaction) = &summary.redaction else {
        lines.push("redacted  is not told".to_owned());
        return;
    };
    lines.push(format!(
        "redacted  {} secrets, {} media, {} paths",
        redaction.total, redaction.media, redaction.paths
    ));
    let counted = redaction.rules.iter();
    lines
        .extend(counted.map(|rule| format!("  {:>6}  {}", rule.count, escape_control(&rule.rule))));
}

/// How many there are besides those that are told apart.
fn others(width: usize, count: u64, what: &str) -> Option<String> {
    (count > 0).then(|| format!("  {count:>width$}  … {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_apart_is_counted() {
        let mut summary = Summary::default();
        (summary.usage.input_tokens, summary.usage.output_tokens) = (u64::MAX, u64::MAX);
        summary.models.insert("m".to_owned(), 1);
        summary.tools.insert("t".to_owned(), Default::default());
        summary.endings.push("success".to_owned());
        summary.errors = vec!["429".to_owned(); 12];
        (summary.other_kinds, summary.other_models) = (1, 2);
        (summary.other_tools, summary.other_endings, summary.problems_omitted) = (3, 4, 5);
        let text = describe(&summary);
        for line in [
            "damaged  … 5 more places\n",
            "       1  … of other kinds\n",
            "       2  … of other models\n",
            "             3  … of other tools\n",
            "ended     success, … 4 more\n",
            "error     429\nerror     … 2 more\n",
            "redacted  is not told\n",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
    }

    #[test]
    fn tokens_and_cost_are_told_whichever_is_known() {
        let mut summary = Summary::default();
        let used = |summary: &Summary| {
            let text = describe(summary);
            text.lines().find(|line| line.starts_with("usage")).map(str::to_owned)
        };
        assert_eq!(used(&summary), None);
        summary.usage.cost = Some(0.25);
        assert_eq!(used(&summary).unwrap(), "usage     cost 0.2500");
        summary.usage.input_tokens = 7;
        let both = "usage     7 tokens in (0 cached), 0 out, cost 0.2500";
        assert_eq!(used(&summary).unwrap(), both);
    }
}
