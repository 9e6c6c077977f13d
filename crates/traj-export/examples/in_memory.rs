//! Exports an in-memory session, then verifies and inspects the bundle:
//! `cargo run -p traj-export --example in_memory`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::num::NonZeroUsize;

use traj_core::memory::{MemoryBundleSink, MemoryBundleSource, MemorySources};
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
use traj_core::run::Prices;
use traj_core::timestamp::UnixMillis;
use traj_export::{ExportPorts, ExportRequest, Selection, Silent, export, inspect_checked, verify};

const SESSION: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-06-01T10:00:00Z"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-06-01T10:00:01Z","message":{"role":"user","content":"deploy with password=hunter2-and-more"}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-06-01T10:00:02Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"shell","arguments":{"command":"make deploy"}}]}}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", SESSION);
    let sink = MemoryBundleSink::new();
    let key = MarkerKey::from_random(getrandom::fill)?;
    let redactor = Redactor::new(RedactionPolicy::standard(key));
    let selection = Selection::file("s1.jsonl");
    let request = ExportRequest::new(selection, "/work", UnixMillis::EPOCH, redactor.clone());

    let report = export(ExportPorts { sources: &sources, sink: &sink }, &request, &Silent)?;
    println!("{} with {} events, {}", report.name, report.event_count, report.digest);

    let files = sink.bundle(&report.name).ok_or("it was committed")?;
    let bundle = MemoryBundleSource::of(&files);
    let checked = verify(&bundle, &redactor, NonZeroUsize::MIN)?;
    println!("sound: {}", checked.is_sound());

    let summary = inspect_checked(&bundle, &redactor, NonZeroUsize::MIN, Prices::shipped())?;
    for moment in &summary.timeline {
        println!("{:>3}  {}  {}  {}", moment.seq, moment.ts, moment.kind, moment.about);
    }
    Ok(())
}
