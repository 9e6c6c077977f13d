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

#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    schema: serde_json::Value,
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
    // By itself a schema is a document of its own and goes out as it is.
    let text = schema.to_json();
    let value = serde_json::from_str(&text)
        .map_err(|error| CommandError::failure("the schema cannot be printed").because(error))?;
    output.result(&Named { name: schema.as_str(), schema: value }, |_| text)?;
    Ok(ExitCode::SUCCESS)
}
