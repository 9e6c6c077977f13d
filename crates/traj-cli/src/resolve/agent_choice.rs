//! Whose sessions `--agent` means: those of a program, or of an agent of
//! OpenClaw.

use traj_core::agents::Agent;
use traj_core::care::session_store::agent_of_key;

/// The program whose agents have ids.
const OPENCLAW: &str = "openclaw";

/// Whose sessions are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AgentChoice<'a> {
    /// Those of every program.
    All,
    /// Those of a program.
    Program(&'static Agent),
    /// Those of the agent of OpenClaw with this id.
    OfOpenClaw(&'a str),
}

impl PartialEq for AgentChoice<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::Program(one), Self::Program(other)) => one.name == other.name,
            (Self::OfOpenClaw(one), Self::OfOpenClaw(other)) => one == other,
            _ => false,
        }
    }
}

impl<'a> AgentChoice<'a> {
    /// What the word after `--agent` means. A program's name is the program;
    /// `openclaw/ID` is always an agent of OpenClaw.
    pub(crate) fn of(word: Option<&'a str>) -> Self {
        let Some(word) = word else { return Self::All };
        if let Some(("openclaw", id)) = word.split_once('/') {
            return Self::OfOpenClaw(id);
        }
        Agent::named(word).map_or(Self::OfOpenClaw(word), Self::Program)
    }

    /// Whether the sessions of the agent of OpenClaw with this id are meant.
    pub(crate) fn has_agent_of_openclaw(self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Program(agent) => agent.name == OPENCLAW,
            Self::OfOpenClaw(wanted) => wanted == id,
        }
    }

    /// The programs whose files are searched.
    pub(crate) fn agents(self) -> impl Iterator<Item = &'static Agent> {
        let all = Agent::all().iter();
        all.filter(move |agent| match self {
            Self::All => true,
            Self::Program(wanted) => wanted.name == agent.name,
            Self::OfOpenClaw(_) => false,
        })
    }

    /// The id of the agent of OpenClaw whose store has a key.
    pub(crate) fn store_of_key(self, key: &'a str) -> &'a str {
        match self {
            Self::OfOpenClaw(id) => id,
            Self::All | Self::Program(_) => agent_of_key(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_program_or_an_agent_of_openclaw() {
        assert_eq!(AgentChoice::of(None), AgentChoice::All);
        assert_eq!(AgentChoice::of(Some("main")), AgentChoice::OfOpenClaw("main"));
        assert_eq!(AgentChoice::of(Some("openclaw/codex")), AgentChoice::OfOpenClaw("codex"));
        let AgentChoice::Program(agent) = AgentChoice::of(Some("claude")) else { panic!() };
        assert_eq!(agent.name, "claude-code");
        assert!(AgentChoice::of(Some("openclaw")).has_agent_of_openclaw("any"));
        assert!(!AgentChoice::of(Some("codex")).has_agent_of_openclaw("codex"));
        assert!(AgentChoice::of(Some("main")).agents().next().is_none());
    }
}
