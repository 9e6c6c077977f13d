//! Texts that tell the model where it is: per thread, and per turn.

use crate::json::{Json, Object};

/// Joins the sections of a thread's developer instructions; blank ones are left out.
#[must_use]
pub fn developer_instructions<'a>(sections: impl IntoIterator<Item = &'a str>) -> String {
    let kept: Vec<&str> = sections.into_iter().filter(|text| !text.trim().is_empty()).collect();
    kept.join("\n\n")
}

/// Why a turn runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnTrigger {
    /// A person wrote.
    User,
    /// A scheduled job; its standing text.
    Scheduled(String),
    /// The host woke the agent; the standing text, and what to look at, which comes last.
    Heartbeat {
        /// The standing text.
        text: String,
        /// Files to look at.
        pointers: Option<String>,
    },
}

/// Instructions to the model for one turn only.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TurnBlocks {
    /// Stands before the blocks on a turn that has no standing text.
    pub preamble: String,
    /// What concerns this turn.
    pub turn: Option<String>,
    /// What the agent remembers.
    pub memory: Option<String>,
    /// What the agent can do.
    pub skills: Option<String>,
}

/// The collaboration mode to send with every turn, so that no earlier turn's mode lingers.
#[must_use]
pub fn collaboration_mode(
    model: &str,
    effort: Option<&str>,
    trigger: &TurnTrigger,
    blocks: &TurnBlocks,
) -> Json<'static> {
    let mut settings = Object::new();
    settings.push("model", model.to_owned());
    settings.push("reasoning_effort", or_null(effort.map(str::to_owned)));
    settings.push("developer_instructions", or_null(turn_instructions(trigger, blocks)));
    let mut mode = Object::new();
    mode.push("mode", "default");
    mode.push("settings", settings);
    mode.into()
}

fn or_null(text: Option<String>) -> Json<'static> {
    text.map_or(Json::Null, Json::from)
}

fn turn_instructions(trigger: &TurnTrigger, blocks: &TurnBlocks) -> Option<String> {
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
        let mode = collaboration_mode("m", Some("low"), trigger, blocks);
        let text = mode.get("settings")?.get("developer_instructions")?.as_str()?;
        Some(text.replace("\n\n", "|"))
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
    fn blank_sections_leave_no_gap() {
        assert_eq!(developer_instructions(["a", " ", "", "b"]), "a\n\nb");
    }
}
