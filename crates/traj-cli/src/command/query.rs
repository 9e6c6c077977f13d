//! `traj query`: runs a query on a dataset with the installed DuckDB.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, ExitCode, Stdio};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use traj_lake::{DatasetRoot, Engine, Report, views};

use crate::command::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::terminal_text::escape_control;

/// The SQL is quoted with this mark, so it cannot contain it.
const QUOTE: &str = "$traj_query$";

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Runs a query on a dataset of many hosts, with the installed \
                  DuckDB.\n\nThe query sees the views of `traj lake views`: runs, events, \
                  calls, model_calls, failures, cost_by_model_day, slow_tools, first_failures and \
                  context_growth. It can only read: everything but SELECT is refused.",
    after_help = "Examples:\n  \
                  traj query --report cost --at file:///srv/lake\n  \
                  traj query 'select agent, count(*) from runs group by agent' --at /srv/lake\n  \
                  traj query --report errors --at /srv/lake --json\n\n\
                  Exit codes: 0 answered · 1 DuckDB is missing or failed; rows printed before \
                  that are incomplete · 2 wrong usage, or not a SELECT"
)]
pub(crate) struct Arguments {
    /// A SELECT statement
    #[arg(required_unless_present = "report", conflicts_with = "report")]
    sql: Option<String>,
    /// Run a predefined query instead
    #[arg(long, value_enum, value_name = "NAME")]
    report: Option<ReportName>,
    /// The dataset: a directory, file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://
    #[arg(long, value_name = "URL")]
    at: String,
    /// Print comma-separated values instead of a table
    #[arg(long)]
    csv: bool,
    /// The DuckDB executable [default: TRAJ_DUCKDB, else `duckdb` on the PATH]
    #[arg(long, value_name = "PROGRAM")]
    duckdb: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReportName {
    /// Tokens and cost of each model and day
    Cost,
    /// What fails, and how often
    Errors,
    /// Which tools take the most time
    SlowTools,
    /// What goes wrong first
    FirstFailures,
    /// The sessions with the largest contexts
    Context,
}

impl ReportName {
    const fn report(self) -> Report {
        match self {
            Self::Cost => Report::Cost,
            Self::Errors => Report::Errors,
            Self::SlowTools => Report::SlowTools,
            Self::FirstFailures => Report::FirstFailures,
            Self::Context => Report::Context,
        }
    }
}

/// The answer.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// The report; null for a query.
    report: Option<&'static str>,
    /// The rows; the members of each are its columns.
    rows: Vec<serde_json::Map<String, Value>>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Answer>("query");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let root = dataset_root("--at", &arguments.at, host)?;
    let program = host.program(arguments.duckdb.as_deref(), "TRAJ_DUCKDB", "duckdb");
    let program = program.ok_or_else(|| {
        CommandError::failure("there is no program `duckdb`")
            .hint("install it with `pip install duckdb-cli`, or from https://duckdb.org/install")
            .hint("or name it with --duckdb or TRAJ_DUCKDB")
    })?;
    let duckdb = DuckDb { program: &program };
    let report = arguments.report.map(ReportName::report);
    let sql = match (report, &arguments.sql) {
        (Some(report), _) => report.sql().to_owned(),
        (None, Some(sql)) => {
            duckdb.check_only_reads(sql)?;
            sql.trim_end().trim_end_matches(';').to_owned()
        }
        (None, None) => return Err(CommandError::usage("name a query or a --report")),
    };
    let views = views(Engine::DuckDb, &root)
        .map_err(|error| CommandError::usage("this dataset cannot be queried").because(error))?;
    let script = format!("{}{views}\n{sql}\n;\n", opening(&root));
    if output.is_json() {
        let rows = duckdb.rows(&script)?;
        let answer = Answer { report: report.map(Report::as_str), rows };
        output.result(&answer, |_| String::new())?;
        return Ok(ExitCode::SUCCESS);
    }
    let form = if arguments.csv { "-csv" } else { "-box" };
    duckdb.print(form, &script, output)
}

/// Where a dataset is. A relative path is below the current directory.
pub(crate) fn dataset_root(flag: &str, at: &str, host: &Host) -> Result<DatasetRoot, CommandError> {
    let parsed = if at.is_empty() || is_url(at) {
        DatasetRoot::parse(at)
    } else {
        DatasetRoot::parse(&host.absolute(Path::new(at)).to_string_lossy())
    };
    parsed.map_err(|error| {
        CommandError::usage(format!("{flag} does not name a dataset")).because(error).hint(
            "name a directory, file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://; a \
             directory whose name has a colon begins with ./",
        )
    })
}

/// Whether a text begins with a scheme, or with one that lacks its colon or a slash:
/// neither is taken for a directory.
fn is_url(at: &str) -> bool {
    if ["file//", "s3//", "gs//", "az//"].iter().any(|start| at.starts_with(start)) {
        return true;
    }
    let scheme = at.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// What DuckDB needs before it can read files at this place. Credentials come
/// from where the tools of the provider look for them.
fn opening(root: &DatasetRoot) -> &'static str {
    match root.directory() {
        Some(_) => "",
        None => {
            "install httpfs; load httpfs; install aws; load aws;\n\
             create or replace secret dataset (type s3, provider credential_chain);\n"
        }
    }
}

/// The installed program.
struct DuckDb<'p> {
    program: &'p Path,
}

impl DuckDb<'_> {
    fn start(&self, form: &str, errors: Stdio) -> Result<Child, CommandError> {
        let mut process = Process::new(self.program);
        // The user's start-up file could change the answer.
        process.args(["-init", "/dev/null", "-batch", "-bail", form]);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        process.spawn().map_err(|error| {
            let message = format!("cannot start {}", self.program.display());
            CommandError::failure(message).because(error)
        })
    }

    /// Starts it, and passes the script on a separate thread: an answer may
    /// begin before the script ends.
    fn with_script(&self, form: &str, script: &str) -> Result<Child, CommandError> {
        let mut child = self.start(form, Stdio::inherit())?;
        if let Some(mut input) = child.stdin.take() {
            let script = script.to_owned();
            // If it stops reading, it also exits with an error.
            std::thread::spawn(move || input.write_all(script.as_bytes()));
        }
        Ok(child)
    }

    /// Refuses everything that is not a SELECT statement.
    fn check_only_reads(&self, sql: &str) -> Result<(), CommandError> {
        if sql.contains(QUOTE) || sql.contains('\0') {
            return Err(CommandError::usage("the query has characters that are not allowed"));
        }
        let question = format!("select json_serialize_sql({QUOTE}{sql}{QUOTE}) as parsed;\n");
        let rows = self.rows(&question)?;
        let parsed = rows.first().and_then(|row| row.get("parsed"));
        let parsed: Value = match parsed {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            Some(value) => value.clone(),
            None => Value::Null,
        };
        if parsed.get("error") == Some(&Value::Bool(false)) {
            return Ok(());
        }
        let cause = parsed.get("error_message").and_then(Value::as_str).unwrap_or("unknown");
        Err(CommandError::usage("the query is not a SELECT statement")
            .because(cause.to_owned())
            .hint("a dataset is only read; `traj lake job` prints jobs that write"))
    }

    fn rows(&self, script: &str) -> Result<Vec<serde_json::Map<String, Value>>, CommandError> {
        let mut child = self.with_script("-json", script)?;
        let mut text = String::new();
        if let Some(mut answer) = child.stdout.take() {
            answer.read_to_string(&mut text).map_err(unreadable)?;
        }
        finished(&mut child)?;
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(&text)
            .map_err(|_| CommandError::failure("the answer of duckdb is not a list of rows"))
    }

    fn print(&self, form: &str, script: &str, output: &CommandOutput) -> Outcome {
        let mut child = self.with_script(form, script)?;
        if let Some(answer) = child.stdout.take() {
            for line in BufReader::new(answer).lines() {
                let line = line.map_err(unreadable)?;
                output.write_text(&format!("{}\n", escape_control(&line)))?;
            }
        }
        finished(&mut child)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn finished(child: &mut Child) -> Result<(), CommandError> {
    let status = child.wait().map_err(unreadable)?;
    if status.success() {
        return Ok(());
    }
    Err(CommandError::failure("duckdb could not answer the query")
        .hint("its own message is above, on standard error"))
}

fn unreadable(error: std::io::Error) -> CommandError {
    CommandError::failure("cannot read the answer of duckdb").because(error)
}
