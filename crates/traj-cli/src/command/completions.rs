//! `traj completions`: prints a completion script for a shell.

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::Outcome;
use crate::arguments;
use crate::output::CommandOutput;

#[derive(Debug, Args)]
#[command(
    long_about = "Prints a completion script for a shell. The script also completes session \
                  keys.",
    after_help = concat!(
        "Examples:\n",
        "  source <(traj completions bash)        bash, in this shell\n",
        "  traj completions fish | source         fish, in this shell\n",
        "  traj completions zsh > ~/.zfunc/_traj  zsh, in a directory of fpath\n",
        "\n",
        "Exit codes: 0 done · 2 wrong usage"
    )
)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Completes keys after `--session-key`. Keys contain colons, which end a word
/// in bash, so everything up to the last colon is cut off again.
const BASH_KEYS: &str = r#"
_traj_with_keys() {
    local typed="${COMP_LINE:0:COMP_POINT}" key shown
    if [[ $typed =~ --session-key[=\ ]+([^\ ]*)$ ]]; then
        typed="${BASH_REMATCH[1]}"
        COMPREPLY=()
        while IFS= read -r key; do
            shown="${key#"${typed%"${typed##*:}"}"}"
            [[ $key == "$typed"* ]] && COMPREPLY+=("$shown")
        done < <(traj sessions --keys 2>/dev/null)
        return 0
    fi
    _traj "$@"
}
complete -F _traj_with_keys -o nosort -o bashdefault -o default traj
"#;

const FISH_KEYS: &str =
    "complete -c traj -l session-key -x -a '(traj sessions --keys 2>/dev/null)'\n";

const ZSH_KEYS: &str = r#"
_traj_session_keys() {
    local -a keys
    keys=("${(@f)$(traj sessions --keys 2>/dev/null)}")
    compadd -a keys
}
"#;

pub(crate) fn run(arguments: &Arguments, output: &CommandOutput) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut arguments::definition(), "traj", &mut script);
    let script = with_session_keys(arguments.shell, String::from_utf8_lossy(&script).into_owned());
    output.write_bytes(script.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the completion of session keys, by calling `traj sessions`, to a script.
fn with_session_keys(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + BASH_KEYS,
        Shell::Fish => script + FISH_KEYS,
        Shell::Zsh => {
            let script = script.replace(":KEY:_default", ":KEY:_traj_session_keys");
            // The first line names the completed command.
            match script.split_once('\n') {
                Some((first, rest)) => format!("{first}\n{ZSH_KEYS}{rest}"),
                None => script,
            }
        }
        _ => script,
    }
}
