//! A run as a Chrome trace, for the Perfetto UI and speedscope.
//!
//! A run is a process; the conversation, the model and the tools of each agent
//! are its threads. Calls that overlap are on several threads. Flows lead from
//! the model to each call, and from there to the model call that reads the
//! result. Counters show the context and the cost.
//!
//! Times are microseconds since the start of the first run.
//!
//! - `lanes`: the threads of an agent.

mod lanes;

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use traj_core::json::{Json, Number, Object};
use traj_core::run::{cut, one_line};
use traj_core::timestamp::UnixMillis;

use super::losses::{Loss, Losses};
use super::pieces::{Call, Message, Piece, Step};
use super::survey::Survey;
use super::{Converter, Output, Wants};
use crate::inspect::story::What;
use lanes::{Lanes, Slice};

/// Texts are cut after this many characters.
const LONGEST: usize = 500;

/// The members of an event besides its place.
type Args = Object<'static>;

/// Writes a trace.
pub(super) struct Perfetto<'w> {
    out: Output<'w>,
    process: u64,
    /// The time that all others are relative to.
    origin: Option<UnixMillis>,
    agents: BTreeMap<Option<String>, Lanes>,
    /// Billionths of the currency so far.
    nanos: BTreeMap<String, u128>,
    flows: u64,
    events: u64,
}

impl<'w> Perfetto<'w> {
    pub(super) fn new(mut out: Output<'w>) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        let (agents, nanos) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { out, process: 0, origin: None, agents, nanos, flows: 0, events: 0 })
    }

    /// Microseconds since the origin.
    fn micros(&self, at: UnixMillis) -> i64 {
        let origin = self.origin.map_or(0, UnixMillis::as_millis);
        at.as_millis().saturating_sub(origin).saturating_mul(1_000)
    }

    fn write(&mut self, phase: &'static str, thread: u64, mut event: Args) -> io::Result<()> {
        event.push("ph", phase);
        event.push("pid", self.process);
        event.push("tid", thread);
        let separator: &[u8] = if self.events > 0 { b",\n" } else { b"\n" };
        self.events += 1;
        let mut text = String::new();
        Json::Object(event).write_compact(&mut text);
        self.out.write_all(separator)?;
        self.out.write_all(text.as_bytes())
    }

    /// Names a process or a thread.
    fn name(&mut self, what: &'static str, thread: u64, name: &str) -> io::Result<()> {
        let mut args = Object::new();
        args.push("name", cut(name, LONGEST));
        let mut event = Object::new();
        event.push("name", what);
        event.push("args", Json::Object(args));
        self.write("M", thread, event)
    }

    /// Writes something that took a while.
    fn slice(&mut self, name: &str, slice: Slice, args: Args) -> io::Result<()> {
        let mut event = Object::new();
        event.push("name", one_line(name, LONGEST));
        event.push("cat", slice.category);
        event.push("ts", slice.start);
        event.push("dur", slice.end.saturating_sub(slice.start));
        event.push("args", Json::Object(args));
        self.write("X", slice.thread, event)
    }

    /// Writes something that has no duration.
    fn instant(&mut self, name: &str, thread: u64, at: i64, args: Args) -> io::Result<()> {
        let mut event = Object::new();
        event.push("name", one_line(name, LONGEST));
        event.push("s", "t");
        event.push("ts", at);
        event.push("args", Json::Object(args));
        self.write("i", thread, event)
    }

    /// Leads from the end of one slice to the start of another.
    fn flow(&mut self, from: Slice, to: Slice) -> io::Result<()> {
        self.flows += 1;
        // Inside the slice that it leaves: at its end, the slice is over.
        let left = from.end.saturating_sub(1).max(from.start);
        for (phase, slice, at) in [("s", from, left), ("f", to, to.start.max(left))] {
            let mut event = Object::new();
            event.push("name", "flow");
            event.push("cat", "flow");
            event.push("id", self.flows);
            event.push("ts", at);
            event.push("bp", "e");
            self.write(phase, slice.thread, event)?;
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, at: i64, unit: &str, value: Json<'static>) -> io::Result<()> {
        let mut args = Object::new();
        args.push(unit.to_owned(), value);
        let mut event = Object::new();
        event.push("name", name.to_owned());
        event.push("ts", at);
        event.push("args", Json::Object(args));
        self.write("C", 0, event)
    }

    /// The threads of an agent, named when they are first used.
    #[expect(clippy::ref_option, reason = "it is a key of the map")]
    fn lanes(&mut self, agent: &Option<String>) -> io::Result<Lanes> {
        if let Some(lanes) = self.agents.remove(agent) {
            return Ok(lanes);
        }
        let lanes = Lanes::new(self.agents.len() as u64);
        let of = owner(agent.as_deref());
        self.name("thread_name", lanes.conversation(), &format!("conversation{of}"))?;
        self.name("thread_name", lanes.model(), &format!("model{of}"))?;
        Ok(lanes)
    }

    fn message(
        &mut self,
        message: &Message,
        lanes: &mut Lanes,
        losses: &mut Losses,
    ) -> io::Result<()> {
        let asked = self.model_slice(message, lanes, losses)?;
        for call in &message.calls {
            self.call_slice(call, message.sub_agent.as_deref(), asked, lanes, losses)?;
        }
        Ok(())
    }

    /// Writes a model call: from the last thing that its agent did until it was
    /// recorded, unless its duration is known.
    fn model_slice(
        &mut self,
        message: &Message,
        lanes: &mut Lanes,
        losses: &mut Losses,
    ) -> io::Result<Option<Slice>> {
        let model = message.model.as_ref();
        let at = model.and_then(|model| model.at).or(message.at);
        let Some(end) = at.map(|at| self.micros(at)) else {
            losses.add(Loss::NoTime, 1);
            return Ok(None);
        };
        let known = model.and_then(|model| model.usage.duration_millis);
        let slice = lanes.model_slice(end, known);
        let mut args = Object::new();
        let text = message.texts.first().or(message.reasoning.first());
        args.push_some("said", text.map(|text| one_line(text, LONGEST)));
        let name = model.and_then(|model| model.usage.model.clone());
        if let Some(model) = model {
            let usage = &model.usage.usage;
            args.push("input_tokens", usage.input_tokens);
            args.push("cached_tokens", usage.cached_tokens);
            args.push("output_tokens", usage.output_tokens);
            args.push_some("cost", usage.cost.and_then(Number::from_f64));
            args.push_some("currency", usage.currency.clone());
        }
        args.push("is_start_estimated", known.is_none());
        self.slice(&name.unwrap_or_else(|| "message".to_owned()), slice, args)?;
        for from in lanes.take_results() {
            self.flow(from, slice)?;
        }
        if let Some(model) = model {
            if message.sub_agent.is_none() {
                self.counter("context", end, "tokens", model.usage.context.into())?;
            }
            let usage = &model.usage.usage;
            if let (Some(cost), Some(currency)) = (usage.cost, &usage.currency) {
                let sum = self.nanos.entry(currency.clone()).or_default();
                *sum = sum.saturating_add((cost * 1e9).round() as u128);
                let total = Number::from_f64(*sum as f64 / 1e9).map_or(Json::Null, Json::Number);
                self.counter("cost", end, &currency.clone(), total)?;
            }
        }
        Ok(Some(slice))
    }

    fn call_slice(
        &mut self,
        call: &Call,
        agent: Option<&str>,
        asked: Option<Slice>,
        lanes: &mut Lanes,
        losses: &mut Losses,
    ) -> io::Result<()> {
        let Some(at) = call.at else {
            losses.add(Loss::NoTime, 1);
            return Ok(());
        };
        let shown = &call.shown;
        let start = self.micros(at);
        let end = call.ended().map_or(start, |ended| self.micros(ended));
        let (slice, is_new) = lanes.tool_slice(start, end);
        if is_new {
            let name = format!("tools {}{}", lanes.tool_count(), owner(agent));
            self.name("thread_name", slice.thread, &name)?;
        }
        let mut args = Object::new();
        args.push_some("call_id", shown.id.clone());
        args.push_some("command", shown.command.as_ref().map(|text| one_line(text, LONGEST)));
        args.push("outcome", shown.outcome);
        args.push_some("exit_code", shown.exit_code);
        args.push("output_bytes", shown.output.whole_bytes());
        args.push("is_end_known", call.ended().is_some());
        self.slice(&shown.tool, slice, args)?;
        asked.map_or(Ok(()), |asked| self.flow(asked, slice))
    }

    fn step(&mut self, step: &Step, lanes: &mut Lanes, losses: &mut Losses) -> io::Result<()> {
        let thread = lanes.conversation();
        let (name, text) = match &step.what {
            What::Prompt { text, .. } => ("prompt", text.text.clone()),
            What::Error { text, .. } => ("error", text.clone()),
            What::Compaction { summary, .. } => ("compaction", summary.text.clone()),
            What::Approval { subject, decision, .. } => {
                let about = subject.clone().unwrap_or_default();
                ("approval", format!("{} {about}", decision.unwrap_or("asked")))
            }
            What::Changed { about } => ("changed", about.clone()),
            What::Lost { about } => ("lost", about.clone()),
            What::Ended { status, .. } => ("ended", status.clone()),
            What::Turn { duration_millis, .. } => {
                let Some((at, took)) = step.at.zip(*duration_millis) else { return Ok(()) };
                let slice = lanes.turn_slice(self.micros(at), took);
                return self.slice(&format!("turn {}", step.turn), slice, Object::new());
            }
            _ => return Ok(()),
        };
        let Some(at) = step.at.map(|at| self.micros(at)) else {
            losses.add(Loss::NoTime, 1);
            return Ok(());
        };
        lanes.idle_until(at);
        let mut args = Object::new();
        args.push("text", one_line(&text, LONGEST));
        self.instant(name, thread, at, args)
    }
}

/// The end of the name of a thread: nothing for those of the main agent.
fn owner(agent: Option<&str>) -> String {
    agent.map_or_else(String::new, |agent| format!(" of {agent}"))
}

impl Converter for Perfetto<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        self.process += 1;
        (self.agents, self.nanos) = (BTreeMap::new(), BTreeMap::new());
        self.origin = self.origin.or(survey.run.started_at);
        self.name("process_name", 0, &survey.session)?;
        // The main agent has the first threads, whoever speaks first.
        let lanes = self.lanes(&None)?;
        self.agents.insert(None, lanes);
        Ok(())
    }

    fn piece(&mut self, piece: Piece, losses: &mut Losses) -> io::Result<()> {
        let agent = match &piece {
            Piece::Message(message) => message.sub_agent.clone(),
            Piece::Step(step) => step.sub_agent.clone(),
        };
        let mut lanes = self.lanes(&agent)?;
        let written = match &piece {
            Piece::Message(message) => self.message(message, &mut lanes, losses),
            Piece::Step(step) => self.step(step, &mut lanes, losses),
        };
        self.agents.insert(agent, lanes);
        written
    }

    fn finish(mut self: Box<Self>) -> io::Result<u64> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.events)
    }
}
