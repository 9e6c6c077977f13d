//! Tool calls as rows of a table, the same for every format.

use traj_core::json::{Json, Number};
use traj_core::timestamp::UnixMillis;

use super::pieces::{Call, Message, ModelPart};

/// A tool call.
///
/// The tokens are those of the model call that asked for it. If it asked for
/// several, they are stated with the first, so that sums are right.
#[derive(Debug, Default)]
pub(super) struct CallRow<'m> {
    pub(super) session: &'m str,
    pub(super) seq: u64,
    pub(super) turn: u64,
    pub(super) sub_agent: Option<&'m str>,
    pub(super) id: Option<&'m str>,
    pub(super) tool: &'m str,
    pub(super) command: Option<&'m str>,
    pub(super) started: Option<UnixMillis>,
    pub(super) ended: Option<UnixMillis>,
    pub(super) millis: Option<u64>,
    pub(super) outcome: &'static str,
    pub(super) exit_code: Option<i64>,
    pub(super) signal: Option<&'m str>,
    pub(super) error: Option<&'m str>,
    pub(super) argument_bytes: u64,
    pub(super) output_bytes: u64,
    pub(super) is_truncated: bool,
    pub(super) model: Option<&'m str>,
    pub(super) input_tokens: Option<u64>,
    pub(super) cached_tokens: Option<u64>,
    pub(super) cache_write_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) reasoning_tokens: Option<u64>,
    pub(super) cost: Option<f64>,
    pub(super) currency: Option<&'m str>,
}

/// A value in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'m> {
    Empty,
    Text(&'m str),
    Time(UnixMillis),
    Count(u64),
    Whole(i64),
    Amount(f64),
    Flag(bool),
}

impl Cell<'_> {
    /// As a JSON value.
    pub(super) fn to_json(self) -> Json<'static> {
        match self {
            Self::Empty => Json::Null,
            Self::Text(text) => text.to_owned().into(),
            Self::Time(at) => at.to_iso().into(),
            Self::Count(count) => count.into(),
            Self::Whole(number) => number.into(),
            Self::Amount(amount) => Number::from_f64(amount).map_or(Json::Null, Json::Number),
            Self::Flag(flag) => flag.into(),
        }
    }
}

impl<'m> CallRow<'m> {
    /// The names of the columns.
    pub(super) const COLUMNS: [&'static str; 25] = [
        "session",
        "seq",
        "turn",
        "sub_agent",
        "call_id",
        "tool",
        "command",
        "started_at",
        "ended_at",
        "duration_ms",
        "outcome",
        "exit_code",
        "signal",
        "error",
        "argument_bytes",
        "output_bytes",
        "truncated",
        "model",
        "input_tokens",
        "cached_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "cost",
        "currency",
    ];

    /// The rows of a message.
    pub(super) fn of(session: &'m str, message: &'m Message) -> impl Iterator<Item = Self> {
        message.calls.iter().enumerate().map(move |(index, call)| {
            let mut row = Self::of_call(session, message, call);
            if let Some(model) = &message.model {
                row.model = model.usage.model.as_deref();
                if index == 0 {
                    row.add_usage(model);
                }
            }
            row
        })
    }

    fn of_call(session: &'m str, message: &'m Message, call: &'m Call) -> Self {
        let shown = &call.shown;
        Self {
            session,
            seq: call.note.seq,
            turn: call.turn,
            sub_agent: message.sub_agent.as_deref(),
            id: shown.id.as_deref(),
            tool: &shown.tool,
            command: shown.command.as_deref(),
            started: call.at,
            ended: call.ended(),
            millis: shown.duration_millis,
            outcome: shown.outcome,
            exit_code: shown.exit_code,
            signal: shown.signal.as_deref(),
            error: shown.error.as_deref(),
            argument_bytes: call.note.arguments.to_text().len() as u64,
            output_bytes: shown.output.whole_bytes(),
            is_truncated: shown.is_truncated,
            ..Self::default()
        }
    }

    fn add_usage(&mut self, model: &'m ModelPart) {
        let usage = &model.usage.usage;
        self.input_tokens = Some(usage.input_tokens);
        self.cached_tokens = Some(usage.cached_tokens);
        self.cache_write_tokens = Some(usage.cache_write_tokens);
        self.output_tokens = Some(usage.output_tokens);
        self.reasoning_tokens = Some(usage.reasoning_tokens);
        (self.cost, self.currency) = (usage.cost, usage.currency.as_deref());
    }

    /// The values, in the order of [`Self::COLUMNS`].
    pub(super) fn cells(&self) -> [Cell<'m>; 25] {
        let text = |text: Option<&'m str>| text.map_or(Cell::Empty, Cell::Text);
        let count = |count: Option<u64>| count.map_or(Cell::Empty, Cell::Count);
        let time = |at: Option<UnixMillis>| at.map_or(Cell::Empty, Cell::Time);
        [
            Cell::Text(self.session),
            Cell::Count(self.seq),
            Cell::Count(self.turn),
            text(self.sub_agent),
            text(self.id),
            Cell::Text(self.tool),
            text(self.command),
            time(self.started),
            time(self.ended),
            count(self.millis),
            Cell::Text(self.outcome),
            self.exit_code.map_or(Cell::Empty, Cell::Whole),
            text(self.signal),
            text(self.error),
            Cell::Count(self.argument_bytes),
            Cell::Count(self.output_bytes),
            Cell::Flag(self.is_truncated),
            text(self.model),
            count(self.input_tokens),
            count(self.cached_tokens),
            count(self.cache_write_tokens),
            count(self.output_tokens),
            count(self.reasoning_tokens),
            self.cost.map_or(Cell::Empty, Cell::Amount),
            text(self.currency),
        ]
    }
}
