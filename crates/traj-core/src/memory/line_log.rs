//! An in-memory log of lines.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use crate::port::{LineLog, LineLogError};

/// A strict in-memory [`LineLog`].
#[derive(Debug, Default)]
pub struct MemoryLog {
    lines: RefCell<Vec<Vec<u8>>>,
    fail_appends: Cell<bool>,
}

impl MemoryLog {
    /// The name of the log.
    pub const NAME: &'static str = "log.jsonl";

    /// A log with these lines.
    #[must_use]
    pub fn new(lines: &[&str]) -> Self {
        let lines = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        Self { lines: RefCell::new(lines), fail_appends: Cell::new(false) }
    }

    /// Makes every further append fail, as on a full disk.
    pub fn fail_appends(&self) {
        self.fail_appends.set(true);
    }

    /// The lines as strings.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.borrow().iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }
}

impl LineLog for MemoryLog {
    fn append(&self, lines: &[String]) -> Result<(), LineLogError> {
        if self.fail_appends.get() || lines.iter().any(|line| line.contains('\n')) {
            let source = "the log does not accept the line".into();
            return Err(LineLogError::Storage { name: Self::NAME.to_owned(), source });
        }
        self.lines.borrow_mut().extend(lines.iter().map(|line| line.as_bytes().to_vec()));
        Ok(())
    }

    fn read(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), LineLogError> {
        let _stopped = self.lines.borrow().iter().try_for_each(|line| visit(line));
        Ok(())
    }

    fn retain(&self, keep: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), LineLogError> {
        self.lines.borrow_mut().retain(|line| keep(line));
        Ok(())
    }
}
