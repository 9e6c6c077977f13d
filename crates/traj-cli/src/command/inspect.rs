//! `traj inspect`: a session or bundle at a glance.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use traj_core::timestamp::UnixMillis;
use traj_export::{
    ExportPorts, ExportRequest, InspectError, Selection, Summary, export, inspect, inspect_checked,
};
use traj_fs::{BundleForm, FsBundleSink, FsBundleSource};

use super::{Outcome, export as export_verb, verify};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::interruption::Interruption;
use crate::output::Output;
use crate::progress::{WatchedBundle, WorkBar};
use crate::terminal_text::escape_control;

/// Moments of the timeline that are printed.
const PRINTED_MOMENTS: usize = 60;

#[derive(Debug, Args)]
#[command(
    long_about = "Shows what happened in a session: timeline, models, tool calls with durations \
                  and errors, usage and cost, what was redacted, warnings. Reads a bundle in \
                  place; a session file is exported to a temporary folder first, so what is shown \
                  is redacted.",
    after_help = "Exit codes: 0 shown · 1 not found or not readable · 2 wrong usage · 3 a secret \
                  survived · 4 damaged or not a bundle, shown as far as it goes · \
                  128+N ended by signal N"
)]
pub(crate) struct Arguments {
    /// A bundle (folder, zip, tar.zst) or a session file (.jsonl)
    #[arg(value_name = "BUNDLE|SESSION")]
    subject: PathBuf,
    /// The folder the agent worked in; its path is hidden
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let is_session = arguments.subject.extension().is_some_and(|extension| extension == "jsonl");
    let summary = if is_session {
        inspect_session(arguments, host, output)?
    } else {
        inspect_bundle(arguments, host, output)?
    };
    let fault = (!summary.problems.is_empty()).then_some(ErrorKind::Damaged);
    output.verdict(&summary, fault, describe)
}

fn inspect_bundle(
    arguments: &Arguments,
    host: &Host,
    output: &Output,
) -> Result<Summary, CommandError> {
    let bundle = WatchedBundle::new(verify::open(&arguments.subject, host)?, output);
    let looked = inspect_checked(&bundle, &verify::rules()?, verify::workers());
    looked.map_err(|error| match error {
        InspectError::Source(error) => verify::explain(error),
        secret => CommandError::new(ErrorKind::Findings, secret.to_string())
            .hint("`traj verify` says where"),
    })
}

fn inspect_session(
    arguments: &Arguments,
    host: &Host,
    output: &Output,
) -> Result<Summary, CommandError> {
    let session = host.absolute(&arguments.subject);
    let workspace = host.absolute(&arguments.workspace);
    let redactor = export_verb::redactor(host, output, &workspace)?;
    let workspace = workspace.to_string_lossy();
    let selection = Selection::file(session.to_string_lossy());
    let mut request = ExportRequest::new(selection, workspace, UnixMillis::EPOCH, redactor);
    let parent = session.parent().unwrap_or(Path::new("/")).to_path_buf();
    export_verb::adapt(&mut request, host);
    let interruption = Interruption::watch(host)?;
    let stop = interruption.stop_flag();
    let sources = export_verb::readable(&[parent], host, &request)?.stopping_at(stop.clone());
    let temporary = host.temporary_folder()?;
    let folder = temporary
        .folder()
        .try_clone()
        .map_err(|error| CommandError::failure("cannot use the temporary folder").because(error))?;
    let sink = FsBundleSink::new(folder, BundleForm::Folder).stopping_at(stop);
    let report =
        export(ExportPorts { sources: &sources, sink: &sink }, &request, &WorkBar::new(output))
            .map_err(|error| export_verb::explain_end(error, &interruption))?;
    let bundle = FsBundleSource::open(temporary.folder(), &report.name).map_err(verify::explain)?;
    inspect(&bundle).map_err(verify::explain)
}

fn describe(summary: &Summary) -> String {
    let mut text = String::new();
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        writeln!(text, "{parts}").ok();
    };
    for problem in &summary.problems {
        line(format_args!("{}", verify::describe_problem(problem)));
    }
    if let Some(omitted) = verify::describe_omitted(summary.problems_omitted) {
        line(format_args!("{omitted}"));
    }
    let shown =
        |value: &Option<String>| escape_control(value.as_deref().unwrap_or("-")).into_owned();
    line(format_args!("session   {}", shown(&summary.session_id)));
    if summary.session_key.is_some() {
        line(format_args!("key       {}", shown(&summary.session_key)));
    }
    let seconds = summary.duration_millis as f64 / 1_000.0;
    line(format_args!(
        "from      {} to {} ({seconds:.1} s)",
        shown(&summary.started_at),
        shown(&summary.ended_at)
    ));
    line(format_args!("events    {}", summary.events));
    for (kind, count) in &summary.kinds {
        line(format_args!("  {count:>6}  {}", escape_control(kind)));
    }
    if summary.other_kinds > 0 {
        line(format_args!("  {:>6}  … of other kinds", summary.other_kinds));
    }
    if !summary.models.is_empty() {
        line(format_args!("models"));
        for (model, count) in &summary.models {
            line(format_args!("  {count:>6}  {}", escape_control(model)));
        }
        if summary.other_models > 0 {
            line(format_args!("  {:>6}  … of other models", summary.other_models));
        }
    }
    if !summary.tools.is_empty() {
        line(format_args!("tools      calls  errors  no answer  total s  longest s"));
        for (name, tool) in &summary.tools {
            line(format_args!(
                "  {:>12}  {:>6}  {:>9}  {:>7.1}  {:>9.1}  {}",
                tool.calls,
                tool.errors,
                tool.unanswered,
                tool.total_millis as f64 / 1_000.0,
                tool.longest_millis as f64 / 1_000.0,
                escape_control(name),
            ));
        }
        if summary.other_tools > 0 {
            line(format_args!("  {:>12}  … of other tools", summary.other_tools));
        }
    }
    let usage = &summary.usage;
    if usage.input_tokens.max(usage.output_tokens) > 0 {
        let cost = usage.cost.map_or_else(String::new, |cost| format!(", cost {cost:.4}"));
        line(format_args!(
            "usage     {} tokens in ({} cached), {} out{cost}",
            usage.input_tokens, usage.cached_tokens, usage.output_tokens
        ));
    }
    if !summary.endings.is_empty() {
        let endings = summary.endings.join(", ");
        let more = match summary.other_endings {
            0 => String::new(),
            count => format!(", … {count} more"),
        };
        line(format_args!("ended     {}{more}", escape_control(&endings)));
    }
    line(format_args!("timeline"));
    for moment in summary.timeline.iter().take(PRINTED_MOMENTS) {
        let (ts, kind) = (escape_control(&moment.ts), escape_control(&moment.kind));
        let about = escape_control(&moment.about);
        line(format_args!("  {:>6}  {ts}  {kind}  {about}", moment.seq));
    }
    let kept = summary.timeline.len().saturating_sub(PRINTED_MOMENTS) as u64;
    let left = kept.saturating_add(summary.timeline_omitted);
    if left > 0 {
        line(format_args!("  … {left} more events"));
    }
    let redaction = &summary.redaction;
    line(format_args!(
        "redacted  {} secrets, {} media, {} paths",
        redaction.total, redaction.media, redaction.paths
    ));
    for rule in &redaction.rules {
        line(format_args!("  {:>6}  {}", rule.count, escape_control(&rule.rule)));
    }
    for warning in &summary.warnings {
        let message = escape_control(&warning.message);
        line(format_args!("warning   {} × {message}", warning.count));
    }
    text
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
        (summary.other_kinds, summary.other_models) = (1, 2);
        (summary.other_tools, summary.other_endings, summary.problems_omitted) = (3, 4, 5);
        let text = describe(&summary);
        for line in [
            "damaged  … 5 more places\n",
            "       1  … of other kinds\n",
            "       2  … of other models\n",
            "             3  … of other tools\n",
            "ended     success, … 4 more\n",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
    }
}
