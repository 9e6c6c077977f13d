//! Developer instructions that describe the model's situation, per thread and per turn.

/// The developer instructions of a bound thread whose host has none.
pub const BOUND_THREAD_INSTRUCTIONS: &str = "\
    You are working in a session that another program keeps for a person. Reply as usual: that \
    program shows your final message to the person, and sends you the person's next message.";

/// Joins the sections of a thread's developer instructions, without blank ones.
#[must_use]
pub fn developer_instructions<'a>(sections: impl IntoIterator<Item = &'a str>) -> String {
    let kept: Vec<&str> = sections.into_iter().filter(|text| !text.trim().is_empty()).collect();
    kept.join("\n\n")
}

/// Why a turn runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnTrigger {
    /// A person sent a message.
    User,
    /// A scheduled job, with its standing instructions.
    Scheduled(String),
    /// The host woke the agent. Standing instructions come first, pointers last.
    Heartbeat {
        /// The standing instructions.
        text: String,
        /// Files to look at.
        pointers: Option<String>,
    },
}

impl TurnTrigger {
    /// The name used in files.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Scheduled(_) => "cron",
            Self::Heartbeat { .. } => "heartbeat",
        }
    }
}

/// Instructions to the model for one turn only.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TurnBlocks {
    /// Comes before the blocks on a turn without standing instructions.
    pub preamble: String,
    /// Instructions for this turn.
    pub turn: Option<String>,
    /// The agent's memory.
    pub memory: Option<String>,
    /// The agent's skills.
    pub skills: Option<String>,
}

/// The collaboration mode, sent with every turn so that no earlier mode lingers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollaborationMode {
    /// The model that the turn uses.
    pub model: String,
    /// The reasoning effort; `None` is the model's own.
    pub effort: Option<String>,
    /// The instructions of the turn.
    pub instructions: Option<String>,
}

/// What a turn sends as its collaboration mode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnMode {
    /// This mode. A turn without instructions sends it as well, which ends an earlier turn's mode.
    Send(CollaborationMode),
    /// None: there is nothing to say, and no mode can be sent without a model.
    Omit,
    /// There are instructions, but no model is known to send them with. The turn must not run
    /// without them.
    ModelUnknown,
}

/// Decides what a turn sends as its collaboration mode. `model` is the model that the turn uses: the
/// one that was asked for, or the one that the server reported when it opened the thread.
#[must_use]
pub fn decide_turn_mode(
    model: Option<&str>,
    effort: Option<&str>,
    trigger: &TurnTrigger,
    blocks: &TurnBlocks,
) -> TurnMode {
    let instructions = turn_instructions(trigger, blocks);
    match model.map(str::trim).filter(|model| !model.is_empty()) {
        Some(model) => TurnMode::Send(CollaborationMode {
            model: model.to_owned(),
            effort: effort.map(str::to_owned),
            instructions,
        }),
        None if instructions.is_none() => TurnMode::Omit,
        None => TurnMode::ModelUnknown,
    }
}

/// The instructions of one turn: standing ones, then the blocks; `None` if there are none.
#[must_use]
pub fn turn_instructions(trigger: &TurnTrigger, blocks: &TurnBlocks) -> Option<String> {
    let (standing, last) = match trigger {
        TurnTrigger::User => (None, None),
        TurnTrigger::Scheduled(text) => (Some(text.as_str()), None),
        TurnTrigger::Heartbeat { text, pointers } => (Some(text.as_str()), pointers.as_deref()),
    };
    let middle: Vec<&str> = [&blocks.turn, &blocks.memory, &blocks.skills]
        .into_iter()
        .filter_map(|block| block.as_deref())
        .filter(|text| !text.trim().is_empty())
        .collect();
    let first = match standing {
        Some(text) => Some(text),
        None if middle.is_empty() => None,
        None => Some(blocks.preamble.as_str()),
    };
    let text = developer_instructions(first.into_iter().chain(middle).chain(last));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instructions(trigger: &TurnTrigger, blocks: &TurnBlocks) -> Option<String> {
        let TurnMode::Send(mode) = decide_turn_mode(Some("m"), Some("low"), trigger, blocks) else {
            panic!("no mode")
        };
        assert_eq!(mode.effort.as_deref(), Some("low"));
        Some(mode.instructions?.replace("\n\n", "|"))
    }

    /// Scenario 46.
    #[test]
    fn standing_text_comes_first_and_memory_before_skills() {
        let mut blocks = TurnBlocks { preamble: "preamble".to_owned(), ..TurnBlocks::default() };
        let scheduled = TurnTrigger::Scheduled("job".to_owned());
        let heartbeat =
            TurnTrigger::Heartbeat { text: "wake".to_owned(), pointers: Some("files".to_owned()) };
        assert_eq!(instructions(&TurnTrigger::User, &blocks), None);
        assert_eq!(instructions(&scheduled, &blocks).as_deref(), Some("job"));
        blocks.skills = Some("skills".to_owned());
        blocks.memory = Some("memory".to_owned());
        blocks.turn = Some("turn".to_owned());
        assert_eq!(
            instructions(&TurnTrigger::User, &blocks).as_deref(),
            Some("preamble|turn|memory|skills")
        );
        assert_eq!(
            instructions(&heartbeat, &blocks).as_deref(),
            Some("wake|turn|memory|skills|files")
        );
    }

    #[test]
    fn every_turn_sends_a_mode_so_that_none_lingers() {
        let (user, plain) = (TurnTrigger::User, TurnBlocks::default());
        let mode = CollaborationMode { model: "m".to_owned(), effort: None, instructions: None };
        assert_eq!(decide_turn_mode(Some("m"), None, &user, &plain), TurnMode::Send(mode));
    }

    #[test]
    fn instructions_without_a_known_model_are_not_dropped_silently() {
        let (user, plain) = (TurnTrigger::User, TurnBlocks::default());
        let told = TurnBlocks { turn: Some("be brief".to_owned()), ..TurnBlocks::default() };
        for model in [None, Some(" ")] {
            assert_eq!(decide_turn_mode(model, None, &user, &plain), TurnMode::Omit);
            assert_eq!(decide_turn_mode(model, None, &user, &told), TurnMode::ModelUnknown);
        }
    }

    #[test]
    fn blank_sections_leave_no_gap() {
        assert_eq!(developer_instructions(["a", " ", "", "b"]), "a\n\nb");
    }
}
