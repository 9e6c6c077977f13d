//! What all commands share: help, errors, settings and `--json`.
//!
//! - `binary`: the binary under test is traj
//! - `help_texts`: every `--help`
//! - `errors`: cause and hint of every error
//! - `import_command`: `traj import`
//! - `json_schemas`: the schemas of `--json`
//! - `config_command`: `traj config`
//! - `config_prices`: price files
//! - `file_limit`: a limit on the size of files
//! - `service_units`: the units of service managers

mod binary;
mod config_command;
mod config_prices;
mod errors;
mod file_limit;
mod help_texts;
mod import_command;
mod json_schemas;
mod service_units;
