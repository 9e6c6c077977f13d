//! The sidecar as a list of events, and which of them the other files need.

use traj_core::event::RuntimeRow;
use traj_core::json::Json;
use traj_core::port::{BundleSinkError, Source};

use super::order::{EventOrigin, EventRecord, sequence_rank};
use super::visit::{RowCodes, visit_rows};
use crate::error::ExportError;
use crate::record::Spool;
use crate::rows::Place;
use crate::warning::{Code, Warnings};

/// Rows are read this deep: the event itself.
const ENVELOPE_DEPTH: usize = 1;

const CODES: RowCodes = RowCodes {
    too_large: Code::RuntimeRowTooLarge,
    shortened: Code::RuntimeRowShortened,
    not_utf8: Code::RuntimeNotUtf8,
    not_json: Code::InvalidRuntimeJson,
};

/// What the indexing pass found in a sidecar.
#[derive(Debug, Default)]
pub(crate) struct RuntimeIndex {
    /// Events of this session.
    pub(crate) events: u64,
    /// The last event that describes the run.
    pub(crate) metadata: Option<Place>,
    /// The last compiled context.
    pub(crate) compiled: Option<Place>,
    /// The last event that names a provider or model.
    pub(crate) model: Option<Place>,
    /// Results of the latest run.
    pub(crate) results: Results,
    /// The key of the session, if the events state one.
    pub(crate) session_key: Option<String>,
    pub(crate) digest: [u8; 32],
    pub(crate) rows: u64,
    latest_run: Option<String>,
}

/// The last event of each kind that tells how a run ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Results {
    pub(crate) artifacts: Option<Place>,
    pub(crate) completed: Option<Place>,
    pub(crate) ended: Option<Place>,
}

impl RuntimeIndex {
    fn see(&mut self, event: &RuntimeRow<'_>, place: Place) {
        let row = event.as_json();
        let text = |name| row.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
        if ["provider", "modelId", "modelApi"].iter().any(|name| text(name).is_some()) {
            self.model = Some(place);
        }
        if let Some(key) = text("sessionKey")
            && self.session_key.as_deref() != Some(key)
        {
            self.session_key = Some(key.to_owned());
        }
        let run = text("runId");
        match event.kind() {
            "session.started" if run.is_some() && self.latest_run.as_deref() != run => {
                self.latest_run = run.map(str::to_owned);
                // What an earlier run left is not a result of this one.
                self.results = Results::default();
            }
            "trace.metadata" => self.metadata = Some(place),
            "context.compiled" => self.compiled = Some(place),
            _ if !self.is_of_latest_run(run) => {}
            "trace.artifacts" => self.results.artifacts = Some(place),
            "model.completed" => self.results.completed = Some(place),
            "session.ended" => self.results.ended = Some(place),
            _ => {}
        }
    }

    /// Whether an event belongs to the run that started last. Before any run
    /// has started, and for events that name no run, the last one counts.
    fn is_of_latest_run(&self, run: Option<&str>) -> bool {
        self.latest_run.is_none() || run.is_none() || self.latest_run.as_deref() == run
    }
}

/// Reads a sidecar once; gives the records of its events to `keep`.
pub(crate) fn index_runtime(
    source: &dyn Source,
    session_id: &str,
    spool: &dyn Spool,
    warnings: &mut Warnings,
    mut keep: impl FnMut(EventRecord, &dyn Spool) -> Result<(), BundleSinkError>,
) -> Result<RuntimeIndex, ExportError> {
    let mut index = RuntimeIndex::default();
    let read =
        visit_rows(source, ENVELOPE_DEPTH, &CODES, warnings, |row, number, place, warnings| {
            let Ok(event) = RuntimeRow::from_json(row) else {
                warnings.add(Code::InvalidRuntimeEvent, number);
                return Ok(());
            };
            if event.session_id() != session_id {
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
    index.rows = read.rows;
    index.digest = read.digest;
    Ok(index)
}
