//! The limits of other exporters. Exceeding one is a warning, or an error in
//! strict mode.

use traj_core::dialect::Dialect;

use super::indexing::SourceFacts;
use super::timeline::TimelineFacts;
use super::{EventCounts, Export};
use crate::error::ExportError;
use crate::index::{SessionIndex, SessionWriter};
use crate::warning::Code;

impl Export<'_> {
    /// Compares the sizes of the sources with the limits.
    pub(super) fn check_sizes(&mut self) -> Result<(), ExportError> {
        let (session, runtime) = (self.inputs.session.as_ref(), self.inputs.runtime.as_ref());
        let limits = self.request.limits;
        let sizes = [
            (session, limits.session_bytes, Code::SessionTooLarge, "the size of the session file"),
            (runtime, limits.runtime_bytes, Code::RuntimeTooLarge, "the size of the runtime file"),
        ];
        for (found, limit, code, what) in sizes {
            let Some(found) = found else { continue };
            self.check(code, what, found.len(), limit)?;
        }
        Ok(())
    }

    /// Compares a value with a limit.
    pub(super) fn check(
        &mut self,
        code: Code,
        what: &'static str,
        actual: u64,
        limit: u64,
    ) -> Result<(), ExportError> {
        if actual <= limit {
            return Ok(());
        }
        if self.request.limits.are_strict {
            return Err(ExportError::Limit { what, actual, limit });
        }
        self.warnings.add(code, 0);
        Ok(())
    }

    /// Checks the number of events in the bundle.
    pub(super) fn check_events(
        &mut self,
        sources: &SourceFacts,
        timeline: &TimelineFacts,
    ) -> Result<(), ExportError> {
        let (total, limit) = (timeline.counts.total(), self.request.limits.total_events);
        self.check_session(sources.session, timeline.counts)?;
        self.check(Code::TooManyEvents, "the number of events", total, limit)
    }

    /// Checks that a session file has events, unless the session is empty: an
    /// unreadable file must not look like a run in which nothing happened.
    fn check_session(
        &mut self,
        nature: Option<SessionNature>,
        counts: EventCounts,
    ) -> Result<(), ExportError> {
        let Some(SessionNature { writer, has_header, is_empty }) = nature else { return Ok(()) };
        let total = counts.total();
        let is_unknown = writer == SessionWriter::Unknown && !has_header && counts.transcript == 0;
        if is_empty {
            if total == 0 {
                self.warnings.add(Code::SessionEmpty, 0);
            }
            return Ok(());
        }
        if total > 0 && !is_unknown {
            return Ok(());
        }
        if self.request.allows_empty {
            self.warnings.add(Code::SessionWithoutEvents, 0);
            return Ok(());
        }
        let why = match writer {
            _ if is_unknown => "traj does not know its format",
            SessionWriter::Known(Dialect::Sidecar) => "it is a trajectory sidecar",
            _ => "none of its rows contains an event",
        };
        Err(ExportError::NoEvents { why })
    }
}

/// Facts about a session file that are known before its events are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionNature {
    pub(super) writer: SessionWriter,
    has_header: bool,
    is_empty: bool,
}

impl SessionNature {
    pub(super) const fn of(index: &SessionIndex) -> Self {
        let SessionIndex { writer, header, is_empty, .. } = index;
        Self { writer: *writer, has_header: header.is_some(), is_empty: *is_empty }
    }
}
