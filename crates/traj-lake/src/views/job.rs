//! Jobs that an engine runs on a dataset, as scripts.

use super::{Engine, event_columns, session_columns, views};
use crate::layout::Day;
use crate::{DatasetRoot, RootError};

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Job {
    /// Writes the files of a finished day into a few large ones.
    Compact(Day),
    /// Registers the files as tables of Apache Iceberg.
    Iceberg,
}

impl Job {
    /// The script: SQL for `DuckDB`, Python for others.
    ///
    /// # Errors
    /// If the engine cannot run the job, or not at this place.
    pub fn script(self, engine: Engine, root: &DatasetRoot) -> Result<String, RootError> {
        let unsupported = RootError::Unsupported { engine: engine.as_str() };
        match (self, engine) {
            (Self::Compact(day), Engine::DuckDb | Engine::Spark) => {
                let script = match engine {
                    Engine::Spark => include_str!("sql/job/compact_spark.py"),
                    _ => include_str!("sql/job/compact_duckdb.sql"),
                };
                Ok(script
                    .replace("{views}", &views(engine, root)?)
                    .replace("{root}", &root.for_engine(engine)?)
                    .replace("{event_columns}", event_columns(&[]).trim())
                    .replace("{session_columns}", session_columns(&[]).trim())
                    .replace("{day}", &day.to_string()))
            }
            (Self::Iceberg, Engine::DuckDb | Engine::Spark) => {
                let script = include_str!("sql/job/iceberg.py");
                Ok(script.replace("{uri}", &root.as_uri()))
            }
            _ => Err(unsupported),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_names_its_day_and_its_place() {
        let root = DatasetRoot::parse("/srv/lake").unwrap();
        let day = Job::Compact(Day::parse("2026-11-17").unwrap());
        for engine in [Engine::DuckDb, Engine::Spark] {
            let script = day.script(engine, &root).unwrap();
            assert!(script.contains("/srv/lake"), "{engine:?}");
            assert!(script.contains("2026-11-17"), "{engine:?}");
            for mark in ["{day}", "{root}", "{views}", "{event_columns}", "{session_columns}"] {
                assert!(!script.contains(mark), "{engine:?} {mark}");
            }
            let iceberg = Job::Iceberg.script(engine, &root).unwrap();
            assert!(iceberg.contains("file:///srv/lake/traj/v1"), "{iceberg}");
        }
        let refused = day.script(Engine::ClickHouse, &root);
        assert_eq!(refused, Err(RootError::Unsupported { engine: "clickhouse" }));
    }
}
