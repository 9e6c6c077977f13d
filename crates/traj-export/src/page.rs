//! A bundle as one HTML file that opens anywhere and loads nothing.
//!
//! The page contains the files of the bundle byte for byte, in compressed
//! chunks. An index says what each event is and where its texts are, so that
//! the script shows the few that are visible. The script decides nothing about
//! a run: that is done here, by the run model. `docs/format/page-v1.md`
//! describes the format.
//!
//! - `files`: the files as chunks, each text once;
//! - `paths`, `notes`: where the texts of steps are;
//! - `items`, `strings`: every step of the story, and every other row;
//! - `index`: these in binary, and what the model saw at each call;
//! - `overview`, `head`, `static_part`: what is seen first;
//! - `review`: what a reviewer should look at;
//! - `frame`, `sink`: the HTML;
//! - `read`, `check`: a page as a bundle again.

mod check;
mod files;
mod frame;
mod head;
mod index;
mod items;
mod notes;
mod overview;
mod paths;
mod read;
mod review;
mod sink;
mod static_part;
mod strings;

use std::io;
use std::ops::ControlFlow;

use serde::Serialize;
use traj_core::dialect::Dialect;
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError};
use traj_core::redaction::{RedactionReport, Redactor};
use traj_core::run::{Place, Prices, Run, one_line};
use traj_core::timestamp::UnixMillis;

use crate::error::RemainingSecret;
use crate::inspect::run_events::{EventsFileRow, for_each_row};
use crate::inspect::story::{Story, StoryDetail, TextAmount};
use crate::inspect::{Summary, look_through};
pub use check::verify_page;
pub use read::PageBundle;
pub use review::find_survivors;

use files::copies::{CopyingContent, KnownStrings};
use files::{MeasuredFile, PageFile, RowTable, WriteError, write_chunks};
use frame::PageAssets;
use head::PageHead;
use index::Index;
use index::contexts::PageContexts;
use items::ItemList;
use notes::PageNotes;
use overview::Overview;
use sink::{HtmlSink, PageSink};

/// The name of a page in reports.
const PAGE: &str = "page";

/// The title has at most this many characters.
const LONGEST_TITLE: usize = 90;

/// What a page is made with, besides the bundle.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PageOptions {
    /// Prices that override those that come with traj, for models that do not
    /// state their cost. The page contains them.
    pub own_prices: Option<Prices>,
    /// What a reviewer should look at. A page with a list of it is marked as
    /// not for sending.
    pub review: Option<Vec<PageFinding>>,
    /// The constant parts.
    assets: PageAssets,
}

impl PageOptions {
    /// A page that can be sent.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the rules find in what the caller adds to a page.
    #[must_use]
    pub fn find_secrets(&self, redactor: &Redactor) -> Vec<RemainingSecret> {
        let mut report = RedactionReport::listing();
        let prices = self.own_prices.as_ref().map(Prices::to_toml).unwrap_or_default();
        redactor.text(&prices, &mut report);
        let found = report.findings().iter();
        found.map(|found| RemainingSecret::new(found.rule.clone(), PAGE.to_owned(), 0)).collect()
    }

    /// The prices in effect: those that come with traj, overridden by those of
    /// the caller.
    #[must_use]
    pub fn prices(&self) -> Prices {
        let shipped = Prices::shipped();
        match &self.own_prices {
            Some(own) => shipped.overridden_by(own.clone()),
            None => shipped,
        }
    }
}

/// Something in a bundle that looks like a secret but matches no rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PageFinding {
    /// What it looks like.
    pub rule: String,
    /// The file.
    pub file: String,
    /// The row of the file, from 0.
    pub row: u64,
    /// How many there are in the row.
    pub count: u64,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PageReport {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The size of the page.
    pub bytes: u64,
    /// How many files of the bundle it contains.
    pub files: u64,
    /// How many events it contains.
    pub events: u64,
    /// How many things it shows.
    pub items: u64,
    /// SHA-256 of the manifest.
    pub digest: String,
}

/// Why a page could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The bundle cannot be read.
    #[error(transparent)]
    Source(#[from] BundleSourceError),
    /// The page cannot be written.
    #[error("the page cannot be written")]
    Output(#[source] io::Error),
}

impl From<WriteError> for PageError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Source(error) => Self::Source(error),
            WriteError::Output(error) => Self::Output(error),
        }
    }
}

impl From<io::Error> for PageError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Writes a bundle that you trust as a page; use
/// [`check_before_reading`](crate::check_before_reading) for those of others.
/// Memory grows with the number of events, and not with their length.
///
/// # Errors
/// If the bundle cannot be read or changes meanwhile, or if writing fails.
pub fn write_page(
    bundle: &dyn BundleSource,
    options: &PageOptions,
    out: impl io::Write,
) -> Result<PageReport, PageError> {
    let mut sink = HtmlSink::new(out);
    let mut report = write_parts(bundle, options, &mut sink)?;
    report.bytes = sink.finish()?;
    Ok(report)
}

/// Writes the parts of a page.
fn write_parts(
    bundle: &dyn BundleSource,
    options: &PageOptions,
    sink: &mut dyn PageSink,
) -> Result<PageReport, PageError> {
    let (summary, run) = look_through(bundle, options.prices(), true)?;
    let contexts = PageContexts::read(bundle, &summary)?;
    let mut survey = PageSurvey::of(bundle, &run, options, contexts)?;
    let threads = survey.list.finish(&survey.rows, &run);
    let turns = survey.list.turns(summary.turns);
    let output = std::mem::take(&mut survey.notes.failure);
    let overview = Overview::of(&summary, &run, &survey.list, output);
    let contexts = survey.contexts.to_json(&survey.files);
    let index = Index::new(&survey.list, &threads, &turns, &survey.notes.paths, &contexts);
    let title = title(&summary, &run);
    let digest = survey.digest();
    let review = options.review.as_deref();
    let millis = |at: Option<UnixMillis>| at.map(UnixMillis::as_millis);
    let head = PageHead {
        format: head::FORMAT,
        generator: &options.assets.generator,
        review: review.is_some(),
        review_findings: review,
        title: &title,
        summary: &summary,
        digest: &digest,
        files: &survey.files,
        rows: survey.rows.rows,
        omitted_rows: survey.list.omitted_rows,
        row_chunks: &survey.rows.first_rows,
        index_chunks: index.chunks(),
        items: survey.list.items.len(),
        model_calls: survey.list.calls.len(),
        threads: threads.len(),
        turns: turns.len(),
        started_at: millis(run.started_at),
        ended_at: millis(run.ended_at),
        overview: &overview,
        prices: options.own_prices.as_ref().map(Prices::to_toml),
    };
    sink.text(&options.assets.opening(&title))?;
    sink.text(&static_part::summary(&title, &summary, &overview, review))?;
    sink.text(frame::HEAD_OPENING)?;
    sink.text(&head.to_json())?;
    sink.text(sink::CLOSING)?;
    sink.text(frame::SCRIPT_OPENING)?;
    sink.text(&options.assets.script)?;
    sink.text(sink::CLOSING)?;
    index.write_chunks(sink)?;
    let report = PageReport {
        session_id: summary.session_id.clone(),
        bytes: 0,
        files: survey.files.len() as u64,
        events: survey.rows.rows,
        items: survey.list.items.len() as u64,
        digest,
    };
    let PageSurvey { files, known, .. } = survey;
    write_files(bundle, &files, &known, sink)?;
    sink.text(frame::ENDING)?;
    Ok(report)
}

/// What the first prompt asked for, or else which session it is.
fn title(summary: &Summary, run: &Run) -> String {
    let prompt = run.moments.iter().find(|moment| moment.kind == "prompt");
    let about = prompt.map(|prompt| one_line(&prompt.about, LONGEST_TITLE));
    about.filter(|about| !about.is_empty()).unwrap_or_else(|| {
        let session = summary.session_id.as_deref().unwrap_or("without a name");
        format!("Session {}", one_line(session, LONGEST_TITLE))
    })
}

/// What a page needs to know before its first byte is written.
struct PageSurvey {
    files: Vec<PageFile>,
    rows: RowTable,
    list: ItemList,
    notes: PageNotes,
    known: KnownStrings,
    contexts: PageContexts,
}

impl PageSurvey {
    fn of(
        bundle: &dyn BundleSource,
        run: &Run,
        options: &PageOptions,
        mut contexts: PageContexts,
    ) -> Result<Self, BundleSourceError> {
        let (texts, has_reasoning) = (TextAmount::Nothing, true);
        let detail = StoryDetail { texts, has_reasoning, is_complete: true };
        let notes = PageNotes::new(run);
        let mut story = Story::with_notes(run, options.prices(), detail, notes);
        let (mut files, mut rows, mut list) =
            (Vec::new(), RowTable::default(), ItemList::default());
        let (mut next_chunk, mut known) = (0, KnownStrings::default());
        bundle.visit(&mut |path, content| {
            let Some(file) = BundleFile::parse(path) else { return Ok(()) };
            let has_rows = file == BundleFile::Events;
            let mut measured = MeasuredFile::new(content, has_rows);
            let file = if has_rows {
                measured = measured.remembering(&mut known);
                read_rows(&mut measured, &mut story, &mut list, &mut contexts)?;
                let (file, table) = measured.finish(path, next_chunk)?;
                rows = table;
                file
            } else if file == BundleFile::SessionBranch {
                measured.finish_copying(path, next_chunk, &known)?
            } else {
                measured.finish(path, next_chunk)?.0
            };
            next_chunk += file.chunks;
            files.push(file);
            Ok(())
        })?;
        let notes = story.finish(&mut |step| list.add(&step));
        Ok(Self { files, rows, list, notes, known, contexts })
    }

    /// The digest of the manifest.
    fn digest(&self) -> String {
        let name = BundleFile::Manifest.to_string();
        let manifest = self.files.iter().find(|file| file.path == name);
        manifest.map(|file| file.sha256.clone()).unwrap_or_default()
    }
}

fn read_rows(
    content: &mut dyn BundleContent,
    story: &mut Story<PageNotes>,
    list: &mut ItemList,
    contexts: &mut PageContexts,
) -> Result<(), BundleSourceError> {
    for_each_row(content, &mut |number, row| {
        let EventsFileRow::Event(row) = row else {
            list.add_row(None);
            return ControlFlow::Continue(());
        };
        list.add_row(Some(row));
        Dialect::Bundle.decode(row, Place::line(number), &mut |event| {
            contexts.take(&event);
            story.take(&event, &mut |step| list.add(&step));
        });
        ControlFlow::Continue(())
    })
}

fn write_files(
    bundle: &dyn BundleSource,
    files: &[PageFile],
    known: &KnownStrings,
    sink: &mut dyn PageSink,
) -> Result<(), PageError> {
    let mut failure = None;
    let mut left = files.iter();
    bundle.visit(&mut |path, content| {
        if BundleFile::parse(path).is_none() || failure.is_some() {
            return Ok(());
        }
        let file = left.next().filter(|file| file.path == path);
        let written = match file {
            Some(file) if file.encoding.is_some() => {
                write_chunks(file, &mut CopyingContent::new(content, known), sink)
            }
            Some(file) => write_chunks(file, content, sink),
            None => Err(WriteError::Output(files::changed())),
        };
        failure = written.err();
        Ok(())
    })?;
    match failure {
        Some(error) => Err(error.into()),
        None if left.next().is_some() => Err(files::changed().into()),
        None => Ok(()),
    }
}
