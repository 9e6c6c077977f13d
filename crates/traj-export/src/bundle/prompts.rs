//! `prompts.json`: the system prompt and the submitted prompts, complete or
//! with a note on the file that holds the rest.

use traj_core::constant_text;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter, SourceError};
use traj_core::redaction::{
    ConstantText, Redacted, RedactedSpill, RedactedText, RedactionReport, Redactor, SpillSlot,
};

use super::CommonMembers;
use super::blobs::Restorer;
use super::blobs::{EventText, LongTexts};
use super::pretty::PrettyObject;
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::error::ExportError;
use crate::index::record_store::{FixedRecord, RecordDecoder, RecordEncoder};
use crate::index::sorter::Sorted;
use crate::json_stream::long_rows::CutValue;
use crate::read_back::redaction_pass::LINKS;

/// A submitted prompt that is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PromptRecord {
    /// Its position in the sidecar.
    pub(crate) position: u64,
    pub(crate) slot: SpillSlot,
}

impl Ord for PromptRecord {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.position.cmp(&other.position)
    }
}

impl PartialOrd for PromptRecord {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl FixedRecord for PromptRecord {
    const SIZE: usize = 20;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        bytes.u64(self.position);
        bytes.u64(self.slot.offset);
        bytes.u32(self.slot.length);
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        let position = bytes.u64();
        Self { position, slot: SpillSlot::new(bytes.u64(), bytes.u32()) }
    }
}

/// The submitted prompts, which are set aside until the file is written.
pub(crate) struct SubmittedPrompts {
    /// In the order of the sidecar.
    pub(crate) records: Sorted<PromptRecord>,
    pub(crate) kept: RedactedSpill,
}

/// The parts of the file that are not submitted prompts.
#[derive(Debug, Default)]
pub(crate) struct Prompting<'a> {
    /// The system prompt of the last compiled context, if it is a string.
    pub(crate) system: Option<EventText<'a>>,
    /// The prompt details of the event that describes the run.
    pub(crate) described: Option<&'a Json<'a>>,
    /// The values that were cut from that event's row.
    pub(crate) giants: &'a [CutValue],
}

impl<'a> Prompting<'a> {
    fn text(&self, name: &str) -> Option<EventText<'a>> {
        EventText::of(self.described?.get(name)?, self.giants)
    }

    fn report(&self) -> Option<&'a Json<'a>> {
        let report = self.described?.get("systemPromptReport")?;
        matches!(report, Json::Object(_) | Json::Array(_) | Json::Null).then_some(report)
    }
}

/// The inputs of the file.
pub(crate) struct PromptsParts<'p, 'f> {
    pub(crate) common: &'p CommonMembers,
    pub(crate) prompting: Prompting<'p>,
    pub(crate) submitted: &'p mut SubmittedPrompts,
    pub(crate) texts: &'p mut LongTexts<'f>,
}

/// Writes the file, unless it would be empty.
pub(crate) fn write_prompts(
    bundle: &mut dyn BundleWriter,
    redactor: &Redactor,
    report: &mut RedactionReport,
    parts: PromptsParts<'_, '_>,
) -> Result<Option<WrittenFile>, ExportError> {
    let PromptsParts { common, prompting, submitted, texts } = parts;
    let SubmittedPrompts { records, kept } = submitted;
    let prompt_report = prompting.report().cloned();
    let (skills, prefix) = (prompting.text("skillsPrompt"), prompting.text("userPromptPrefixText"));
    let mut describe =
        |text: Option<EventText<'_>>| text.map_or(Ok(None), |text| texts.describe(text));
    let (system, skills, prefix) =
        (describe(prompting.system)?, describe(skills)?, describe(prefix)?);
    let mut literal = |slot: SpillSlot, report: &mut RedactionReport| {
        let mut text = RedactedText::with_capacity(slot.length as usize);
        kept.read_into(slot, &mut text)?;
        Ok::<_, ExportError>(whole_prompt(text.finish(), texts, redactor, report)?)
    };
    let mut prompt = None;
    while prompt.is_none()
        && let Some(record) = records.next()?
    {
        prompt = literal(record.slot, report)?;
    }
    let is_empty = [&system, &skills, &prefix].into_iter().flatten().all(String::is_empty);
    if prompt.is_none() && is_empty {
        return Ok(None);
    }
    let mut facts = common.members();
    facts.push_some("system", system);
    facts.push_some("skillsPrompt", skills);
    facts.push_some("userPromptPrefixText", prefix);
    facts.push_some("systemPromptReport", prompt_report);
    let facts = redactor.json_settled(Json::Object(facts), &LINKS, report);
    let mut file = PrettyObject::begin(FileOutput::create(bundle, BundleFile::Prompts)?)?;
    for name in constant_text!([
        "traceSchema",
        "schemaVersion",
        "generatedAt",
        "traceId",
        "sessionId",
        "sessionKey",
        "system",
    ]) {
        put(&mut file, &facts, name)?;
    }
    let mut prompts = file.array(constant_text!("submittedPrompts"))?;
    let mut latest = prompt;
    if let Some(first) = &latest {
        prompts.items(first)?;
    }
    while let Some(record) = records.next()? {
        if let Some(prompt) = literal(record.slot, report)? {
            prompts.items(&prompt)?;
            latest = Some(prompt);
        }
    }
    file = prompts.end()?;
    if let Some(latest) = latest {
        file.rendered(constant_text!("latestSubmittedPrompt"), &latest)?;
    }
    for name in constant_text!(["skillsPrompt", "userPromptPrefixText", "systemPromptReport"]) {
        put(&mut file, &facts, name)?;
    }
    Ok(Some(file.end()?.finish()?))
}

fn put(
    file: &mut PrettyObject,
    facts: &Redacted<Json<'_>>,
    name: ConstantText,
) -> Result<(), BundleSinkError> {
    facts.view().get(name.as_str()).map_or(Ok(()), |value| file.member(name, value))
}

/// A prompt: the literal that was set aside or, if the prompt was cut, restored
/// from its event's data.
fn whole_prompt(
    kept: Redacted<String>,
    texts: &mut LongTexts<'_>,
    redactor: &Redactor,
    report: &mut RedactionReport,
) -> Result<Option<Redacted<String>>, SourceError> {
    if kept.as_ref().starts_with('"') {
        return Ok(Some(kept));
    }
    let Ok(data) = Json::parse(kept.as_ref()) else { return Ok(None) };
    let Some(prompt) = Restorer::new(texts.folder).prompt(data, texts)? else { return Ok(None) };
    let mut text = RedactedText::new();
    text.push_cow(&redactor.text(&prompt, report));
    let mut literal = RedactedText::new();
    literal.push_literal(&text.finish());
    Ok(Some(literal.finish()))
}
