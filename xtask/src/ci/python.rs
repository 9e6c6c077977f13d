//! Python virtual environments with pinned packages, for checks that need third-party programs.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

/// The interpreter of the environment below `target` with the packages that the file `pins` names;
/// `None` if they cannot be installed. The packages are installed again when the file changes.
pub(crate) fn environment(sh: &Shell, target: &Path, pins: &str) -> Option<PathBuf> {
    let (venv, copy) = (target.join("venv"), target.join("requirements.txt"));
    let python = venv.join("bin/python");
    let content = sh.read_file(pins).ok()?;
    if python.exists() && sh.read_file(&copy).is_ok_and(|installed| installed == content) {
        return Some(python);
    }
    if !python.exists() {
        create_environment(sh, &venv)?;
    }
    let installed =
        cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check -r {pins}").run();
    if let Err(error) = installed {
        eprintln!("pip could not install what {pins} names: {error}");
        return None;
    }
    sh.write_file(copy, content).ok()?;
    Some(python)
}

/// Creates a virtual environment with the first interpreter that is new enough.
fn create_environment(sh: &Shell, venv: &Path) -> Option<()> {
    let version = "import sys; sys.exit(sys.version_info < (3, 12))";
    for name in ["python3.12", "python3.13", "python3"] {
        let is_new =
            cmd!(sh, "{name} -c {version}").quiet().ignore_stdout().ignore_stderr().run().is_ok();
        if is_new && cmd!(sh, "{name} -m venv {venv}").run().is_ok() {
            return Some(());
        }
    }
    let versions = cmd!(sh, "pyenv versions --bare").quiet().ignore_stderr().read().ok()?;
    let chosen = versions.lines().map(str::trim).find(|line| line.starts_with("3.12."))?;
    cmd!(sh, "python3 -m venv {venv}").env("PYENV_VERSION", chosen).run().ok()
}
