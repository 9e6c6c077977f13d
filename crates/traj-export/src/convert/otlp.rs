//! A run as OpenTelemetry traces, by the conventions for generative AI.
//!
//! A run is one trace: a span for the agent, below it one for each model call
//! and tool call. The span of a sub-agent is below that of the call that started
//! it, or below the agent if that call is not known. Prompts, replies, arguments and outputs are only
//! included on request. Ids are digests, so that a run that is sent twice is
//! recognised.
//!
//! - `attributes`: the names of attributes, and values;
//! - `content`: messages in the form of the conventions;
//! - `spans`: ids and spans;
//! - `batch`: requests of limited size, as protobuf or as JSON Lines.

mod attributes;
mod batch;
mod content;
mod spans;

use std::collections::BTreeMap;
use std::io;

use opentelemetry_proto::tonic::trace::v1::{Span, span, span::SpanKind};
use traj_core::run::{Outcome, RunState};
use traj_core::timestamp::UnixMillis;

use super::losses::{Loss, Losses};
use super::pieces::{Call, Message, ModelPart, Piece, Step};
use super::survey::Survey;
use super::{Converter, Output, Wants};
use crate::inspect::story::What;
use attributes::{Attributes, name};
pub(super) use batch::Encoding;
use batch::Requests;
use content::MessageLog;
use spans::{SpanIds, Starters, nanos};

/// At most this many errors become events of the agent's span.
const MOST_ERRORS: usize = 128;

/// Writes traces.
pub(super) struct Otlp<'w> {
    requests: Requests<'w>,
    has_content: bool,
    ids: SpanIds,
    /// When each agent last did something: a model call begins there.
    last: BTreeMap<Option<String>, UnixMillis>,
    log: BTreeMap<Option<String>, MessageLog>,
    starters: Starters,
    errors: Vec<span::Event>,
    provider: Option<String>,
    ended: Option<(String, Option<String>)>,
}

impl<'w> Otlp<'w> {
    pub(super) fn new(out: Output<'w>, encoding: Encoding, has_content: bool) -> Self {
        Self {
            requests: Requests::new(out, encoding),
            has_content,
            ids: SpanIds::default(),
            last: BTreeMap::new(),
            log: BTreeMap::new(),
            starters: Starters::default(),
            errors: Vec::new(),
            provider: None,
            ended: None,
        }
    }

    /// A time; the last known one if the source states none.
    #[expect(clippy::ref_option, reason = "it is a key of the map")]
    fn time(
        &self,
        at: Option<UnixMillis>,
        agent: &Option<String>,
        losses: &mut Losses,
    ) -> UnixMillis {
        at.unwrap_or_else(|| {
            losses.add(Loss::EstimatedTime, 1);
            self.last.get(agent).copied().unwrap_or_default()
        })
    }

    #[expect(clippy::ref_option, reason = "it is a key of the map")]
    fn touch(&mut self, agent: &Option<String>, at: UnixMillis) {
        let last = self.last.entry(agent.clone()).or_insert(at);
        *last = (*last).max(at);
    }

    /// A span below that of its agent.
    fn child(&self, agent: Option<&str>, kind: &str, seq: u64, bounds: [UnixMillis; 2]) -> Span {
        let [start, end] = bounds;
        Span {
            trace_id: self.ids.trace(),
            span_id: self.ids.of(kind, &seq.to_string()),
            parent_span_id: self.ids.agent(agent),
            start_time_unix_nano: nanos(start),
            // Some receivers drop a whole batch for a span that ends before it begins.
            end_time_unix_nano: nanos(end).max(nanos(start)),
            ..Span::default()
        }
    }

    fn message(&mut self, message: &Message, losses: &mut Losses) -> io::Result<()> {
        if let Some(model) = &message.model {
            self.chat(message, model, losses)?;
        }
        for call in &message.calls {
            self.tool(message, call, losses)?;
        }
        Ok(())
    }

    fn chat(
        &mut self,
        message: &Message,
        model: &ModelPart,
        losses: &mut Losses,
    ) -> io::Result<()> {
        let agent = &message.sub_agent;
        let end = self.time(model.at.or(message.at), agent, losses);
        let known = model.usage.duration_millis.and_then(|millis| i64::try_from(millis).ok());
        let start = match known {
            Some(millis) => end.plus_millis(-millis),
            None => self.last.get(agent).copied().unwrap_or(end).min(end),
        };
        self.touch(agent, end);
        let note = &model.note;
        let mut span = self.child(agent.as_deref(), "chat", note.seq, [start, end]);
        let full = model.usage.model.clone();
        let shown = note.model.clone().or(full).unwrap_or_default();
        span.name = format!("chat {shown}").trim_end().to_owned();
        span.kind = SpanKind::Client.into();
        let usage = &model.usage.usage;
        let mut attributes = Attributes::operation("chat");
        self.provider = note.provider.clone().or(self.provider.take());
        attributes.text(name::PROVIDER, self.provider.as_deref());
        attributes.text(name::CONVERSATION, Some(&self.ids.session));
        attributes.text(
            name::REQUEST_MODEL,
            Some(&shown).filter(|shown| !shown.is_empty()).map(String::as_str),
        );
        attributes.text(name::RESPONSE_MODEL, note.model.as_deref());
        attributes.text(name::RESPONSE_ID, note.response.as_deref());
        attributes.texts(name::FINISH_REASONS, note.stop_reason.as_deref());
        attributes.count(name::INPUT_TOKENS, usage.input_tokens);
        attributes.count(name::OUTPUT_TOKENS, usage.output_tokens);
        attributes.count(name::CACHE_READ_TOKENS, usage.cached_tokens);
        attributes.count(name::CACHE_WRITE_TOKENS, usage.cache_write_tokens);
        attributes.count(name::REASONING_TOKENS, usage.reasoning_tokens);
        attributes.amount(name::COST, usage.cost);
        attributes.text(name::CURRENCY, usage.currency.as_deref());
        attributes.flag(name::ESTIMATED_START, known.is_none());
        if self.has_content {
            let log = self.log.entry(agent.clone()).or_default();
            attributes.text(name::INPUT_MESSAGES, log.take_input().as_deref());
            attributes.text(name::OUTPUT_MESSAGES, content::output_messages(message).as_deref());
        }
        span.attributes = attributes.into_values();
        self.requests.push(span)
    }

    fn tool(&mut self, message: &Message, call: &Call, losses: &mut Losses) -> io::Result<()> {
        let agent = &message.sub_agent;
        let start = self.time(call.at, agent, losses);
        let end = call.ended().unwrap_or(start);
        self.touch(agent, end);
        let shown = &call.shown;
        let mut span = self.child(agent.as_deref(), "tool", call.note.seq, [start, end]);
        // Several calls may be in one event.
        let own = shown.id.clone().unwrap_or_default();
        span.span_id = self.ids.of("tool", &format!("{}/{own}", call.note.seq));
        self.starters.add(&own, agent.as_deref(), call.note.seq, &span.span_id);
        span.name = format!("execute_tool {}", shown.tool);
        span.kind = SpanKind::Internal.into();
        let mut attributes = Attributes::operation("execute_tool");
        attributes.text(name::CONVERSATION, Some(&self.ids.session));
        attributes.text(name::TOOL_NAME, Some(&shown.tool));
        attributes.text(name::TOOL_TYPE, Some("function"));
        attributes.text(name::TOOL_CALL_ID, shown.id.as_deref());
        attributes.text(name::OUTCOME, Some(shown.outcome));
        if let Some(code) = shown.exit_code {
            attributes.whole(name::EXIT_CODE, code);
        }
        if shown.is_failure {
            let kind = if shown.exit_code.is_some() { "exit" } else { shown.outcome };
            attributes.text(name::ERROR_TYPE, Some(kind));
            span.status =
                Some(spans::failed(if self.has_content { shown.error.as_deref() } else { None }));
        }
        if shown.outcome == Outcome::Unanswered.name() {
            losses.add(Loss::OpenSpan, 1);
        }
        if self.has_content {
            attributes.text(name::TOOL_ARGUMENTS, Some(&call.note.arguments.to_text()));
            attributes.text(name::TOOL_RESULT, Some(&shown.output.text));
            self.log.entry(agent.clone()).or_default().add_result(call);
        }
        span.attributes = attributes.into_values();
        self.requests.push(span)
    }

    fn step(&mut self, step: Step, losses: &mut Losses) {
        if let Some(at) = step.at {
            self.touch(&step.sub_agent, at);
        }
        match step.what {
            What::Prompt { text, .. } if self.has_content => {
                self.log.entry(step.sub_agent).or_default().add_prompt(text.text);
            }
            What::Error { text, .. } => {
                if self.errors.len() >= MOST_ERRORS {
                    losses.add(Loss::Errors, 1);
                    return;
                }
                let at = self.time(step.at, &step.sub_agent, losses);
                let mut attributes = Attributes::default();
                attributes.text(
                    name::EXCEPTION_MESSAGE,
                    Some(&text).filter(|_| self.has_content).map(String::as_str),
                );
                attributes.text(name::EXCEPTION_TYPE, Some("error"));
                self.errors.push(span::Event {
                    time_unix_nano: nanos(at),
                    name: name::EXCEPTION.to_owned(),
                    attributes: attributes.into_values(),
                    dropped_attributes_count: 0,
                });
            }
            What::Ended { status, error, .. } => self.ended = Some((status, error)),
            _ => {}
        }
    }

    /// The span of the run or of a sub-agent.
    fn agent_span(&mut self, survey: &Survey, sub_agent: Option<&str>) -> Span {
        let run = &survey.run;
        let bounds = match sub_agent {
            None => (run.started_at, run.ended_at),
            Some(id) => {
                survey.sub_agents.get(id).map_or((None, None), |span| (span.first, span.last))
            }
        };
        let last = self.last.get(&sub_agent.map(str::to_owned)).copied();
        let start = bounds.0.or(run.started_at).unwrap_or_default();
        let end = bounds.1.max(last).unwrap_or(start);
        let mut span = Span {
            trace_id: self.ids.trace(),
            span_id: self.ids.agent(sub_agent),
            start_time_unix_nano: nanos(start),
            end_time_unix_nano: nanos(end).max(nanos(start)),
            kind: SpanKind::Internal.into(),
            ..Span::default()
        };
        let agent = sub_agent.or(run.agent.as_deref()).unwrap_or("agent");
        span.name = format!("invoke_agent {agent}");
        let mut attributes = Attributes::operation("invoke_agent");
        attributes.text(name::PROVIDER, self.provider.as_deref());
        attributes.text(name::AGENT_NAME, Some(agent));
        attributes.text(name::CONVERSATION, Some(&self.ids.session));
        if sub_agent.is_some() {
            attributes.text(name::AGENT_ID, sub_agent);
            let starter = sub_agent.and_then(|id| self.starters.span(id));
            span.parent_span_id = starter.unwrap_or_else(|| self.ids.agent(None));
            span.attributes = attributes.into_values();
            return span;
        }
        attributes.text(name::AGENT_VERSION, run.agent_version.as_deref());
        attributes.text(name::REQUEST_MODEL, run.model.as_deref());
        attributes.text(name::STATUS, run.status.as_ref().map(RunState::as_str));
        attributes.flag(name::CONTENT, self.has_content);
        if self.has_content {
            attributes
                .text(name::SYSTEM, survey.system.as_deref().map(content::instructions).as_deref());
            let tools = survey.tools.as_ref().and_then(content::tool_definitions);
            attributes.text(name::TOOLS, tools.as_deref());
        }
        if let Some((status, error)) = self.ended.take()
            && (error.is_some() || status == "error")
        {
            attributes.text(name::ERROR_TYPE, Some("run"));
            span.status = Some(spans::failed(error.as_deref().filter(|_| self.has_content)));
        }
        span.events = std::mem::take(&mut self.errors);
        span.attributes = attributes.into_values();
        span
    }
}

impl Converter for Otlp<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        self.ids = SpanIds::new(&survey.session);
        (self.last, self.log) = (BTreeMap::new(), BTreeMap::new());
        (self.errors, self.provider, self.ended) = (Vec::new(), None, None);
        self.starters = Starters::new(survey.agent_calls());
        if let Some(started) = survey.run.started_at {
            self.touch(&None, started);
        }
        self.requests.begin(&survey.run);
        Ok(())
    }

    fn piece(&mut self, piece: Piece, losses: &mut Losses) -> io::Result<()> {
        match piece {
            Piece::Message(message) => self.message(&message, losses),
            Piece::Step(step) => {
                self.step(step, losses);
                Ok(())
            }
        }
    }

    fn end(&mut self, survey: &Survey, _losses: &mut Losses) -> io::Result<()> {
        for id in survey.sub_agents.keys() {
            let span = self.agent_span(survey, Some(id));
            self.requests.push(span)?;
        }
        let span = self.agent_span(survey, None);
        self.requests.push(span)?;
        self.requests.flush()
    }

    fn finish(self: Box<Self>) -> io::Result<u64> {
        self.requests.finish()
    }
}
