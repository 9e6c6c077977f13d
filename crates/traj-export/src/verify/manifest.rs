//! Compares a bundle with its manifest. Everything that the manifest states is
//! checked, by itself or against the files.

use std::collections::BTreeMap;

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::port::BundleFile;
use traj_core::timestamp::UnixMillis;

use super::facts::StatedFacts;
use super::{CheckedFile, VerifyReport};
use crate::bundle::digest_without_seal;
use crate::bundle::output::hex;
use crate::bundle::schema::{self, Manifest, ManifestContent, SourceRole};
use crate::json_stream::long_rows;

const NAME: BundleFile = BundleFile::Manifest;

/// Checks everything the manifest states.
pub(super) fn check(
    found: &BTreeMap<BundleFile, CheckedFile>,
    said: &StatedFacts,
    report: &mut VerifyReport,
) {
    let Some(bytes) = found.get(&NAME).and_then(|seen| seen.kept.as_deref()) else {
        report.add(NAME, None, "is missing");
        return;
    };
    let Some(manifest) = schema::read::<Manifest>(bytes) else {
        // Reported besides other problems: no file was compared with it.
        report.add(NAME, None, "cannot be compared with its files");
        return;
    };
    if manifest.tool.is_none() && manifest.digest.is_none() && manifest.redaction.is_none() {
        // Other exporters write the same files, but no digests.
        report.add(NAME, None, "was not written by traj: it has no digests to check the files by");
        return;
    }
    report.session_id = Some(manifest.session_id.clone());
    check_members(&manifest, said, report);
    check_figures(&manifest, said, report);
    check_origin(&manifest, said, report);
    check_identity(&manifest, said, report);
    check_seal(bytes, manifest.digest.as_deref(), report);
    report.digest.clone_from(&manifest.digest);
    let mut listed = BTreeMap::new();
    for content in &manifest.contents {
        let Some(file) = BundleFile::parse(&content.path) else {
            report.add(
                NAME,
                said.line_of("contents"),
                "lists a file that does not belong in a bundle",
            );
            continue;
        };
        if listed.insert(file, content).is_some() {
            report.add(NAME, None, format!("lists {file} twice"));
        }
        let Some(seen) = found.get(&file) else {
            // Missing required files were already reported.
            if !BundleFile::ALWAYS.contains(&file) {
                report.add(file, None, "is missing");
            }
            continue;
        };
        if seen.bytes != content.bytes {
            let (actual, stated) = (seen.bytes, content.bytes);
            report.add(file, None, format!("has {actual} bytes, not {stated}"));
        }
        if content.media_type != file.media_type() {
            let problem =
                format!("states a media type for {file} other than {}", file.media_type());
            report.add(NAME, said.line_of("contents"), problem);
        }
        match &content.sha256 {
            Some(stated) if *stated == hex(&seen.digest) => {}
            Some(_) => report.add(file, None, "was changed: its digest differs"),
            None => report.add(file, None, "has no digest in the manifest"),
        }
    }
    for file in found.keys().filter(|file| **file != BundleFile::Manifest) {
        if !listed.contains_key(file) {
            report.add(file, None, "is not listed in the manifest");
        }
    }
    check_supplements(&manifest, &listed, said, report);
    let (runtime, transcript) = (said.runtime, said.transcript);
    for (what, stated, actual) in [
        ("events", manifest.event_count, runtime + transcript),
        ("runtime events", manifest.runtime_event_count, runtime),
        ("transcript events", manifest.transcript_event_count, transcript),
    ] {
        if stated != actual {
            let problem = format!("states {stated} as the number of {what}, not {actual}");
            report.add(NAME, None, problem);
        }
    }
}

/// Checks each required member by itself.
fn check_members(manifest: &Manifest, said: &StatedFacts, report: &mut VerifyReport) {
    let time = &manifest.generated_at;
    if UnixMillis::parse_iso(time).is_none_or(|at| at.to_iso() != *time) {
        report.add(NAME, said.line_of("generatedAt"), "does not state when it was made");
    }
    if manifest.tool.is_none() {
        report.add(NAME, None, "does not state the program that wrote it");
    }
    if manifest.redaction.is_none() {
        report.add(NAME, None, "does not state what was redacted");
    }
    let line = said.line_of("sources");
    let sources = manifest.sources.as_deref().unwrap_or_default();
    let has_one = |role: SourceRole| sources.iter().filter(|s| s.role == role).count();
    let counts = (has_one(SourceRole::Session), has_one(SourceRole::Runtime));
    if counts.0 + counts.1 == 0 || counts.0.max(counts.1) > 1 {
        report.add(NAME, line, "must name a session, a sidecar or one of each as its sources");
    }
    for (what, events, count) in
        [("transcript", said.transcript, counts.0), ("runtime", said.runtime, counts.1)]
    {
        if events > 0 && count == 0 {
            report.add(NAME, line, format!("names no source for its {what} events"));
        }
    }
    if manifest.source_files.runtime.is_some() != (counts.1 > 0) {
        report.add(NAME, said.line_of("sourceFiles"), "names files other than its sources");
    }
    let is_digest = |text: &str| {
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    if !sources.iter().all(|source| is_digest(&source.sha256)) {
        report.add(NAME, line, "has a source without a digest");
    }
}

/// Numbers that cannot be compared with a file. They must agree with each
/// other.
fn check_figures(manifest: &Manifest, said: &StatedFacts, report: &mut VerifyReport) {
    if let Some(redaction) = &manifest.redaction {
        let counts = redaction.rules.iter().map(|rule| rule.count);
        if counts.fold(0_u64, u64::saturating_add) != redaction.total {
            report.add(NAME, None, "states a number of secrets that is not the sum of its rules");
        }
    }
    for source in manifest.sources.iter().flatten() {
        // The last row may have no line end.
        let most_rows = source.bytes.saturating_add(1);
        let made_of_rows = match source.role {
            SourceRole::Session => said.entry_count,
            SourceRole::Runtime => said.runtime,
        };
        if source.rows > most_rows || source.rows < made_of_rows {
            report.add(NAME, said.line_of("sources"), "states rows that a source cannot have");
        }
    }
}

/// Checks the program that wrote the session, unknown entries and branches that
/// were not exported.
fn check_origin(manifest: &Manifest, said: &StatedFacts, report: &mut VerifyReport) {
    let dialect = manifest.dialect.as_deref().and_then(Dialect::parse);
    if dialect.is_some_and(|dialect| !dialect.is_written_by(manifest.agent.as_deref())) {
        report.add(NAME, said.line_of("agent"), "names an agent that does not write its dialect");
    }
    if let Some(unknown) = &manifest.unknown_entries {
        let counts = unknown.types.iter().map(|of_type| of_type.count);
        let named = counts.fold(0_u64, u64::saturating_add);
        if unknown.count != said.unknown_entries || named > unknown.count {
            let line = said.line_of("unknownEntries");
            report.add(NAME, line, "states unknown entries that differ from session-branch.json");
        }
    }
    let Some(others) = &manifest.other_branches else { return };
    let sources = manifest.sources.iter().flatten();
    let rows =
        sources.filter(|source| source.role == SourceRole::Session).map(|source| source.rows);
    let most = rows.fold(0, u64::saturating_add).saturating_sub(said.entry_count);
    if others.entries == 0 || others.count > others.entries || others.entries > most {
        let line = said.line_of("otherBranches");
        report.add(NAME, line, "states branches that the session cannot have");
    }
}

/// Checks that all files belong to the same session, export and branch.
fn check_identity(manifest: &Manifest, said: &StatedFacts, report: &mut VerifyReport) {
    if manifest.trace_id != manifest.session_id {
        report.add(NAME, said.line_of("traceId"), "names a trace that is not its session");
    }
    for (session, line) in &said.sessions {
        if *session != manifest.session_id {
            report.add(BundleFile::Events, Some(*line), "belongs to another session");
        }
    }
    if let Some((_, leaf)) = &said.leaf
        && *leaf != manifest.leaf_id
    {
        report.add(NAME, said.line_of("leafId"), "names a different leaf than session-branch.json");
    }
    for ((file, member), belongs) in &said.belongs {
        let stated = match *member {
            "generatedAt" => &manifest.generated_at,
            "traceId" => &manifest.trace_id,
            _ => &manifest.session_id,
        };
        if belongs.text.as_ref() != Some(stated) {
            let problem = format!("has a different {member} than the manifest");
            report.add(*file, Some(belongs.line), problem);
        }
    }
}

/// Checks that the list of supplemental files matches the listed files.
fn check_supplements(
    manifest: &Manifest,
    listed: &BTreeMap<BundleFile, &ManifestContent>,
    said: &StatedFacts,
    report: &mut VerifyReport,
) {
    let present = BundleFile::SUPPLEMENTAL.into_iter().filter(|file| listed.contains_key(file));
    let is_same =
        present.map(|file| file.to_string()).eq(manifest.supplemental_files.iter().cloned());
    if !is_same {
        let line = said.line_of("supplementalFiles");
        report.add(NAME, line, "names supplemental files that differ from those it lists");
    }
}

fn check_seal(bytes: &[u8], stated: Option<&str>, report: &mut VerifyReport) {
    if long_rows::is_bomb(bytes) {
        report.add(NAME, None, "has more values than a bundle holds");
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let Ok(value) = Json::parse(&text) else { return };
    // The digest covers only the content, so the layout is checked too.
    if text.strip_suffix('\n') != Some(&value.to_pretty()) {
        report.add(NAME, None, "was changed: its layout is not the one traj writes");
    }
    match stated {
        None => report.add(NAME, None, "has no bundle digest"),
        Some(stated) if stated == format!("sha256:{}", hex(&digest_without_seal(&value))) => {}
        Some(_) => report.add(NAME, None, "was changed: the bundle digest differs"),
    }
}
