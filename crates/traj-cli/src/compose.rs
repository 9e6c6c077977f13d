//! The composition root: the only place that reads the environment, looks at the
//! clock and opens directories by path. It opens the root directory once and keeps
//! the handle in [`Host`]; everything else works on what it gets from there.

mod configuration_file;
mod marker_keys;
mod zone;

pub(crate) use configuration_file::ConfigurationFile;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use traj_core::limits::Reading;
use traj_core::redaction::PathLabels;
use traj_core::settings::host::{HostFacts, Variables};
use traj_core::timestamp::UnixMillis;
use traj_fs::{ProcessTable, TemporaryFolder};

use crate::command_error::CommandError;
pub(crate) use zone::Zone;

/// The machine we run on.
#[derive(Debug)]
pub(crate) struct Host {
    /// What it knows about itself.
    pub(crate) facts: HostFacts,
    /// Its configuration file, which the facts contain already.
    pub(crate) configuration: ConfigurationFile,
    arguments: Vec<OsString>,
    root: std::io::Result<Dir>,
}

impl Host {
    /// Reads everything once.
    #[expect(clippy::disallowed_methods, reason = "the composition root reads the environment")]
    pub(crate) fn read() -> Self {
        let readable = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables: Variables = std::env::vars_os().filter_map(readable).collect();
        let current_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let mut facts = HostFacts::new(variables, current_dir.to_string_lossy());
        facts.user = ["USER", "LOGNAME", "USERNAME"]
            .iter()
            .find_map(|name| facts.variables.get(name))
            .map(str::to_owned);
        let usual = facts.usual_state_dirs().into_iter();
        facts.existing_state_dirs =
            usual.filter(|path| real_path(Path::new(path)).is_some()).collect();
        facts.host_name = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
        let configuration = ConfigurationFile::default();
        let arguments = std::env::args_os().collect();
        let host = Self { facts, configuration, arguments, root: open_root() };
        host.with_configuration()
    }

    /// The filesystem's root, which was opened once.
    fn opened_root(&self) -> Result<&Dir, CommandError> {
        self.root.as_ref().map_err(|error| {
            let cause = std::io::Error::new(error.kind(), error.to_string());
            CommandError::failure("cannot open the root directory").because(cause)
        })
    }

    /// A handle of the filesystem's root, for adapters that follow absolute paths.
    pub(crate) fn root(&self) -> Result<Dir, CommandError> {
        self.opened_root()?
            .try_clone()
            .map_err(|error| CommandError::failure("cannot open the root directory").because(error))
    }

    /// Lets a write beyond the limit on the size of files fail, instead of
    /// ending the process in the middle of it. Files of ours do not come to
    /// that, but standard output can be any file.
    pub(crate) fn outlive_file_limit() {
        let noted = Arc::new(std::sync::atomic::AtomicBool::new(false));
        // Without it everything works up to the limit.
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noted).ok();
    }

    /// How much is read of what.
    pub(crate) fn reading(&self) -> Reading {
        Reading::from_host(&self.facts)
    }

    /// The command line.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = OsString> {
        self.arguments.clone().into_iter()
    }

    /// The time now.
    #[expect(clippy::disallowed_methods, reason = "the composition root looks at the clock")]
    pub(crate) fn now() -> UnixMillis {
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = since_1970.map_or(0, |elapsed| elapsed.as_millis());
        i64::try_from(millis).ok().and_then(UnixMillis::new).unwrap_or_default()
    }

    /// What a path the user gave leads to, through all links; the path itself
    /// where it leads to nothing.
    pub(crate) fn real_path(&self, path: &Path) -> PathBuf {
        let path = self.absolute(path);
        real_path(&path).unwrap_or(path)
    }

    /// The absolute form of a path the user gave, without `.` and `..`.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        let text = path.to_string_lossy();
        let absolute = if text.starts_with('~') {
            PathBuf::from(self.facts.absolute(&text))
        } else {
            Path::new(&self.facts.current_dir).join(path)
        };
        let mut normal = PathBuf::new();
        for component in absolute.components() {
            match component {
                Component::ParentDir => {
                    normal.pop();
                }
                Component::CurDir => {}
                other => normal.push(other),
            }
        }
        normal
    }

    /// Opens a directory that the user named. It must not be a link itself;
    /// links above it are the user's own, such as a linked home.
    pub(crate) fn folder(&self, path: &Path) -> Result<Dir, CommandError> {
        let path = self.absolute(path);
        let real = below_links(&path);
        traj_fs::open_folder(self.opened_root()?, &real).map_err(|error| cannot_open(&path, error))
    }

    /// Opens a directory the user named, if it is there.
    pub(crate) fn folder_if_any(&self, path: &Path) -> Result<Option<Dir>, CommandError> {
        let path = self.absolute(path);
        match traj_fs::open_folder(self.opened_root()?, &below_links(&path)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(cannot_open(&path, error)),
        }
    }

    /// Opens a directory the user named, making it and its parents (0700) where
    /// they are missing. Links above it are followed, as by [`Self::folder`].
    pub(crate) fn folder_or_new(&self, path: &Path) -> Result<Dir, CommandError> {
        let path = self.absolute(path);
        traj_fs::create_folder(self.opened_root()?, &below_links(&path)).map_err(|error| {
            CommandError::failure(format!("cannot open or create the directory {}", path.display()))
                .because(error)
        })
    }

    /// Opens a directory that the user named as a root. As it was named, it may
    /// also be reached through a link.
    pub(crate) fn named_root(&self, path: &Path) -> Result<Dir, CommandError> {
        match self.named_root_if_any(path)? {
            Some(folder) => Ok(folder),
            // Says why not.
            None => self.folder(path),
        }
    }

    fn named_root_if_any(&self, path: &Path) -> Result<Option<Dir>, CommandError> {
        let absolute = self.absolute(path);
        let Some(real) = real_path(&absolute).filter(|real| real.is_dir()) else {
            return Ok(None);
        };
        let opened = traj_fs::open_folder(self.opened_root()?, &real);
        opened.map(Some).map_err(|error| cannot_open(&absolute, error))
    }

    /// A directory that the user named as a root and that may be missing: the
    /// nearest directory that is there, and the names of those below it.
    pub(crate) fn nearest_root(&self, path: &Path) -> Result<(Dir, Vec<String>), CommandError> {
        if let Some(folder) = self.named_root_if_any(path)? {
            return Ok((folder, Vec::new()));
        }
        let mut missing = Vec::new();
        let mut path = self.absolute(path);
        loop {
            if let Some(folder) = self.folder_if_any(&path)? {
                missing.reverse();
                return Ok((folder, missing));
            }
            let (parent, name) = self.parent_and_name(&path)?;
            missing.push(name);
            path = parent;
        }
    }

    /// Refuses a directory that lies in a bundle, or is one: with more in it the
    /// bundle would not be sound any more.
    pub(crate) fn check_outside_bundles(&self, path: &Path) -> Result<(), CommandError> {
        for folder in self.absolute(path).ancestors().filter(|folder| folder.parent().is_some()) {
            // A directory that cannot be read is reported when it is used.
            let opened = self.named_root_if_any(folder).ok().flatten();
            if opened.is_some_and(|folder| traj_fs::is_bundle(&folder)) {
                let message = format!("{} is itself a bundle", folder.display());
                return Err(CommandError::failure(message)
                    .hint("a bundle must contain only its own files; choose another directory"));
            }
        }
        Ok(())
    }

    /// The paths and names of this host, and of the workspace of a run if it
    /// is known. A path through links stands for what it leads to as well.
    pub(crate) fn path_labels(&self, workspace: Option<&Path>) -> PathLabels {
        let workspace = workspace.map(|path| self.absolute(path).to_string_lossy().into_owned());
        let mut labels = PathLabels::of_host(&self.facts, workspace.as_deref());
        for paths in [&mut labels.workspaces, &mut labels.state_dirs, &mut labels.homes] {
            let real = paths.iter().filter_map(|path| real_path(Path::new(path)));
            let real: Vec<_> = real.map(|path| path.to_string_lossy().into_owned()).collect();
            paths.extend(real);
            paths.sort();
            paths.dedup();
        }
        labels
    }

    /// How many threads work on a bundle: one for each core, but more than a
    /// few only wait for each other, and each holds something in memory.
    pub(crate) fn workers() -> NonZeroUsize {
        const MOST: NonZeroUsize = NonZeroUsize::new(4).unwrap();
        std::thread::available_parallelism().map_or(NonZeroUsize::MIN, |cores| cores.min(MOST))
    }

    /// The table of running processes, where the system has one.
    pub(crate) fn process_table(&self) -> Option<Arc<ProcessTable>> {
        let folder = self.opened_root().ok()?.open_dir("proc").ok()?;
        Some(Arc::new(ProcessTable::new(folder)))
    }

    /// Whether this process was started with a signal ignored. Where the
    /// system does not tell, it was not.
    pub(crate) fn ignores_signal(&self, signal: i32) -> bool {
        let status = self.opened_root().and_then(|root| {
            root.read_to_string("proc/self/status")
                .map_err(|error| CommandError::failure("cannot read the status").because(error))
        });
        let status = status.unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // The first signal is the lowest bit.
        let bit = u32::try_from(signal - 1).ok().and_then(|place| 1_u64.checked_shl(place));
        mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
    }

    /// The directory where temporary files lie, if there is one.
    pub(crate) fn temporary_place(&self) -> Option<Dir> {
        self.named_root(Path::new(self.temporary_path())).ok()
    }

    fn temporary_path(&self) -> &str {
        self.facts.variables.get("TMPDIR").unwrap_or("/tmp")
    }

    /// A directory of our own that goes away with the value.
    pub(crate) fn temporary_folder(&self) -> Result<TemporaryFolder, CommandError> {
        const HINT: &str = "set TMPDIR to a directory for temporary files";
        let parent = self.named_root(Path::new(self.temporary_path()));
        TemporaryFolder::create(&parent.map_err(|error| error.hint(HINT))?).map_err(|error| {
            CommandError::failure("cannot create a temporary directory").because(error).hint(HINT)
        })
    }

    /// Opens the directory a file lies in; returns it with the file's name.
    pub(crate) fn folder_of(&self, file: &Path) -> Result<(Dir, String), CommandError> {
        let (parent, name) = self.parent_and_name(file)?;
        Ok((self.folder(&parent)?, name))
    }

    /// The directory a file lies in and the file's name there.
    pub(crate) fn parent_and_name(&self, file: &Path) -> Result<(PathBuf, String), CommandError> {
        let path = self.absolute(file);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(CommandError::usage(format!("{} does not name a file", path.display()))
                .hint("`/` is not a valid session or bundle path"));
        };
        let name = name.to_str().ok_or_else(|| CommandError::not_utf8(&path))?;
        Ok((parent.to_path_buf(), name.to_owned()))
    }
}

impl Host {
    /// The program to start: as named, as `TRAJ_<variable>` says, or as found on the `PATH`.
    pub(crate) fn program(
        &self,
        named: Option<&Path>,
        variable: &str,
        name: &str,
    ) -> Option<PathBuf> {
        let variables = &self.facts.variables;
        let named = named.map(Path::to_path_buf);
        if let Some(program) = named.or_else(|| variables.shared(variable).map(PathBuf::from)) {
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

    /// How many columns the terminal has: as `COLUMNS` says, as the terminal
    /// says, else a hundred.
    pub(crate) fn terminal_width(&self) -> usize {
        const NARROWEST: usize = 30;
        const WIDEST: usize = 400;
        let stated = self.facts.variables.get("COLUMNS").and_then(|text| text.trim().parse().ok());
        let asked = || {
            let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
            Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
        };
        stated.or_else(asked).unwrap_or(100).clamp(NARROWEST, WIDEST)
    }

    /// The text of a file the user named.
    pub(crate) fn read_text(&self, file: &Path) -> Result<String, CommandError> {
        let cannot_read = || format!("cannot read {}", file.display());
        let (folder, name) = self.folder_of(file)?;
        let opened = traj_fs::open_file(&folder, &name);
        let mut opened =
            opened.map_err(|error| CommandError::failure(cannot_read()).because(error))?;
        let mut text = String::new();
        let read = std::io::Read::read_to_string(&mut opened, &mut text);
        read.map_err(|error| CommandError::failure(cannot_read()).because(error))?;
        Ok(text)
    }

    /// Everything on standard input.
    pub(crate) fn read_standard_input() -> Result<String, CommandError> {
        std::io::read_to_string(std::io::stdin())
            .map_err(|error| CommandError::failure("cannot read standard input").because(error))
    }

    /// Ends at once, as an interrupted command does.
    pub(crate) fn exit_interrupted() {
        std::process::exit(130);
    }
}

/// What a path leads to, through all links; `None` where it leads to nothing.
/// A handle of the root would not follow links with absolute targets.
#[expect(clippy::disallowed_methods, reason = "the user named this path, links and all")]
fn real_path(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// A path of which only the last part may be a link, and parts that do not
/// exist yet.
fn below_links(path: &Path) -> PathBuf {
    for parent in path.ancestors().skip(1).filter(|parent| parent.components().count() > 1) {
        if let (Some(real), Ok(rest)) = (real_path(parent), path.strip_prefix(parent)) {
            return real.join(rest);
        }
    }
    path.to_path_buf()
}

fn cannot_open(
    path: &Path,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> CommandError {
    CommandError::failure(format!("cannot open the directory {}", path.display())).because(error)
}

/// The filesystem's root: where ambient authority becomes a value.
#[expect(clippy::disallowed_methods, reason = "the composition root holds ambient authority")]
fn open_root() -> std::io::Result<Dir> {
    Dir::open_ambient_dir("/", cap_std::ambient_authority())
}
