//! The run model: one typed way to read what an agent did, whoever wrote it.
//!
//! A [`Dialect`](crate::dialect::Dialect) turns the rows of a file into
//! [`RunEvent`]s. Each states one [`Fact`]: a prompt, a tool call, its result,
//! a finished model call, an error. Readers match on facts and never look at
//! the JSON of a row, so that `tail`, `inspect`, `show`, `sessions` and every
//! converter give the same answer to the same question.
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

mod approvals;
mod calls;
mod content;
mod display;
mod event;
mod examples;
mod fact;
mod files;
mod fold;
mod model;
mod models;
mod moments;
mod names;
mod outcome;
mod prices;
mod taken;
mod time_split;
mod usage;
pub mod words;

pub use calls::CallTotals;
pub use content::{Arguments, Content};
pub use display::{command_of, cut, one_line};
pub use event::{Origin, Place, RunEvent, Thread};
pub use examples::CallExample;
pub use fact::{
    ApprovalFact, ApprovalOutcome, Attachment, Branches, Compaction, CompiledContext, EndStatus,
    ErrorFact, Fact, Hook, Loss, ModeChange, ModelCall, ModelChange, Prompt, Rewind, SessionEnd,
    SessionStart, ToolCallFact, ToolResultFact, UnknownRows, UsageScope,
};
pub use files::{SessionFiles, SessionRun, dialect_of};
pub use fold::Fold;
pub use model::{FirstFailure, Moment, Run, RunState};
pub use models::{ContextPoint, ModelTotals};
pub use names::NameCounts;
pub use outcome::{Failure, Outcome};
pub use prices::{Cost, CostOrigin, Prices, PricesError};
pub use taken::{ApprovalState, CallKey, CallState, CountedCall, Taken};
pub use time_split::TimeSplit;
pub use usage::{StatedCost, Usage};
