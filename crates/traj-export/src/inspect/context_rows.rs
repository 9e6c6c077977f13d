//! The rows of Claude Code in a bundle, for the contexts of its model calls.

use traj_core::dialect::{
    CallContext, ContextError, ContextRow, ContextRows, Dialect, TakeContextRow, contains_any,
    context_in,
};
use traj_core::json::Json;
use traj_core::limits::Reading;
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError};

use crate::json_stream::long_rows;
use crate::json_stream::splitter::{ByteStream, ReadError, SplitError, Splitter};

/// Longer entries are not read.
const LONGEST: usize = Reading::standard().bundle_line_bytes;

/// Builds the context of a call from a bundle. See
/// [`call_context`](traj_core::dialect::call_context) for what `call` can be. What
/// redaction changed cannot be verified.
///
/// # Errors
/// If the bundle does not record the requests of its calls, or cannot be read.
pub fn bundle_context(bundle: &dyn BundleSource, call: &str) -> Result<CallContext, ContextError> {
    context_in(&BundleRows(bundle), call)
}

/// The rows in the branch of a bundle.
pub(crate) struct BundleRows<'b>(pub(crate) &'b dyn BundleSource);

impl ContextRows for BundleRows<'_> {
    fn each(&self, marks: &[&str], take: &mut TakeContextRow<'_>) -> Result<(), ContextError> {
        let mut outcome = Ok(());
        self.0.visit(&mut |path, content| {
            if BundleFile::parse(path) == Some(BundleFile::SessionBranch) && outcome.is_ok() {
                outcome = each_row(content, marks, take);
            }
            Ok(())
        })?;
        outcome
    }

    fn are_redacted(&self) -> bool {
        true
    }
}

fn each_row(
    content: &mut dyn BundleContent,
    marks: &[&str],
    take: &mut TakeContextRow<'_>,
) -> Result<(), ContextError> {
    let custom_type = format!("{}/", Dialect::ClaudeCode.as_str());
    let mut bytes = ContentBytes(content);
    let mut splitter = Splitter::new(&mut bytes, LONGEST);
    loop {
        let element = match splitter.next(None) {
            Ok(Some(element)) => element,
            Ok(None) => return Ok(()),
            Err(SplitError::TooLong { .. }) => return Err(ContextError::TooLarge),
            Err(SplitError::NotJson { .. }) => {
                return Err(damaged("the branch is not JSON".into()));
            }
            Err(SplitError::Read(error)) => return Err(damaged(error)),
        };
        let is_row = element.is_item && contains_any(element.value, marks);
        if !is_row || long_rows::is_bomb(element.value) {
            continue;
        }
        let place = element.offset..element.offset + element.value.len() as u64;
        let Ok(mut entry) = Json::parse_lossy(element.value) else { continue };
        let kind = entry.get("customType").and_then(Json::as_str);
        if kind.is_none_or(|kind| !kind.starts_with(&custom_type)) {
            continue;
        }
        let row = entry.as_object_mut().and_then(|entry| entry.remove("data"));
        take(ContextRow::new(row.unwrap_or_default(), place))?;
    }
}

fn damaged(source: ReadError) -> ContextError {
    ContextError::Bundle(BundleSourceError::Damaged { source })
}

/// The content of a file in a bundle.
struct ContentBytes<'c>(&'c mut dyn BundleContent);

impl ByteStream for ContentBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        Ok(self.0.read(buffer)?)
    }
}
