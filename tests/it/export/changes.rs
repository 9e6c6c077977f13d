//! Exports of sources that change while they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use traj_core::memory::{MemoryBundleSink, MemorySources};
use traj_core::port::{Source, SourceError, Sources};
use traj_export::{ExportError, ExportPorts, Silent, export};
use traj_tests::export_fixture::{long_session, request};
use traj_tests::rows::{HEADER, event, message};

/// Sources whose session changes as soon as it is opened.
#[derive(Debug)]
struct Changing {
    sources: MemorySources,
    content: String,
}

impl Sources for Changing {
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        let opened = self.sources.open(name);
        if name == "s1.jsonl" {
            self.sources.put(name, self.content.as_str());
        }
        opened
    }
}

#[test]
fn a_session_that_is_rewritten_while_it_is_read_is_an_error() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", long_session(5));
    let changing = Changing { sources, content: "cut".to_owned() };
    let sink = MemoryBundleSink::new();
    let ports = ExportPorts { sources: &changing, sink: &sink };
    let error = export(ports, &request(), &Silent).unwrap_err();
    assert!(matches!(error, ExportError::Source(SourceError::Changed { .. })), "{error}");
    assert!(sink.names().is_empty());
}

#[test]
fn a_session_that_grows_is_exported_as_it_was() {
    let before = long_session(5);
    let sources = MemorySources::new();
    sources.put("s1.jsonl", before.as_str());
    let more = message("later", Some("m4"), 59, r#"{"role":"user","content":"appended"}"#);
    let changing = Changing { sources, content: format!("{before}\n{more}") };
    let sink = MemoryBundleSink::new();
    let ports = ExportPorts { sources: &changing, sink: &sink };
    let report = export(ports, &request(), &Silent).unwrap();
    assert_eq!(report.event_count, 5);
}

/// A source that returns other bytes of the same length from one of its reads on.
/// It also grew, so that it is not recognised as changed.
#[derive(Debug)]
struct Rewritten {
    source: Box<dyn Source>,
    reads_left: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Rewriting {
    sources: MemorySources,
    reads_left: Arc<AtomicU64>,
}

impl Sources for Rewriting {
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        let source = self.sources.open(name)?;
        Ok(Box::new(Rewritten { source, reads_left: Arc::clone(&self.reads_left) }))
    }
}

impl Source for Rewritten {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        self.source.read_exact_at(offset, buffer)?;
        let left = &self.reads_left;
        if left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_err()
        {
            buffer.iter_mut().filter(|byte| **byte == b'{').for_each(|byte| *byte = b'#');
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        Ok(())
    }
}

#[test]
fn rows_that_change_before_the_second_read_end_the_export() {
    let mut reported = [0, 0];
    for (of_session, name) in [(true, "s1.jsonl"), (false, "s1.trajectory.jsonl")] {
        for reads in 0..20 {
            let sources = MemorySources::new();
            let events = (0..30).map(|number| event("x", "2026-06-01T10:00:00Z", number).json());
            let session = if of_session { long_session(30) } else { HEADER.to_owned() };
            sources.put("s1.jsonl", session);
            if !of_session {
                sources.put("s1.trajectory.jsonl", events.collect::<Vec<_>>().join("\n"));
            }
            let reads_left = Arc::new(AtomicU64::new(reads));
            let sources = Rewriting { sources, reads_left };
            let sink = MemoryBundleSink::new();
            match export(ExportPorts { sources: &sources, sink: &sink }, &request(), &Silent) {
                // Changed before the first pass over its rows, or after the second.
                Ok(report) => assert!([0, 30].contains(&report.event_count), "{reads}"),
                Err(ExportError::Source(SourceError::Changed { name: changed })) => {
                    assert_eq!(changed, name);
                    reported[usize::from(of_session)] += 1;
                }
                // The session changed before its head was read, which is used to
                // find its sidecar and its dialect.
                Err(ExportError::NoEvents { .. }) if reads < 3 => {}
                Err(error) => panic!("{reads}: {error}"),
            }
        }
    }
    assert!(reported.iter().all(|count| *count > 0), "{reported:?}");
}
