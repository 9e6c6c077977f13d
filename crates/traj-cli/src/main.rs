//! The `traj` command: parses its arguments, runs one verb, exits with a code
//! that scripts can rely on.

mod arguments;
mod command;
mod command_error;
mod compose;
mod help;
mod input_lines;
mod interruptible_input;
mod interruption;
mod json_document;
mod output;
mod progress;
mod quantity;
mod redaction_options;
mod resolve;
mod terminal_text;

use std::process::ExitCode;

fn main() -> ExitCode {
    compose::Host::outlive_file_limit();
    let host = compose::Host::read();
    match arguments::parse(&host) {
        Ok(cli) => {
            let output = output::CommandOutput::new(&cli, &host);
            match command::run(cli, &host, &output) {
                Ok(code) => code,
                Err(error) => output.fail(&error),
            }
        }
        Err(code) => code,
    }
}
