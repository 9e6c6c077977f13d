//! Runs as a log of Inspect: a zip archive with one sample per run, and one per
//! sub-agent.
//!
//! Messages are written while they are read; those of sub-agents wait in a
//! scratch file, because an archive is written one entry after the other.
//!
//! - `messages`: pieces as chat messages;
//! - `usage`: tokens by model.

mod messages;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};

use traj_core::json::{Json, Object};
use traj_core::port::Scratch;
use traj_core::timestamp::UnixMillis;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::losses::{Loss, Losses};
use super::pieces::Piece;
use super::survey::Survey;
use super::{Converter, Output, Wants};
use crate::inspect::story::What;
use messages::{chat_messages, final_output};
use usage::UsageByModel;

/// The version of the format.
const VERSION: u64 = 2;

/// A model or a program that is not known.
const UNKNOWN: &str = "unknown";

/// Writes a log.
pub(super) struct InspectLog<'w> {
    zip: ZipWriter<StreamWriter<Output<'w>>>,
    scratch: Box<dyn Scratch>,
    spooled: u64,
    names: BTreeSet<String>,
    main: Sample,
    sub_agents: BTreeMap<String, Sample>,
    summaries: Vec<Json<'static>>,
    ids: Vec<String>,
    total: UsageByModel,
    created: Option<UnixMillis>,
    ended: Option<UnixMillis>,
    model: Option<String>,
    task: Option<String>,
}

/// A sample while its messages are written.
#[derive(Debug, Default)]
struct Sample {
    id: String,
    messages: u64,
    /// Where they are in the scratch file.
    spooled: Vec<(u64, usize)>,
    input: Option<String>,
    answer: Option<String>,
    usage: UsageByModel,
    error: Option<String>,
}

impl<'w> InspectLog<'w> {
    pub(super) fn new(out: Output<'w>, scratch: Box<dyn Scratch>) -> Self {
        Self {
            zip: ZipWriter::new_stream(out),
            scratch,
            spooled: 0,
            names: BTreeSet::new(),
            main: Sample::default(),
            sub_agents: BTreeMap::new(),
            summaries: Vec::new(),
            ids: Vec::new(),
            total: UsageByModel::default(),
            created: None,
            ended: None,
            model: None,
            task: None,
        }
    }

    fn open(&mut self, name: &str) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default());
        self.zip.start_file(name, options).map_err(io::Error::other)
    }

    /// A name that no other sample has, and that may be part of a file's.
    fn sample_id(&mut self, wanted: &str) -> String {
        let is_plain =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let plain: String = wanted
            .chars()
            .take(100)
            .map(|letter| if is_plain(letter) { letter } else { '-' })
            .collect();
        let mut id = plain.clone();
        let mut number = 1;
        while !self.names.insert(id.clone()) {
            number += 1;
            id = format!("{plain}-{number}");
        }
        id
    }

    fn begin_sample(&mut self, id: &str) -> io::Result<()> {
        self.open(&format!("samples/{id}_epoch_1.json"))?;
        let mut head = Object::new();
        head.push("id", id.to_owned());
        head.push("epoch", 1_u64);
        head.push("target", "");
        let text = compact(head);
        self.zip.write_all(text.trim_end_matches('}').as_bytes())?;
        self.zip.write_all(b",\"messages\":[")
    }

    fn end_sample(
        &mut self,
        sample: Sample,
        survey: &Survey,
        span: [Option<UnixMillis>; 2],
    ) -> io::Result<()> {
        let run = &survey.run;
        let model = run.model.clone().unwrap_or_else(|| UNKNOWN.to_owned());
        let [started, ended] = span.map(|at| at.map(UnixMillis::to_iso));
        let mut tail = Object::new();
        let input = sample.input.unwrap_or_default();
        tail.push("input", input.clone());
        tail.push("output", final_output(&model, sample.answer.as_deref()));
        tail.push("model_usage", sample.usage.to_json());
        tail.push_some("started_at", started);
        tail.push_some("completed_at", ended);
        let mut metadata = Object::new();
        metadata.push("agent", run.agent.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
        metadata.push("session", survey.session.clone());
        tail.push("metadata", Json::Object(metadata));
        if let Some(error) = &sample.error {
            let mut object = Object::new();
            object.push("message", error.clone());
            object.push("traceback", "");
            object.push("traceback_ansi", "");
            tail.push("error", Json::Object(object));
        }
        self.zip.write_all(b"],")?;
        self.zip.write_all(compact(tail).trim_start_matches('{').as_bytes())?;
        let mut summary = Object::new();
        summary.push("id", sample.id.clone());
        summary.push("epoch", 1_u64);
        summary.push("input", traj_core::run::cut(&input, 500));
        summary.push("target", "");
        summary.push("model_usage", sample.usage.to_json());
        summary.push("completed", sample.error.is_none());
        summary.push("message_count", sample.messages);
        self.summaries.push(Json::Object(summary));
        self.ids.push(sample.id);
        self.total.join(&sample.usage);
        Ok(())
    }

    fn write_message(&mut self, agent: Option<&str>, message: Json<'static>) -> io::Result<()> {
        let text = message.to_line();
        let text = text.trim_end();
        let Some(agent) = agent else {
            if self.main.messages > 0 {
                self.zip.write_all(b",")?;
            }
            self.main.messages += 1;
            self.zip.write_all(b"\n")?;
            return self.zip.write_all(text.as_bytes());
        };
        let sample = self.sub_agents.entry(agent.to_owned()).or_default();
        sample.messages += 1;
        sample.spooled.push((self.spooled, text.len()));
        self.spooled += text.len() as u64;
        self.scratch.append(text.as_bytes()).map_err(io::Error::other)
    }

    fn write_sub_agent(
        &mut self,
        agent: &str,
        mut sample: Sample,
        survey: &Survey,
    ) -> io::Result<()> {
        sample.id = self.sample_id(&format!("{}.{agent}", survey.session));
        let id = sample.id.clone();
        self.begin_sample(&id)?;
        let mut buffer = Vec::new();
        for (index, (offset, length)) in sample.spooled.iter().enumerate() {
            buffer.resize(*length, 0);
            self.scratch.read_exact_at(*offset, &mut buffer).map_err(io::Error::other)?;
            self.zip.write_all(if index > 0 { b",\n" } else { b"\n" })?;
            self.zip.write_all(&buffer)?;
        }
        let span = survey.sub_agents.get(agent).copied().unwrap_or_default();
        self.end_sample(sample, survey, [span.first, span.last])
    }

    /// What describes all samples.
    fn header(&self) -> Json<'static> {
        let created = self.created.unwrap_or_default().to_iso();
        let mut dataset = Object::new();
        dataset.push("name", "traj");
        dataset.push("samples", self.ids.len() as u64);
        dataset.push("sample_ids", self.ids.clone());
        let mut spec = Object::new();
        spec.push("created", created.clone());
        spec.push("task", self.task.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
        spec.push("dataset", Json::Object(dataset));
        spec.push("model", self.model.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
        spec.push("config", Json::Object(Object::new()));
        let mut packages = Object::new();
        packages.push("traj", env!("CARGO_PKG_VERSION"));
        spec.push("packages", Json::Object(packages));
        let mut stats = Object::new();
        stats.push("started_at", created);
        stats.push("completed_at", self.ended.or(self.created).unwrap_or_default().to_iso());
        stats.push("model_usage", self.total.to_json());
        let mut header = Object::new();
        header.push("version", VERSION);
        header.push("status", "success");
        header.push("eval", Json::Object(spec));
        header.push("plan", Json::Object(Object::new()));
        header.push("stats", Json::Object(stats));
        Json::Object(header)
    }
}

impl Converter for InspectLog<'_> {
    fn wants(&self) -> Wants {
        Wants::Pieces
    }

    fn begin(&mut self, survey: &Survey) -> io::Result<()> {
        let run = &survey.run;
        self.created = self.created.or(run.started_at);
        self.ended = self.ended.max(run.ended_at);
        self.model = self.model.take().or(run.model.clone());
        self.task = self.task.take().or(run.agent.clone());
        let id = self.sample_id(&survey.session);
        self.begin_sample(&id)?;
        self.main = Sample { id, ..Sample::default() };
        if let Some(system) = &survey.system {
            self.write_message(None, messages::of("system", system.clone()))?;
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece, losses: &mut Losses) -> io::Result<()> {
        let agent = match &piece {
            Piece::Message(message) => message.sub_agent.clone(),
            Piece::Step(step) => step.sub_agent.clone(),
        };
        let sample = match &agent {
            None => &mut self.main,
            Some(id) => self.sub_agents.entry(id.clone()).or_default(),
        };
        match &piece {
            Piece::Message(message) => {
                sample.usage.add(message);
                if !message.texts.is_empty() {
                    sample.answer = Some(message.text());
                }
            }
            Piece::Step(step) => match &step.what {
                What::Prompt { text, .. } => {
                    sample.input.get_or_insert_with(|| text.text.clone());
                }
                What::Ended { error: Some(error), .. }
                | What::Error { text: error, is_recovered: false } => {
                    sample.error = Some(error.clone());
                }
                What::Turn { .. } | What::Aside { .. } | What::Ended { .. } => {}
                _ => losses.add(Loss::OtherSteps, 1),
            },
        }
        for message in chat_messages(piece, losses) {
            self.write_message(agent.as_deref(), message)?;
        }
        Ok(())
    }

    fn end(&mut self, survey: &Survey, _losses: &mut Losses) -> io::Result<()> {
        let main = std::mem::take(&mut self.main);
        self.end_sample(main, survey, [survey.run.started_at, survey.run.ended_at])?;
        for (agent, sample) in std::mem::take(&mut self.sub_agents) {
            self.write_sub_agent(&agent, sample, survey)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<u64> {
        self.open("summaries.json")?;
        let summaries = Json::Array(std::mem::take(&mut self.summaries));
        self.zip.write_all(summaries.to_line().as_bytes())?;
        let header = self.header();
        self.open("header.json")?;
        self.zip.write_all(header.to_line().as_bytes())?;
        let samples = self.ids.len() as u64;
        let mut out = self.zip.finish().map_err(io::Error::other)?.into_inner();
        out.flush()?;
        Ok(samples)
    }
}

fn compact(object: Object<'_>) -> String {
    let mut text = String::new();
    Json::Object(object).write_compact(&mut text);
    text
}
