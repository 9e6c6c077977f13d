//! `traj inspect` refuses what `traj verify` refuses, with the same exit code and
//! the same message: both use one reader.

use std::io::{Cursor, Read as _, Write as _};

use serde_json::Value;
use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use zip::write::SimpleFileOptions;

/// The entries of the zip that an export wrote, in order.
fn entries_of(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.name().unwrap().into_owned(), content)
        })
        .collect()
}

type Writer = zip::ZipWriter<Cursor<Vec<u8>>>;

/// The bundle as a zip, with extra bytes before and after its entries.
fn packed(
    entries: &[(String, Vec<u8>)],
    before: impl FnOnce(&mut Writer),
    after: impl FnOnce(&mut Writer),
) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    before(&mut writer);
    for (name, content) in entries {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    after(&mut writer);
    writer.finish().unwrap().into_inner()
}

fn link(writer: &mut Writer, name: &str) {
    writer.add_symlink(name, "/etc/passwd", SimpleFileOptions::default()).unwrap();
}

/// The exit code and the error of a command on a bundle that it cannot read.
fn answer(home: &Home, verb: &str, name: &str) -> (Option<i32>, Value) {
    let output = home.traj(&[verb, name, "--json"]);
    let error = result(&output)["error"].clone();
    (output.status.code(), error)
}

#[test]
fn an_archive_that_is_not_safe_to_read_is_refused_by_both() {
    let home = Home::new();
    assert!(home.export(&["--archive", "zip", "--output", "b"]).status.success());
    let zip = home.folder.read(format!("{EXPORTS}/b.zip")).unwrap();
    let entries = entries_of(&zip);
    let without_events: Vec<_> =
        entries.iter().filter(|(name, _)| name != "events.jsonl").cloned().collect();
    let nothing = |_: &mut Writer| {};
    let stray = packed(&entries, nothing, |writer| link(writer, "notes.txt"));
    let first = packed(&entries, |writer| link(writer, "notes.txt"), nothing);
    let events = packed(&without_events, nothing, |writer| link(writer, "events.jsonl"));
    let blob = packed(&entries, nothing, |writer| link(writer, "blobs/x"));
    let outside = packed(&entries, nothing, |writer| {
        writer.start_file("../x", SimpleFileOptions::default()).unwrap();
    });
    let folder = packed(&entries, nothing, |writer| {
        writer.add_directory("blobs", SimpleFileOptions::default()).unwrap();
    });
    let cut = zip.get(..zip.len() - 30).unwrap().to_vec();
    for (name, hostile) in [
        ("stray link", stray),
        ("link first", first),
        ("link for a file", events),
        ("link among blobs", blob),
        ("outside", outside),
        ("folder", folder),
        ("cut", cut),
    ] {
        // The content counts, not the name: one of these is named like a session.
        for file in ["b.zip", "b.jsonl"] {
            home.folder.write(file, &hostile).unwrap();
            let verified = answer(&home, "verify", file);
            assert_eq!(verified.0, Some(4), "{name} {file}");
            assert!(!verified.1["message"].as_str().unwrap().is_empty(), "{name} {file}");
            assert_eq!(answer(&home, "inspect", file), verified, "{name} {file}");
        }
    }
    // Both read the original, and the same files packed again by the same rules.
    for (verb, file) in [("verify", "b.zip"), ("inspect", "b.zip"), ("inspect", "b.jsonl")] {
        home.folder.write(file, packed(&entries, nothing, nothing)).unwrap();
        assert_eq!(answer(&home, verb, file), (Some(0), Value::Null), "{verb} {file}");
    }
}
