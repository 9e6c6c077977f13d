//! Writes lists and objects that were too large for their row as blobs: each
//! item or member is redacted as JSON, on its own line.
//!
//! As plain text, they would be cut at positions where no rule can recognise a
//! value. As one JSON document, they would not fit into memory.

use traj_core::constant_text;
use traj_core::json::{Json, Object};
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter, Source};
use traj_core::redaction::{RedactedText, RedactionReport, Redactor, block_end};

use super::copy::{Uncopied, changed, unreadable};
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::json_stream::long_rows::{self, CutValue};
use crate::json_stream::rows::ByteRange;
use crate::json_stream::source_bytes::SourceBytes;
use crate::json_stream::splitter::{Element, ReadError, SplitError, Splitter};
use crate::json_stream::text_blocks::BLOCK;
use crate::warning::Code;

/// Lines are written in blocks of about this many bytes.
const LINES: usize = 256 * 1024;

/// Copies a list or an object, line by line.
pub(super) fn copy_lines(
    source: &dyn Source,
    giant: &CutValue,
    bundle: &mut dyn BundleWriter,
    redactor: &Redactor,
    report: &mut RedactionReport,
) -> Result<WrittenFile, Uncopied> {
    let digest = &giant.digest;
    // Checked first: a file of the bundle cannot be removed again.
    visit(source, giant.place, |_| Ok(())).map_err(|problem| match problem {
        LineFailure::Uncuttable => Uncopied::Warned(Code::BlobTooLarge),
        LineFailure::Unread(error) => unreadable(error, digest),
        LineFailure::NotJson => changed(digest),
        LineFailure::Refused(error) => error,
    })?;
    let failed = |error: BundleSinkError| Uncopied::Failed(error.into());
    let mut output = FileOutput::create(bundle, BundleFile::blob(digest)).map_err(failed)?;
    let mut lines = RedactedText::new();
    let mut next_try = LINES;
    let mut append = |lines: &RedactedText, end: usize, report: &mut RedactionReport| {
        // Readers treat the file as text, and so do the rules when they check
        // it.
        let mut head = RedactedText::with_capacity(end);
        head.push_part(lines, 0..end);
        let mut content = RedactedText::with_capacity(end);
        content.push_cow(&redactor.text(&head.finish().into_inner(), report));
        output.append(&content.finish()).map_err(failed)
    };
    let visited = visit(source, giant.place, |line| {
        lines.push_json(redactor.json(line, report).view());
        lines.push_constant(constant_text!("\n"));
        if lines.len() < next_try {
            return Ok(());
        }
        // Not inside a key that continues on the next lines.
        let end = block_end(lines.as_bytes()).filter(|end| *end > 0);
        let Some(end) = end.or((lines.len() > BLOCK).then_some(lines.len())) else {
            // Trying after every line would scan the whole buffer each time.
            next_try = lines.len() + LINES;
            return Ok(());
        };
        next_try = LINES;
        append(&lines, end, report)?;
        let mut rest = RedactedText::new();
        rest.push_part(&lines, end..lines.len());
        lines = rest;
        Ok(())
    });
    match visited {
        Ok(()) => append(&lines, lines.len(), report)?,
        Err(LineFailure::Refused(error)) => return Err(error),
        Err(LineFailure::Unread(error)) => return Err(unreadable(error, digest)),
        Err(LineFailure::Uncuttable | LineFailure::NotJson) => return Err(changed(digest)),
    }
    output.finish().map_err(failed)
}

/// Why the lines cannot be written.
enum LineFailure {
    /// An element is too long for one line.
    Uncuttable,
    NotJson,
    Unread(ReadError),
    Refused(Uncopied),
}

/// Passes the lines of a list or an object to `line`.
fn visit(
    source: &dyn Source,
    place: ByteRange,
    mut line: impl FnMut(Json<'_>) -> Result<(), Uncopied>,
) -> Result<(), LineFailure> {
    let mut bytes = SourceBytes::at(source, place);
    let mut splitter = Splitter::new(&mut bytes, BLOCK);
    loop {
        let element = match splitter.next(None) {
            Ok(Some(element)) => element,
            Ok(None) => return Ok(()),
            Err(SplitError::TooLong { .. }) => return Err(LineFailure::Uncuttable),
            Err(SplitError::NotJson { .. }) => return Err(LineFailure::NotJson),
            Err(SplitError::Read(error)) => return Err(LineFailure::Unread(error)),
        };
        if long_rows::is_heavy(element.value) {
            return Err(LineFailure::Uncuttable);
        }
        let value = line_of(&element).ok_or(LineFailure::NotJson)?;
        line(value).map_err(LineFailure::Refused)?;
    }
}

/// The value of a line: an item as it is; a member, or an item of a member, in
/// an object under the member's name.
fn line_of<'e>(element: &Element<'e>) -> Option<Json<'e>> {
    let value = Json::parse_lossy(element.value).ok()?;
    let Some(literal) = element.name else { return Some(value) };
    let Json::String(name) = Json::parse_lossy(literal).ok()? else { return None };
    let mut object = Object::with_capacity(1);
    object.push(name, if element.is_item { Json::Array(vec![value]) } else { value });
    Some(Json::Object(object))
}

#[cfg(test)]
mod tests {
    use traj_core::capture::BlobDigest;
    use traj_core::id::BundleName;
    use traj_core::memory::MemoryBundleSink;
    use traj_core::port::{BundleSink as _, NameTaken, SourceError};
    use traj_core::redaction::{MarkerKey, RedactionPolicy};

    use super::*;
    use crate::error::ExportError;

    /// A source on a disk that fails.
    #[derive(Debug)]
    struct BrokenSource;

    impl Source for BrokenSource {
        fn len(&self) -> u64 {
            100
        }

        fn read_exact_at(&self, _offset: u64, _buffer: &mut [u8]) -> Result<(), SourceError> {
            let source = std::io::Error::other("the disk fails").into();
            Err(SourceError::Storage { name: "s".to_owned(), source })
        }

        fn check_unchanged(&self) -> Result<(), SourceError> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_failure_is_not_reported_as_a_changed_source() {
        let name = BundleName::parse("b").unwrap();
        let mut bundle = MemoryBundleSink::new().begin(&name, NameTaken::Refuse).unwrap();
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let place = ByteRange { offset: 0, length: 100 };
        let giant = CutValue { place, digest: BlobDigest::of(b""), is_text: false };
        let mut report = RedactionReport::default();
        let copied = copy_lines(&BrokenSource, &giant, &mut *bundle, &redactor, &mut report);
        assert!(matches!(
            copied,
            Err(Uncopied::Failed(ExportError::Source(SourceError::Storage { .. })))
        ));
    }
}
