//! `traj` alone on a terminal: the newest sessions, and what to do next.

use std::fmt::Write as _;
use std::process::ExitCode;

use traj_core::agents::Agent;

use super::collect::Collection;
use super::report::SessionsReport;
use super::{Filter, listed, table};
use crate::command::Outcome;
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::terminal_text::escape_control;

/// How many sessions are shown.
const SHOWN: usize = 10;

/// How long the suggested beginning of an id may be: whole parts of a UUID.
const SHORT_IDS: [usize; 3] = [8, 13, 18];

pub(crate) fn run(host: &Host, output: &CommandOutput) -> Outcome {
    let collection = Collection::of_roots_or_agents(host)?;
    let prices = host.prices(None)?;
    let filter = Filter { limit: Some(SHOWN), ..Filter::default() };
    let report = listed(collection, &filter, &prices, true, host, output)?;
    output.write_text(&text(&report, output.terminal_width(host)))?;
    Ok(ExitCode::SUCCESS)
}

fn text(report: &SessionsReport, width: Option<usize>) -> String {
    let Some(newest) = report.sessions.first() else { return without_sessions() };
    let is_only = |beginning: &&str| {
        let sessions = report.sessions.iter();
        sessions.filter(|session| session.session_id.starts_with(beginning)).count() == 1
    };
    let beginnings = SHORT_IDS.iter().filter_map(|length| newest.session_id.get(..*length));
    let beginning = beginnings.filter(|id| id.is_ascii()).find(is_only);
    let id = beginning.unwrap_or(&newest.session_id);
    let name = escape_control(newest.key.as_deref().unwrap_or(id));
    let older = match report.not_read {
        0 => String::new(),
        older => format!(" ({older} more)"),
    };
    let rows = [
        (format!("traj show {name}"), "read it; without an id, the newest of this directory"),
        (format!("traj view {name}"), "the same as one HTML page"),
        (format!("traj inspect {name}"), "calls, failures, tokens, cost and time"),
        (format!("traj export {name}"), "a redacted bundle that can be sent"),
        ("traj sessions".to_owned(), "all sessions"),
        ("traj --help".to_owned(), "all commands"),
    ];
    let widest = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let mut text = table::describe(&report.sessions, width);
    text.push_str("\nNext:\n");
    for (command, about) in rows {
        let older = if about == "all sessions" { older.as_str() } else { "" };
        let padding = " ".repeat(widest.saturating_sub(command.chars().count()));
        // Writing to a string cannot fail.
        let _written = writeln!(text, "  {command}{padding}  {about}{older}");
    }
    text
}

fn without_sessions() -> String {
    let agents: Vec<&str> = Agent::all().iter().map(|agent| agent.title).collect();
    let (last, rest) = agents.split_last().unwrap_or((&"", &[]));
    format!(
        "No sessions were found where {} and {last} keep theirs.\n\n\
         Next:\n  traj sessions DIRECTORY  list the sessions somewhere else\n  \
         traj doctor              check the setup\n  \
         traj --help              all commands\n",
        rest.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::sessions::report::SessionRow;

    #[test]
    fn the_newest_session_is_suggested_by_the_beginning_of_its_id() {
        let session = |key: Option<&str>, id: &str| SessionRow {
            key: key.map(str::to_owned),
            session_id: id.to_owned(),
            exists: true,
            ..SessionRow::default()
        };
        let of = |session: SessionRow| {
            let sessions = vec![session];
            text(&SessionsReport { sessions, not_read: 3, ..SessionsReport::default() }, None)
        };
        let plain = of(session(None, "0199a213-81c0-7800"));
        assert!(plain.contains("  traj show 0199a213     read it;"), "{plain}");
        assert!(plain.contains("all sessions (3 more)\n"), "{plain}");
        let with_key = of(session(Some("agent:main:main"), "0199a213-81c0-7800"));
        assert!(with_key.contains("traj show agent:main:main"), "{with_key}");
        let odd = of(session(None, "e\u{1b}[31m"));
        assert!(!odd.contains('\u{1b}'), "{odd}");
    }

    #[test]
    fn without_sessions_it_says_where_it_looked() {
        let text = text(&SessionsReport::default(), None);
        assert!(text.contains("Claude Code, Codex,") && text.contains("and Qwen Code"), "{text}");
    }
}
