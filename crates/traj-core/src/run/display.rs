//! What a call was about, in one line.

use std::borrow::Cow;

use super::{Arguments, ToolCallFact};
use crate::json::Json;

/// Members that hold a command, best first.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];

/// Members that name what a tool works on, best first.
const SUBJECTS: [&str; 14] = [
    "file_path",
    "filePath",
    "path",
    "file",
    "filename",
    "url",
    "pattern",
    "query",
    "glob",
    "name",
    "subject",
    "prompt",
    "description",
    "id",
];

/// What a call runs or works on: the command of a shell, the path of an edit,
/// the query of a search; `None` where the arguments hold nothing of the kind.
#[must_use]
pub fn command_of(call: &ToolCallFact<'_>) -> Option<String> {
    if let Arguments::Text(text) = call.arguments
        && !text.trim_start().starts_with('{')
    {
        return patched_file(text).or_else(|| first_line(text));
    }
    call.arguments.with_value(|value| {
        let value = value?;
        let stated = COMMANDS.iter().find_map(|name| value.get(name));
        // The words of a command may be all there is.
        let command = stated.or_else(|| value.as_array().map(|_| value)).and_then(words);
        command
            .or_else(|| {
                let patch = ["patch", "input"].iter().find_map(|name| value.get(name)?.as_str());
                patch.and_then(patched_file)
            })
            .or_else(|| {
                SUBJECTS.iter().find_map(|name| value.get(name)?.as_str()).map(str::to_owned)
            })
            .filter(|command| !command.trim().is_empty())
    })
}

/// A command as it would be typed. A shell that runs a single script is that
/// script.
fn words(value: &Json<'_>) -> Option<String> {
    let words: Vec<&str> = match value {
        Json::String(text) => return Some(text.trim().to_owned()),
        Json::Array(words) => words.iter().filter_map(Json::as_str).collect(),
        _ => return None,
    };
    if let [shell, flag, script] = words.as_slice()
        && is_shell(shell)
        && matches!(*flag, "-c" | "-lc" | "-ic" | "-lic" | "/c")
    {
        return Some(script.trim().to_owned());
    }
    let quoted: Vec<Cow<'_, str>> = words.into_iter().map(quoted).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "fish" | "cmd" | "cmd.exe")
}

fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |character: char| {
        character.is_alphanumeric()
            || matches!(character, '_' | '-' | '.' | '/' | '=' | ':' | ',' | '+' | '@' | '%')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

/// The first file that a patch changes.
fn patched_file(patch: &str) -> Option<String> {
    const LEADS: [&str; 5] =
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/", "+++ "];
    let file = patch.lines().find_map(|line| LEADS.iter().find_map(|lead| line.strip_prefix(lead)));
    file.map(|file| file.trim().to_owned())
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// A text on one line of at most `longest` characters: runs of white space
/// become one space, and an ellipsis replaces the rest.
#[must_use]
pub fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        for character in word.chars() {
            if length >= longest {
                line.truncate(line.trim_end().len());
                line.push('…');
                return line;
            }
            line.push(character);
            length += 1;
        }
    }
    line
}

/// The first `longest` characters of a text as they are, and an ellipsis for
/// the rest.
#[must_use]
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => {
            let mut cut = text.get(..end).unwrap_or_default().to_owned();
            cut.push('…');
            cut
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(arguments: &str) -> Option<String> {
        let value = Json::parse(arguments).unwrap();
        let arguments = Arguments::of(Some(&value));
        command_of(&ToolCallFact { id: None, name: "tool", arguments })
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        assert_eq!(command(r#"{"command":["bash","-lc","ls -l"]}"#).unwrap(), "ls -l");
        assert_eq!(command(r#"{"command":["grep","a b","x.rs"]}"#).unwrap(), "grep 'a b' x.rs");
        assert_eq!(command(r#"{"cmd":" make test "}"#).unwrap(), "make test");
        assert_eq!(command(r#"["bash","-lc","ls -l"]"#).unwrap(), "ls -l");
        assert_eq!(command("[{}]"), None);
        assert_eq!(command(r#""{\"cmd\":\"ls\"}""#).unwrap(), "ls");
    }

    #[test]
    fn an_edit_is_shown_by_its_file() {
        assert_eq!(command(r#"{"file_path":"/a/b.rs","old_string":"x"}"#).unwrap(), "/a/b.rs");
        assert_eq!(
            command(r#"{"patch":"*** Begin Patch\n*** Update File: src/a.rs\n"}"#).unwrap(),
            "src/a.rs"
        );
        assert_eq!(command(r#""*** Begin Patch\n*** Add File: b.txt""#).unwrap(), "b.txt");
        assert_eq!(command(r#"{"count":3}"#), None);
        assert_eq!(command("{}"), None);
    }

    #[test]
    fn a_line_is_cut_with_an_ellipsis() {
        assert_eq!(one_line(" a\n\tb  c ", 10), "a b c");
        assert_eq!(one_line("abc def", 4), "abc…");
        assert_eq!(one_line("äöü", 2), "äö…");
        assert_eq!(one_line("", 2), "");
    }

    #[test]
    fn a_name_is_cut_and_otherwise_kept() {
        assert_eq!(cut("a\u{2028} b", 4), "a\u{2028} b");
        assert_eq!(cut("äöü", 2), "äö…");
    }
}
