//! What other exporters refuse: told here, and refused where that is asked for.

use traj_core::dialect::Dialect;

use super::Export;
use crate::error::ExportError;
use crate::index::Writer;
use crate::locate::Found;
use crate::warning::Code;

impl Export<'_> {
    /// Holds the sources against the sizes that other exporters accept.
    pub(super) fn check_sizes(
        &mut self,
        session: Option<&Found>,
        runtime: Option<&Found>,
    ) -> Result<(), ExportError> {
        let limits = self.request.limits;
        let sizes = [
            (session, limits.session_bytes, Code::SessionTooLarge, "the size of the session file"),
            (runtime, limits.runtime_bytes, Code::RuntimeTooLarge, "the size of the runtime file"),
        ];
        for (found, limit, code, what) in sizes {
            let Some(found) = found else { continue };
            self.check(code, what, found.source.len(), limit)?;
        }
        Ok(())
    }

    /// Holds a figure against a limit of other exporters.
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
}

/// Checks that a session file gives events, unless it is an empty session:
/// what nobody can read must not look like a run in which nothing happened.
pub(super) fn check_events(
    writer: Option<(Writer, bool)>,
    transcript: u64,
    total: u64,
) -> Result<(), ExportError> {
    let Some((writer, has_header)) = writer else { return Ok(()) };
    let why = match writer {
        Writer::Unknown if !has_header && transcript == 0 => {
            "its format is not one that traj knows"
        }
        Writer::Known(Dialect::OpenClaw) | Writer::Nobody | Writer::Unknown => return Ok(()),
        Writer::Known(Dialect::Sidecar) if total == 0 => "it is a trajectory sidecar",
        Writer::Known(_) if total == 0 => "none of its rows states anything",
        Writer::Known(_) => return Ok(()),
    };
    Err(ExportError::NoEvents { why })
}
