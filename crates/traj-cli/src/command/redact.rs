//! `traj redact`: copies standard input, or a session, to standard output without
//! secrets.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use serde::Serialize;
use traj_core::json::lines::Line;
use traj_core::json::{Json, MAX_DEPTH, exceeds_depth};
use traj_core::port::Source;
use traj_core::redaction::{PathLabels, RedactionReport, Redactor, RevealMap, block_end};

use crate::command::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::input_lines::for_each_line;
use crate::json_document::JsonDocument;
use crate::output::{CommandOutput, cannot_print};
use crate::quantity::counted;
use crate::redaction_options::{KeyOptions, RuleOptions};
use crate::resolve::{SourceInput, SubjectArguments, Unnamed, chosen, open_source};

/// Plain text is redacted in blocks of about this size.
const BLOCK_BYTES: usize = 64 << 20;
/// How many lines that are not JSON are reported one by one.
const NAMED_LINES: usize = 20;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Copies standard input, or the rows of a session, to standard output and \
                  replaces each secret with a marker. The marker names the rule and contains a hash, so that the same \
                  secret always gets the same marker. A report of what was hidden goes to \
                  standard error; with --json it is one JSON document.",
    after_help = concat!(
        "Examples:\n",
        "  traj redact < log.txt > clean.txt            plain text\n",
        "  traj redact --jsonl < s.jsonl > clean.jsonl  JSON lines\n",
        "  traj redact 0197f2c4 > clean.jsonl           a session, of any agent\n",
        "  traj redact --rules gitleaks.toml < log.txt  with additional rules\n",
        "\n",
        "Exit codes: 0 done · 1 failed · 2 wrong usage · 4 some lines were not JSON, or were cut"
    )
)]
pub(crate) struct Arguments {
    /// The session: a file, a key, an id, or the beginning of a key or id [default: standard
    /// input]
    #[arg(value_name = "SESSION", conflicts_with = "text")]
    session: Option<PathBuf>,
    /// Read one JSON value per line (the default if the input starts with one)
    #[arg(long, conflicts_with = "text")]
    jsonl: bool,
    /// Read plain text
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    key: KeyOptions,
    /// Write a report of what was hidden, by rule and location, never with values
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write a map from markers to secrets, encrypted for --recipient
    #[arg(long, value_name = "FILE", requires = "recipient")]
    reveal_map: Option<PathBuf>,
    /// The age public key that can read the map (age1…)
    #[arg(long, value_name = "RECIPIENT", requires = "reveal_map")]
    recipient: Option<String>,
    /// Also replace paths below this directory with $WORKSPACE_DIR
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Keep paths, user name and host name
    #[arg(long)]
    keep_paths: bool,
}

/// What was done.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// Secrets that were hidden.
    hidden: u64,
    /// Media that were replaced by a digest.
    media: u64,
    /// Paths and names that were replaced by a label.
    paths: u64,
    /// Strings that look like a marker but are not ours.
    foreign_markers: u64,
    /// Strings that look like a secret and were not hidden.
    survivors: u64,
    /// Lines that are not JSON.
    invalid_lines: u64,
    /// Lines that were omitted.
    omitted_lines: u64,
    /// Lines that were nested too deeply; their inner levels were omitted.
    cut_lines: u64,
}

/// A redaction in progress.
struct RedactionRun {
    redactor: Redactor,
    report: RedactionReport,
    reveal: Option<RevealMap>,
    invalid_lines: u64,
    omitted_lines: u64,
    cut_lines: u64,
    /// Lines longer than this are omitted and reported.
    longest_line: usize,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Summary>("redact");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let recipient = arguments.recipient.as_deref().map(recipient).transpose()?;
    let key = arguments.key.key(host)?;
    let paths = if arguments.keep_paths {
        PathLabels::default()
    } else {
        host.path_labels(arguments.workspace.as_deref())
    };
    let mut work = RedactionRun {
        redactor: arguments.rules.redactor(host, key, paths)?,
        report: RedactionReport::new(),
        reveal: recipient.is_some().then(RevealMap::new),
        invalid_lines: 0,
        omitted_lines: 0,
        cut_lines: 0,
        longest_line: host.reading().scanned_line_bytes,
    };
    let named = arguments.session.as_deref().filter(|name| name.as_os_str() != "-");
    let session = named.map(|name| rows_of(name, host, output)).transpose()?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if let Some(session) = session {
        work.lines(SourceInput::new(&*session), &mut out, output)?;
    } else {
        let mut input = io::BufReader::with_capacity(1 << 16, io::stdin().lock());
        if arguments.jsonl || !arguments.text && begins_like_json(&mut input)? {
            work.lines(input, &mut out, output)?;
        } else {
            work.texts(input, &mut out)?;
        }
    }
    out.flush().map_err(cannot_print)?;
    drop(out);

    if let Some(path) = &arguments.report {
        let document = work
            .report
            .to_json()
            .map_err(|error| CommandError::failure("cannot write the report").because(error))?;
        write_private(host, path, document.as_bytes())?;
    }
    if let (Some(path), Some(recipient), Some(reveal)) =
        (&arguments.reveal_map, &recipient, &work.reveal)
    {
        write_reveal_map(host, path, recipient, reveal)?;
    }
    let summary = Summary {
        hidden: work.report.hidden(),
        media: work.report.media(),
        paths: work.report.paths(),
        foreign_markers: work.report.foreign_markers(),
        survivors: work.report.survivors(),
        invalid_lines: work.invalid_lines,
        omitted_lines: work.omitted_lines,
        cut_lines: work.cut_lines,
    };
    let is_damaged = summary.invalid_lines + summary.omitted_lines + summary.cut_lines > 0;
    Ok(output.summary(&summary, is_damaged.then_some(ErrorKind::Damaged), describe))
}

/// The rows of a session.
fn rows_of(
    name: &Path,
    host: &Host,
    output: &CommandOutput,
) -> Result<Box<dyn Source>, CommandError> {
    let chosen = chosen(&SubjectArguments::named(name), Unnamed::Refused, host, output)?;
    open_source(&chosen.file, host)?.map_err(|error| {
        CommandError::failure(format!("cannot read {}", chosen.file.display())).because(error)
    })
}

impl RedactionRun {
    /// Redacts one JSON value per line. Any other line becomes a JSON string
    /// with its redacted text, so that the output always parses.
    fn lines(
        &mut self,
        input: impl io::BufRead,
        out: &mut impl io::Write,
        output: &CommandOutput,
    ) -> Result<(), CommandError> {
        let outcome = for_each_line(input, self.longest_line, |number, line| {
            self.report.at_line(number);
            let bytes = match line {
                Line::TooLong { .. } => {
                    self.omitted_lines += 1;
                    let longest = self.longest_line;
                    output.note(&format!("line {number}: longer than {longest} bytes, omitted"));
                    return writeln!(out, "\"<omitted: line too long>\"");
                }
                Line::Whole(bytes) | Line::Cut(bytes) => bytes,
            };
            if bytes.trim_ascii().is_empty() {
                return writeln!(out);
            }
            let value = Json::parse_lossy(bytes).unwrap_or_else(|_| {
                self.invalid_lines += 1;
                if self.invalid_lines <= NAMED_LINES as u64 {
                    output.note(&format!("line {number}: not JSON, redacted as text"));
                }
                Json::String(String::from_utf8_lossy(bytes))
            });
            if !matches!(value, Json::String(_)) && exceeds_depth(bytes) {
                self.cut_lines += 1;
                if self.cut_lines <= NAMED_LINES as u64 {
                    output.note(&format!(
                        "line {number}: nested deeper than {MAX_DEPTH} levels, cut"
                    ));
                }
            }
            let redacted = match &mut self.reveal {
                Some(reveal) => self.redactor.json_revealing(value, &mut self.report, reveal),
                None => self.redactor.json(value, &mut self.report),
            };
            let mut line = redacted.to_line().into_inner();
            line.push('\n');
            out.write_all(line.as_bytes())
        });
        outcome.map_err(cannot_print)
    }

    /// Redacts plain text, block by block.
    fn texts(
        &mut self,
        mut input: impl io::BufRead,
        out: &mut impl io::Write,
    ) -> Result<(), CommandError> {
        let mut buffer = Vec::new();
        let mut line = 1;
        loop {
            let wanted = (BLOCK_BYTES as u64).saturating_sub(buffer.len() as u64).max(1 << 20);
            let read = input.by_ref().take(wanted).read_to_end(&mut buffer).map_err(|error| {
                CommandError::failure("cannot read standard input").because(error)
            })?;
            let last = (read as u64) < wanted;
            if last && buffer.is_empty() {
                return Ok(());
            }
            let end = if last { buffer.len() } else { block_end(&buffer).unwrap_or(0) };
            // Without a place to cut, read more, up to a limit.
            let end =
                if end == 0 && buffer.len() >= self.longest_line { buffer.len() } else { end };
            if end > 0 {
                let rest = buffer.split_off(end);
                let text = String::from_utf8_lossy(&buffer);
                self.report.at_line(line);
                line += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
                let redacted = match &mut self.reveal {
                    Some(reveal) => self.redactor.text_revealing(&text, &mut self.report, reveal),
                    None => self.redactor.text(&text, &mut self.report),
                };
                out.write_all(redacted.into_inner().as_bytes()).map_err(cannot_print)?;
                buffer = rest;
            }
            if last {
                return Ok(());
            }
        }
    }
}

/// Whether the first character that is not a space starts a JSON document.
fn begins_like_json(input: &mut impl io::BufRead) -> Result<bool, CommandError> {
    let head = input
        .fill_buf()
        .map_err(|error| CommandError::failure("cannot read standard input").because(error))?;
    Ok(matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')))
}

fn recipient(text: &str) -> Result<age::x25519::Recipient, CommandError> {
    age::x25519::Recipient::from_str(text).map_err(|reason| {
        CommandError::usage("--recipient is not an age recipient")
            .because(reason)
            .hint("`age-keygen` prints one; it starts with age1")
    })
}

/// Writes the encrypted map to a file that only its owner can read.
fn write_reveal_map(
    host: &Host,
    path: &Path,
    recipient: &age::x25519::Recipient,
    reveal: &RevealMap,
) -> Result<(), CommandError> {
    let cannot = || CommandError::failure(format!("cannot encrypt the map for {}", path.display()));
    let plain = reveal.danger_to_json().map_err(|error| cannot().because(error))?;
    let sealed =
        age::encrypt(recipient, plain.as_bytes()).map_err(|error| cannot().because(error))?;
    write_private(host, path, &sealed)
}

fn write_private(host: &Host, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let (folder, name) = host.folder_of(path)?;
    traj_fs::write_private_file(&folder, &name, |file| file.write_all(bytes)).map_err(|error| {
        CommandError::failure(format!("cannot write {}", path.display())).because(error)
    })
}

const SURVIVED: &str = "look like secrets and were kept (see --report)";
const SURVIVED_ALONE: &str = "looks like a secret and was kept (see --report)";

fn describe(summary: &Summary) -> String {
    let mut text = format!("hid {}", counted(summary.hidden, "secret"));
    for (count, one, what, what_of_one) in [
        (summary.media, "medium", "replaced", "replaced"),
        (summary.paths, "path or name", "replaced", "replaced"),
        (summary.foreign_markers, "marker", "were already there", "was already there"),
        (summary.survivors, "string", SURVIVED, SURVIVED_ALONE),
        (summary.invalid_lines, "line", "were not JSON", "was not JSON"),
        (summary.omitted_lines, "line", "omitted", "omitted"),
        (summary.cut_lines, "line", "nested too deeply and cut", "nested too deeply and cut"),
    ] {
        let what = if count == 1 { what_of_one } else { what };
        // Writing to a string cannot fail.
        let _ = match (count, one) {
            (0, _) => Ok(()),
            (2.., "medium") => write!(text, ", {count} media {what}"),
            (2.., "path or name") => write!(text, ", {count} paths and names {what}"),
            _ => write!(text, ", {} {what}", counted(count, one)),
        };
    }
    text
}
