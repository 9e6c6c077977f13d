//! `traj scan`: searches files, directories and bundles for secrets that a rule
//! would hide.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use serde::Serialize;
use traj_core::json::Json;
use traj_core::json::lines::Line;
use traj_core::port::{BundleContent, BundleSource as _, BundleSourceError};
use traj_core::redaction::{MarkerKey, PathLabels, RedactionReport, Redactor, block_end};
use traj_fs::{FsBundleSource, open_file, open_subfolder};

use crate::command::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::input_lines::for_each_line;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity::counted;
use crate::redaction_options::RuleOptions;
use crate::resolve::gathered::packed_sessions;
use crate::resolve::{SourceInput, SubjectArguments, Unnamed, chosen, open_source};
use crate::terminal_text::escape_control;

const BLOCK_BYTES: u64 = 64 << 20;
/// Directories nested deeper than this are not entered.
const DEEPEST: usize = 64;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Searches files for secrets that a rule would hide. Reports the file, line, \
                  rule and location of each secret, never its value. Directories are searched \
                  recursively except .git, and archived bundles without unpacking them. In an \
                  agent's database, only the sessions are searched. A name that is not a path is \
                  the key or id of a session. Files that could not be read are reported.",
    after_help = concat!(
        "Examples:\n",
        "  traj scan .                            the current directory\n",
        "  traj scan bug-1234.zip                 an archived bundle\n",
        "  traj scan 0197f2c4                     a session, by the beginning of its id\n",
        "  traj scan logs --personal-data --json  with personal data, as JSON\n",
        "\n",
        "Exit codes: 0 nothing found · 1 not found or not readable · 2 wrong usage · 3 secrets \
         found"
    )
)]
pub(crate) struct Arguments {
    /// Files, directories, bundles and sessions to search
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleOptions,
}

/// One finding: where, and which rule; never the value.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileFinding {
    /// The file.
    file: String,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The location in the JSON of that line.
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    /// The rule that found it.
    rule: String,
}

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct ScanReport {
    /// The number of files searched; each session in a database counts as one.
    files: u64,
    /// The number of files that are not text.
    binary_files: u64,
    /// Findings by rule.
    rules: BTreeMap<String, u64>,
    /// All findings, never with their values.
    findings: Vec<FileFinding>,
    /// The files that were skipped, and why.
    skipped: Vec<Skipped>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Skipped {
    /// The file.
    file: String,
    /// Why it was skipped.
    reason: String,
}

/// How a file is read.
#[derive(Clone, Copy)]
enum Form {
    Json,
    JsonLines,
    Text,
}

/// A search for secrets in files.
struct FileScan<'h> {
    host: &'h Host,
    redactor: Redactor,
    report: ScanReport,
    /// Lines and documents longer than this are skipped.
    longest: usize,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<ScanReport>("scan");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    // Nothing is written, so the key does not matter.
    let redactor =
        arguments.rules.redactor(host, MarkerKey::new([0; 32]), PathLabels::default())?;
    let longest = host.reading().scanned_line_bytes;
    let mut scan = FileScan { host, redactor, report: ScanReport::default(), longest };
    for path in &arguments.paths {
        scan.path(path, output)?;
    }
    let fault = (!scan.report.findings.is_empty()).then_some(ErrorKind::Findings);
    output.verdict(&scan.report, fault, describe)
}

fn unreadable(
    shown: &str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> CommandError {
    CommandError::failure(format!("cannot read {shown}")).because(error)
}

impl FileScan<'_> {
    fn path(&mut self, path: &Path, output: &CommandOutput) -> Result<(), CommandError> {
        let (folder, name) = self.host.folder_of(path)?;
        let shown = path.to_string_lossy().into_owned();
        let Ok(metadata) = folder.symlink_metadata(&name) else {
            return self.session(path, &shown, output);
        };
        if metadata.is_dir() {
            let inner = self.host.folder(path)?;
            self.folder(&inner, &shown, 0).map_err(|error| unreadable(&shown, error))
        } else {
            self.file(&folder, &name, &shown).map_err(|error| unreadable(&shown, error))
        }
    }

    /// Searches a session that is not named by the path of a plain file.
    fn session(
        &mut self,
        path: &Path,
        shown: &str,
        output: &CommandOutput,
    ) -> Result<(), CommandError> {
        let subject = SubjectArguments::named(path);
        let chosen = chosen(&subject, Unnamed::Refused, self.host, output)?;
        let source = open_source(&chosen.file, self.host)?;
        let source = source.map_err(|error| unreadable(shown, error))?;
        let shown = chosen.file.to_string_lossy();
        self.stream("session.jsonl", &shown, SourceInput::new(&*source))
            .map_err(|error| unreadable(&shown, error))
    }

    fn folder(&mut self, folder: &Dir, shown: &str, depth: usize) -> io::Result<()> {
        let mut names: Vec<(String, bool)> = folder
            .entries()?
            .filter_map(Result::ok)
            .filter_map(|entry| {
                Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?.is_dir()))
            })
            .collect();
        names.sort();
        for (name, is_folder) in names {
            let place = format!("{}/{name}", shown.trim_end_matches('/'));
            if !is_folder {
                if let Err(error) = self.file(folder, &name, &place) {
                    self.skip(&place, &error);
                }
            } else if depth >= DEEPEST {
                self.skip(&place, &"nested too deep");
            } else if name != ".git" {
                match open_subfolder(folder, &name) {
                    Ok(inner) => {
                        if let Err(error) = self.folder(&inner, &place, depth + 1) {
                            self.skip(&place, &error);
                        }
                    }
                    Err(error) => self.skip(&place, &error),
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, file: &str, reason: &dyn std::fmt::Display) {
        self.report.skipped.push(Skipped { file: file.to_owned(), reason: reason.to_string() });
    }

    fn file(
        &mut self,
        folder: &Dir,
        name: &str,
        shown: &str,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if is_archive(name) {
            return self.archive(folder, name, shown);
        }
        if let Some(sessions) = packed_sessions(folder, name, self.host)? {
            let parent = shown.strip_suffix(name).unwrap_or_default();
            for (name, source) in sessions {
                let place = format!("{parent}{name}");
                self.stream("session.jsonl", &place, SourceInput::new(&*source))?;
            }
            return Ok(());
        }
        let file = open_file(folder, name)?;
        self.stream(name, shown, io::BufReader::with_capacity(1 << 16, file))?;
        Ok(())
    }

    /// Searches an archived bundle without unpacking it.
    fn archive(
        &mut self,
        folder: &Dir,
        name: &str,
        shown: &str,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let bundle = FsBundleSource::open(folder, name)?;
        bundle.visit(&mut |inner, content| {
            let place = format!("{shown}/{inner}");
            let input = io::BufReader::with_capacity(1 << 16, Archived(content));
            self.stream(inner, &place, input).map_err(|error| BundleSourceError::Storage {
                name: name.to_owned(),
                source: error.into(),
            })
        })?;
        Ok(())
    }

    fn stream(&mut self, name: &str, shown: &str, mut input: impl io::BufRead) -> io::Result<()> {
        self.report.files += 1;
        let mut report = RedactionReport::listing();
        // A file name can also contain a secret.
        self.redactor.text(name, &mut report);
        let head = input.fill_buf()?;
        if head.contains(&0)
            && !head.starts_with(&[0xff, 0xfe])
            && !head.starts_with(&[0xfe, 0xff])
            && memchr::memchr_iter(0, head).count() * 3 < head.len()
        {
            self.report.binary_files += 1;
        } else {
            let form = form_of(name, head);
            self.content(form, input, &mut report)?;
        }
        for finding in report.findings() {
            *self.report.rules.entry(finding.rule.clone()).or_default() += 1;
            self.report.findings.push(FileFinding {
                file: shown.to_owned(),
                line: finding.line,
                path: finding.path.clone(),
                rule: finding.rule.clone(),
            });
        }
        Ok(())
    }

    fn content(
        &self,
        form: Form,
        mut input: impl io::BufRead,
        report: &mut RedactionReport,
    ) -> io::Result<()> {
        match form {
            Form::Json => {
                let mut bytes = Vec::new();
                input.by_ref().take(self.longest as u64).read_to_end(&mut bytes)?;
                match Json::parse_lossy(&bytes) {
                    Ok(value) => drop(self.redactor.json(value, report)),
                    Err(_) => drop(self.redactor.text(&String::from_utf8_lossy(&bytes), report)),
                }
                Ok(())
            }
            Form::JsonLines => for_each_line(input, self.longest, |number, line| {
                report.at_line(number);
                if let Line::Whole(bytes) | Line::Cut(bytes) = line {
                    match Json::parse_lossy(bytes) {
                        Ok(value) => drop(self.redactor.json(value, report)),
                        Err(_) => drop(self.redactor.text(&String::from_utf8_lossy(bytes), report)),
                    }
                }
                Ok(())
            }),
            Form::Text => {
                let mut buffer = Vec::new();
                let mut line = 1;
                loop {
                    let read = input.by_ref().take(BLOCK_BYTES).read_to_end(&mut buffer)?;
                    let last = (read as u64) < BLOCK_BYTES;
                    let end = if last {
                        buffer.len()
                    } else {
                        block_end(&buffer).unwrap_or(buffer.len())
                    };
                    let rest = buffer.split_off(end);
                    report.at_line(line);
                    line += memchr::memchr_iter(b'\n', &buffer).count() as u64;
                    self.redactor.text(&String::from_utf8_lossy(&buffer), report);
                    buffer = rest;
                    if last {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Whether a file is read as an archived bundle.
fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".zip", ".tar.zst"].iter().any(|ending| name.ends_with(ending))
}

/// A file inside an archive, as a reader.
struct Archived<'c>(&'c mut dyn BundleContent);

impl io::Read for Archived<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(io::Error::other)
    }
}

fn form_of(name: &str, head: &[u8]) -> Form {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let starts_like_json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    match extension {
        "jsonl" | "ndjson" => Form::JsonLines,
        "json" if starts_like_json => Form::Json,
        _ => Form::Text,
    }
}

fn describe(report: &ScanReport) -> String {
    let mut lines: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            let path = if finding.path.is_empty() {
                String::new()
            } else {
                format!(" at {}", escape_control(&finding.path))
            };
            format!("{}{line}: {}{path}", escape_control(&finding.file), finding.rule)
        })
        .collect();
    for skipped in &report.skipped {
        lines.push(format!(
            "{}: skipped: {}",
            escape_control(&skipped.file),
            escape_control(&skipped.reason)
        ));
    }
    let findings = counted(report.findings.len() as u64, "finding");
    lines.push(format!("{findings} in {}", counted(report.files, "file")));
    lines.join("\n") + "\n"
}
