//! The events of a sidecar, and those that the smaller files need.

use traj_core::event::{EventKind, RuntimeRow};
use traj_core::port::{BundleSinkError, Source};

use super::order::{EventOrigin, EventRecord, sequence_rank};
use super::visit::{RowCodes, visit_rows};
use crate::error::ExportError;
use crate::index::record_store::Spool;
use crate::json_stream::rows::ByteRange;
use crate::warning::{Code, Warnings};

/// Rows are parsed to this depth: the event itself.
const ENVELOPE_DEPTH: usize = 1;

const CODES: RowCodes = RowCodes {
    too_large: Code::RuntimeRowTooLarge,
    shortened: Code::RuntimeRowShortened,
    not_utf8: Code::RuntimeNotUtf8,
    not_json: Code::InvalidRuntimeJson,
};

/// The index of a sidecar.
#[derive(Debug, Default)]
pub(crate) struct RuntimeIndex {
    /// The number of events of this session.
    pub(crate) events: u64,
    /// The last event that describes the run.
    pub(crate) metadata: Option<ByteRange>,
    /// The last compiled context.
    pub(crate) compiled: Option<ByteRange>,
    /// The last event that names a provider or model.
    pub(crate) model: Option<ByteRange>,
    /// How the latest run ended.
    pub(crate) results: RunEndings,
    /// The key of the session, if the events state one.
    pub(crate) session_key: Option<String>,
    pub(crate) digest: [u8; 32],
    pub(crate) rows: u64,
    latest_run: LatestRun,
}

/// The run that started last.
#[derive(Debug, Default, PartialEq, Eq)]
enum LatestRun {
    /// No run has started.
    #[default]
    Unknown,
    /// A run without an id.
    Unnamed,
    Named(String),
}

impl LatestRun {
    fn of(run: Option<&str>) -> Self {
        run.map_or(Self::Unnamed, |run| Self::Named(run.to_owned()))
    }

    /// Whether an event belongs to it. Before the first run starts, every event
    /// does. An event without a run id always does.
    fn has(&self, run: Option<&str>) -> bool {
        match self {
            Self::Unknown => true,
            Self::Unnamed => run.is_none(),
            Self::Named(latest) => run.is_none_or(|run| run == latest),
        }
    }

    /// Whether a start event starts another run. A start without an id always
    /// does.
    fn ends_with(&self, run: Option<&str>) -> bool {
        run.is_none() || *self != Self::of(run)
    }
}

/// The last event of each kind that states how a run ended.
#[derive(Debug, Default)]
pub(crate) struct RunEndings {
    pub(crate) artifacts: Option<RunEnding>,
    pub(crate) completed: Option<RunEnding>,
    pub(crate) ended: Option<RunEnding>,
}

/// An event that states how a run ended, and its run.
#[derive(Debug)]
pub(crate) struct RunEnding {
    pub(crate) place: ByteRange,
    run: Option<String>,
}

impl RunEndings {
    /// Drops the events of other runs, because this run has just started. Its
    /// own events may come before its start: several writers share a sidecar.
    fn keep_those_of(&mut self, run: Option<&str>) {
        for outcome in [&mut self.artifacts, &mut self.completed, &mut self.ended] {
            outcome.take_if(|outcome| run.is_none() || outcome.run.as_deref() != run);
        }
    }
}

impl RuntimeIndex {
    fn see(&mut self, event: &RuntimeRow<'_>, place: ByteRange) {
        if event.names_model() {
            self.model = Some(place);
        }
        if let Some(key) = event.session_key()
            && self.session_key.as_deref() != Some(key)
        {
            self.session_key = Some(key.to_owned());
        }
        let run = event.run_id();
        let outcome = || RunEnding { place, run: run.map(str::to_owned) };
        match EventKind::parse(event.kind()) {
            EventKind::SessionStarted if self.latest_run.ends_with(run) => {
                self.latest_run = LatestRun::of(run);
                self.results.keep_those_of(run);
            }
            EventKind::TraceMetadata => self.metadata = Some(place),
            EventKind::ContextCompiled => self.compiled = Some(place),
            _ if !self.latest_run.has(run) => {}
            EventKind::TraceArtifacts => self.results.artifacts = Some(outcome()),
            EventKind::ModelCompleted => self.results.completed = Some(outcome()),
            EventKind::SessionEnded => self.results.ended = Some(outcome()),
            _ => {}
        }
    }
}

/// Reads a sidecar once and passes the record of each event to `keep`.
pub(crate) fn index_runtime(
    source: &dyn Source,
    session_id: &str,
    spool: &dyn Spool,
    warnings: &mut Warnings,
    mut keep: impl FnMut(EventRecord, &dyn Spool) -> Result<(), BundleSinkError>,
) -> Result<RuntimeIndex, ExportError> {
    let mut index = RuntimeIndex::default();
    let mut others = 0_u64;
    let read =
        visit_rows(source, ENVELOPE_DEPTH, &CODES, warnings, |row, number, place, warnings| {
            let Ok(event) = RuntimeRow::from_json(row) else {
                warnings.add(Code::InvalidRuntimeEvent, number);
                return Ok(());
            };
            if event.session_id() != session_id {
                others += 1;
                return Ok(());
            }
            let record = EventRecord {
                instant: event.at(),
                rank: sequence_rank(event.as_json()),
                position: index.events,
                origin: EventOrigin::Runtime(place),
            };
            keep(record, spool)?;
            index.events += 1;
            index.see(&event, place);
            Ok(())
        })?;
    if index.events == 0 && others > 0 {
        warnings.add(Code::RuntimeOfOthers, 0);
    }
    index.rows = read.rows;
    index.digest = read.digest;
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_the_run_that_started_last() {
        let event = |kind: &str, run: &str| {
            format!(
                r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"{kind}","ts":"2026-06-01T10:00:00Z","seq":1,"sessionId":"s"{run}}}"#
            )
        };
        let results = |events: &[(&str, &str)]| {
            let mut index = RuntimeIndex::default();
            for (offset, (kind, run)) in events.iter().enumerate() {
                let row = event(kind, run);
                let place = ByteRange { offset: offset as u64, length: 1 };
                index.see(&RuntimeRow::parse(&row).unwrap(), place);
            }
            let RunEndings { artifacts, ended, .. } = index.results;
            let offset = |outcome: RunEnding| outcome.place.offset;
            (artifacts.map(offset), ended.map(offset))
        };
        let (a, b) = (r#","runId":"a""#, r#","runId":"b""#);
        let (start, artifacts, end) = ("session.started", "trace.artifacts", "session.ended");
        assert_eq!(results(&[(artifacts, a), (end, b)]), (Some(0), Some(1)), "none has started");
        assert_eq!(results(&[(start, a), (artifacts, a), (start, b), (end, b)]), (None, Some(3)));
        assert_eq!(
            results(&[(start, a), (artifacts, a), (start, a), (end, "")]),
            (Some(1), Some(3))
        );
        assert_eq!(results(&[(start, a), (artifacts, a), (start, ""), (end, "")]), (None, Some(3)));
        assert_eq!(
            results(&[(start, ""), (artifacts, ""), (start, ""), (end, "")]),
            (None, Some(3))
        );
        assert_eq!(results(&[(start, ""), (artifacts, a), (end, "")]), (None, Some(2)));
        assert_eq!(results(&[(artifacts, a), (end, a), (start, a)]), (Some(0), Some(1)));
        assert_eq!(results(&[(start, b), (artifacts, b), (end, a), (start, a)]), (None, None));
        assert_eq!(results(&[(artifacts, ""), (end, a), (start, a)]), (None, Some(1)));
    }
}
