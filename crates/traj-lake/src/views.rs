//! SQL for query engines: views of a dataset, reports on them, and jobs that
//! rewrite or register its files.
//!
//! Each view is written once, in SQL that all engines read. What differs by engine
//! is how files are read and how times become numbers; `views/sql/read` has one
//! file for each engine, and the views never look at a time themselves.
//!
//! - `job`: compaction and registration.

mod job;

use traj_export::{EventTable, SessionTable};

use crate::{DatasetRoot, RootError};

pub use job::Job;

/// A program that reads the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// `DuckDB`.
    DuckDb,
    /// `ClickHouse`, its local program and `chDB`.
    ClickHouse,
    /// Apache Spark.
    Spark,
    /// Apache `DataFusion`.
    DataFusion,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 4] = [Self::DuckDb, Self::ClickHouse, Self::Spark, Self::DataFusion];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DuckDb => "duckdb",
            Self::ClickHouse => "clickhouse",
            Self::Spark => "spark",
            Self::DataFusion => "datafusion",
        }
    }

    /// The statements that read files.
    const fn reading(self) -> &'static str {
        match self {
            Self::DuckDb => include_str!("views/sql/read/duckdb.sql"),
            Self::ClickHouse => include_str!("views/sql/read/clickhouse.sql"),
            Self::Spark => include_str!("views/sql/read/spark.sql"),
            Self::DataFusion => include_str!("views/sql/read/datafusion.sql"),
        }
    }

    /// The words that define a view.
    const fn definition(self) -> &'static str {
        match self {
            Self::Spark => "create or replace temporary view",
            _ => "create or replace view",
        }
    }

    /// The types of a text and of a number that can be null.
    const fn types(self) -> (&'static str, &'static str) {
        match self {
            Self::DuckDb | Self::DataFusion => ("varchar", "bigint"),
            Self::ClickHouse => ("Nullable(String)", "Nullable(Int64)"),
            Self::Spark => ("string", "bigint"),
        }
    }
}

/// A view, and the SQL of its rows.
struct View {
    name: &'static str,
    sql: &'static str,
}

/// All views, each after those that it reads.
const VIEWS: [View; 10] = [
    View { name: "segments", sql: include_str!("views/sql/segments.sql") },
    View { name: "runs", sql: include_str!("views/sql/runs.sql") },
    View { name: "events", sql: include_str!("views/sql/events.sql") },
    View { name: "calls", sql: include_str!("views/sql/calls.sql") },
    View { name: "model_calls", sql: include_str!("views/sql/model_calls.sql") },
    View { name: "failures", sql: include_str!("views/sql/failures.sql") },
    View { name: "cost_by_model_day", sql: include_str!("views/sql/cost_by_model_day.sql") },
    View { name: "slow_tools", sql: include_str!("views/sql/slow_tools.sql") },
    View { name: "first_failures", sql: include_str!("views/sql/first_failures.sql") },
    View { name: "context_growth", sql: include_str!("views/sql/context_growth.sql") },
];

/// What `event_rows` has besides the columns of events.
const EVENT_NUMBERS: [&str; 3] = ["day", "ts_ms", "dur_ms"];

/// What `session_rows` has besides the columns of sessions.
const SESSION_NUMBERS: [&str; 4] = ["started_ms", "ended_ms", "first_failure_ms", "calls_ms"];

/// A question that many people ask, as a query of the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report {
    /// Tokens and cost of each model and day.
    Cost,
    /// What fails, and how often.
    Errors,
    /// Which tools take the most time.
    SlowTools,
    /// What goes wrong first.
    FirstFailures,
    /// The sessions with the largest contexts.
    Context,
}

impl Report {
    /// Every report.
    pub const ALL: [Self; 5] =
        [Self::Cost, Self::Errors, Self::SlowTools, Self::FirstFailures, Self::Context];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Errors => "errors",
            Self::SlowTools => "slow-tools",
            Self::FirstFailures => "first-failures",
            Self::Context => "context",
        }
    }

    /// Its query, without a final semicolon. Every engine reads it.
    #[must_use]
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Cost => include_str!("views/sql/report/cost.sql"),
            Self::Errors => include_str!("views/sql/report/errors.sql"),
            Self::SlowTools => include_str!("views/sql/report/slow_tools.sql"),
            Self::FirstFailures => include_str!("views/sql/report/first_failures.sql"),
            Self::Context => include_str!("views/sql/report/context.sql"),
        }
    }
}

/// The statements that define all views of a dataset, each ended by a semicolon.
///
/// # Errors
/// If the engine cannot read a dataset at this place.
pub fn views(engine: Engine, root: &DatasetRoot) -> Result<String, RootError> {
    let mut script = match engine {
        Engine::ClickHouse => engine
            .reading()
            .replace("{events}", &root.for_clickhouse("events")?)
            .replace("{sessions}", &root.for_clickhouse("sessions")?),
        _ => engine.reading().replace("{root}", &root.for_engine(engine)?),
    };
    let (text, number) = engine.types();
    let definition = engine.definition();
    for view in &VIEWS {
        let sql = view
            .sql
            .replace("{event_columns}", &event_columns(&EVENT_NUMBERS))
            .replace("{session_columns}", &session_columns(&SESSION_NUMBERS))
            .replace("{text}", text)
            .replace("{bigint}", number);
        let statement = ["\n", definition, " ", view.name, " as\n", sql.trim_end(), ";\n"].concat();
        script.push_str(&statement);
    }
    Ok(script)
}

fn event_columns(more: &[&str]) -> String {
    let schema = EventTable::<Vec<u8>>::schema();
    listed(schema.fields().iter().map(|field| field.name().as_str()), more)
}

fn session_columns(more: &[&str]) -> String {
    let schema = SessionTable::<Vec<u8>>::schema();
    listed(schema.fields().iter().map(|field| field.name().as_str()), more)
}

/// The names of columns, in short lines.
fn listed<'n>(own: impl Iterator<Item = &'n str>, more: &[&'n str]) -> String {
    let names: Vec<&str> = own.chain(more.iter().copied()).collect();
    let lines: Vec<String> = names.chunks(8).map(|line| line.join(", ")).collect();
    format!("\n  {}", lines.join(",\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_gets_every_view_and_no_mark_is_left() {
        let root = DatasetRoot::parse("file:///srv/lake/").unwrap();
        for engine in Engine::ALL {
            let script = views(engine, &root).unwrap();
            for view in &VIEWS {
                let defined = format!("view {} as\n", view.name);
                assert_eq!(script.matches(&defined).count(), 1, "{engine:?} {}", view.name);
            }
            assert!(!script.contains('{') && !script.contains('}'), "{engine:?}: {script}");
            assert!(script.contains("/srv/lake/traj/v1/events"), "{engine:?}");
        }
    }

    #[test]
    fn a_view_reads_only_views_before_it() {
        let mut known = vec!["event_rows".to_owned(), "session_rows".to_owned()];
        for view in &VIEWS {
            let code = view.sql.lines().filter(|line| !line.starts_with("--"));
            let words: Vec<&str> = code.flat_map(str::split_whitespace).collect();
            let sources = words.windows(2).filter(|pair| ["from", "join"].contains(&pair[0]));
            let sources = sources.map(|pair| pair[1]).filter(|source| !source.starts_with('('));
            for source in sources {
                assert!(known.iter().any(|name| name == source), "{} reads {source}", view.name);
            }
            known.push(view.name.to_owned());
        }
    }

    #[test]
    fn reports_read_views() {
        for report in Report::ALL {
            let reads =
                VIEWS.iter().any(|view| report.sql().contains(&format!("from {}", view.name)));
            assert!(reads, "{report:?}");
            assert!(!report.sql().contains(';'), "{report:?}");
        }
    }
}
