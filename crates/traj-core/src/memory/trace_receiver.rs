//! An in-memory receiver of traces.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::port::{TraceAnswer, TraceReceiver, TraceReceiverError};

/// A strict in-memory [`TraceReceiver`]: it gives the answers that a test chose,
/// and then none.
#[derive(Debug, Default)]
pub struct MemoryTraceReceiver {
    answers: RefCell<VecDeque<Option<TraceAnswer>>>,
    received: RefCell<Vec<Vec<u8>>>,
}

impl MemoryTraceReceiver {
    /// A receiver with these answers; `None` is a connection that ends early.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = Option<TraceAnswer>>) -> Self {
        Self { answers: RefCell::new(answers.into_iter().collect()), ..Self::default() }
    }

    /// Every request that arrived.
    #[must_use]
    pub fn received(&self) -> Vec<Vec<u8>> {
        self.received.borrow().clone()
    }
}

impl TraceReceiver for MemoryTraceReceiver {
    fn host(&self) -> &'static str {
        "memory"
    }

    fn send(&self, request: &[u8]) -> Result<(TraceAnswer, u64), TraceReceiverError> {
        let unreachable = |why: &str| TraceReceiverError::Unreachable {
            host: self.host().to_owned(),
            source: why.into(),
        };
        let answer = self.answers.borrow_mut().pop_front();
        let Some(answer) = answer else { return Err(unreachable("nobody listens any more")) };
        self.received.borrow_mut().push(request.to_vec());
        let answer = answer.ok_or_else(|| unreachable("the connection ended"))?;
        Ok((answer, request.len() as u64))
    }
}
