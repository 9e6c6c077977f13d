//! The prompts of a run, and what the scripted model answers to each.
//!
//! The newest user message that contains a known prompt chooses the script; the number of times
//! that tools have answered since then chooses the step.

use super::tools::Action;
use super::wire::Tokens;

/// Repairs a project: lists, reads secrets, fails, edits, succeeds.
pub const REPAIR: &str = "repair the broken total in this project";
/// A follow-up in a new process.
pub const NOTE: &str = "write a short note about the repair";
/// Hands work to a sub-agent.
pub const DELEGATE: &str = "let a helper count the scripts";
/// What the sub-agent is asked.
pub const COUNT: &str = "Count the scripts in this directory and report the number";
/// The model never finishes its answer.
pub const WAIT: &str = "start the command that never ends";
/// A command prints more than the agent keeps in its conversation.
pub const LONG: &str = "print more than the conversation can hold";
/// The model refuses the request.
pub const REFUSE: &str = "ask for something that the model refuses";

/// A short turn, before which the agent replaces a conversation that has become too long.
pub const AGREE: &str = "say in one line what is done so far";

/// The name of requests for an agent's own purposes, such as a title.
pub const ASIDE: &str = "aside";
/// The name of requests to continue, which an agent sends by itself after a summary.
pub const GO_ON: &str = "go on";
/// The name of requests for a summary of the conversation.
pub const SUMMARY: &str = "summary";

/// One answer of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) reasoning: Option<&'static str>,
    pub(super) text: Option<&'static str>,
    pub(super) actions: Vec<Action>,
    pub(super) tokens: Tokens,
    pub(super) ending: Ending,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ending {
    #[default]
    Complete,
    /// An HTTP error instead of an answer.
    Refused(u16),
}

impl Line {
    fn calls(tokens: [u64; 5], actions: impl IntoIterator<Item = Action>) -> Self {
        let actions = actions.into_iter().collect();
        Self { actions, tokens: Tokens::from(tokens), ..Self::default() }
    }

    fn says(text: &'static str, tokens: [u64; 5]) -> Self {
        Self { text: Some(text), tokens: Tokens::from(tokens), ..Self::default() }
    }

    const fn after(mut self, reasoning: &'static str) -> Self {
        self.reasoning = Some(reasoning);
        self
    }

    const fn with_text(mut self, text: &'static str) -> Self {
        self.text = Some(text);
        self
    }
}

/// Every script: the prompt and its steps. Tokens are input (cached ones included), cached, written
/// to the cache, output, and reasoning.
pub(super) fn scripts() -> Vec<(&'static str, Vec<Line>)> {
    let shell = Action::shell;
    vec![
        (
            REPAIR,
            vec![
                Line::calls([2_110, 0, 1_800, 64, 21], [shell("ls -1")])
                    .after("First I look at what is here.")
                    .with_text("Let me look around."),
                Line::calls(
                    [2_420, 1_800, 260, 37, 0],
                    [Action::read("settings.conf"), Action::read("total.sh")],
                )
                .with_text("There are settings; I read them."),
                Line::calls([2_915, 2_060, 410, 31, 9], [shell("sh check.sh")])
                    .after("Now the check."),
                Line::calls(
                    [3_340, 2_470, 330, 58, 0],
                    [Action::edit("total.sh", "total=$((a - b))", "total=$((a + b))")],
                )
                .with_text("The sign is wrong; I change it."),
                Line::calls(
                    [3_690, 2_800, 300, 49, 0],
                    [shell("sh check.sh"), shell("wc -l total.sh")],
                ),
                Line::says(
                    "The total is right again. ✅ `total.sh` now adds — 修正しました.",
                    [4_020, 3_100, 290, 77, 12],
                ),
            ],
        ),
        (
            NOTE,
            vec![
                Line::calls(
                    [4_310, 3_390, 120, 43, 0],
                    [Action::write("NOTE.md", "# Note\n\nThe total adds again. ✔\n")],
                )
                .with_text("I write the note."),
                Line::says("The note is in `NOTE.md`. 📝", [4_490, 3_510, 110, 19, 0]),
            ],
        ),
        (
            COUNT,
            vec![
                Line::calls([910, 0, 640, 27, 0], [shell("ls *.sh | wc -l")]),
                Line::says("There are 2 scripts.", [1_030, 640, 90, 8, 0]),
            ],
        ),
        (
            DELEGATE,
            vec![
                Line::calls([5_120, 4_100, 90, 61, 0], [Action::delegate(COUNT)])
                    .with_text("A helper can do that."),
                Line::says("The helper counted 2 scripts.", [5_310, 4_190, 80, 15, 0]),
            ],
        ),
        (AGREE, vec![Line::says("The total adds again.", [1_240, 0, 900, 14, 0])]),
        (
            WAIT,
            vec![Line::calls(
                [5_330, 4_200, 70, 29, 0],
                [shell("echo begun > begun.txt; sleep 600")],
            )],
        ),
        (
            LONG,
            vec![
                Line::calls([5_400, 4_300, 60, 23, 0], [shell("seq 100000 130000")]),
                Line::says("That was long.", [5_700, 4_400, 50, 6, 0]),
            ],
        ),
        (REFUSE, vec![Line { ending: Ending::Refused(400), ..Line::default() }]),
    ]
}

/// What the model answers when it is asked to summarise the conversation.
pub(super) fn summary() -> Line {
    Line::says(
        "## Summary\n- The total was wrong and adds again.\n- Nothing is left to do.",
        [6_010, 4_900, 0, 118, 0],
    )
}

/// The model's answer after it started a sub-agent whose result must be waited for.
pub(super) fn wait_for(agent: &str) -> Line {
    Line::calls([5_210, 4_150, 60, 30, 4], [Action::Await(agent.to_owned())])
}

/// What the model answers to anything else.
pub(super) fn aside() -> Line {
    Line::says("Repair the total", [140, 0, 0, 6, 0])
}
