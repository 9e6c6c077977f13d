//! Caches of what is known about recurring strings.
//!
//! - `names`: member names and short strings, stored and compared in full;
//! - `texts`: longer strings, identified by a hash;
//! - `session_secrets`: the secrets that several documents share.

pub(super) mod names;
pub(super) mod session_secrets;
pub(super) mod texts;
