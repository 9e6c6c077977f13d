//! Only the run model, its dialects and the event types may interpret events.
//!
//! A second reader that knows event types or members of `data` by name would
//! sooner or later disagree with the first.

use std::collections::BTreeSet;

/// The modules that know what events look like.
const ROOMS: [&str; 3] =
    ["crates/traj-core/src/run", "crates/traj-core/src/dialect", "crates/traj-core/src/event"];

/// Code that reads the payload of an event.
const PARTICULARS: [&str; 2] = ["get(\"data\")", "get_mut(\"data\")"];

/// Sources whose literals are the names of event types.
pub(super) const KINDS: &str = "crates/traj-core/src/event/kind.rs";

/// Sources whose literals are members of `data`: the typed events.
const TYPED_EVENTS: [&str; 6] = ["run", "model", "prompt", "tool", "turn", "interruptions"];

/// Members that other documents of traj also have.
const SHARED: [&str; 8] = [
    "agentId",
    "authProfileId",
    "itemId",
    "limitBytes",
    "sessionFile",
    "threadId",
    "turnId",
    "workspaceDir",
];

/// A table of names, which does not interpret events.
const NAME_TABLE: &str = "crates/traj-core/src/json/shared_name.rs";

/// The names that only the modules in `ROOMS` may contain.
#[derive(Debug, Default)]
pub(super) struct Names {
    kinds: BTreeSet<String>,
    members: BTreeSet<String>,
}

impl Names {
    /// Extracts the names from the sources of events.
    pub(super) fn of(sources: &[(String, String)]) -> Self {
        let mut names = Self::default();
        for (path, text) in sources {
            let Some(file) = path.strip_prefix("crates/traj-core/src/event/") else { continue };
            let literals = code(text).flat_map(|(_, line)| literals(line)).map(str::to_owned);
            if path == KINDS {
                names.kinds.extend(literals.filter(|literal| is_kind(literal)));
            } else if TYPED_EVENTS.iter().any(|name| file == format!("{name}.rs")) {
                names.members.extend(literals.filter(|literal| is_distinctive(literal)));
            }
        }
        names
    }

    /// Reports the names in a source outside `ROOMS`.
    pub(super) fn check(&self, path: &str, text: &str) -> Vec<String> {
        let is_source = path.starts_with("crates/") && path.contains("/src/");
        let is_room =
            |room: &str| path.strip_prefix(room).is_some_and(|rest| rest.starts_with(['/', '.']));
        if !is_source || ROOMS.into_iter().any(is_room) || is_test_file(path) || path == NAME_TABLE
        {
            return Vec::new();
        }
        // The protocol of Codex has some of the same names.
        let is_wire = path.starts_with("crates/codex-binding/");
        let mut problems = Vec::new();
        for (number, line) in code(text) {
            for literal in literals(line) {
                let is_named =
                    self.kinds.contains(literal) || (!is_wire && self.members.contains(literal));
                if is_named {
                    problems.push(format!(
                        "{path}:{number}: only run, dialect and event may use the name `{literal}`"
                    ));
                }
            }
            if !is_wire && PARTICULARS.iter().any(|access| line.contains(access)) {
                problems
                    .push(format!("{path}:{number}: only run, dialect and event may read `data`"));
            }
        }
        problems
    }
}

/// The lines of a file that are neither comments nor tests, with their numbers.
pub(super) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    (1..).zip(lines).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

pub(super) fn is_test_file(path: &str) -> bool {
    path.contains("/tests/")
        || path.ends_with("/tests.rs")
        || path.ends_with("_tests.rs")
        || path.ends_with("/laws.rs")
}

/// The string literals that begin and end on this line.
pub(super) fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2).filter(|literal| !literal.contains('\\'))
}

fn is_kind(literal: &str) -> bool {
    literal.contains('.')
        && literal.chars().all(|letter| letter.is_ascii_lowercase() || matches!(letter, '.' | '_'))
}

/// Whether a name is clearly a member: in camel case, not a single word.
fn is_distinctive(literal: &str) -> bool {
    literal.starts_with(|letter: char| letter.is_ascii_lowercase())
        && literal.chars().all(|letter| letter.is_ascii_alphanumeric())
        && literal.chars().any(|letter| letter.is_ascii_uppercase())
        && !SHARED.contains(&literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let kinds = "kinds! {\n    /// A call, \"x.y\".\n    ToolCall = \"tool.call\",\n}\n";
        let tool = "data.push(\"toolCallId\", id);\ndata.push(\"name\", name);\n";
        Names::of(&[
            (KINDS.to_owned(), kinds.to_owned()),
            ("crates/traj-core/src/event/tool.rs".to_owned(), tool.to_owned()),
        ])
    }

    fn problems(path: &str, text: &str) -> usize {
        names().check(path, text).len()
    }

    #[test]
    fn an_interpreter_outside_the_rooms_is_found() {
        let kind = "if event.kind() == \"tool.call\" {}\n";
        let member = "let id = value.get(\"toolCallId\");\n";
        let data = "let data = event.get(\"data\")?;\n";
        for text in [kind, member, data] {
            assert_eq!(problems("crates/traj-cli/src/tail.rs", text), 1, "{text}");
            assert_eq!(problems("crates/traj-core/src/runner.rs", text), 1, "{text}");
            assert_eq!(problems("crates/traj-core/src/run/fold.rs", text), 0, "{text}");
            assert_eq!(problems("crates/traj-core/src/dialect.rs", text), 0, "{text}");
        }
        assert_eq!(problems("crates/codex-binding/src/protocol.rs", member), 0);
        assert_eq!(problems("crates/codex-binding/src/protocol.rs", kind), 1);
    }

    #[test]
    fn words_comments_and_tests_are_not_interpreters() {
        let path = "crates/traj-cli/src/tail.rs";
        assert_eq!(problems(path, "let name = value.get(\"name\");\n"), 0);
        assert_eq!(problems(path, "// a \"tool.call\"\n"), 0);
        assert_eq!(problems(path, "#[cfg(test)]\nmod tests { f(\"tool.call\"); }\n"), 0);
        assert_eq!(problems("crates/traj-cli/src/tail/tests.rs", "f(\"tool.call\");\n"), 0);
        assert_eq!(problems("tests/it/tail.rs", "f(\"tool.call\");\n"), 0);
    }
}
