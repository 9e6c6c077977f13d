//! The run model: one typed way to read what an agent did, whichever program
//! wrote it.
//!
//! A [`Dialect`](crate::dialect::Dialect) turns the rows of a file into
//! [`RunEvent`]s. Each states one [`Fact`]: a prompt, a tool call, its result, a
//! finished model call, an error. Readers match on facts and never look at the
//! JSON of a row, so that `tail`, `inspect`, `show`, `sessions` and every
//! converter give the same answer to the same question.
//!
//! In reading order:
//!
//! - `event`: one fact, with its place and time.
//! - `fact`: everything a row can state.
//! - `model`: a whole run, as totals and examples.
//! - `fold`: turns events into a run.
//! - `files`: turns the files of a session into a run.
//! - `prices`: what tokens cost.
//! - `display`, [`words`]: facts as short texts, the same for every reader.
//!
//! ```
//! use traj_core::dialect::Dialect;
//! use traj_core::json::Json;
//! use traj_core::run::{Fact, Outcome, Place};
//!
//! let row = Json::parse(
//!     r#"{"type":"message","id":"e2","timestamp":1,"message":{"role":"toolResult",
//!         "toolCallId":"c1","toolName":"shell","isError":false,"details":{"exitCode":3},
//!         "content":[{"type":"text","text":"no such file"}]}}"#,
//! )?;
//! let mut failed = false;
//! Dialect::OpenClaw.decode(&row, Place::line(2), &mut |event| {
//!     if let Fact::ToolResult(result) = &event.fact {
//!         failed = matches!(result.outcome, Outcome::Failed(_));
//!     }
//! });
//! assert!(failed, "a non-zero exit code is a failure, whatever the flag says");
//! # Ok::<(), traj_core::json::ParseError>(())
//! ```

mod display;
mod event;
mod fact;
mod files;
mod fold;
mod model;
mod prices;
pub mod words;

pub use display::{CommandPlace, command_of, command_place, cut, is_edit, one_line};
pub use event::{AgentStart, Origin, Place, RunEvent, Thread};
pub use fact::{
    ApprovalFact, ApprovalOutcome, Arguments, Attachment, Branches, Compaction, CompiledContext,
    Content, EndStatus, ErrorFact, Fact, Failure, Hook, Loss, ModeChange, ModelCall, ModelChange,
    Outcome, Prompt, Rewind, SessionEnd, SessionStart, StatedCost, ToolCallFact, ToolResultFact,
    UnknownRows, Usage, UsageScope,
};
pub(crate) use files::is_bomb;
pub use files::{SessionFiles, SessionRun, dialect_of};
pub use fold::{
    ApprovalState, CallExample, CallKey, CallState, CallTotals, ContextPoint, CountedCall, Fold,
    ModelTotals, NameCounts, Taken, TimeSplit,
};
pub use model::{AgentCall, DecidedApproval, FirstFailure, Moment, Run, RunState};
pub use prices::{Cost, CostOrigin, Prices, PricesError};
