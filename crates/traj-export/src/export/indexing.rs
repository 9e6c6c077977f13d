//! The first pass over the sources.

use traj_core::dialect::Dialect;
use traj_core::run::Branches;

use super::Export;
use super::limits::SessionNature;
use super::locate::ExportInputs;
use crate::bundle::SourceFact;
use crate::error::ExportError;
use crate::index::record_store::Spool;
use crate::index::sorter::Sorter;
use crate::index::{self, BranchEntries, EventRecord, RuntimeIndex, SessionIndex};
use crate::parallel::ordered;
use crate::progress::{Stage, Watched};
use crate::warning::{Code, Warnings};

/// The result of the pass.
pub(super) struct IndexedSources {
    /// The entries of the session, and which of them are its branch.
    pub(super) session: Option<(SessionIndex, BranchEntries)>,
    pub(super) runtime: RuntimeIndex,
    /// The runtime events, in chronological order.
    pub(super) order: Sorter<EventRecord>,
}

impl Export<'_> {
    /// Reads both sources once, in parallel if there are two workers.
    pub(super) fn index(&mut self, spool: &dyn Spool) -> Result<IndexedSources, ExportError> {
        self.enter(Stage::Index);
        let (session_file, sidecar) = (self.watched_session(), self.watched_runtime());
        let Self { request, inputs, warnings, .. } = self;
        let (session, (runtime, order, runtime_warnings)) = ordered::both(
            request.workers,
            || index_session(session_file.as_ref(), spool, warnings),
            || index_runtime(sidecar.as_ref(), inputs.session_id.as_str(), spool),
        )?;
        warnings.append(runtime_warnings);
        let limit = request.limits.runtime_events;
        let what = "the number of runtime events";
        self.check(Code::TooManyRuntimeEvents, what, runtime.events, limit)?;
        Ok(IndexedSources { session, runtime, order })
    }
}

fn index_session(
    source: Option<&Watched<'_>>,
    spool: &dyn Spool,
    warnings: &mut Warnings,
) -> Result<Option<(SessionIndex, BranchEntries)>, ExportError> {
    let Some(source) = source else {
        warnings.add(Code::SessionMissing, 0);
        return Ok(None);
    };
    let mut index = index::index_session(source, spool, warnings)?;
    let branch = index::resolve(&mut index, spool, warnings)?;
    Ok(Some((index, branch)))
}

fn index_runtime(
    source: Option<&Watched<'_>>,
    session_id: &str,
    spool: &dyn Spool,
) -> Result<(RuntimeIndex, Sorter<EventRecord>, Warnings), ExportError> {
    let (mut order, mut warnings) = (Sorter::new(), Warnings::default());
    let Some(source) = source else { return Ok((RuntimeIndex::default(), order, warnings)) };
    let push = |record, spool: &dyn Spool| order.push(record, spool);
    let index = index::index_runtime(source, session_id, spool, &mut warnings, push)?;
    Ok((index, order, warnings))
}

/// Facts about the inputs that outlive their index.
pub(super) struct SourceFacts {
    pub(super) files: Vec<SourceFact>,
    /// The session file, if there is one.
    pub(super) session: Option<SessionNature>,
    /// The branches that are not exported.
    pub(super) others: Branches,
}

impl SourceFacts {
    pub(super) fn of(inputs: &ExportInputs, indexed: &IndexedSources) -> Self {
        let IndexedSources { session: entries, runtime: events, .. } = indexed;
        let session = inputs.session.as_ref().zip(entries.as_ref());
        let session = session
            .map(|(found, (index, _))| SourceFact::new("session", found, index.rows, index.digest));
        let runtime = inputs.runtime.as_ref();
        let runtime =
            runtime.map(|found| SourceFact::new("runtime", found, events.rows, events.digest));
        Self {
            files: session.into_iter().chain(runtime).collect(),
            session: entries.as_ref().map(|(index, _)| SessionNature::of(index)),
            others: entries.as_ref().map(|(_, branch)| branch.others).unwrap_or_default(),
        }
    }

    /// The dialect of the session file, or of the sidecar if there is no
    /// session file.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.session.map_or(Some(Dialect::Sidecar), |session| session.writer.dialect())
    }
}
