//! Which calls started the sub-agents of a run: every format and the page ask here.

use std::collections::BTreeMap;

use traj_core::run::Run;

/// The sub-agents that calls started, by the id of the call. The run says which; else an
/// agent that has the id of a call as its name was started by that call.
#[derive(Debug, Default)]
pub(crate) struct AgentCalls(BTreeMap<String, Vec<StartedAgent>>);

/// A sub-agent that a call with a certain id started.
#[derive(Debug)]
struct StartedAgent {
    agent: String,
    /// The last event that can be the call; `None` if the run does not say, and the first
    /// call with the id counts.
    until: Option<u64>,
}

impl AgentCalls {
    /// The calls that started these sub-agents.
    pub(crate) fn of<'n>(run: &Run, sub_agents: impl Iterator<Item = &'n str>) -> Self {
        let mut by_call: BTreeMap<String, Vec<StartedAgent>> = BTreeMap::new();
        for agent in sub_agents {
            let stated = run.agent_calls.get(agent);
            let call = stated.map_or(agent, |stated| &stated.call).to_owned();
            let started =
                StartedAgent { agent: agent.to_owned(), until: stated.map(|stated| stated.seq) };
            by_call.entry(call).or_default().push(started);
        }
        Self(by_call)
    }

    /// The sub-agents that a call may have started, each with whether a later call with the
    /// same id takes its place. `agent` made the call, in the event `seq`.
    pub(crate) fn started(
        &self,
        call: &str,
        agent: Option<&str>,
        seq: u64,
    ) -> impl Iterator<Item = (&str, bool)> {
        let of_call = self.0.get(call).into_iter().flatten();
        of_call
            .filter(move |started| {
                let is_before = started.until.is_none_or(|until| seq <= until);
                is_before && agent != Some(started.agent.as_str())
            })
            .map(|started| (started.agent.as_str(), started.until.is_some()))
    }
}
