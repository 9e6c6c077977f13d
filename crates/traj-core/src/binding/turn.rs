//! What a turn is started with.
//!
//! - `input`: a text, then images in order.
//! - `image`: inline data, paths and addresses of images.
//! - `instructions`: texts that describe the model's surroundings.
//! - `effort`: how much a model reasons.

mod effort;
mod image;
mod input;
mod instructions;

pub use effort::reasoning_effort;
pub use input::{TurnImage, TurnInput};
pub use instructions::{TurnBlocks, TurnTrigger, collaboration_mode, developer_instructions};
