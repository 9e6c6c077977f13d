//! A call on one line.

use std::borrow::Cow;

use super::{Arguments, ToolCallFact};
use crate::json::Json;

/// Members that hold a command, best first.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];

/// Members that name the subject of a tool call, best first.
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

/// Members that only the arguments of an edit have.
const EDITS: [&str; 8] =
    ["old_string", "oldText", "old_str", "edits", "patch", "diff", "changes", "new_source"];

/// Where the arguments of a call hold what [`command_of`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandPlace {
    /// The arguments are the command.
    Whole,
    /// The member with this name holds it.
    Member(&'static str),
    /// The script that a shell runs: a word of the command in this member, or of
    /// arguments that consist of a command only.
    Script {
        /// The member; `None` if the arguments are the command.
        member: Option<&'static str>,
        /// The word, from 0.
        word: usize,
    },
    /// The member with this name is a patch, which names the file.
    Patch(&'static str),
}

/// What a call runs or works on: the command of a shell, the path of an edit, the
/// query of a search; `None` if the arguments contain nothing of the kind.
#[must_use]
pub fn command_of(call: &ToolCallFact<'_>) -> Option<String> {
    if let Some(text) = free_text(call) {
        return patched_file(text).or_else(|| first_line(text));
    }
    call.arguments.with_value(|value| command_in(value?).map(|(_, command)| command))
}

/// Where the arguments of a call hold what [`command_of`] shows.
#[must_use]
pub fn command_place(call: &ToolCallFact<'_>) -> Option<CommandPlace> {
    if free_text(call).is_some() {
        return Some(CommandPlace::Whole);
    }
    call.arguments.with_value(|value| command_in(value?).map(|(place, _)| place))
}

/// Whether a call changes a file by what its arguments say: they hold a patch,
/// or the text before and after.
#[must_use]
pub fn is_edit(call: &ToolCallFact<'_>) -> bool {
    if let Some(text) = free_text(call) {
        return patched_file(text).is_some();
    }
    call.arguments.with_value(|value| {
        let Some(value) = value else { return false };
        let is_patch = |name: &str| {
            value.get(name).and_then(Json::as_str).is_some_and(|text| patched_file(text).is_some())
        };
        EDITS.iter().any(|name| value.get(name).is_some()) || is_patch("input")
    })
}

/// Arguments that are text rather than a value.
fn free_text<'r>(call: &ToolCallFact<'r>) -> Option<&'r str> {
    match call.arguments {
        Arguments::Text(text) if !text.trim_start().starts_with('{') => Some(text),
        _ => None,
    }
}

fn command_in(value: &Json<'_>) -> Option<(CommandPlace, String)> {
    let stated = COMMANDS
        .iter()
        .find_map(|name| Some((CommandPlace::Member(name), value.get(name)?)))
        // The arguments may be just the words of a command.
        .or_else(|| value.as_array().map(|_| (CommandPlace::Whole, value)));
    let command = stated.and_then(|(place, value)| {
        let place = match place {
            CommandPlace::Member(name) if script(value).is_some() => {
                CommandPlace::Script { member: Some(name), word: SCRIPT }
            }
            CommandPlace::Whole if script(value).is_some() => {
                CommandPlace::Script { member: None, word: SCRIPT }
            }
            place => place,
        };
        Some((place, words(value)?))
    });
    command
        .or_else(|| {
            let mut patches = ["patch", "input"].into_iter();
            let (name, patch) =
                patches.find_map(|name| Some((name, value.get(name)?.as_str()?)))?;
            Some((CommandPlace::Patch(name), patched_file(patch)?))
        })
        .or_else(|| {
            let mut subjects = SUBJECTS.iter();
            subjects.find_map(|name| {
                Some((CommandPlace::Member(name), value.get(name)?.as_str()?.to_owned()))
            })
        })
        .filter(|(_, command)| !command.trim().is_empty())
}

/// A command as it would be typed. A shell that runs a single script is shown as
/// that script.
fn words(value: &Json<'_>) -> Option<String> {
    if let Some(script) = script(value) {
        return Some(script.trim().to_owned());
    }
    let words = match value {
        Json::String(text) => return Some(text.trim().to_owned()),
        Json::Array(words) => words.iter().filter_map(Json::as_str),
        _ => return None,
    };
    let quoted: Vec<Cow<'_, str>> = words.map(quoted).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

/// Which word of a command is the script, after the shell and its flag.
const SCRIPT: usize = 2;

/// The script that a command passes to a shell.
fn script<'v>(command: &'v Json<'_>) -> Option<&'v str> {
    let [shell, flag, script] = command.as_array()? else { return None };
    let (shell, flag) = (shell.as_str()?, flag.as_str()?);
    let is_script = is_shell(shell) && matches!(flag, "-c" | "-lc" | "-ic" | "-lic" | "/c");
    script.as_str().filter(|_| is_script)
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

/// A text on one line of at most `longest` characters: each run of white space
/// becomes one space, and an ellipsis replaces the rest.
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

/// The first `longest` characters of a text, unchanged; an ellipsis replaces the
/// rest.
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
    fn a_command_is_found_where_it_is() {
        let place = |arguments: &str| {
            let value = Json::parse(arguments).unwrap();
            let arguments = Arguments::of(Some(&value));
            let call = ToolCallFact { id: None, name: "tool", arguments };
            (command_place(&call), is_edit(&call))
        };
        let member = |name| Some(CommandPlace::Member(name));
        assert_eq!(place(r#"{"path":"a","cmd":"ls"}"#), (member("cmd"), false));
        assert_eq!(place(r#"{"file_path":"a","old_string":"x"}"#), (member("file_path"), true));
        let script = CommandPlace::Script { member: Some("command"), word: 2 };
        assert_eq!(place(r#"{"command":["sh","-c","ls"]}"#), (Some(script), false));
        assert_eq!(place(r#"["ls","-l"]"#), (Some(CommandPlace::Whole), false));
        assert_eq!(place(r#""{\"cmd\":\"ls\"}""#), (member("cmd"), false));
        assert_eq!(place(r#""*** Add File: b""#), (Some(CommandPlace::Whole), true));
        let patch = (Some(CommandPlace::Patch("input")), true);
        assert_eq!(place(r#"{"input":"*** Add File: b"}"#), patch);
        assert_eq!(place("{}"), (None, false));
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
