//! A listing for people: a header and one line per session.

use super::report::SessionRow;
use crate::quantity;
use crate::terminal_text::{clip, columns, escape_control};

/// The space between two columns.
const GAP: usize = 2;

/// A column: its content, and how it shrinks.
struct Column {
    title: &'static str,
    kind: ColumnKind,
    /// If shrinking is not enough, columns with a higher rank are dropped first.
    /// Columns of rank 0 are never dropped.
    rank: u8,
    text: fn(&SessionRow) -> String,
}

enum ColumnKind {
    /// Right-aligned, and never shortened.
    Number,
    /// Shrinks to at least this width.
    Text(usize),
}

impl Column {
    const fn number(title: &'static str, rank: u8, text: fn(&SessionRow) -> String) -> Self {
        Self { title, kind: ColumnKind::Number, rank, text }
    }

    const fn text(
        title: &'static str,
        narrowest: usize,
        rank: u8,
        text: fn(&SessionRow) -> String,
    ) -> Self {
        Self { title, kind: ColumnKind::Text(narrowest), rank, text }
    }

    /// How much narrower the column can become.
    const fn room(&self, width: usize) -> usize {
        match self.kind {
            ColumnKind::Number => 0,
            ColumnKind::Text(narrowest) => width.saturating_sub(narrowest),
        }
    }
}

const HIGHEST_RANK: u8 = 9;

const COLUMNS: [Column; 13] = [
    Column::text("UPDATED", 20, 0, updated),
    Column::text("AGENT", 8, 2, agent),
    Column::text("STATUS", 7, 0, status),
    Column::number("SIZE", 7, size),
    Column::number("EVENTS", HIGHEST_RANK, events),
    Column::number("CALLS", 5, |session| session.calls.calls.to_string()),
    Column::number("FAILED", 3, |session| session.calls.errors.to_string()),
    Column::number("TOKENS IN", 8, |session| tokens(session.input_tokens)),
    Column::number("OUT", 8, |session| tokens(session.output_tokens)),
    Column::number("COST", 4, cost),
    Column::text("MODEL", 12, 6, model),
    Column::text("TITLE", 14, 1, title),
    Column::text("SESSION", 13, 0, name),
];

/// The whole listing, at most `width` columns wide if given.
pub(super) fn describe(sessions: &[SessionRow], width: Option<usize>) -> String {
    if sessions.is_empty() {
        return "there are no sessions\n".to_owned();
    }
    let cells: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| {
            let texts = COLUMNS.iter().map(|column| (column.text)(session));
            texts.map(|text| escape_control(&text).into_owned()).collect()
        })
        .collect();
    let titles: Vec<String> = COLUMNS.iter().map(|column| column.title.to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&titles).chain(&cells).collect();
    let widest = |at: usize| {
        let cells = lines.iter().filter_map(|line| line.get(at));
        cells.map(|cell| columns(cell)).max().unwrap_or_default()
    };
    let widths = fit((0..COLUMNS.len()).map(widest).collect(), width);
    lines.iter().map(|line| row(line, &widths)).collect()
}

/// Shrinks columns, the widest first, then drops some.
fn fit(mut widths: Vec<usize>, width: Option<usize>) -> Vec<usize> {
    let Some(width) = width else { return widths };
    let total = |widths: &[usize]| {
        let shown = widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
    };
    for rank in (0..=HIGHEST_RANK).rev() {
        while total(&widths) > width {
            let texts = widths.iter_mut().zip(&COLUMNS);
            match texts.max_by_key(|(width, column)| column.room(**width)) {
                Some((widest, column)) if column.room(*widest) > 0 => *widest -= 1,
                _ => break,
            }
        }
        if total(&widths) <= width || rank == 0 {
            break;
        }
        for (width, _) in widths.iter_mut().zip(&COLUMNS).filter(|(_, column)| column.rank == rank)
        {
            *width = 0;
        }
    }
    // The last column gives up the rest.
    let surplus = total(&widths).saturating_sub(width);
    if let Some(last) = widths.last_mut() {
        *last = last.saturating_sub(surplus).max(1);
    }
    widths
}

fn row(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((cell, width), column) in cells.iter().zip(widths).zip(&COLUMNS) {
        if *width == 0 {
            continue;
        }
        if !line.is_empty() {
            line.push_str(&" ".repeat(GAP));
        }
        let cell = clip(cell, *width);
        let padding = " ".repeat(width.saturating_sub(columns(&cell)));
        if matches!(column.kind, ColumnKind::Number) {
            line.push_str(&padding);
            line.push_str(&cell);
        } else {
            line.push_str(&cell);
            line.push_str(&padding);
        }
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}

/// The time of the last change in UTC, to the second.
fn updated(session: &SessionRow) -> String {
    let at = session.updated_at.as_deref().and_then(|at| at.split_once('.'));
    at.map_or_else(|| "-".to_owned(), |(seconds, _)| format!("{seconds}Z"))
}

fn agent(session: &SessionRow) -> String {
    or_dash(session.agent.as_deref())
}

fn status(session: &SessionRow) -> String {
    or_dash(session.status_shown())
}

fn size(session: &SessionRow) -> String {
    let bytes = session.bytes.saturating_add(session.trajectory_bytes.unwrap_or_default());
    quantity::shown_size(bytes)
}

fn events(session: &SessionRow) -> String {
    session.events.map_or_else(|| "-".to_owned(), |events| events.to_string())
}

/// A token count in short form.
#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn tokens(count: Option<u64>) -> String {
    match count {
        None => "-".to_owned(),
        Some(count @ 0..10_000) => count.to_string(),
        Some(count @ 10_000..1_000_000) => format!("{:.1}k", count as f64 / 1e3),
        Some(count) => format!("{:.1}M", count as f64 / 1e6),
    }
}

fn cost(session: &SessionRow) -> String {
    let usage = &session.usage;
    match (usage.cost, usage.currency.as_deref()) {
        (Some(cost), Some("USD")) => format!("${cost:.2}"),
        (Some(cost), currency) => format!("{cost:.2} {}", currency.unwrap_or_default()),
        (None, _) => "-".to_owned(),
    }
}

fn title(session: &SessionRow) -> String {
    or_dash(session.title.as_deref())
}

fn model(session: &SessionRow) -> String {
    or_dash(session.model.as_deref())
}

fn name(session: &SessionRow) -> String {
    let name = session.key.as_deref().unwrap_or(&session.session_id);
    if session.exists { name.to_owned() } else { format!("{name} (no transcript)") }
}

#[cfg(test)]
mod tests {
    use traj_core::run::CallTotals;
    use traj_export::ToolSummary;

    use super::*;

    fn totals(calls: u64, failed: u64) -> CallTotals {
        let mut totals = CallTotals::default();
        (totals.calls, totals.failed) = (calls, failed);
        totals
    }

    fn sessions() -> Vec<SessionRow> {
        let mut one = SessionRow {
            key: Some("agent:main:telegram:direct:日本語の名前です".to_owned()),
            exists: true,
            bytes: 48_213,
            events: Some(212),
            updated_at: Some("2026-06-01T10:00:05.123Z".to_owned()),
            agent: Some("openclaw".to_owned()),
            status: Some("error".to_owned()),
            calls: ToolSummary::of(&totals(14, 2)),
            input_tokens: Some(30_761),
            output_tokens: Some(821),
            model: Some("anthropic/claude-sonnet-4-5".to_owned()),
            title: Some("Fix the import of the parser in two files".to_owned()),
            ..SessionRow::default()
        };
        (one.usage.cost, one.usage.currency) = (Some(0.4231), Some("USD".to_owned()));
        let other = SessionRow {
            session_id: "5a1c\u{1b}[31m".to_owned(),
            status: Some("open".to_owned()),
            running: true,
            trajectory_bytes: Some(7),
            ..SessionRow::default()
        };
        vec![one, other]
    }

    #[test]
    fn a_wide_terminal_shows_everything() {
        insta::assert_snapshot!(describe(&sessions(), None), @r"
        UPDATED               AGENT     STATUS       SIZE  EVENTS  CALLS  FAILED  TOKENS IN  OUT   COST  MODEL                        TITLE                                      SESSION
        2026-06-01T10:00:05Z  openclaw  error    47.1 KiB     212     14       2      30.8k  821  $0.42  anthropic/claude-sonnet-4-5  Fix the import of the parser in two files  agent:main:telegram:direct:日本語の名前です
        -                     -         running       7 B       -      0       0          -    -      -  -                            -                                          5a1c\u{1b}[31m (no transcript)
        ");
    }

    #[test]
    fn columns_shrink_and_are_then_dropped() {
        insta::assert_snapshot!(describe(&sessions(), Some(130)), @r"
        UPDATED               AGENT     STATUS       SIZE  CALLS  FAILED   COST  MODEL         TITLE           SESSION
        2026-06-01T10:00:05Z  openclaw  error    47.1 KiB     14       2  $0.42  anthropic/c…  Fix the impor…  agent:main:t…
        -                     -         running       7 B      0       0      -  -             -               5a1c\u{1b}[3…
        ");
        insta::assert_snapshot!(describe(&sessions(), Some(80)), @r"
        UPDATED               AGENT     STATUS   FAILED  TITLE           SESSION
        2026-06-01T10:00:05Z  openclaw  error         2  Fix the impor…  agent:main:t…
        -                     -         running       0  -               5a1c\u{1b}[3…
        ");
        insta::assert_snapshot!(describe(&sessions(), Some(40)), @r"
        UPDATED               STATUS   SESSION
        2026-06-01T10:00:05Z  error    agent:ma…
        -                     running  5a1c\u{1…
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 30..220 {
            for line in describe(&sessions(), Some(width)).lines() {
                assert!(columns(line) <= width.max(32), "{width}: {line:?}");
                assert!(!line.contains(['\t', '\u{1b}']), "{line:?}");
            }
        }
    }

    #[test]
    fn an_empty_listing_says_so() {
        assert_eq!(describe(&[], Some(80)), "there are no sessions\n");
    }
}
