//! `traj doctor`: the settings in effect, where they come from, and whether they work.

mod probe;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cap_std::fs::MetadataExt as _;
use clap::Args;
use codex_binding::{TESTED_VERSIONS, is_newer_than_tested};
use serde::Serialize;
use traj_core::settings::Settings;
use traj_core::settings::report::effective_settings;
use traj_core::timestamp::UnixMillis;
use traj_export::duration_in_words;

use super::Outcome;
use super::codex::provider::ProviderReport;
use super::convert::configured_receiver;
use super::ship::{DatasetStatus, remembered};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity::{counted, shown_size};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Shows which configuration file, directories, variables, modes, limits, key \
                  file and Codex executable are in effect, and where each comes \
                  from.\n\n--probe also writes a test event to every location that traj writes \
                  to, reads it back, redacts it and exports it. A location that records nothing \
                  is a failure.",
    after_help = concat!(
        "Examples:\n",
        "  traj doctor          show what is in effect\n",
        "  traj doctor --probe  also test every location\n",
        "\n",
        "Exit codes: 0 no problems · 1 a probe failed or the configuration cannot be used · 2 \
         wrong usage"
    )
)]
pub(crate) struct Arguments {
    /// Write and export a test event in every location that traj writes to
    #[arg(long)]
    probe: bool,
    /// The Codex executable [default: TRAJ_CODEX, else `codex` on the PATH]
    #[arg(long, value_name = "FILE")]
    codex: Option<PathBuf>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Report")]
struct DoctorReport {
    configuration: Configuration,
    /// The settings in effect.
    settings: Vec<DoctorSetting>,
    /// The locations that traj writes to.
    places: Vec<PlaceReport>,
    codex: Codex,
    sending: Sending,
    /// The datasets that this host ships to.
    shipping: Vec<Shipping>,
    /// The results of `--probe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    probes: Option<Vec<probe::Probe>>,
}

/// The configuration file.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Configuration {
    /// Where it is, or would be; null without a home directory.
    path: Option<String>,
    /// `absent`, `read` or `unusable`.
    state: &'static str,
    /// Why it or the price file cannot be used, nearest first, and what to do.
    problems: Vec<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Setting")]
struct DoctorSetting {
    /// Its name.
    name: &'static str,
    /// Its value, for people.
    value: String,
    /// Where the value comes from.
    source: String,
}

/// A file or directory that traj uses.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Place")]
struct PlaceReport {
    /// What it is for.
    name: &'static str,
    /// Where it is.
    path: String,
    /// Whether it is there.
    exists: bool,
    /// Its permissions, in octal.
    mode: Option<String>,
    /// What is wrong with it.
    warning: Option<&'static str>,
}

/// What `traj convert --send` uses, without any values.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Sending {
    /// The variable that names the receiver; null if none does.
    endpoint: Option<&'static str>,
    /// Whether a variable sets headers.
    headers: bool,
}

/// A dataset that this host ships to.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Shipping {
    #[serde(flatten)]
    status: DatasetStatus,
    /// How many seconds ago the dataset last had everything; null if it never had.
    lag_seconds: Option<i64>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Codex {
    /// The executable, if there is one.
    path: Option<String>,
    /// Its version.
    version: Option<String>,
    /// Whether it is newer than every version that this release of traj was tested with.
    newer_than_tested: bool,
    /// The versions that this release of traj was tested with.
    tested_versions: Vec<&'static str>,
    /// Where its path comes from.
    source: &'static str,
    provider: ProviderReport,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<DoctorReport>("doctor");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let settings = effective_settings(&host.facts).into_iter();
    let settings = settings.map(|setting| DoctorSetting {
        name: setting.name,
        value: setting.value,
        source: setting.origin.to_string(),
    });
    let report = DoctorReport {
        configuration: configuration(host),
        settings: settings.collect(),
        places: places(host),
        codex: codex(arguments.codex.as_deref(), host),
        sending: sending(host),
        shipping: shipping(host),
        probes: arguments.probe.then(|| probe::run(host)),
    };
    let failed = report.probes.iter().flatten().any(|probe| !probe.ok)
        || !report.configuration.problems.is_empty();
    output.verdict(&report, failed.then_some(ErrorKind::Failure), human)
}

fn configuration(host: &Host) -> Configuration {
    let file = &host.configuration;
    let prices = host.prices(None).err();
    let fault = file.fault.as_ref().or(prices.as_ref());
    let problems = |error: &CommandError| {
        let hints = error.hints().into_iter().map(|hint| format!("hint: {hint}"));
        [vec![error.message.clone()], error.causes(), hints.collect()].concat()
    };
    Configuration {
        path: file.place.as_ref().map(|place| place.path.clone()),
        state: match (file.exists, &file.fault) {
            (_, Some(_)) => "unusable",
            (true, None) => "read",
            (false, None) => "absent",
        },
        problems: fault.map(problems).unwrap_or_default(),
    }
}

fn places(host: &Host) -> Vec<PlaceReport> {
    let mut places = Vec::new();
    if let Some(state) = host.facts.state_dir() {
        places.push(place("state folder", &state, 0o077, host));
        places.push(place("key file", &format!("{state}/traj/redaction.key"), 0o077, host));
    }
    if let Some(folder) = Settings::from_host(&host.facts).trajectory_dir {
        places.push(place("sidecar folder", &folder, 0o077, host));
    }
    places
}

/// Checks a location; `open_bits` are the permissions that others must not have.
fn place(name: &'static str, path: &str, open_bits: u32, host: &Host) -> PlaceReport {
    let metadata = host
        .folder_of(Path::new(path))
        .ok()
        .and_then(|(folder, name)| folder.symlink_metadata(name).ok());
    let warning = metadata.as_ref().and_then(|metadata| {
        if metadata.is_symlink() {
            Some("it is a symbolic link, which traj may reject")
        } else if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
            Some("it belongs to another user")
        } else if metadata.mode() & open_bits & 0o022 != 0 {
            Some("others can write to it")
        } else if metadata.mode() & open_bits != 0 {
            Some("others can read it")
        } else {
            None
        }
    });
    PlaceReport {
        name,
        path: path.to_owned(),
        exists: metadata.is_some(),
        mode: metadata.map(|metadata| format!("{:04o}", metadata.mode() & 0o7777)),
        warning,
    }
}

fn codex(named: Option<&Path>, host: &Host) -> Codex {
    let source = if named.is_some() {
        "--codex"
    } else if host.facts.variables.shared("CODEX").is_some() {
        "TRAJ_CODEX"
    } else {
        "PATH"
    };
    let path = host.program(named, "TRAJ_CODEX", "codex");
    let version = path.as_ref().and_then(|path| {
        let started = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&started.stdout).trim().to_owned();
        (started.status.success() && !text.is_empty()).then_some(text)
    });
    let number = version.as_deref().and_then(|version| version.split_whitespace().last());
    Codex {
        path: path.map(|path| path.to_string_lossy().into_owned()),
        newer_than_tested: number.is_some_and(is_newer_than_tested),
        tested_versions: TESTED_VERSIONS.to_vec(),
        version,
        source,
        provider: ProviderReport::of(None, host),
    }
}

fn sending(host: &Host) -> Sending {
    let (endpoint, headers) = configured_receiver(host);
    Sending { endpoint, headers }
}

fn shipping(host: &Host) -> Vec<Shipping> {
    let now = Host::now().as_millis();
    let with_lag = |status: DatasetStatus| {
        let complete = status.complete_at.as_deref().and_then(UnixMillis::parse_iso);
        let lag_seconds = complete.map(|at| now.saturating_sub(at.as_millis()).max(0) / 1_000);
        Shipping { status, lag_seconds }
    };
    remembered(host).into_iter().map(with_lag).collect()
}

fn shown_shipping(shipping: &Shipping) -> String {
    let Shipping { status, lag_seconds } = shipping;
    let lag = lag_seconds.map(|seconds| u64::try_from(seconds).unwrap_or_default());
    let lag = lag.map(|seconds| duration_in_words(seconds.saturating_mul(1_000)));
    let lag = lag.map_or_else(|| "never complete".to_owned(), |lag| format!("complete {lag} ago"));
    let mut lines = vec![format!("shipping to {}: {lag}\n", escape_control(&status.dataset))];
    if let Some(error) = &status.last_error {
        let at = status.tried_at.as_deref().unwrap_or_default();
        lines.push(format!("  WARNING: {at}: {}\n", escape_control(error)));
    }
    if status.behind > 0 {
        lines.push(format!("  behind           {}\n", counted(status.behind, "session")));
    }
    if status.waiting > 0 {
        let size = shown_size(status.waiting_bytes);
        lines.push(format!("  waiting          {}, {size}\n", counted(status.waiting, "segment")));
    }
    if status.dropped > 0 {
        lines.push(format!("  WARNING: {} dropped\n", counted(status.dropped, "segment")));
    }
    lines.concat()
}

fn human(report: &DoctorReport) -> String {
    let configuration = &report.configuration;
    let path = configuration.path.as_deref().unwrap_or("unknown location");
    let mut lines =
        vec![format!("configuration: {} ({})\n", escape_control(path), configuration.state)];
    let problems = configuration.problems.iter();
    lines.extend(problems.map(|problem| format!("  WARNING: {}\n", escape_control(problem))));
    lines.push("settings\n".to_owned());
    for setting in &report.settings {
        let value = escape_control(&setting.value);
        let source = escape_control(&setting.source);
        lines.push(format!("  {:16} {value} ({source})\n", setting.name));
    }
    lines.push("places\n".to_owned());
    for place in &report.places {
        let state = match (&place.mode, place.warning) {
            (None, _) => "does not exist yet".to_owned(),
            (Some(mode), None) => mode.clone(),
            (Some(mode), Some(warning)) => format!("{mode}, WARNING: {warning}"),
        };
        lines.push(format!("  {:16} {} ({state})\n", place.name, escape_control(&place.path)));
    }
    let codex = &report.codex;
    lines.push(match &codex.path {
        None => "codex: not found\n".to_owned(),
        Some(path) => format!(
            "codex: {} ({}, from {})\n",
            escape_control(path),
            escape_control(codex.version.as_deref().unwrap_or("unknown version")),
            codex.source
        ),
    });
    let tested = codex.tested_versions.join(", ");
    let newer = if codex.newer_than_tested { "; WARNING: yours is newer" } else { "" };
    lines.push(format!("  tested with      {tested}{newer}\n"));
    lines.push(format!("  provider         {}\n", codex.provider.shown()));
    let headers = if report.sending.headers { "set" } else { "not set" };
    let endpoint = report.sending.endpoint.unwrap_or("no receiver is configured");
    lines.push(format!("sending: {endpoint}, headers are {headers}\n"));
    lines.extend(report.shipping.iter().map(shown_shipping));
    if let Some(probes) = &report.probes {
        lines.push("probes\n".to_owned());
        for probe in probes {
            let verdict = if probe.ok { "ok" } else { "FAILED" };
            lines.push(format!(
                "  {:16} {verdict}: {}\n",
                probe.name,
                escape_control(&probe.detail)
            ));
        }
    }
    lines.concat()
}
