//! The first pass over the sources.

use super::Export;
use crate::bundle::SourceFact;
use crate::error::ExportError;
use crate::export::locate::FoundSource;
use crate::index::record_store::Spool;
use crate::index::sorter::Sorter;
use crate::index::{self, Branch, EventRecord, RuntimeIndex, SessionIndex};
use crate::parallel::ordered;
use crate::progress::Watched;
use crate::warning::{Code, Warnings};

/// What the pass found.
pub(super) struct IndexedSources {
    /// The entries of the session, and which of them are its branch.
    pub(super) session: Option<(SessionIndex, Branch)>,
    pub(super) runtime: RuntimeIndex,
    /// The runtime events, in order of time.
    pub(super) order: Sorter<EventRecord>,
}

impl Export<'_> {
    /// Reads both sources once, at the same time where there is a thread for
    /// each.
    pub(super) fn index(
        &mut self,
        session: Option<&Watched<'_>>,
        runtime: Option<&Watched<'_>>,
        spool: &dyn Spool,
    ) -> Result<IndexedSources, ExportError> {
        let Self { request, session_id, warnings, .. } = self;
        let (session, (runtime, order, runtime_warnings)) = ordered::both(
            request.workers,
            || index_session(session, spool, warnings),
            || index_runtime(runtime, session_id.as_str(), spool),
        )?;
        warnings.append(runtime_warnings);
        Ok(IndexedSources { session, runtime, order })
    }
}

fn index_session(
    source: Option<&Watched<'_>>,
    spool: &dyn Spool,
    warnings: &mut Warnings,
) -> Result<Option<(SessionIndex, Branch)>, ExportError> {
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

/// What the manifest tells of the sources.
pub(super) fn facts(
    session: Option<&FoundSource>,
    entries: Option<&(SessionIndex, Branch)>,
    runtime: Option<&FoundSource>,
    events: &RuntimeIndex,
) -> Vec<SourceFact> {
    let session = session.zip(entries);
    let session = session
        .map(|(found, (index, _))| SourceFact::new("session", found, index.rows, index.digest));
    let runtime =
        runtime.map(|found| SourceFact::new("runtime", found, events.rows, events.digest));
    session.into_iter().chain(runtime).collect()
}
