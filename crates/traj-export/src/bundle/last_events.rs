//! The few events that the smaller files are made from.

use std::borrow::Cow;

use traj_core::dialect::{is_result_member, particulars};
use traj_core::json::Json;
use traj_core::port::SourceError;

use crate::bundle::{
    EventText, ModelNames, Prompting, RecordedBlobs, Restorer, is_metadata_member,
};
use crate::error::ExportError;
use crate::export::locate::FoundSource;
use crate::index::{RunEnding, RuntimeIndex, row_text};
use crate::json_stream::long_rows::CutValue;
use crate::json_stream::row_fetcher::RowFetcher;
use crate::json_stream::rows::ByteRange;

/// The rows of these events.
#[derive(Debug, Default)]
pub(crate) struct LastEventRows {
    metadata: Option<Vec<u8>>,
    compiled: Option<Vec<u8>>,
    model: Option<Vec<u8>>,
    artifacts: Option<Vec<u8>>,
    completed: Option<Vec<u8>>,
    ended: Option<Vec<u8>>,
    /// The values that were cut from them.
    giants: Vec<CutValue>,
}

impl LastEventRows {
    pub(crate) fn load(
        runtime: Option<&FoundSource>,
        index: &RuntimeIndex,
    ) -> Result<Self, ExportError> {
        let Some(runtime) = runtime else { return Ok(Self::default()) };
        let mut fetcher = RowFetcher::new(&*runtime.source);
        let mut row = |place: Option<ByteRange>| -> Result<Option<Vec<u8>>, ExportError> {
            let Some(place) = place else { return Ok(None) };
            Ok(fetcher.fetch(place)?.into_bytes())
        };
        let place = |outcome: &Option<RunEnding>| outcome.as_ref().map(|outcome| outcome.place);
        let mut rows = Self {
            metadata: row(index.metadata)?,
            compiled: row(index.compiled)?,
            model: row(index.model)?,
            artifacts: row(place(&index.results.artifacts))?,
            completed: row(place(&index.results.completed))?,
            ended: row(place(&index.results.ended))?,
            giants: Vec::new(),
        };
        rows.giants = fetcher.giants;
        Ok(rows)
    }

    /// Parses the data of each event and restores what the recorder cut.
    pub(crate) fn parse(
        &self,
        blobs: &RecordedBlobs<'_>,
    ) -> Result<LastEvents<'static>, SourceError> {
        let mut restorer = Restorer::new(blobs);
        let event = |row: &Option<Vec<u8>>| {
            let (text, _) = row.as_deref().map_or((Cow::Borrowed(""), false), row_text);
            Json::parse(&text).unwrap_or_default().into_owned()
        };
        let mut data = |row: &Option<Vec<u8>>, is_wanted: fn(&str) -> bool| {
            let data = particulars::into_data(event(row));
            data.map(|data| restorer.members(data, is_wanted)).transpose()
        };
        Ok(LastEvents {
            compiled: data(&self.compiled, particulars::is_context_member)?,
            metadata: data(&self.metadata, is_metadata_member)?,
            artifacts: data(&self.artifacts, is_result_member)?,
            completed: data(&self.completed, is_result_member)?,
            ended: data(&self.ended, is_result_member)?,
            model: ModelNames::of_event(&event(&self.model)),
            giants: self.giants.clone(),
        })
    }
}

/// The data of these events.
#[derive(Debug)]
pub(crate) struct LastEvents<'a> {
    pub(crate) metadata: Option<Json<'a>>,
    pub(crate) compiled: Option<Json<'a>>,
    pub(crate) artifacts: Option<Json<'a>>,
    pub(crate) completed: Option<Json<'a>>,
    pub(crate) ended: Option<Json<'a>>,
    pub(crate) model: ModelNames<'a>,
    /// The values that were cut from their rows.
    giants: Vec<CutValue>,
}

impl<'a> LastEvents<'a> {
    /// The system prompt of the last compiled context.
    pub(crate) fn system(&self) -> Option<EventText<'_>> {
        EventText::of(particulars::system_prompt(self.compiled.as_ref()?)?, &self.giants)
    }

    /// The content of `prompts.json`, except the submitted prompts.
    pub(crate) fn prompting(&self) -> Prompting<'_> {
        let described = self.metadata.as_ref().and_then(particulars::prompting);
        Prompting { system: self.system(), described, giants: &self.giants }
    }
}
