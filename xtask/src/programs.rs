//! Third-party programs that tests run.
//!
//! - `npm`: installs pinned versions;
//! - `codex`, `openclaw`: what the tests of these programs need;
//! - `agents`: other agents, and the tests that run them.

pub(crate) mod agents;
pub(crate) mod codex;
pub(crate) mod npm;
pub(crate) mod openclaw;
