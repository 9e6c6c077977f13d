//! Attributes of spans.
//!
//! The conventions for generative AI are still in development. The names are
//! those of the registry (`model/gen-ai/registry.yaml`) of
//! `open-telemetry/semantic-conventions-genai` at commit
//! `e8fc5751506258db1459d1bde47994e01dee922e`. `tests/formats/check.py`
//! compares them with a published list. They are spelled out here, so that a
//! change of the conventions does not change what is written. Our own names
//! begin with `traj.`.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};

/// The names.
pub(super) mod name {
    pub(in super::super) const OPERATION: &str = "gen_ai.operation.name";
    pub(in super::super) const PROVIDER: &str = "gen_ai.provider.name";
    pub(in super::super) const CONVERSATION: &str = "gen_ai.conversation.id";
    pub(in super::super) const AGENT_ID: &str = "gen_ai.agent.id";
    pub(in super::super) const AGENT_NAME: &str = "gen_ai.agent.name";
    pub(in super::super) const AGENT_VERSION: &str = "gen_ai.agent.version";
    pub(in super::super) const REQUEST_MODEL: &str = "gen_ai.request.model";
    pub(in super::super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
    pub(in super::super) const RESPONSE_ID: &str = "gen_ai.response.id";
    pub(in super::super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
    pub(in super::super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    pub(in super::super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    pub(in super::super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
    pub(in super::super) const CACHE_WRITE_TOKENS: &str =
        "gen_ai.usage.cache_creation.input_tokens";
    pub(in super::super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
    pub(in super::super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
    pub(in super::super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
    pub(in super::super) const SYSTEM: &str = "gen_ai.system_instructions";
    pub(in super::super) const TOOLS: &str = "gen_ai.tool.definitions";
    pub(in super::super) const TOOL_NAME: &str = "gen_ai.tool.name";
    pub(in super::super) const TOOL_TYPE: &str = "gen_ai.tool.type";
    pub(in super::super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
    pub(in super::super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
    pub(in super::super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
    pub(in super::super) const ERROR_TYPE: &str = "error.type";
    pub(in super::super) const EXCEPTION: &str = "exception";
    pub(in super::super) const EXCEPTION_TYPE: &str = "exception.type";
    pub(in super::super) const EXCEPTION_MESSAGE: &str = "exception.message";
    pub(in super::super) const COST: &str = "traj.usage.cost";
    pub(in super::super) const CURRENCY: &str = "traj.usage.currency";
    pub(in super::super) const ESTIMATED_START: &str = "traj.start_is_estimated";
    pub(in super::super) const OUTCOME: &str = "traj.tool.outcome";
    pub(in super::super) const EXIT_CODE: &str = "traj.tool.exit_code";
    pub(in super::super) const STATUS: &str = "traj.run.status";
    pub(in super::super) const CONTENT: &str = "traj.has_content";
}

/// Attributes in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<KeyValue>);

impl Attributes {
    /// Those of an operation.
    pub(super) fn operation(operation: &str) -> Self {
        let mut attributes = Self::default();
        attributes.text(name::OPERATION, Some(operation));
        attributes
    }

    pub(super) fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.push(name, Value::StringValue(text.to_owned()));
        }
    }

    /// A list with one text.
    pub(super) fn texts(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            let value = AnyValue { value: Some(Value::StringValue(text.to_owned())) };
            self.push(name, Value::ArrayValue(ArrayValue { values: vec![value] }));
        }
    }

    pub(super) fn count(&mut self, name: &str, count: u64) {
        self.whole(name, i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn whole(&mut self, name: &str, number: i64) {
        self.push(name, Value::IntValue(number));
    }

    pub(super) fn amount(&mut self, name: &str, amount: Option<f64>) {
        if let Some(amount) = amount {
            self.push(name, Value::DoubleValue(amount));
        }
    }

    pub(super) fn flag(&mut self, name: &str, flag: bool) {
        self.push(name, Value::BoolValue(flag));
    }

    fn push(&mut self, name: &str, value: Value) {
        let value = Some(AnyValue { value: Some(value) });
        self.0.push(KeyValue { key: name.to_owned(), value, ..KeyValue::default() });
    }

    pub(super) fn into_values(self) -> Vec<KeyValue> {
        self.0
    }
}
