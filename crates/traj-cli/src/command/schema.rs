//! `traj schema`: the JSON Schemas of bundle files and of `--json` output.

mod documents;

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use traj_export::SchemaName;

use self::documents::documents;
use super::Outcome;
use crate::command_error::CommandError;
use crate::json_document::{Either, JsonDocument};
use crate::output::CommandOutput;

/// The prefix of the names of `--json` documents.
const DOCUMENTS: &str = "cli/";

#[derive(Debug, Args)]
#[command(
    long_about = "Prints the JSON Schema of a file in a bundle, or of the document that a \
                  command prints with --json. The schema of a command is called `cli/` plus the \
                  words of the command, joined by hyphens. Without NAME, lists all names.",
    after_help = concat!(
        "Examples:\n",
        "  traj schema                 list all names\n",
        "  traj schema event           a line of events.jsonl\n",
        "  traj schema cli/inspect     the output of `traj inspect --json`\n",
        "  traj schema cli/codex-turn  the output of `traj codex turn --json`\n",
        "\n",
        "Exit codes: 0 done · 2 wrong usage"
    )
)]
pub(crate) struct Arguments {
    /// The name of the schema
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// The names of all schemas.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Names {
    /// The names.
    schemas: Vec<String>,
}

/// One schema.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Named")]
struct NamedSchema {
    /// Its name.
    name: String,
    /// The schema.
    schema: serde_json::Value,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Either<Names, NamedSchema>>("schema");

pub(crate) fn run(arguments: &Arguments, output: &CommandOutput) -> Outcome {
    let Some(name) = &arguments.name else {
        output.result(&Names { schemas: names() }, |names| names.schemas.join("\n") + "\n")?;
        return Ok(ExitCode::SUCCESS);
    };
    let text = text_of(name).ok_or_else(|| {
        CommandError::usage("there is no schema with this name")
            .hint(format!("one of: {}", names().join(", ")))
    })?;
    // Without `--json`, the schema is printed as it is.
    let schema = serde_json::from_str(&text)
        .map_err(|error| CommandError::failure("the schema cannot be printed").because(error))?;
    output.result(&NamedSchema { name: name.clone(), schema }, |_| text)?;
    Ok(ExitCode::SUCCESS)
}

/// The names of all schemas: first of bundle files, then of documents.
fn names() -> Vec<String> {
    let files = SchemaName::ALL.into_iter().map(|name| name.as_str().to_owned());
    files
        .chain(documents().iter().map(|document| format!("{DOCUMENTS}{}", document.verb)))
        .collect()
}

fn text_of(name: &str) -> Option<String> {
    match name.strip_prefix(DOCUMENTS) {
        Some(verb) => {
            let document = documents().into_iter().find(|document| document.verb == verb)?;
            Some(document.to_json())
        }
        None => SchemaName::parse(name).map(SchemaName::to_json),
    }
}
