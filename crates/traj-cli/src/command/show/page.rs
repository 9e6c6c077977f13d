//! Styled lines that fit the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::layout::wrap;
use crate::terminal_text::{clip, columns};
use traj_export::Excerpt;

/// The beginning of a marker.
const MARKER: &str = "<redacted:";

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const RED: Style = color(AnsiColor::Red);
pub(super) const GREEN: Style = color(AnsiColor::Green);
pub(super) const YELLOW: Style = color(AnsiColor::Yellow);
pub(super) const CYAN: Style = color(AnsiColor::Cyan);
pub(super) const PLAIN: Style = Style::new();
const HIDDEN: Style = color(AnsiColor::Magenta).invert();

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// Lines of a given width.
#[derive(Debug)]
pub(super) struct TextPage {
    width: usize,
    text: String,
}

impl TextPage {
    pub(super) const fn new(width: usize) -> Self {
        Self { width, text: String::new() }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn blank_line(&mut self) {
        self.text.push('\n');
    }

    /// A title followed by a horizontal rule.
    pub(super) fn rule(&mut self, title: &str, style: Style) {
        let title = clip(&format!("── {title} "), self.width);
        let rule = "─".repeat(self.width.saturating_sub(columns(&title)));
        self.line("", &format!("{title}{rule}"), style, &mut false);
    }

    /// An excerpt, with the number of its hidden lines.
    pub(super) fn excerpt(&mut self, lead: &str, text: &Excerpt, style: Style) {
        if text.is_empty() {
            return;
        }
        self.block(lead, &text.text, style);
        if text.hidden_lines > 0 {
            let lines = if text.hidden_lines == 1 { "line" } else { "lines" };
            let rest = rest_of(lead);
            self.block(&rest, &format!("… {} {lines} hidden", text.hidden_lines), DIM);
            self.block(&rest, &text.rest, style);
        }
    }

    /// One line, cut if it does not fit.
    pub(super) fn clipped(&mut self, lead: &str, text: &str, style: Style) {
        let line = clip(text, self.width.saturating_sub(columns(lead)));
        self.line(lead, &line, style, &mut false);
    }

    /// Wrapped lines, each after the lead. A lead that is a word or a sign only
    /// appears before the first one.
    pub(super) fn block(&mut self, lead: &str, text: &str, style: Style) {
        let room = self.width.saturating_sub(columns(lead));
        let rest = rest_of(lead);
        let mut is_hidden = false;
        for (index, line) in wrap(text, room).iter().enumerate() {
            self.line(if index == 0 { lead } else { &rest }, line, style, &mut is_hidden);
        }
    }

    /// A line. `is_hidden` is whether it begins within a marker; it is updated
    /// for the next line.
    fn line(&mut self, lead: &str, line: &str, style: Style, is_hidden: &mut bool) {
        let lead = if line.is_empty() { lead.trim_end() } else { lead };
        self.put(DIM, lead);
        let mut rest = line;
        while !rest.is_empty() {
            let end =
                if *is_hidden { rest.find('>').map(|end| end + 1) } else { rest.find(MARKER) };
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.put(if *is_hidden { HIDDEN } else { style }, part);
            *is_hidden = *is_hidden != end.is_some();
            rest = after;
        }
        self.text.push('\n');
    }

    fn put(&mut self, style: Style, part: &str) {
        if !part.is_empty() {
            // Writing to a string cannot fail.
            write!(self.text, "{style}{part}{style:#}").ok();
        }
    }
}

/// The lead of the second and later lines.
fn rest_of(lead: &str) -> String {
    if lead.contains('│') { lead.to_owned() } else { " ".repeat(columns(lead)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_values_stand_out_on_every_line_they_take() {
        let mut page = TextPage::new(60);
        page.block("", "key <redacted:a:123456> end", PLAIN);
        let marker = format!("key {HIDDEN}<redacted:a:123456>{HIDDEN:#} end");
        assert_eq!(page.into_text(), format!("{marker}\n"));
        let mut page = TextPage::new(14);
        page.block("", "<redacted:a:123456> end", PLAIN);
        let lines = [
            format!("{HIDDEN}<redacted:a:12{HIDDEN:#}\n"),
            format!("{HIDDEN}3456>{HIDDEN:#} end\n"),
        ];
        assert_eq!(page.into_text(), lines.concat());
    }

    #[test]
    fn a_rule_fills_the_line() {
        let mut page = TextPage::new(20);
        page.rule("turn 1", PLAIN);
        assert_eq!(page.into_text(), "── turn 1 ──────────\n");
    }
}
