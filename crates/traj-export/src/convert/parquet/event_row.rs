//! An event as a row of a table.

use std::collections::{BTreeMap, HashMap, VecDeque};

use sha2::{Digest as _, Sha256};
use traj_core::dialect::{Dialect, particulars};
use traj_core::run::{
    CostOrigin, Fact, Failure, ModelCall, Origin, Outcome, Run, RunEvent, Taken, Thread,
    ToolResultFact, UsageScope,
};
use traj_core::timestamp::UnixMillis;

/// The version of the columns. Columns are only ever added.
pub(super) const SCHEMA_VERSION: i32 = 1;

/// Names of programs have at most this length.
const LONGEST_AGENT: usize = 64;

/// At most this many entries are remembered to find the event of a parent.
const REMEMBERED: usize = 65_536;

/// An event. What the source does not state is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "callers add what they know, such as the host")]
pub struct EventRow {
    /// The version of the columns.
    pub schema_version: i32,
    /// Names the session across hosts: 32 hexadecimal digits.
    pub trace_id: String,
    /// The session.
    pub session_id: String,
    /// The run of the session.
    pub run_id: Option<String>,
    /// Names the event: 32 hexadecimal digits.
    pub event_id: String,
    /// The event of the parent entry.
    pub parent_id: Option<String>,
    /// The number of the event in its session.
    pub seq: i64,
    /// Which file states it: `runtime` or `transcript`.
    pub source: &'static str,
    /// The program.
    pub agent: Option<String>,
    /// Its version.
    pub agent_version: Option<String>,
    /// The salted hash of the host's name.
    pub host_id: Option<String>,
    /// The type of the event.
    pub kind: String,
    /// When.
    pub at: Option<UnixMillis>,
    /// How long it took, in microseconds.
    pub duration_micros: Option<i64>,
    /// The model.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The id of the call.
    pub call_id: Option<String>,
    /// How a call or a run ended.
    pub status: Option<String>,
    /// The kind of error.
    pub error_kind: Option<String>,
    /// Tokens that this event adds to the run: input, cached ones included.
    pub input_tokens: Option<i64>,
    /// Tokens that the model wrote, reasoning included.
    pub output_tokens: Option<i64>,
    /// Tokens read from a cache.
    pub cache_read_tokens: Option<i64>,
    /// Tokens written to a cache.
    pub cache_write_tokens: Option<i64>,
    /// Tokens of reasoning.
    pub reasoning_tokens: Option<i64>,
    /// The cost in billionths of the currency.
    pub cost_nanos: Option<i128>,
    /// The currency.
    pub currency: Option<String>,
    /// Whether the cost is `stated` or `computed`.
    pub cost_origin: Option<&'static str>,
    /// How many bytes of text it has.
    pub text_bytes: i64,
    /// How many markers replace secrets in it.
    pub redactions: i32,
    /// The sub-agent whose event it is.
    pub subagent_of: Option<String>,
    /// The directory that the agent worked in.
    pub workspace: Option<String>,
    /// The payload, as JSON.
    pub data: String,
    /// What the caller wants to find it by.
    pub labels: BTreeMap<String, String>,
    /// The number of the call that it states or answers; a call that two files
    /// state has one number.
    pub call_number: Option<i64>,
    /// Whether it states the call and not only its result; `None` if it states
    /// neither.
    pub is_call: Option<bool>,
    /// The exit code of a call that failed.
    pub exit_code: Option<i64>,
    /// Whether an error is stated for the first time; `None` if there is none.
    pub is_new_error: Option<bool>,
    /// The number of the first event of its segment, in a shared data set.
    pub segment: Option<i64>,
    /// The revision of its segment, in a shared data set.
    pub revision: Option<i32>,
}

impl EventRow {
    /// The approximate size.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + 512
    }
}

/// Makes rows of the events of a session.
#[derive(Debug)]
pub struct EventRows {
    /// What all rows have in common.
    base: EventRow,
    /// The kind of record that tokens are counted by.
    scope: UsageScope,
    /// The row of the current event; it may state several facts.
    row: Option<EventRow>,
    entries: HashMap<String, String>,
    order: VecDeque<String>,
}

impl EventRows {
    /// Rows of a run that was read once.
    #[must_use]
    pub fn new(run: &Run) -> Self {
        let session_id = session_id(run);
        let base = EventRow {
            schema_version: SCHEMA_VERSION,
            trace_id: trace_id(run.agent.as_deref(), &session_id),
            session_id,
            agent: run.agent.clone(),
            agent_version: run.agent_version.clone(),
            workspace: run.workspace.clone(),
            ..EventRow::default()
        };
        let (entries, order) = (HashMap::new(), VecDeque::new());
        Self { base, scope: run.usage_scope, row: None, entries, order }
    }

    /// Ends the current event. Returns its row.
    pub(super) fn end_event(&mut self) -> Option<EventRow> {
        self.row.take()
    }

    /// Takes a fact, with what it adds to the run. Returns the row before it, if
    /// that is complete.
    pub fn take(&mut self, event: &RunEvent<'_>, taken: &Taken) -> Option<EventRow> {
        let seq = i64::try_from(event.place.line).unwrap_or(i64::MAX);
        let is_same = self.row.as_ref().is_some_and(|row| row.seq == seq);
        let complete = if is_same { None } else { self.row.take() };
        let mut row = match self.row.take() {
            Some(row) => row,
            None => self.begin(event, seq),
        };
        add_fact(&mut row, &event.fact);
        if let Some(call) = taken.call {
            row.call_number = Some(count(call.number));
            let is_call = matches!(event.fact, Fact::ToolCall(_));
            row.is_call = Some(is_call || row.is_call == Some(true));
        }
        if states_error(&event.fact) {
            row.is_new_error = Some(taken.is_new_error || row.is_new_error == Some(true));
        }
        if let Fact::ModelCall(call) = &event.fact {
            self.add_model_call(&mut row, call, taken);
        }
        self.row = Some(row);
        complete
    }

    /// The last row.
    #[must_use]
    pub fn finish(self) -> Option<EventRow> {
        self.row
    }

    fn begin(&mut self, event: &RunEvent<'_>, seq: i64) -> EventRow {
        let event_id = event_id(&self.base.trace_id, seq);
        let parent_id = event.parent.and_then(|parent| self.entries.get(parent).cloned());
        if let Some(entry) = event.entry {
            self.remember(entry, &event_id);
        }
        let mut data = String::new();
        if let Some(value) = particulars::data_of(event.raw) {
            value.write_compact(&mut data);
        }
        let redactions = data.matches("<redacted:").count();
        EventRow {
            run_id: owned(event.run),
            event_id,
            parent_id,
            seq,
            source: if event.origin == Origin::Runtime { "runtime" } else { "transcript" },
            kind: Dialect::Bundle.type_name(event.raw).unwrap_or_default().into_owned(),
            at: event.at,
            redactions: i32::try_from(redactions).unwrap_or(i32::MAX),
            subagent_of: match event.thread {
                Thread::SubAgent(id) => Some(id.to_owned()),
                _ => None,
            },
            data,
            ..self.base.clone()
        }
    }

    fn remember(&mut self, entry: &str, event_id: &str) {
        if self.entries.contains_key(entry) {
            return;
        }
        if self.order.len() >= REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
        self.order.push_back(entry.to_owned());
        self.entries.insert(entry.to_owned(), event_id.to_owned());
    }

    fn add_model_call(&self, row: &mut EventRow, call: &ModelCall<'_>, taken: &Taken) {
        row.model = owned(call.model).or(row.model.take());
        row.provider = owned(call.provider).or(row.provider.take());
        row.duration_micros = call.latency.map(micros).or(row.duration_micros);
        if let Some(error) = &call.error {
            row.error_kind.get_or_insert_with(|| "model".to_owned());
            row.text_bytes += count(error.len() as u64);
        }
        let counted = taken.model_call.as_ref().or(taken.more_of_call.as_ref());
        let Some(counted) = counted.filter(|_| call.scope == self.scope) else {
            return;
        };
        // What is added to an earlier row is stated only where there is more.
        let is_call = taken.model_call.is_some();
        let tokens = |number: u64| Some(count(number)).filter(|number| is_call || *number > 0);
        let usage = &counted.usage;
        row.input_tokens = tokens(usage.input);
        row.output_tokens = tokens(usage.output);
        row.cache_read_tokens = tokens(usage.cached);
        row.cache_write_tokens = tokens(usage.cache_write);
        row.reasoning_tokens = tokens(usage.reasoning);
        if let Some(cost) = &counted.cost {
            row.cost_nanos = i128::try_from(cost.nanos).ok();
            row.currency = Some(cost.currency.clone());
            row.cost_origin = Some(CostOrigin::as_str(cost.origin));
        }
    }
}

fn add_fact(row: &mut EventRow, fact: &Fact<'_>) {
    match fact {
        Fact::Prompt(prompt) => row.text_bytes += count(prompt.content.bytes()),
        Fact::AssistantText(text) | Fact::Reasoning(text) => row.text_bytes += count(text.bytes()),
        Fact::ToolCall(call) => {
            row.tool = Some(call.name.to_owned());
            row.call_id = owned(call.id);
        }
        Fact::ToolResult(result) => add_result(row, result),
        Fact::ModelChanged(change) => {
            row.model = owned(change.model);
            row.provider = owned(change.provider);
        }
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => {
            row.status = Some(ended.status.as_str().to_owned());
            if ended.error.is_some() {
                row.error_kind = Some("run".to_owned());
            }
        }
        Fact::Error(error) => {
            row.error_kind = Some(error.kind.unwrap_or("error").to_owned());
            row.text_bytes += count(error.text.len() as u64);
        }
        Fact::ApprovalDecided(approval) => {
            row.call_id = owned(approval.call);
            row.status = approval.decision.map(|decision| decision.as_str().to_owned());
        }
        Fact::ApprovalAsked(approval) => row.call_id = owned(approval.call),
        Fact::Compaction(compaction) => row.text_bytes += count(compaction.summary.bytes()),
        Fact::Hook(hook) => {
            row.tool = Some(hook.name.to_owned());
            row.status = Some(hook.outcome.name().to_owned());
        }
        _ => {}
    }
}

/// Whether a fact states an error outside a tool.
const fn states_error(fact: &Fact<'_>) -> bool {
    match fact {
        Fact::Error(_) => true,
        Fact::ModelCall(call) => call.error.is_some(),
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => ended.error.is_some(),
        _ => false,
    }
}

fn add_result(row: &mut EventRow, result: &ToolResultFact<'_>) {
    row.tool = owned(result.name);
    row.call_id = owned(result.id);
    row.status = Some(result.outcome.name().to_owned());
    row.duration_micros = result.duration.map(micros);
    row.exit_code = result.outcome.exit_code();
    row.text_bytes += count(result.content.bytes());
    row.error_kind = match &result.outcome {
        Outcome::Failed(Failure { exit_code: Some(_), .. }) => Some("exit".to_owned()),
        Outcome::Failed(Failure { signal: Some(_), .. }) => Some("signal".to_owned()),
        Outcome::Failed(_) => Some("tool".to_owned()),
        Outcome::TimedOut => Some("timeout".to_owned()),
        _ => None,
    };
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

pub(super) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn micros(millis: u64) -> i64 {
    count(millis).saturating_mul(1_000)
}

/// The session of a run that may not state one.
pub(super) fn session_id(run: &Run) -> String {
    run.session.clone().unwrap_or_else(|| "run".to_owned())
}

/// Names a session across hosts: 32 hexadecimal digits, made from its program and
/// its id, because sessions of two programs may have the same id.
#[must_use]
pub fn trace_id(agent: Option<&str>, session_id: &str) -> String {
    digest(&[b"trace", agent_name(agent).as_bytes(), session_id.as_bytes()])
}

/// The name of a program in identifiers and directories: lower case letters, digits
/// and hyphens; `unknown` without a program.
#[must_use]
pub fn agent_name(agent: Option<&str>) -> String {
    let mut name = String::new();
    for letter in agent.unwrap_or_default().chars().take(LONGEST_AGENT) {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_alphanumeric() {
            name.push(letter);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "unknown".to_owned() } else { name.to_owned() }
}

/// Names an event: the beginning of its session's name, and its number. Neighbours
/// are alike, so that they can be compressed, which digests cannot.
fn event_id(trace_id: &str, seq: i64) -> String {
    let session: String = trace_id.chars().take(20).collect();
    format!("{session}{seq:012x}")
}

/// The first 16 bytes of a digest, in hexadecimal digits.
fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
