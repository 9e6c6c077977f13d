//! The files of a recorder: names, modes, order and leftovers.

use std::time::{Duration, SystemTime};

use cap_std::fs::{Permissions, PermissionsExt as _};
use traj_core::port::{Exposure, Room, SidecarWriter, TrajectoryStore as _};
use traj_core::settings::Settings;
use traj_fs::FsTrajectoryStore;
use traj_tests::sidecar::{Place, SidecarContent, blob, event, lines, options, session};

fn writer(place: &Place) -> Box<dyn SidecarWriter> {
    place.store().open(&session("chat"), &options()).unwrap()
}

fn append(writer: &mut dyn SidecarWriter, text: &str) -> u64 {
    let appended = writer.append(&lines(&session("chat"), [text]), Room::Ordinary);
    appended.unwrap().first_source_sequence
}

#[test]
fn the_pointer_follows_the_sidecar_and_says_where_it_is() {
    let place = Place::new();
    let mut small = options();
    small.limit_bytes = 10;
    let mut full = place.store().open(&session("chat"), &small).unwrap();
    full.append(&lines(&session("chat"), ["text"]), Room::Ordinary).unwrap_err();
    assert!(place.names().is_empty(), "no sidecar, no pointer");

    append(writer(&place).as_mut(), "text");
    assert_eq!(place.names(), [Place::POINTER, Place::SIDECAR]);
    let pointer = traj_core::location::Pointer::parse(&place.folder.read(Place::POINTER).unwrap());
    let pointer = pointer.unwrap();
    let sidecar = place.path().join(Place::SIDECAR);
    assert_eq!(pointer.runtime_file, sidecar.to_string_lossy());
    assert!(pointer.is_marked && pointer.session_id == "chat");
}

#[test]
fn everything_is_private_and_made_so_again() {
    let place = Place::new();
    let loose = |name: &str, mode: u32| {
        place.folder.set_permissions(name, Permissions::from_mode(mode)).unwrap();
    };
    place.folder.create_dir(Place::BLOBS).unwrap();
    place.folder.write(Place::SIDECAR, "").unwrap();
    place.folder.write(Place::POINTER, "{}").unwrap();
    loose(Place::BLOBS, 0o777);
    loose(Place::SIDECAR, 0o644);
    loose(Place::POINTER, 0o666);
    let mut writer = writer(&place);
    append(writer.as_mut(), "text");
    let blob = blob("a long text");
    writer.store_blob(&blob).unwrap();
    for (name, mode) in [
        (Place::SIDECAR, 0o600),
        (Place::POINTER, 0o600),
        (Place::BLOBS, 0o700),
        (&format!("{}/{}", Place::BLOBS, blob.digest()), 0o600),
    ] {
        assert_eq!(place.mode(name), mode, "{name}");
    }
}

#[test]
fn leftovers_of_a_crash_are_swept_when_they_are_old() {
    let place = Place::new();
    place.folder.create_dir(Place::BLOBS).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let leave = |name: &str, is_old: bool| {
        let file = place.folder.create(name).unwrap().into_std();
        if is_old {
            file.set_modified(old).unwrap();
        }
    };
    let in_blobs = |name: &str| format!("{}/{name}", Place::BLOBS);
    leave(".traj-1-1.tmp", true);
    leave(".traj-1-2.tmp", false);
    leave("notes.tmp", true);
    leave(&in_blobs(".traj-1-3.tmp"), true);
    let mut writer = writer(&place);
    append(writer.as_mut(), "text");
    writer.store_blob(&blob("a long text")).unwrap();
    let names = place.names();
    assert!(!names.contains(&".traj-1-1.tmp".to_owned()), "{names:?}");
    assert!(names.contains(&".traj-1-2.tmp".to_owned()), "may be in use: {names:?}");
    assert!(names.contains(&"notes.tmp".to_owned()), "not ours: {names:?}");
    assert!(!place.folder.exists(in_blobs(".traj-1-3.tmp")));
}

#[test]
fn hostile_session_ids_stay_inside_and_apart() {
    let outer = Place::new();
    outer.folder.create_dir("sidecars").unwrap();
    let long = "x".repeat(10_000);
    let ids = [
        "../x",
        "/abs",
        "~",
        "a\0b",
        "a\nb",
        &long,
        "日本",
        "..",
        "CON",
        "...",
        "\u{202e}x",
        ".",
        "a_b",
        "a/b",
        "session",
        " ",
        "x.jsonl",
        "-rf",
        "é",
        "e\u{301}",
    ];
    let inner = Place::at(&outer.path().join("sidecars"));
    let store = FsTrajectoryStore::in_folder(inner.folder.try_clone().unwrap(), "/sidecars");
    for (index, id) in ids.iter().enumerate() {
        let session = session(id);
        let mut writer = store.open(&session, &options()).unwrap();
        let text = format!("text {index}");
        writer.append(&lines(&session, [text.as_str()]), Room::Ordinary).unwrap();
        writer.store_blob(&blob(&text)).unwrap();
    }
    for (index, id) in ids.iter().enumerate() {
        let mut bytes = Vec::new();
        let visited = store.visit(&session(id), &mut |line| {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
            std::ops::ControlFlow::Continue(())
        });
        visited.unwrap();
        assert_eq!(SidecarContent::of(&bytes).texts(), [format!("text {index}")], "{id:?}");
    }
    assert_eq!(outer.names(), ["sidecars"]);
    assert_eq!(inner.names().len(), 2 * ids.len());
}

#[test]
fn a_sidecar_that_another_recorder_started_under_a_plain_name_is_continued() {
    let place = Place::new();
    let odd = session("a/b");
    let mut old = String::new();
    lines(&odd, ["old"])[0].write(1, &mut old);
    place.folder.write("a_b.jsonl", &old).unwrap();
    let store = FsTrajectoryStore::in_folder(place.folder.try_clone().unwrap(), "/sidecars");
    let mut seen = Vec::new();
    let visited = store.visit(&odd, &mut |line| {
        seen.extend_from_slice(line);
        std::ops::ControlFlow::Continue(())
    });
    visited.unwrap();
    assert_eq!(seen, old.trim_end().as_bytes());
    let mut writer = store.open(&odd, &options()).unwrap();
    writer.append(&lines(&odd, ["new"]), Room::Ordinary).unwrap();
    let content = SidecarContent::of(&place.folder.read("a_b.jsonl").unwrap());
    assert_eq!(content.texts(), ["old", "new"]);
    // The name also fits another session, which must not use this file.
    let other = store.open(&session("a_b"), &options());
    assert!(
        other.and_then(|mut writer| writer.append(&lines(&odd, ["x"]), Room::Ordinary)).is_err()
    );
    assert_eq!(store.sidecar_path(&odd).unwrap(), "/sidecars/a_b.jsonl");
}

#[test]
fn a_sidecar_that_was_taken_away_or_cut_keeps_its_numbers_rising() {
    let place = Place::new();
    let mut writer = writer(&place);
    assert_eq!(append(writer.as_mut(), "one"), 1);
    place.folder.rename(Place::SIDECAR, &place.folder, "rotated").unwrap();
    assert_eq!(append(writer.as_mut(), "two"), 2);
    assert_eq!(place.sidecar().texts(), ["two"]);
    place
        .folder
        .open_with(Place::SIDECAR, cap_std::fs::OpenOptions::new().write(true).truncate(true))
        .unwrap();
    assert_eq!(append(writer.as_mut(), "three"), 3);
    assert_eq!(place.sidecar().texts(), ["three"]);
    place.sidecar().assert_sound();
}

#[test]
fn a_first_line_that_was_torn_does_not_end_the_sidecar() {
    for torn in
        ["{", r#"{"traceSchema":"openclaw-traj"#, r#"{"traceSchema":"openclaw-trajectory","x"#]
    {
        let place = Place::new();
        place.folder.write(Place::SIDECAR, torn).unwrap();
        append(writer(&place).as_mut(), "one");
        append(writer(&place).as_mut(), "two");
        let sidecar = place.sidecar();
        assert_eq!((sidecar.texts(), sidecar.closed_torn_lines), (vec!["one", "two"], 1));
        sidecar.assert_numbered();
    }
}

#[test]
fn a_blob_that_was_damaged_is_stored_again() {
    let place = Place::new();
    let blob = blob("a long text");
    writer(&place).store_blob(&blob).unwrap();
    let name = format!("{}/{}", Place::BLOBS, blob.digest());
    place.folder.write(&name, "a lo").unwrap();
    writer(&place).store_blob(&blob).unwrap();
    assert_eq!(place.folder.read_to_string(&name).unwrap(), "a long text");
}

#[test]
fn a_blob_with_another_content_or_mode_is_not_trusted() {
    let place = Place::new();
    let blob = blob("a long text");
    let name = format!("{}/{}", Place::BLOBS, blob.digest());
    place.folder.create_dir(Place::BLOBS).unwrap();
    for found in ["a long text", "a wrong one"] {
        place.folder.write(&name, found).unwrap();
        place.folder.set_permissions(&name, Permissions::from_mode(0o644)).unwrap();
        writer(&place).store_blob(&blob).unwrap();
        assert_eq!(place.folder.read_to_string(&name).unwrap(), "a long text", "{found}");
        assert_eq!(place.mode(&name), 0o600, "{found}");
    }
    // A replaced blob does not count against the budget.
    let mut tight = options();
    tight.blob_budget_bytes = 11;
    place.folder.write(&name, "a wrong one").unwrap();
    place.store().open(&session("chat"), &tight).unwrap().store_blob(&blob).unwrap();
    assert_eq!(place.folder.read_to_string(&name).unwrap(), "a long text");
}

#[test]
fn a_directory_of_blobs_that_was_removed_is_made_again() {
    let place = Place::new();
    let mut writer = writer(&place);
    writer.store_blob(&blob("first text")).unwrap();
    place.folder.remove_dir_all(Place::BLOBS).unwrap();
    // The first blob may be lost with the directory; later ones are stored.
    writer.store_blob(&blob("second text")).ok();
    writer.store_blob(&blob("third text")).unwrap();
    let third = blob("third text");
    let read = place.store().read_blob(&session("chat"), third.digest()).unwrap();
    assert_eq!(read.as_deref(), Some("third text"));
}

#[test]
fn a_session_id_with_a_secret_in_it_does_not_look_foreign() {
    let place = Place::new();
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
    let mut rolling = options();
    rolling.when_full = traj_core::settings::WhenFull::Roll;
    rolling.limit_bytes = 3_000;
    let id = session(secret);
    let mut writers = [(); 2].map(|()| place.store().open(&id, &rolling).unwrap());
    for number in 0..30 {
        let text = number.to_string();
        writers[number % 2].append(&lines(&id, [text.as_str()]), Room::Ordinary).unwrap();
    }
    assert!(!String::from_utf8(place.sidecar_bytes()).unwrap().contains(secret));
    place.sidecar().assert_sound();
}

#[test]
fn a_disabled_recorder_leaves_nothing() {
    let place = Place::new();
    let mut settings = Settings::standard();
    settings.enabled = false;
    let recorder = place.recorder(&settings);
    recorder.record(event("text"));
    assert!(recorder.flush().is_complete() && !recorder.is_enabled());
    assert_eq!(recorder.stats(), traj_fs::RecorderStats::default());
    drop(recorder);
    assert!(place.names().is_empty());
}

#[test]
fn a_writer_that_opens_while_others_roll_is_not_refused() {
    let place = Place::new();
    let mut rolling = options();
    rolling.when_full = traj_core::settings::WhenFull::Roll;
    rolling.limit_bytes = 1_200;
    let id = session("chat");
    let batch = lines(&id, ["text"]);
    // Nearly every append replaces the file, so the other writers often find a
    // new file, before or after they have checked it.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut fresh = place.store().open(&id, &rolling).unwrap();
                    fresh.append(&batch, Room::Ordinary).unwrap();
                }
            });
        }
    });
    let content = place.sidecar();
    content.assert_sound();
    assert_eq!(content.rows.last().unwrap().source_sequence, 800);
}

#[test]
fn a_line_that_is_too_long_to_read_keeps_its_number() {
    let place = Place::new();
    let mut line = String::new();
    lines(&session("chat"), ["x"])[0].write(41, &mut line);
    // Longer than any line that a reader keeps in memory.
    let long = line.replace(r#""text":"x""#, &format!(r#""text":"{}""#, "x".repeat(65 << 20)));
    assert!(long.len() > line.len());
    place.folder.write(Place::SIDECAR, &long).unwrap();
    let mut unlimited = options();
    unlimited.limit_bytes = u64::MAX;
    let mut writer = place.store().open(&session("chat"), &unlimited).unwrap();
    assert_eq!(append(writer.as_mut(), "after"), 42);
    assert!(place.sidecar_bytes().starts_with(long.as_bytes()), "the long line is untouched");
}

#[test]
fn a_directory_that_is_not_safe_from_others_is_used_and_warned_of() {
    let exposure = |place: &Place| {
        let recorder = place.recorder(&Settings::standard());
        recorder.record(event("text"));
        assert!(recorder.flush().is_complete());
        assert_eq!(place.mode(Place::SIDECAR), 0o600);
        recorder.stats().exposure
    };
    for (mode, expected) in [(0o700, None), (0o755, None), (0o777, Some(Exposure::OthersCanWrite))]
    {
        let place = Place::new();
        place.folder.set_permissions(".", Permissions::from_mode(mode)).unwrap();
        assert_eq!(exposure(&place), expected, "{mode:o}");
    }
    // Only root can change the owner of a directory, and then still use it.
    let place = Place::new();
    let nobody = rustix::fs::Uid::from_raw(65_534);
    if rustix::fs::fchown(&place.folder, Some(nobody), None).is_ok() {
        assert_eq!(exposure(&place), Some(Exposure::ForeignOwner));
    }
}
