//! How a file of lines is rewritten while its owner goes on appending.
//!
//! Hosts append to their session without any lock of ours: they open the file,
//! write a line and close it, or hold it open for hours. A rewrite therefore
//! can never just write a new file and rename it over the old one: what was
//! appended in between would be lost. Two pieces, both free of I/O, avoid that:
//!
//! - [`LineStream`] cuts a stream of bytes into lines and asks a [`LineEdit`]
//!   what to do with each; blocks that cannot concern the edit pass unread, and
//!   every untouched line leaves byte for byte as it came.
//! - [`settle`] decides in which order an adapter copies, exchanges and looks
//!   again, until nothing that anyone appended anywhere is missing.
//!
//! [`LineEdit`]: crate::port::LineEdit

mod line_stream;
mod rounds;

pub use line_stream::{LineStream, StreamCounts};
pub use rounds::{Generations, Piece, SettleLimits, Settled, Writers, released, settle};
