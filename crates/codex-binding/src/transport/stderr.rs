//! The end of a child's standard error output, to explain why it died.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::sync::CancellationToken;
use traj_core::redaction::{RedactionReport, Redactor};
use traj_core::run::cut;

/// How many bytes are kept. Older ones are dropped in whole lines: half a secret would not be
/// recognised and hidden.
const KEPT: usize = 16 * 1024;
/// The lines that explain why a server exited.
const LAST_LINES: usize = 8;
/// The characters of such a line that are kept.
const LONGEST_LINE: usize = 400;

/// The end of the output. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail {
    shared: Arc<Mutex<Tail>>,
    /// Cancelled when everything was read.
    drained: CancellationToken,
}

#[derive(Debug, Default)]
struct Tail {
    text: Vec<u8>,
    bytes: u64,
    /// The beginning of the current line was dropped, so its rest is dropped, too.
    is_cut: bool,
}

impl StderrTail {
    /// Reads until the end, so that the child never blocks on writing.
    pub(crate) async fn drain(self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            self.push(chunk.get(..count).unwrap_or_default());
        }
        self.drained.cancel();
    }

    /// Waits until everything was read.
    pub(crate) async fn drained(&self) {
        self.drained.cancelled().await;
    }

    /// The last lines, redacted; `None` if there are none.
    pub(crate) fn last_lines(&self, redactor: &Redactor) -> Option<String> {
        let text = self.text(redactor);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        let last: Vec<String> = last.iter().map(|line| cut(line, LONGEST_LINE)).collect();
        (!last.is_empty()).then(|| last.join("\n"))
    }

    fn push(&self, bytes: &[u8]) {
        let mut tail = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        tail.bytes += u64::try_from(bytes.len()).unwrap_or(0);
        let mut bytes = bytes;
        if tail.is_cut {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
            bytes = bytes.get(end + 1..).unwrap_or_default();
            tail.is_cut = false;
        }
        tail.text.extend_from_slice(bytes);
        let over = tail.text.len().saturating_sub(KEPT);
        if over > 0 {
            let line = tail.text.iter().skip(over).position(|byte| *byte == b'\n');
            tail.is_cut = line.is_none();
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
    fn an_endless_line_is_not_kept() {
        let tail = StderrTail::default();
        tail.push(&vec![b'x'; KEPT * 3]);
        tail.push(b"the rest of it\nthe next line\n");
        assert_eq!(tail.shared.lock().unwrap().text, b"the next line\n");
    }
}
