//! The end of a child's standard error output, to explain why it died.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use traj_core::redaction::{RedactionReport, Redactor};

/// Bytes kept; older ones go, whole lines at a time, so that no secret is cut in two and survives.
const KEPT: usize = 16 * 1024;

/// The kept end. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail {
    shared: Arc<Mutex<Tail>>,
}

#[derive(Debug, Default)]
struct Tail {
    text: Vec<u8>,
    bytes: u64,
}

impl StderrTail {
    /// Reads until the end; never lets the child wait.
    pub(crate) async fn drain(self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            self.push(chunk.get(..count).unwrap_or_default());
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut tail = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        tail.bytes += u64::try_from(bytes.len()).unwrap_or(0);
        tail.text.extend_from_slice(bytes);
        let over = tail.text.len().saturating_sub(KEPT);
        if over > 0 {
            let line = tail.text.iter().skip(over).position(|byte| *byte == b'\n');
            let cut = line.map_or(tail.text.len(), |line| over + line + 1);
            tail.text.drain(..cut);
        }
    }

    /// How many bytes the child wrote.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// The kept text, redacted.
    pub(crate) fn text(&self, redactor: &Redactor) -> String {
        let text = {
            let tail = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            String::from_utf8_lossy(&tail.text).into_owned()
        };
        redactor.text(&text, &mut RedactionReport::default()).into_inner().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_in_whole_lines() {
        let tail = StderrTail::default();
        for number in 0..4_000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let shared = tail.shared.lock().unwrap();
        let text = String::from_utf8(shared.text.clone()).unwrap();
        assert!(text.len() <= KEPT && text.starts_with("line ") && text.ends_with("line 3999\n"));
        assert!(shared.bytes > 16 * 1024);
    }

    #[test]
    fn a_line_without_end_is_not_kept_for_ever() {
        let tail = StderrTail::default();
        tail.push(&vec![b'x'; KEPT * 3]);
        assert!(tail.shared.lock().unwrap().text.is_empty());
    }
}
