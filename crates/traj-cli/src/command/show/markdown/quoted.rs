//! Texts of a run inside Markdown. They keep their formatting, and nothing in
//! them becomes markup of the document around them.

use std::fmt::Write as _;

/// A text as a quotation. Emphasis, lists and code stay what they are; HTML,
/// links and images become text.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(fence) = Fence::opened_by(line) else {
            push_quoted(&mut out, &escaped(line));
            continue;
        };
        let mut code = Vec::new();
        for line in lines.by_ref() {
            if fence.is_closed_by(line) {
                break;
            }
            code.push(line);
        }
        // A blank line ends whatever the block could become a part of.
        push_quoted(&mut out, "");
        for line in fenced(&code.join("\n"), &fence.language).lines() {
            push_quoted(&mut out, line);
        }
        push_quoted(&mut out, "");
    }
    out
}

fn push_quoted(out: &mut String, line: &str) {
    // Writing to a string does not fail.
    writeln!(out, "{}", format!("> {line}").trim_end()).ok();
}

/// A text in a block of code that it cannot end.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", without_controls(text))
}

/// A line of Markdown in which only emphasis, headings, lists and code are
/// markup.
pub(super) fn escaped(line: &str) -> String {
    let mut out = String::new();
    let line = without_controls(line);
    let mut rest = line.as_str();
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        push_escaped(&mut out, before);
        let run = from.len() - from.trim_start_matches('`').len();
        let (ticks, after) = from.split_at(run);
        match end_of_code(after, run) {
            Some(end) => {
                let (code, after) = after.split_at(end + run);
                out.push_str(ticks);
                out.push_str(code);
                rest = after;
            }
            None => {
                ticks.chars().for_each(|tick| out.extend(['\\', tick]));
                rest = after;
            }
        }
    }
    push_escaped(&mut out, rest);
    out
}

/// Where code ends that began with this many backticks.
fn end_of_code(text: &str, run: usize) -> Option<usize> {
    let mut place = 0;
    while let Some(start) = text.get(place..)?.find('`') {
        let from = text.get(place + start..)?;
        let length = from.len() - from.trim_start_matches('`').len();
        if length == run {
            return Some(place + start);
        }
        place += start + length;
    }
    None
}

fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        if matches!(character, '\\' | '<' | '&' | '[' | ']' | '!' | '~' | '|' | '$') {
            out.push('\\');
        }
        out.push(character);
    }
}

/// Text for a line of HTML.
pub(super) fn html(text: &str) -> String {
    let mut out = String::new();
    for character in without_controls(text).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// Text without characters that a terminal or a browser would obey.
fn without_controls(text: &str) -> String {
    let is_direction =
        |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |character: char| match character {
        '\n' | '\t' => character,
        other if other.is_control() || is_direction(other) => '\u{fffd}',
        '\u{2028}' | '\u{2029}' => ' ',
        other => other,
    };
    text.chars().map(shown).collect()
}

/// A block of code that a text opens.
struct Fence {
    mark: char,
    length: usize,
    language: String,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        if line.len() - text.len() > 3 {
            return None;
        }
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let about = text.trim_start_matches(mark);
        let length = text.len() - about.len();
        if length < 3 || (mark == '`' && about.contains('`')) {
            return None;
        }
        let is_plain =
            |character: &char| character.is_ascii_alphanumeric() || "+-#".contains(*character);
        let language = about.trim().chars().take_while(is_plain).take(20).collect();
        Some(Self { mark, length, language })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|character| character == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_the_text_stays_in_its_quotation() {
        let text = "# Done\n<img src=x> ![a](http://x) `<b>` *so*\n</details>";
        let expected =
            "> # Done\n> \\<img src=x> \\!\\[a\\](http://x) `<b>` *so*\n> \\</details>\n";
        assert_eq!(quoted(text), expected);
    }

    #[test]
    fn code_is_fenced_anew() {
        assert_eq!(
            quoted("a\n~~~rust x\n```\n<b>\n~~~\nc"),
            "> a\n>\n> ````rust\n> ```\n> <b>\n> ````\n>\n> c\n"
        );
        assert_eq!(
            quoted("```\nnever closed </details>"),
            ">\n> ```\n> never closed </details>\n> ```\n>\n"
        );
        assert_eq!(quoted("- ```\n<b>"), "> - \\`\\`\\`\n> \\<b>\n");
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("a", "text"), "```text\na\n```\n");
        assert_eq!(fenced("x ````` y", ""), "``````\nx ````` y\n``````\n");
    }

    #[test]
    fn backticks_without_a_partner_open_nothing() {
        assert_eq!(escaped("a ` b"), r"a \` b");
        assert_eq!(escaped("``x` <b>``"), "``x` <b>``");
        assert_eq!(escaped(r"\`<b>\`"), r"\\`<b>\`");
        assert_eq!(html("<a>\n\u{1b}&\"\u{202e}"), "&lt;a&gt; \u{fffd}&amp;&quot;\u{fffd}");
    }
}
