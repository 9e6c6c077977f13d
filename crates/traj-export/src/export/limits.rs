//! What other exporters refuse: told here, and refused where that is asked for.

use super::Export;
use crate::error::ExportError;
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
        if let Some(found) = session {
            let bytes = found.source.len();
            self.check(
                Code::SessionTooLarge,
                "the size of the session file",
                bytes,
                limits.session_bytes,
            )?;
        }
        if let Some(found) = runtime {
            let bytes = found.source.len();
            self.check(
                Code::RuntimeTooLarge,
                "the size of the runtime file",
                bytes,
                limits.runtime_bytes,
            )?;
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
