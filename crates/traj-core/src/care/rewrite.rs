//! How a file of lines is rewritten while its owner keeps appending.
//!
//! Hosts append to their session without taking a lock of ours: they open the
//! file, write a line and close it, or hold it open for hours. So a rewrite
//! cannot just write a new file and rename it over the old one: lines appended in
//! between would be lost. Two pieces, both free of I/O, prevent that:
//!
//! - [`LineStream`] splits a stream of bytes into lines and asks a [`LineEdit`]
//!   what to do with each. Blocks that cannot concern the edit are passed on
//!   unread, and unchanged lines are copied byte for byte.
//! - [`settle`] decides in which order an adapter copies, exchanges and checks
//!   again, until no appended line is missing.
//!
//! [`LineEdit`]: crate::port::LineEdit

mod line_stream;
mod rounds;

pub use line_stream::{LineStream, StreamCounts};
pub use rounds::{
    GenerationRange, Generations, RewriteResult, SettleLimits, Writers, released, settle,
};
