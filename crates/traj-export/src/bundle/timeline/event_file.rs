//! Writes `events.jsonl`, and numbers the events.

use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::constant_text;
use traj_core::dialect::transcript::TranscriptEvents;
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter};
use traj_core::redaction::{RedactedSpill, RedactedText};

use super::work::{BatchOutput, EventNumbers};
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::bundle::prompts::PromptRecord;
use crate::error::ExportError;
use crate::index::record_store::{RecordStore, Spool};
use crate::index::sorter::{Sorted, Sorter};
use crate::read_back::approved_parts::PartNote;
use crate::read_back::redaction_pass::RedactionPass;

/// The result of writing the events.
pub(crate) struct EventsWritten {
    pub(crate) written: WrittenFile,
    /// How many events there are.
    pub(crate) lines: u64,
    /// The first line that does not match the event schema.
    pub(crate) unfit: Option<u64>,
    pub(crate) prompts: Sorted<PromptRecord>,
    pub(crate) blobs: BTreeSet<BlobDigest>,
}

/// The file, positioned at its end.
pub(super) struct EventFile {
    output: FileOutput,
    /// The number of events so far; `fresh` counts the transcript events that
    /// were numbered here.
    lines: u64,
    fresh: u64,
    unfit: Option<u64>,
    prompts: Sorter<PromptRecord>,
    blobs: BTreeSet<BlobDigest>,
}

impl EventFile {
    pub(super) fn begin(bundle: &mut dyn BundleWriter) -> Result<Self, BundleSinkError> {
        Ok(Self {
            output: FileOutput::create(bundle, BundleFile::Events)?,
            lines: 0,
            fresh: 0,
            unfit: None,
            prompts: Sorter::new(),
            blobs: BTreeSet::new(),
        })
    }

    /// How many events of the transcript were numbered.
    pub(super) const fn fresh(&self) -> u64 {
        self.fresh
    }

    /// Numbers and writes the events of a batch, and the notes on them.
    pub(super) fn add(
        &mut self,
        done: &mut BatchOutput,
        pass: &RedactionPass,
        notes: &mut RecordStore<PartNote>,
        prompts_kept: &mut RedactedSpill,
        spool: &dyn Spool,
    ) -> Result<(), ExportError> {
        let mut out = std::mem::take(&mut done.numbered);
        let (mut fresh_at, mut other_at) = (0, 0);
        for line in done.lines.drain(..) {
            self.lines += 1;
            let start = out.len();
            let (text, at) = match line.numbers {
                EventNumbers::Fresh => (done.transcript.text(), &mut fresh_at),
                EventNumbers::Kept(_) | EventNumbers::Own => (&done.others, &mut other_at),
            };
            let (gap, end) = (*at + line.head, *at + line.head + line.tail);
            out.push_part(text, *at..gap);
            match line.numbers {
                EventNumbers::Fresh => {
                    self.fresh += 1;
                    TranscriptEvents::push_numbers(&mut out, self.lines, self.fresh);
                }
                EventNumbers::Kept(number) => {
                    TranscriptEvents::push_numbers(&mut out, self.lines, number);
                }
                EventNumbers::Own => drop(out.push_number(self.lines)),
            }
            out.push_part(text, gap..end);
            *at = end;
            let written = out.as_bytes().get(start..).unwrap_or_default();
            notes.push(pass.note(written, line.is_seen), spool)?;
            out.push_constant(constant_text!("\n"));
            if !line.fits {
                self.unfit.get_or_insert(self.lines);
            }
        }
        let text = out.finish();
        self.output.append(&text)?;
        done.numbered = RedactedText::in_buffer(text.into_inner());
        for (position, prompt) in done.prompts.drain(..) {
            let slot = prompts_kept.push(&prompt)?;
            self.prompts.push(PromptRecord { position, slot }, spool)?;
        }
        // One more than a bundle can have shows that there are more.
        if self.blobs.len() <= BundleFile::MOST_BLOBS {
            self.blobs.append(&mut done.blobs);
        }
        Ok(())
    }

    pub(super) fn finish(mut self, spool: &dyn Spool) -> Result<EventsWritten, BundleSinkError> {
        if self.lines == 0 {
            // Other readers expect at least one line end.
            let mut line_end = RedactedText::new();
            line_end.push_constant(constant_text!("\n"));
            self.output.append(&line_end.finish())?;
        }
        let Self { output, lines, unfit, prompts, blobs, .. } = self;
        let (written, prompts) = (output.finish()?, prompts.finish(spool)?);
        Ok(EventsWritten { written, lines, unfit, prompts, blobs })
    }
}
