//! Which program wrote a file, and what its rows state.
//!
//! One module per program and format generation. A dialect recognises its files
//! ([`sniff`]) and decodes their rows into [`RunEvent`]s, one row at a time.
//! Anything that needs two rows, such as matching a result with its call, is left
//! to the reader of the events. Decoding never fails: an unknown row becomes
//! [`Fact::Other`](crate::run::Fact::Other) with the row's type and keeps its raw
//! value.
//!
//! To read another agent's files, add a module with `recognises` and `decode`,
//! a variant of [`Dialect`], and fixtures.

mod aider;
mod atif;
mod bundle;
mod claude_code;
mod codex;
mod continue_cli;
mod copilot;
mod crush;
mod gemini_cli;
mod gemini_parts;
mod goose;
mod numbered_facts;
mod openclaw;
mod opencode;
mod otlp_json;
mod qwen_code;
mod result;
mod row;
pub(crate) mod shape;
mod sidecar;
mod sniff;
mod table_row;
mod time;
mod title;
pub mod transcribe;
pub mod transcript;

pub(crate) use aider::AiderParagraph;
pub(crate) use atif::{AtifRow, recognises_beginning as begins_atif};
pub use bundle::{decode_manifest, encode_event};
pub use claude_code::context::{
    CallContext, ContextChange, ContextCheck, ContextError, ContextPart, ContextRow, ContextRows,
    ContextTable, TableBasis, TableChange, TablePart, TableRequest, TakeContextRow, call_context,
    contains_any, context_in,
};
pub(crate) use claude_code::{STORED_OUTPUT, stored_in};
pub(crate) use codex::mark_inherited;
pub(crate) use continue_cli::{header_row, item_row};
pub(crate) use otlp_json::{SpanRow, recognises_beginning as begins_otlp};
pub(crate) use row::SKIM_DEPTH;
pub use sidecar::{Endings, is_result_member, particulars};
pub use sniff::{Head, sniff};
pub(crate) use title::given_title;

use crate::json::{Json, Object};
use crate::run::{Place, RunEvent};

/// A program with the tables of opencode.
const KILO: &str = "kilo";

/// The member of a gathered row of a sub-agent that names the call which started it.
pub(crate) const STARTED_BY: &str = "startedBy";

/// The file format of a program, or one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// An OpenClaw transcript, versions 1 to 3.
    OpenClaw,
    /// A session of pi, whose format OpenClaw uses for its transcripts.
    Pi,
    /// A trajectory sidecar, written by traj or OpenClaw.
    Sidecar,
    /// A Codex rollout, of either generation.
    CodexRollout,
    /// The events of Copilot CLI.
    Copilot,
    /// Rows of Crush's database.
    Crush,
    /// Rows of goose's database.
    Goose,
    /// The messages of Qwen Code.
    QwenCode,
    /// Rows of opencode's database.
    OpenCode,
    /// The messages of Gemini CLI.
    GeminiCli,
    /// The document of Continue, as rows.
    Continue,
    /// The history of aider, as rows.
    Aider,
    /// The events of a bundle.
    Bundle,
    /// A session of Claude Code, versions 1.0 to 2.1.
    ClaudeCode,
    /// A trajectory in ATIF, as rows.
    Atif,
    /// OpenTelemetry traces in OTLP-JSON, as rows.
    OtlpJson,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: &[Self] = &[
        Self::OpenClaw,
        Self::Pi,
        Self::Sidecar,
        Self::CodexRollout,
        Self::Copilot,
        Self::QwenCode,
        Self::Crush,
        Self::GeminiCli,
        Self::Continue,
        Self::Aider,
        Self::Goose,
        Self::OpenCode,
        Self::Bundle,
        Self::ClaudeCode,
        Self::Atif,
        Self::OtlpJson,
    ];

    /// Its name in bundles and in `--json`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::Pi => "pi",
            Self::Sidecar => "sidecar",
            Self::CodexRollout => "codex-rollout",
            Self::Copilot => "copilot",
            Self::QwenCode => "qwen-code",
            Self::Crush => "crush",
            Self::GeminiCli => "gemini-cli",
            Self::Continue => "continue",
            Self::Aider => "aider",
            Self::Goose => "goose",
            Self::OpenCode => "opencode",
            Self::Bundle => "bundle",
            Self::ClaudeCode => "claude-code",
            Self::Atif => "atif",
            Self::OtlpJson => "otlp-json",
        }
    }

    /// The dialect with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.as_str() == name)
    }

    /// The program that writes such files; `None` if any program may.
    #[must_use]
    pub const fn agent(self) -> Option<&'static str> {
        match self {
            Self::OpenClaw => Some("openclaw"),
            Self::Pi => Some("pi"),
            Self::CodexRollout => Some("codex"),
            Self::Copilot => Some("copilot"),
            Self::QwenCode => Some("qwen-code"),
            Self::Crush => Some("crush"),
            Self::GeminiCli => Some("gemini-cli"),
            Self::Continue => Some("continue"),
            Self::Aider => Some("aider"),
            Self::Goose => Some("goose"),
            Self::ClaudeCode => Some("claude-code"),
            Self::OpenCode => Some("opencode"),
            Self::Sidecar | Self::Bundle | Self::Atif | Self::OtlpJson => None,
        }
    }

    /// The program that wrote such a file, by the file's name: Kilo has the tables of
    /// opencode.
    #[must_use]
    pub fn agent_of(self, file: &str) -> Option<&'static str> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let name = name.split_once('#').map_or(name, |(name, _)| name);
        let is_kilo = name == "kilo.db" || name.starts_with("kilo-");
        if self == Self::OpenCode && is_kilo { Some(KILO) } else { self.agent() }
    }

    /// Whether this program writes such files; `None` if none is named.
    #[must_use]
    pub fn is_written_by(self, agent: Option<&str>) -> bool {
        self.agent() == agent || (self == Self::OpenCode && agent == Some(KILO))
    }

    /// Whether another program than OpenClaw or traj writes such files. In a
    /// bundle, their rows are a plain list of entries, each with its facts.
    #[must_use]
    pub const fn is_foreign(self) -> bool {
        !matches!(self, Self::OpenClaw | Self::Pi | Self::Sidecar | Self::Bundle)
    }

    /// Whether such files are transcripts: a header, and the entries of a tree.
    #[must_use]
    pub const fn is_transcript(self) -> bool {
        matches!(self, Self::OpenClaw | Self::Pi)
    }

    /// Whether `trim` and `repair` know its rows well enough to change them.
    #[must_use]
    pub const fn is_editable(self) -> bool {
        matches!(
            self,
            Self::OpenClaw | Self::Pi | Self::CodexRollout | Self::Sidecar | Self::Bundle
        )
    }

    /// Emits the facts that a row states, in order. Every row states at least
    /// one.
    pub fn decode<'r>(self, row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
        match self {
            Self::OpenClaw | Self::Pi => openclaw::decode(row, place, emit),
            Self::Sidecar => sidecar::decode(row, place, emit),
            Self::CodexRollout => codex::decode(row, place, emit),
            Self::Copilot => copilot::decode(row, place, emit),
            Self::QwenCode => qwen_code::decode(row, place, emit),
            Self::Crush => crush::decode(row, place, emit),
            Self::GeminiCli => gemini_cli::decode(row, place, emit),
            Self::Continue => continue_cli::decode(row, place, emit),
            Self::Aider => aider::decode(row, place, emit),
            Self::Goose => goose::decode(row, place, emit),
            Self::OpenCode => opencode::decode(row, place, emit),
            Self::Bundle => bundle::decode(row, place, emit),
            Self::ClaudeCode => claude_code::decode(row, place, emit),
            Self::Atif => atif::decode(row, place, emit),
            Self::OtlpJson => otlp_json::decode(row, place, emit),
        }
    }
}

/// A row that `gather` makes of a part of a document, without its content.
fn gathered_row<'r>(name: &'static str, number: u64) -> Object<'r> {
    let mut row = Object::with_capacity(8);
    row.push("type", name);
    row.push("number", number);
    row
}

/// A string member.
fn text<'r>(value: &'r Json<'r>, name: &str) -> Option<&'r str> {
    value.get(name).and_then(Json::as_str)
}

/// A string member that is not blank.
fn said<'r>(value: &'r Json<'r>, name: &str) -> Option<&'r str> {
    text(value, name).filter(|text| !text.trim().is_empty())
}

/// Whether a member is true.
fn is_set(value: &Json<'_>, name: &str) -> bool {
    value.get(name).and_then(Json::as_bool) == Some(true)
}

#[cfg(test)]
mod tests;
