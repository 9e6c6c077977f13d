//! What is sent when a turn starts.
//!
//! - `input`: the text, then the images in order.
//! - `image`: images as inline data, paths and URLs.
//! - `instructions`: developer instructions, per thread and per turn.
//! - `effort`: how much a model reasons.

mod effort;
mod image;
mod input;
mod instructions;

pub use effort::reasoning_effort;
pub use input::{InputItem, TurnImage, TurnInput};
pub use instructions::{
    BOUND_THREAD_INSTRUCTIONS, CollaborationMode, TurnBlocks, TurnMode, TurnTrigger,
    decide_turn_mode, developer_instructions, turn_instructions,
};
