//! Makes untrusted text safe for a chat: it must not format, mention or steer.

use crate::id::invisible::is_invisible;

/// Shown in place of an empty text.
const UNKNOWN: &str = "<unknown>";

/// Makes a text safe to show in a chat: control and direction characters become `?`, markup
/// characters are escaped or replaced by look-alikes without meaning.
#[must_use]
pub fn chat_text(text: &str) -> String {
    let visible: String = text.chars().map(|c| if is_invisible(c) { '?' } else { c }).collect();
    let trimmed = visible.trim();
    let shown = if trimmed.is_empty() { UNKNOWN } else { trimmed };
    shown.chars().fold(String::with_capacity(shown.len()), |mut out, character| {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push('\u{ff20}'),
            '`' => out.push('\u{ff40}'),
            '[' => out.push('\u{ff3b}'),
            ']' => out.push('\u{ff3d}'),
            '(' => out.push('\u{ff08}'),
            ')' => out.push('\u{ff09}'),
            '*' => out.push('\u{2217}'),
            '_' => out.push('\u{ff3f}'),
            '~' => out.push('\u{ff5e}'),
            '|' => out.push('\u{ff5c}'),
            plain => out.push(plain),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario 57: markup in a server's message has no effect in a chat.
    #[test]
    fn nothing_formats_mentions_or_steers() {
        insta::assert_snapshot!(
            chat_text(" @all <b>[x](y)</b> `c` *a_b* ~z~ |\u{202e}\n"),
            @"＠all &lt;b&gt;［x］（y）&lt;/b&gt; ｀c｀ ∗a＿b∗ ～z～ ｜??"
        );
        assert_eq!(chat_text(" "), "&lt;unknown&gt;");
    }
}
