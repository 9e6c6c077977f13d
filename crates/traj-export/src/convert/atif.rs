//! A run as a trajectory in the Agent Trajectory Interchange Format, version 1.8.
//!
//! A document is one object. Its steps are written while they are read; those
//! of sub-agents wait in a scratch file, because they come after the others.
//! What the format has no field for is in `extra`, under names that the
//! dialect reads back.
//!
//! - `step`: a piece as a step;
//! - `totals`: the sums of a trajectory.

mod step;
mod totals;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};

use traj_core::json::{Json, Object};
use traj_core::port::Scratch;
use traj_core::run::{Run, RunState};

use super::losses::Losses;
use super::pieces::Piece;
use super::survey::Survey;
use super::{Converter, Output, Wants};
use crate::inspect::agent_calls::AgentCalls;
use step::step_of;
use totals::Totals;

/// The version of the format.
const VERSION: &str = "ATIF-v1.8";

/// The name of an agent, or its version, that is not known.
const UNKNOWN: &str = "unknown";

/// Writes a trajectory.
pub(super) struct Atif<'w> {
    out: Output<'w>,
    scratch: Box<dyn Scratch>,
    spooled: u64,
    main: Trajectory,
    sub_agents: BTreeMap<String, Trajectory>,
    /// The names of all sub-agents, and the calls that started them.
    names: BTreeSet<String>,
    agents: AgentCalls,
    records: u64,
}

/// What is known of a trajectory while its steps are written.
#[derive(Debug, Default)]
struct Trajectory {
    steps: u64,
    totals: Totals,
    /// Where its steps are in the scratch file.
    spooled: Vec<(u64, usize)>,
}

impl<'w> Atif<'w> {
    pub(super) fn new(out: Output<'w>, scratch: Box<dyn Scratch>) -> Self {
        let main = Trajectory { steps: 0, totals: Totals::new(), spooled: Vec::new() };
        Self {
            out,
            scratch,
            spooled: 0,
            main,
            sub_agents: BTreeMap::new(),
            names: BTreeSet::new(),
            agents: AgentCalls::default(),
            records: 0,
        }
    }

    fn write_step(&mut self, thread: Option<&str>, mut step: Object<'static>) -> io::Result<()> {
        self.records += 1;
        let Some(thread) = thread else {
            self.main.steps += 1;
            step.insert("step_id", self.main.steps);
            let separator: &[u8] = if self.main.steps > 1 { b",\n" } else { b"\n" };
            self.out.write_all(separator)?;
            return self.out.write_all(compact(step).as_bytes());
        };
        let trajectory = self.sub_agents.entry(thread.to_owned()).or_default();
        trajectory.steps += 1;
        step.insert("step_id", trajectory.steps);
        let text = compact(step);
        trajectory.spooled.push((self.spooled, text.len()));
        self.spooled += text.len() as u64;
        self.scratch.append(text.as_bytes()).map_err(io::Error::other)
    }

    /// Writes the trajectory of a sub-agent.
    fn write_sub_agent(&mut self, id: &str, survey: &Survey) -> io::Result<()> {
        let trajectory = self.sub_agents.remove(id).unwrap_or_default();
        let mut head = Object::new();
        head.push("schema_version", VERSION);
        head.push("session_id", survey.session.as_str());
        head.push("trajectory_id", id);
        head.push("agent", agent_of(survey, false));
        open_steps(&mut self.out, head)?;
        let mut buffer = Vec::new();
        for (index, (offset, length)) in trajectory.spooled.iter().enumerate() {
            buffer.resize(*length, 0);
            self.scratch.read_exact_at(*offset, &mut buffer).map_err(io::Error::other)?;
            let separator: &[u8] = if index > 0 { b",\n" } else { b"\n" };
            self.out.write_all(separator)?;
            self.out.write_all(&buffer)?;
        }
        let mut tail = Object::new();
        tail.push("final_metrics", trajectory.totals.to_json(trajectory.steps));
        close_steps(&mut self.out, tail)?;
        self.out.write_all(b"}")
    }
}

impl Converter for Atif<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        let mut head = Object::new();
        head.push("schema_version", VERSION);
        head.push("session_id", survey.session.as_str());
        head.push("trajectory_id", survey.session.as_str());
        head.push("agent", agent_of(survey, true));
        open_steps(&mut self.out, head)?;
        self.names = survey.sub_agents.keys().cloned().collect();
        self.agents = survey.agent_calls();
        if let Some(system) = &survey.system {
            self.write_step(None, step::system_prompt(system, survey.run.started_at))?;
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece, losses: &mut Losses) -> io::Result<()> {
        let thread = match &piece {
            Piece::Message(message) => message.sub_agent.clone(),
            Piece::Step(step) => step.sub_agent.clone(),
        };
        if let Piece::Message(message) = &piece {
            let trajectory = match &thread {
                None => &mut self.main,
                Some(id) => self.sub_agents.entry(id.clone()).or_default(),
            };
            trajectory.totals.add(message);
        }
        match step_of(piece, &self.agents, losses) {
            Some(step) => self.write_step(thread.as_deref(), step),
            None => Ok(()),
        }
    }

    fn end(&mut self, survey: &Survey, _losses: &mut Losses) -> io::Result<()> {
        if self.main.steps == 0 {
            self.write_step(None, step::empty())?;
        }
        let mut tail = Object::new();
        tail.push("final_metrics", self.main.totals.to_json(self.main.steps));
        tail.push("extra", extra_of(&survey.run));
        close_steps(&mut self.out, tail)?;
        for name in std::mem::take(&mut self.names) {
            // A call may refer to it.
            if !self.sub_agents.contains_key(&name) {
                self.write_step(Some(&name), step::empty())?;
            }
        }
        let ids: Vec<String> = self.sub_agents.keys().cloned().collect();
        for (index, id) in ids.iter().enumerate() {
            let opening = if index == 0 { ",\n\"subagent_trajectories\":[\n" } else { ",\n" };
            self.out.write_all(opening.as_bytes())?;
            self.write_sub_agent(id, survey)?;
        }
        if !ids.is_empty() {
            self.out.write_all(b"]")?;
        }
        self.out.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.records)
    }
}

/// Begins an object whose next member is the list of steps.
fn open_steps(out: &mut Output<'_>, head: Object<'_>) -> io::Result<()> {
    let text = compact(head);
    let text = text.strip_suffix('}').unwrap_or(&text);
    out.write_all(text.as_bytes())?;
    out.write_all(b",\n\"steps\":[")
}

/// Ends the list of steps, and adds the last members without ending the object.
fn close_steps(out: &mut Output<'_>, tail: Object<'_>) -> io::Result<()> {
    let text = compact(tail);
    let text = text.trim_start_matches('{');
    let text = text.strip_suffix('}').unwrap_or(text);
    out.write_all(b"\n],\n")?;
    out.write_all(text.as_bytes())
}

fn compact(object: Object<'_>) -> String {
    let mut text = String::new();
    Json::Object(object).write_compact(&mut text);
    text
}

fn agent_of(survey: &Survey, has_tools: bool) -> Json<'static> {
    let run = &survey.run;
    let mut agent = Object::new();
    agent.push("name", run.agent.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
    agent.push("version", run.agent_version.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
    agent.push_some("model_name", run.model.clone());
    if let Some(tools) = survey.tools.as_ref().filter(|_| has_tools).and_then(Json::as_array) {
        let tools: Vec<Json<'static>> = tools.iter().filter_map(tool_definition).collect();
        if !tools.is_empty() {
            agent.push("tool_definitions", Json::Array(tools));
        }
    }
    Json::Object(agent)
}

/// A tool in the form that OpenAI's interface takes.
fn tool_definition(tool: &Json<'static>) -> Option<Json<'static>> {
    let object = tool.as_object()?;
    if object.contains("function") {
        return Some(tool.clone());
    }
    let mut wrapped = Object::new();
    wrapped.push("type", "function");
    wrapped.push("function", tool.clone());
    Some(Json::Object(wrapped))
}

/// What the format has no member for.
fn extra_of(run: &Run) -> Json<'static> {
    let mut extra = Object::new();
    extra.push("converter", concat!("traj ", env!("CARGO_PKG_VERSION")));
    extra.push_some("workspace", run.workspace.clone());
    let status = run.status.as_ref().map(RunState::as_str).map(str::to_owned);
    extra.push_some("status", status);
    if run.branches > 0 {
        extra.push("branches_left", run.branches);
    }
    if run.lost_events > 0 {
        extra.push("lost_events", run.lost_events);
    }
    Json::Object(extra)
}
