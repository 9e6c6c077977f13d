//! `traj lake views` and `traj lake job`: scripts for query engines.

use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;
use traj_lake::{Day, Engine, Job};

use crate::command::Outcome;
use crate::command::query::dataset_root;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;

const EXIT_CODES: &str = "Exit codes: 0 printed · 1 failed · 2 wrong usage";

fn help_end(examples: &[&str]) -> String {
    let examples: String = examples.iter().map(|line| format!("  {line}\n")).collect();
    format!("Examples:\n{examples}\n{EXIT_CODES}")
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineName {
    /// DuckDB
    #[value(name = "duckdb")]
    DuckDb,
    /// ClickHouse, clickhouse-local and chDB
    #[value(name = "clickhouse")]
    ClickHouse,
    /// Apache Spark
    Spark,
    /// Apache DataFusion
    #[value(name = "datafusion")]
    DataFusion,
}

impl EngineName {
    const fn engine(self) -> Engine {
        match self {
            Self::DuckDb => Engine::DuckDb,
            Self::ClickHouse => Engine::ClickHouse,
            Self::Spark => Engine::Spark,
            Self::DataFusion => Engine::DataFusion,
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Prints the SQL that defines the views of a dataset: runs, events, calls, \
                  model_calls, failures, cost_by_model_day, slow_tools, first_failures and \
                  context_growth.\n\n\
                  The views count each event once: they take the newest revision of each segment. \
                  They read the files where they are and copy nothing.",
    after_help = help_end(&[
        "traj lake views --engine duckdb --at file:///srv/lake > views.sql",
        "traj lake views --engine spark --at s3://bucket/runs > views.sql",
    ])
)]
pub(super) struct ViewArguments {
    /// The engine that will read the dataset
    #[arg(long, value_enum)]
    engine: EngineName,
    /// The dataset: a directory, file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://
    #[arg(long, value_name = "URL")]
    at: String,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Prints a job for an engine. `compact` writes the many small files of a finished \
                  day into a few large ones, sorted by session, and says which files can be \
                  deleted after a grace period. `iceberg` registers the files as tables of \
                  Apache Iceberg with pyiceberg, without copying them.",
    after_help = help_end(&[
        "traj lake job --engine duckdb --at file:///srv/lake compact --day 2026-11-17 | duckdb -bail",
        "traj lake job --engine spark --at s3://bucket/runs compact --day 2026-11-17 > compact.py",
        "traj lake job --engine duckdb --at s3://bucket/runs iceberg > register.py",
    ])
)]
pub(super) struct JobArguments {
    /// The engine that will run the job
    #[arg(long, value_enum)]
    engine: EngineName,
    /// The dataset: a directory, file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://
    #[arg(long, value_name = "URL")]
    at: String,
    /// The job
    #[arg(value_enum)]
    job: JobName,
    /// The day to compact, in UTC, such as 2026-11-17; it must be over
    #[arg(long, value_name = "DATE", required_if_eq("job", "compact"))]
    day: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum JobName {
    /// Write the small files of a finished day into large ones
    Compact,
    /// Register the files as Iceberg tables, with Python and pyiceberg
    Iceberg,
}

/// A script for an engine.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EngineScript {
    /// The engine.
    engine: &'static str,
    /// SQL or Python.
    script: String,
}

pub(super) const DOCUMENTS: [JsonDocument; 2] =
    [JsonDocument::of::<EngineScript>("lake-views"), JsonDocument::of::<EngineScript>("lake-job")];

pub(super) fn print_views(
    arguments: &ViewArguments,
    host: &Host,
    output: &CommandOutput,
) -> Outcome {
    let root = dataset_root("--at", &arguments.at, host)?;
    let engine = arguments.engine.engine();
    let script = traj_lake::views(engine, &root).map_err(refused)?;
    print(engine, script, output)
}

pub(super) fn print_job(arguments: &JobArguments, host: &Host, output: &CommandOutput) -> Outcome {
    let root = dataset_root("--at", &arguments.at, host)?;
    let job = match (arguments.job, &arguments.day) {
        (JobName::Compact, day) => {
            let day = day.as_deref().and_then(Day::parse).ok_or_else(|| {
                CommandError::usage("--day is not a day").hint("write it like 2026-11-17")
            })?;
            Job::Compact(day)
        }
        (JobName::Iceberg, None) => Job::Iceberg,
        (JobName::Iceberg, Some(_)) => {
            return Err(CommandError::usage("--day is for `compact`")
                .hint("`iceberg` registers the files of all days"));
        }
    };
    let engine = arguments.engine.engine();
    print(engine, job.script(engine, &root).map_err(refused)?, output)
}

fn refused(error: traj_lake::RootError) -> CommandError {
    CommandError::usage("there is no such script").because(error)
}

fn print(engine: Engine, script: String, output: &CommandOutput) -> Outcome {
    let script = EngineScript { engine: engine.as_str(), script };
    output.result(&script, |script| script.script.clone())?;
    Ok(ExitCode::SUCCESS)
}
