//! `traj view`: a session or bundle as one HTML page.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use serde::Serialize;
use traj_export::{PageError, PageOptions, PageReport, counted, find_survivors, write_page};

use super::{Outcome, export, show};
use crate::command_error::{CommandError, ErrorKind, explain_unreadable};
use crate::compose::Host;
use crate::interruption::Interruption;
use crate::json_document::JsonDocument;
use crate::output::{CommandOutput, OutputFailure, OutputFile, stoppable};
use crate::progress::WatchedBundle;
use crate::quantity::shown_size;
use crate::resolve::bundle::rules;
use crate::resolve::{OpenedBundle, SubjectArguments};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Writes one HTML page that shows a run: how it ended, what went wrong first, \
                  where the time and the tokens went, and the whole conversation with every \
                  tool output. The page opens in any browser, loads nothing from the network, \
                  and contains the files of the bundle; `traj verify` checks it.\n\nSESSION can \
                  be a bundle (directory, zip, tar.zst), a page, a session or its sidecar. A \
                  session is redacted and checked exactly as `traj export` does it; if a secret \
                  survives, nothing is written. Without SESSION, shows the newest session of \
                  this workspace, or else of this machine.",
    after_help = concat!(
        "Examples:\n",
        "  traj view --open                        the newest session, in the browser\n",
        "  traj view 0197f2c4 --output run.html    by the beginning of an id\n",
        "  traj view bug-1234.zip                  a bundle, as bug-1234.html\n",
        "  traj view bug-1234 --output - > x.html  to standard output\n",
        "  traj view bug-1234 --markdown           Markdown for an issue or a wiki\n",
        "  traj view 0197f2c4 --review --open      look for secrets before you send anything\n",
        "\n",
        "Exit codes: 0 written · 1 not found or not readable · 2 wrong usage · 3 a secret \
         survived, nothing was written · 4 damaged or not a bundle, written as far as possible \
         · 128+N ended by signal N, nothing was written"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The file to write, or - for standard output [default: the name of the session, with .html]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Also list strings that look like secrets but match no rule. The page is then marked as for
    /// review only
    #[arg(long, conflicts_with = "markdown")]
    review: bool,
    /// Write Markdown for a code host instead of a page
    #[arg(long)]
    markdown: bool,
    /// A price file that overrides the built-in prices; the page contains it [default: as
    /// configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The directory that the agent worked in; the page hides its path
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

/// What was written.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Viewed {
    /// The file, absolute; null for standard output.
    file: Option<String>,
    /// What it is: `page` or `markdown`.
    format: &'static str,
    /// Its size.
    bytes: u64,
    /// The session of a page.
    session_id: Option<String>,
    /// How many events a page contains.
    events: Option<u64>,
    /// How many things it shows.
    items: Option<u64>,
    /// SHA-256 of the manifest in a page.
    digest: Option<String>,
}

impl Viewed {
    fn page(report: PageReport) -> Self {
        Self {
            file: None,
            format: "page",
            bytes: report.bytes,
            session_id: report.session_id,
            events: Some(report.events),
            items: Some(report.items),
            digest: Some(report.digest),
        }
    }
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Viewed>("view");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let is_stdout = arguments.output.as_deref() == Some(Path::new("-"));
    if is_stdout && arguments.open {
        return Err(CommandError::usage("--open needs a file").hint("name one with --output FILE"));
    }
    let (subject, workspace) = (&arguments.subject, &arguments.workspace);
    let now = export::now(None, host)?;
    let opened = OpenedBundle::open(subject, workspace, now, host, output)?;
    let fault = opened.is_damaged().then_some(ErrorKind::Damaged);
    let interruption = Interruption::watch(host)?;
    let mut options = PageOptions::new();
    options.own_prices = host.own_prices(arguments.prices.as_deref())?;
    if arguments.review {
        let bundle = WatchedBundle::new(opened.bundle(), "looking for secrets", output);
        options.review = Some(find_survivors(&bundle, &rules()?).map_err(explain_unreadable)?);
    }
    let left = options.find_secrets(&rules()?);
    if !left.is_empty() {
        let message = "the price file contains a secret; nothing was written";
        return Err(CommandError::secret_left(message));
    }
    let is_markdown = arguments.markdown;
    let stop = interruption.stop_flag();
    let page = Page { opened: &opened, options, is_markdown, stop, output };
    if is_stdout {
        let viewed = page
            .write(io::stdout().lock())
            .map_err(|error| interruption.explain_stdout(OutputFailure::from(error).on_stdout()))?;
        return Ok(output.summary(&viewed, fault, |viewed| describe(viewed, None)));
    }
    let path = host.absolute(&match &arguments.output {
        Some(path) => path.clone(),
        None => {
            let ending = if arguments.markdown { "md" } else { "html" };
            PathBuf::from(format!("{}.{ending}", opened.stem()))
        }
    });
    let file = OutputFile::new(&path, arguments.force, host)?;
    let mut viewed = file
        .write(|out| page.write(out).map_err(OutputFailure::from))
        .map_err(|error| interruption.explain(error))?;
    viewed.file = Some(path.to_string_lossy().into_owned());
    let shown = path.strip_prefix(&host.facts.current_dir).unwrap_or(&path).to_owned();
    let code = output.verdict(&viewed, fault, |viewed| describe(viewed, Some(&shown)))?;
    if fault.is_some() {
        output.note("the bundle is damaged; run `traj verify` for details");
    }
    if arguments.open && !host.open_in_browser(&path) {
        output.note("no browser was found; open the file yourself");
    }
    Ok(if fault.is_some() { code } else { ExitCode::SUCCESS })
}

/// A page to write.
struct Page<'a> {
    opened: &'a OpenedBundle,
    options: PageOptions,
    is_markdown: bool,
    stop: Arc<AtomicBool>,
    output: &'a CommandOutput,
}

impl Page<'_> {
    fn write(&self, out: impl Write) -> Result<Viewed, PageError> {
        let bundle = WatchedBundle::new(self.opened.bundle(), "writing the page", self.output);
        let mut out = stoppable(out, Arc::clone(&self.stop));
        if !self.is_markdown {
            return write_page(&bundle, &self.options, out).map(Viewed::page);
        }
        let mut bytes = 0;
        show::write_markdown(&bundle, self.options.prices(), &mut |text| {
            bytes += text.len() as u64;
            out.write_all(text.as_bytes())
        })?;
        out.flush().map_err(PageError::Output)?;
        Ok(Viewed { format: "markdown", bytes, ..Viewed::default() })
    }
}

impl From<PageError> for OutputFailure {
    fn from(error: PageError) -> Self {
        Self::Content(match error {
            PageError::Output(error) => return Self::Write(error),
            PageError::Source(error) => explain_unreadable(error),
            error => CommandError::failure("cannot write the page").because(error),
        })
    }
}

fn describe(viewed: &Viewed, path: Option<&Path>) -> String {
    let path =
        path.map_or_else(|| "to standard output".to_owned(), |path| path.display().to_string());
    let mut figures = vec![shown_size(viewed.bytes)];
    figures.extend(viewed.events.map(|events| counted(events, "event")));
    figures.extend(viewed.digest.as_ref().map(|digest| format!("manifest {digest}")));
    let figures = figures.join(", ");
    format!("wrote {}\n{figures}\n", escape_control(&path))
}
