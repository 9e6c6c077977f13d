//! Finds the programs that commands start.

use std::path::{Path, PathBuf};

use super::Host;

impl Host {
    /// The program to start: as named, as the variable `TRAJ_…` says, or as found on the
    /// `PATH`.
    pub(crate) fn program(
        &self,
        named: Option<&Path>,
        variable: &str,
        name: &str,
    ) -> Option<PathBuf> {
        let variables = &self.facts.variables;
        let named = named.map(Path::to_path_buf);
        let suffix = variable.strip_prefix("TRAJ_").unwrap_or(variable);
        if let Some(program) = named.or_else(|| variables.shared(suffix).map(PathBuf::from)) {
            // A plain name is looked for on the PATH, like any other command.
            let is_plain = program.components().count() == 1;
            return if is_plain {
                self.on_path(&program.to_string_lossy())
            } else {
                Some(self.absolute(&program))
            };
        }
        self.on_path(name)
    }

    fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.facts.variables.get("PATH")?;
        let candidates = path.split(':').map(|folder| self.absolute(Path::new(folder)).join(name));
        candidates.into_iter().find(|candidate| candidate.is_file())
    }

    /// Opens a file in the program that the user prefers; returns whether one
    /// was started.
    pub(crate) fn open_in_browser(&self, file: &Path) -> bool {
        let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let Some(program) = self.on_path(name) else { return false };
        let nothing = std::process::Stdio::null;
        let started = std::process::Command::new(program)
            .arg(file)
            .stdin(nothing())
            .stdout(nothing())
            .stderr(nothing())
            .spawn();
        started.is_ok()
    }
}
