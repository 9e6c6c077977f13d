//! The names of the methods that the client calls.

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const INITIALIZED: &str = "initialized";
pub(crate) const THREAD_START: &str = "thread/start";
pub(crate) const THREAD_RESUME: &str = "thread/resume";
pub(crate) const THREAD_READ: &str = "thread/read";
pub(crate) const THREAD_INJECT_ITEMS: &str = "thread/inject_items";
pub(crate) const THREAD_UNSUBSCRIBE: &str = "thread/unsubscribe";
pub(crate) const TURN_START: &str = "turn/start";
pub(crate) const TURN_STEER: &str = "turn/steer";
pub(crate) const TURN_INTERRUPT: &str = "turn/interrupt";
