//! `traj schema`: the JSON Schemas of bundle files.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use traj_export::SchemaName;

use super::Outcome;
use crate::command_error::CommandError;
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 done · 2 wrong usage")]
pub(crate) struct Arguments {
    /// Which one: manifest, event, session-branch, metadata, artifacts, prompts or tools; all
    /// names are listed without it
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Serialize)]
struct Names {
    schemas: Vec<&'static str>,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Outcome {
    let names: Vec<&'static str> = SchemaName::ALL.into_iter().map(SchemaName::as_str).collect();
    let Some(name) = &arguments.name else {
        output.result(&Names { schemas: names }, |names| names.schemas.join("\n") + "\n")?;
        return Ok(ExitCode::SUCCESS);
    };
    let schema = SchemaName::parse(name).ok_or_else(|| {
        CommandError::usage("there is no schema of this name")
            .hint(format!("one of: {}", names.join(", ")))
    })?;
    // A schema is a document of its own; it goes out as it is.
    output.write_bytes(schema.to_json().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
