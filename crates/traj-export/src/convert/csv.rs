//! Tool calls as comma-separated values (RFC 4180), for spreadsheets.
//!
//! A spreadsheet runs a cell that begins like a formula. Text that does gets an
//! apostrophe in front, which spreadsheets show as text; other programs see the
//! apostrophe.

use std::io::{self, Write as _};

use super::call_rows::{CallRow, Cell};
use super::losses::{Loss, Losses};
use super::pieces::Piece;
use super::survey::Survey;
use super::{Converter, Output, Wants};

/// Characters that begin a formula. Spreadsheets in East Asia take the wide ones too.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠'];

/// Characters that some spreadsheets skip before a formula, or split a cell at.
const SKIPPED: [char; 3] = ['\t', '\r', '\n'];

pub(super) struct CsvCalls<'w> {
    out: Output<'w>,
    session: String,
    rows: u64,
}

impl<'w> CsvCalls<'w> {
    pub(super) fn new(mut out: Output<'w>) -> io::Result<Self> {
        let mut line = CallRow::COLUMNS.join(",");
        line.push_str("\r\n");
        out.write_all(line.as_bytes())?;
        Ok(Self { out, session: String::new(), rows: 0 })
    }
}

impl Converter for CsvCalls<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        self.session.clone_from(&survey.session);
        Ok(())
    }

    fn piece(&mut self, piece: Piece, losses: &mut Losses) -> io::Result<()> {
        let Piece::Message(message) = piece else { return Ok(()) };
        for row in CallRow::of(&self.session, &message) {
            let mut line = String::new();
            for (index, cell) in row.cells().into_iter().enumerate() {
                if index > 0 {
                    line.push(',');
                }
                losses.add(Loss::FormulaPrefix, u64::from(push_cell(&mut line, cell)));
            }
            line.push_str("\r\n");
            self.out.write_all(line.as_bytes())?;
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.rows)
    }
}

/// Adds a cell; returns whether it would have begun a formula.
fn push_cell(line: &mut String, cell: Cell<'_>) -> bool {
    match cell {
        Cell::Empty => {}
        Cell::Text(text) => return push_text(line, text),
        Cell::Time(at) => line.push_str(&at.to_iso()),
        Cell::Count(count) => line.push_str(&count.to_string()),
        Cell::Whole(number) => line.push_str(&number.to_string()),
        Cell::Amount(amount) => line.push_str(&amount.to_string()),
        Cell::Flag(flag) => line.push_str(if flag { "true" } else { "false" }),
    }
    false
}

fn push_text(line: &mut String, text: &str) -> bool {
    let begins = |letter: char| letter.is_whitespace() || letter == '\u{feff}';
    let is_formula =
        text.starts_with(SKIPPED) || text.trim_start_matches(begins).starts_with(FORMULA);
    let is_quoted = is_formula || text.contains(['"', ',', '\r', '\n', '\0']);
    if !is_quoted {
        line.push_str(text);
        return false;
    }
    line.push('"');
    if is_formula {
        line.push('\'');
    }
    // Readers in C stop at a zero.
    line.push_str(&text.replace('"', "\"\"").replace('\0', "\u{fffd}"));
    line.push('"');
    is_formula
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        let mut line = String::new();
        push_cell(&mut line, Cell::Text(text));
        line
    }

    #[test]
    fn a_cell_is_quoted_when_it_must_be() {
        assert_eq!(cell("plain text"), "plain text");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(cell("two\nlines"), "\"two\nlines\"");
    }

    #[test]
    fn no_cell_begins_a_formula() {
        let wide = ["＝1+1", "＋1", "－2", "＠sum(a)", "\u{feff}=1", "\u{a0}=1"];
        for text in
            ["=1+1", "+1", "-2", "@sum(a)", "\t=1", "  =1", "|cmd", "\rx"].iter().chain(&wide)
        {
            assert!(cell(text).starts_with("\"'"), "{text}");
        }
        let mut line = String::new();
        assert!(!push_cell(&mut line, Cell::Whole(-2)));
        assert_eq!(line, "-2", "a number is a number");
    }
}
