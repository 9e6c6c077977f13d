//! A command as Codex reports it, without the shell around it.

/// Shells that Codex runs commands with.
const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];
/// Where these shells are. A program of the same name elsewhere may be the agent's own.
const SHELL_DIRECTORIES: [&str; 5] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];
/// The flags with which a shell takes a script as its next word.
const SCRIPT_FLAGS: [&str; 3] = ["-lc", "-c", "-ic"];

/// The command that runs: what the shell gets as its script, or the words themselves.
pub(super) fn script_of(words: &[String]) -> String {
    match words {
        [shell, flag, script] if is_shell(shell) && SCRIPT_FLAGS.contains(&flag.as_str()) => {
            script.trim().to_owned()
        }
        words => words.join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    match program.rsplit_once('/') {
        Some((directory, name)) => SHELL_DIRECTORIES.contains(&directory) && SHELLS.contains(&name),
        None => SHELLS.contains(&program),
    }
}

/// The words of a command. `None` if only a shell can split it.
pub(super) fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(character) = rest.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        other => word.push(other),
                    }
                }
            }
            ' ' | '\t' => words.extend(word.take()),
            other if is_plain(other) => word.get_or_insert_default().push(other),
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

/// Whether a shell takes the whole command literally, apart from spaces.
pub(super) fn is_literal(command: &str) -> bool {
    command.chars().all(|character| character == ' ' || is_plain(character))
}

/// Whether a shell takes the character literally.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_./=:,@%+".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_around_a_command_is_removed() {
        let script = |command: &str| split(command).map(|words| script_of(&words));
        assert_eq!(script("/bin/bash -lc 'cargo test'").as_deref(), Some("cargo test"));
        assert_eq!(script(r#"sh -c "cargo test""#).as_deref(), Some("cargo test"));
        assert_eq!(script("cargo  test").as_deref(), Some("cargo test"));
        assert_eq!(script("bash -lc 'a' 'b'").as_deref(), Some("bash -lc a b"));
        for command in ["cargo test; rm x", "echo $HOME", r#"sh -c "echo $HOME""#, "a 'b", "a\nb"] {
            assert_eq!(script(command), None, "{command}");
        }
    }
}
