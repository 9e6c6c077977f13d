//! Writes a canary to every location that traj writes to, and reads it back.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use serde::Serialize;
use traj_core::binding::{BindingOrigin, BindingRecord};
use traj_core::event::{Event, EventKind, RunContext};
use traj_core::id::{SessionId, ThreadId};
use traj_core::json::Object;
use traj_core::port::{BindingKey, BindingStore as _, LineLog as _};
use traj_core::redaction::{RedactionPolicy, RedactionReport, Redactor};
use traj_core::settings::Settings;
use traj_export::{ExportPorts, ExportRequest, Selection, Silent, export};
use traj_fs::{
    BundleForm, FsBindingStore, FsBundleSink, FsLineLog, FsSources, FsTrajectoryStore, Recorder,
    SystemClock, open_file,
};

use crate::command_error::CommandError;
use crate::compose::Host;

/// The string that must be found afterwards.
const CANARY: &str = "traj doctor canary";

/// A fake credential that must never be found. Written in two parts, so that
/// no scanner reports this file.
const BAIT: &str = concat!("ghp", "_x7Kq2mVw9TzR4bNc8LpY1sJd6FhG3aQe5UoX");

/// A location, and whether the canary was read back from it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Probe {
    /// What was tested.
    pub(super) name: &'static str,
    /// Whether the test passed.
    pub(super) ok: bool,
    /// What happened.
    pub(super) detail: String,
}

type Check = Result<String, Box<dyn std::error::Error>>;

/// Tests every location, in a new directory below the sidecar directory.
pub(super) fn run(host: &Host) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut note = |name: &'static str, check: Check| {
        let ok = check.is_ok();
        let detail = check.unwrap_or_else(|error| error.to_string());
        probes.push(Probe { name, ok, detail });
        ok
    };
    let place = match ProbeTarget::make(host) {
        Ok(place) => place,
        Err(error) => {
            note("folder", Err(error.message.into()));
            return probes;
        }
    };
    note("folder", Ok(place.path.to_string_lossy().into_owned()));
    note("redaction", place.redaction());
    if note("recorder", place.record()) {
        note("sidecar", place.sidecar());
        note("blobs", place.blobs());
        note("pointer", place.pointer());
        note("bundle", place.export(BundleForm::Folder, "probe-folder"));
        note("archive zip", place.export(BundleForm::Zip, "probe-zip"));
        note("archive tar.zst", place.export(BundleForm::TarZst, "probe-tar"));
    }
    note("binding", place.binding());
    note("trim log", place.log());
    place.clear();
    probes
}

struct ProbeTarget {
    parent: Dir,
    name: String,
    path: PathBuf,
    redactor: Redactor,
}

impl ProbeTarget {
    fn make(host: &Host) -> Result<Self, CommandError> {
        let settings = Settings::from_host(&host.facts);
        let base = match (settings.trajectory_dir, host.facts.state_dir()) {
            (Some(folder), _) => PathBuf::from(folder),
            (None, Some(state)) => Path::new(&state).join("traj"),
            (None, None) => {
                return Err(CommandError::failure("there is no directory for sidecars: set HOME"));
            }
        };
        let parent = host.folder_or_new(&base)?;
        let name = format!("probe-{}", std::process::id());
        let path = base.join(&name);
        host.folder_or_new(&path)?;
        let redactor = Redactor::new(RedactionPolicy::standard(host.marker_key()?));
        Ok(Self { parent, name, path, redactor })
    }

    fn folder(&self) -> Result<Dir, Box<dyn std::error::Error>> {
        Ok(traj_fs::open_subfolder(&self.parent, &self.name)?)
    }

    fn clear(&self) {
        // If this fails, the next probe reports the directory that was left.
        self.parent.remove_dir_all(&self.name).ok();
    }

    fn redaction(&self) -> Check {
        let mut report = RedactionReport::default();
        let text = format!("token {BAIT}");
        let hidden = self.redactor.text(&text, &mut report);
        if hidden.as_ref().contains(BAIT) {
            return Err("a credential was not hidden".into());
        }
        Ok("a credential was hidden".to_owned())
    }

    fn record(&self) -> Check {
        let path = self.path.to_string_lossy();
        let store = FsTrajectoryStore::beside(self.folder()?, &path, "probe.jsonl")?;
        let context = RunContext::new(SessionId::parse("probe")?);
        let clock = Arc::new(SystemClock::new());
        let settings = Settings::standard();
        let redactor = self.redactor.clone();
        let recorder = Recorder::start(Arc::new(store), clock, redactor, context, &settings);
        let mut data = Object::new();
        data.push("prompt", format!("{CANARY} {BAIT}"));
        data.push("long", format!("{CANARY} {}", "long text ".repeat(8_000)));
        recorder.record(Event::new(EventKind::PromptSubmitted, Some(data)));
        let flushed = recorder.flush();
        let stats = recorder.stats();
        if !flushed.is_complete() || stats.written_events != 1 {
            return Err(
                format!("the event was not written ({} written)", stats.written_events).into()
            );
        }
        Ok("1 event was written".to_owned())
    }

    fn text_of(&self, folder: &Dir, name: &str) -> Check {
        let mut text = String::new();
        open_file(folder, name)?.read_to_string(&mut text)?;
        if text.contains(BAIT) {
            return Err(format!("{name} contains the credential in plain text").into());
        }
        Ok(text)
    }

    fn sidecar(&self) -> Check {
        let text = self.text_of(&self.folder()?, "probe.trajectory.jsonl")?;
        if !text.contains(CANARY) {
            return Err("the sidecar does not contain the canary".into());
        }
        Ok(format!("{} bytes, credential hidden", text.len()))
    }

    fn blobs(&self) -> Check {
        let folder = traj_fs::open_subfolder(&self.folder()?, "probe.trajectory.blobs")?;
        let count = folder.entries()?.flatten().count();
        if count == 0 { Err("no blob was stored".into()) } else { Ok(format!("{count} blobs")) }
    }

    fn pointer(&self) -> Check {
        let text = self.text_of(&self.folder()?, "probe.trajectory-path.json")?;
        if text.contains("probe.trajectory.jsonl") {
            Ok("points to the sidecar".to_owned())
        } else {
            Err("does not point to the sidecar".into())
        }
    }

    fn export(&self, form: BundleForm, name: &str) -> Check {
        let path = self.path.to_string_lossy().into_owned();
        let folder = self.folder()?;
        folder.write(
            "probe.jsonl",
            "{\"type\":\"session\",\"version\":3,\"id\":\"probe\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n",
        )?;
        let sources = FsSources::new(&path).with_root(self.path.clone(), folder);
        let sink = FsBundleSink::new(self.folder()?, form);
        let selection = Selection::file(format!("{path}/probe.jsonl"));
        let redactor = self.redactor.clone();
        let mut request = ExportRequest::new(selection, path, Host::now(), redactor);
        request.name = Some(traj_core::id::BundleName::parse(name)?);
        let report = export(ExportPorts { sources: &sources, sink: &sink }, &request, &Silent)?;
        if report.runtime_event_count == 0 {
            return Err("the bundle contains no events".into());
        }
        Ok(format!("{} with {} events", report.name, report.event_count))
    }

    fn binding(&self) -> Check {
        let store = FsBindingStore::new(self.folder()?, Arc::new(SystemClock::new()));
        let key = BindingKey::parse("probe.jsonl")?;
        let thread = ThreadId::parse("probe-thread")?;
        let record = BindingRecord::new(thread.clone(), "/", BindingOrigin::Started, Host::now());
        store.save(&key, &record, None)?;
        let loaded = store.load(&key)?;
        if loaded.is_none_or(|loaded| loaded.record.thread != thread) {
            return Err("the binding could not be read back".into());
        }
        store.clear(&key, &thread)?;
        Ok("stored, loaded and cleared".to_owned())
    }

    fn log(&self) -> Check {
        let log = FsLineLog::new(self.folder()?, "probe.trim-queue.jsonl".to_owned());
        log.append(&[CANARY.to_owned()])?;
        let mut found = false;
        log.read(&mut |line| {
            found |= line == CANARY.as_bytes();
            ControlFlow::Continue(())
        })?;
        log.retain(&mut |_| false)?;
        if found {
            Ok("written, read and emptied".to_owned())
        } else {
            Err("nothing was read".into())
        }
    }
}
