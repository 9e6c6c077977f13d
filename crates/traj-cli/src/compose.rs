//! The composition root: the only place that reads the environment, reads the
//! clock and opens directories by path. It opens the root directory once and keeps
//! the handle in [`Host`]; all other code gets its handles from there.

mod configuration_file;
mod dataset;
mod marker_keys;
mod programs;
mod zone;

pub(crate) use configuration_file::ConfigurationFile;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_std::fs::Dir;
use traj_core::limits::Reading;
use traj_core::redaction::PathLabels;
use traj_core::settings::host::{HostFacts, Variables};
use traj_core::timestamp::UnixMillis;
use traj_fs::{Gathering, ProcessTable, TemporaryFolder};

use crate::command_error::CommandError;
pub(crate) use zone::Zone;

/// The machine that traj runs on.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its environment and settings.
    pub(crate) facts: HostFacts,
    /// Its configuration file, already merged into the facts.
    pub(crate) configuration: ConfigurationFile,
    arguments: Vec<OsString>,
    root: std::io::Result<Dir>,
    gathering: OnceLock<Option<Gathering>>,
}

impl Host {
    /// Reads the environment and the configuration file, once.
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
        let (root, gathering) = (open_root(), OnceLock::new());
        let host = Self { facts, configuration, arguments, root, gathering };
        host.with_configuration()
    }

    /// The filesystem root, opened once.
    fn opened_root(&self) -> Result<&Dir, CommandError> {
        self.root.as_ref().map_err(|error| {
            let cause = std::io::Error::new(error.kind(), error.to_string());
            CommandError::failure("cannot open the root directory").because(cause)
        })
    }

    /// A handle of the filesystem root, for adapters that follow absolute paths.
    pub(crate) fn root(&self) -> Result<Dir, CommandError> {
        self.opened_root()?
            .try_clone()
            .map_err(|error| CommandError::failure("cannot open the root directory").because(error))
    }

    /// Handles `SIGXFSZ`, so that a write beyond the file size limit fails
    /// instead of ending the process. This matters for standard output, which
    /// can be any file.
    pub(crate) fn outlive_file_limit() {
        let noted = Arc::new(std::sync::atomic::AtomicBool::new(false));
        // If this fails, everything still works up to the limit.
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noted).ok();
    }

    /// The limits on how much is read.
    pub(crate) fn reading(&self) -> Reading {
        Reading::from_host(&self.facts)
    }

    /// The command line.
    pub(crate) fn arguments(&self) -> impl ExactSizeIterator<Item = OsString> {
        self.arguments.clone().into_iter()
    }

    /// Identifies this build of traj: the size of its executable, and when
    /// that changed. Empty if the system does not report it.
    #[expect(clippy::disallowed_methods, reason = "the composition root looks at its own program")]
    pub(crate) fn program_stamp() -> String {
        let program = std::env::current_exe().and_then(std::fs::metadata);
        let stamp = program.and_then(|program| Ok((program.len(), program.modified()?)));
        stamp.map(|(length, modified)| format!("{length} {modified:?}")).unwrap_or_default()
    }

    /// The current time.
    #[expect(clippy::disallowed_methods, reason = "the composition root looks at the clock")]
    pub(crate) fn now() -> UnixMillis {
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = since_1970.map_or(0, |elapsed| elapsed.as_millis());
        i64::try_from(millis).ok().and_then(UnixMillis::new).unwrap_or_default()
    }

    /// The target of a path that the user named, through all links; the path
    /// itself if it does not exist.
    pub(crate) fn real_path(&self, path: &Path) -> PathBuf {
        let path = self.absolute(path);
        real_path(&path).unwrap_or(path)
    }

    /// The absolute form of a path that the user named, without `.` and `..`.
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
    /// links above it are followed, since a home directory can be one.
    pub(crate) fn folder(&self, path: &Path) -> Result<Dir, CommandError> {
        let path = self.absolute(path);
        let real = below_links(&path);
        traj_fs::open_folder(self.opened_root()?, &real).map_err(|error| cannot_open(&path, error))
    }

    /// Opens a directory that the user named, if it exists.
    pub(crate) fn folder_if_any(&self, path: &Path) -> Result<Option<Dir>, CommandError> {
        let path = self.absolute(path);
        match traj_fs::open_folder(self.opened_root()?, &below_links(&path)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(cannot_open(&path, error)),
        }
    }

    /// Opens a directory that the user named. Creates it and its parents (0700)
    /// if they are missing. Follows links above it, like [`Self::folder`].
    pub(crate) fn folder_or_new(&self, path: &Path) -> Result<Dir, CommandError> {
        let path = self.absolute(path);
        traj_fs::create_folder(self.opened_root()?, &below_links(&path)).map_err(|error| {
            CommandError::failure(format!("cannot open or create the directory {}", path.display()))
                .because(error)
        })
    }

    /// Opens a directory that the user named as a root. It may itself be a link.
    pub(crate) fn named_root(&self, path: &Path) -> Result<Dir, CommandError> {
        match self.named_root_if_any(path)? {
            Some(folder) => Ok(folder),
            // Fails with the reason.
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

    /// For a directory that the user named as a root and that may be missing:
    /// the nearest existing directory, and the names of the missing ones.
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

    /// Rejects a directory that is a bundle or is inside one: an additional file
    /// would make the bundle invalid.
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

    /// The paths and names of this host, and of the run's workspace if known.
    /// Includes the targets of paths that contain links.
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

    /// How many threads work on a bundle: one per core, up to a few. More would
    /// wait for each other, and each one needs memory.
    pub(crate) fn workers() -> NonZeroUsize {
        const MOST: NonZeroUsize = NonZeroUsize::new(4).unwrap();
        std::thread::available_parallelism().map_or(NonZeroUsize::MIN, |cores| cores.min(MOST))
    }

    /// Where this host remembers what it shipped to a dataset, created if it is
    /// missing.
    pub(crate) fn shipping_folder(&self, dataset: &str) -> Result<Dir, CommandError> {
        let folder = self.shipping_place()?.join(dataset);
        self.folder_or_new(&folder)
    }

    /// The directory of what this host remembers about datasets.
    pub(crate) fn shipping_place(&self) -> Result<PathBuf, CommandError> {
        let state = self.facts.state_dir().ok_or_else(|| {
            CommandError::failure("there is no state directory to remember what was shipped")
                .hint("set HOME or TRAJ_STATE_DIR")
        })?;
        Ok(Path::new(&state).join("traj").join("ship"))
    }

    /// The table of running processes, if the system has one.
    pub(crate) fn process_table(&self) -> Option<Arc<ProcessTable>> {
        let folder = self.opened_root().ok()?.open_dir("proc").ok()?;
        Some(Arc::new(ProcessTable::new(folder)))
    }

    /// Whether this process was started with a signal ignored. `false` if the
    /// system does not report it.
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

    /// The directory for temporary files, if there is one.
    pub(crate) fn temporary_place(&self) -> Option<Dir> {
        self.named_root(Path::new(self.temporary_path())).ok()
    }

    fn temporary_path(&self) -> &str {
        self.facts.variables.get("TMPDIR").unwrap_or("/tmp")
    }

    /// Where sessions that are not plain files are gathered, if there is a
    /// directory for temporary files. One command gathers each only once.
    pub(crate) fn gathering(&self) -> Option<Gathering> {
        self.gathering
            .get_or_init(|| {
                let path = real_path(&self.absolute(Path::new(self.temporary_path())))?;
                Some(Gathering::new(path, self.temporary_place()?, self.reading()))
            })
            .clone()
    }

    /// A new temporary directory, which is removed on drop.
    pub(crate) fn temporary_folder(&self) -> Result<TemporaryFolder, CommandError> {
        const HINT: &str = "set TMPDIR to a directory for temporary files";
        let parent = self.named_root(Path::new(self.temporary_path()));
        TemporaryFolder::create(&parent.map_err(|error| error.hint(HINT))?).map_err(|error| {
            CommandError::failure("cannot create a temporary directory").because(error).hint(HINT)
        })
    }

    /// Opens the directory of a file. Returns it with the file's name.
    pub(crate) fn folder_of(&self, file: &Path) -> Result<(Dir, String), CommandError> {
        let (parent, name) = self.parent_and_name(file)?;
        Ok((self.folder(&parent)?, name))
    }

    /// The directory of a file and the file's name in it.
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
    /// The width of the terminal in columns: from `COLUMNS`, from the terminal,
    /// else 100.
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

    /// The text of a file that the user named.
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

    /// Exits at once, with the exit code for a signal.
    pub(crate) fn exit_after_signal(signal: u8) {
        std::process::exit(i32::from(signal) + 128);
    }
}

/// The target of a path, through all links; `None` if there is none. A handle
/// of the root would not follow links with absolute targets.
#[expect(clippy::disallowed_methods, reason = "the user named this path, links and all")]
fn real_path(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// Resolves all links in a path except in its last part. Parts need not exist.
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

/// Opens the filesystem root, the one use of ambient authority.
#[expect(clippy::disallowed_methods, reason = "the composition root holds ambient authority")]
fn open_root() -> std::io::Result<Dir> {
    Dir::open_ambient_dir("/", cap_std::ambient_authority())
}
