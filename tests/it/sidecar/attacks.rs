//! Links, special files and foreign files instead of a sidecar, its pointer or its
//! blobs are refused at once, and nothing is written.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cap_std::fs::{Dir, Permissions, PermissionsExt as _};
use rustix::fs::{FileType, Mode, RenameFlags, mknodat, renameat, renameat_with};
use rustix::io::Errno;
use traj_core::port::{Room, SidecarError, SidecarWriter, TrajectoryStore as _};
use traj_core::settings::Settings;
use traj_fs::{FsError, Refusal, create_folder, open_folder};
use traj_tests::sidecar::{Place, blob, event, lines, options, session};

const PRECIOUS: &str = "precious";
const PRECIOUS_TEXT: &str = "do not touch\n";

fn place() -> Place {
    let place = Place::new();
    place.folder.write(PRECIOUS, PRECIOUS_TEXT).unwrap();
    place
}

fn writer(place: &Place) -> Box<dyn SidecarWriter> {
    place.store().open(&session("chat"), &options()).unwrap()
}

fn append(writer: &mut dyn SidecarWriter, text: &str) -> Result<u64, Option<Refusal>> {
    let appended = writer.append(&lines(&session("chat"), [text]), Room::Ordinary);
    appended.map(|appended| appended.first_source_sequence).map_err(|error| refusal(&error))
}

fn refusal(error: &SidecarError) -> Option<Refusal> {
    let SidecarError::Refused { source } = error else { return None };
    source.downcast_ref::<FsError>().and_then(FsError::refusal)
}

fn assert_precious_untouched(place: &Place) {
    assert_eq!(place.folder.read_to_string(PRECIOUS).unwrap(), PRECIOUS_TEXT);
}

/// Runs `work`, which must not block, and fails if it does.
fn without_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(work()));
    let outcome = receiver.recv_timeout(Duration::from_secs(20)).expect("it blocks");
    thread.join().unwrap().unwrap();
    outcome
}

/// Creates a special file under a name; `false` if the test lacks the permission.
fn put_special(folder: &Dir, path: &Path, kind: FileType, name: &str) -> bool {
    match kind {
        FileType::Directory => folder.create_dir(name).unwrap(),
        FileType::Socket => drop(UnixListener::bind(path.join(name)).unwrap()),
        kind => match mknodat(folder, name, kind, Mode::RWXU, rustix::fs::makedev(1, 7)) {
            // Only root can create devices.
            Err(Errno::PERM) if kind == FileType::CharacterDevice => return false,
            made => made.unwrap(),
        },
    }
    true
}

const SPECIAL: [FileType; 4] =
    [FileType::Fifo, FileType::Socket, FileType::Directory, FileType::CharacterDevice];

#[test]
fn a_symlinked_sidecar_is_refused() {
    for target in [PRECIOUS, "missing"] {
        let place = place();
        place.folder.symlink(target, Place::SIDECAR).unwrap();
        let refused = append(writer(&place).as_mut(), "text").unwrap_err();
        assert_eq!(refused, Some(Refusal::Symlink), "{target}");
        assert_precious_untouched(&place);
        assert_eq!(place.names(), [Place::SIDECAR, PRECIOUS]);
        let read = place.store().visit(&session("chat"), &mut |_| unreachable!("not a line"));
        assert_eq!(refusal(&read.unwrap_err()), Some(Refusal::Symlink));
    }
}

#[test]
fn a_hard_linked_sidecar_is_refused_whenever_the_link_is_made() {
    let early = place();
    early.folder.hard_link(PRECIOUS, &early.folder, Place::SIDECAR).unwrap();
    let refused = append(writer(&early).as_mut(), "text").unwrap_err();
    assert_eq!(refused, Some(Refusal::HardLink));
    assert_precious_untouched(&early);

    let late = place();
    let mut writer = writer(&late);
    append(writer.as_mut(), "one").unwrap();
    late.folder.hard_link(Place::SIDECAR, &late.folder, "second name").unwrap();
    assert_eq!(append(writer.as_mut(), "two").unwrap_err(), Some(Refusal::HardLink));
    late.folder.remove_file("second name").unwrap();
    append(writer.as_mut(), "three").unwrap();
    assert_eq!(late.sidecar().texts(), ["one", "three"]);
    late.sidecar().assert_sound();
}

#[test]
fn special_files_are_refused_at_once() {
    for kind in SPECIAL {
        let place = place();
        if !put_special(&place.folder, place.path(), kind, Place::SIDECAR) {
            continue;
        }
        let refused = without_blocking(move || {
            let refused = append(writer(&place).as_mut(), "text").unwrap_err();
            let read = place.store().visit(&session("chat"), &mut |_| unreachable!("not a line"));
            (refused, refusal(&read.unwrap_err()))
        });
        let expected = Some(Refusal::NotRegular);
        assert_eq!(refused, (expected, expected), "{kind:?}");
    }
}

#[test]
fn special_files_are_refused_between_batches_too() {
    for kind in SPECIAL {
        let place = place();
        let mut writer = writer(&place);
        append(writer.as_mut(), "one").unwrap();
        place.folder.rename(Place::SIDECAR, &place.folder, "away").unwrap();
        if !put_special(&place.folder, place.path(), kind, Place::SIDECAR) {
            continue;
        }
        let refused = without_blocking(move || append(writer.as_mut(), "two").unwrap_err());
        assert_eq!(refused, Some(Refusal::NotRegular), "{kind:?}");
        assert_eq!(place.folder.read_to_string("away").unwrap().lines().count(), 1);
    }
}

#[test]
fn a_file_that_is_not_a_sidecar_is_refused_from_the_start() {
    let place = place();
    place.folder.rename(PRECIOUS, &place.folder, Place::SIDECAR).unwrap();
    place.folder.set_permissions(Place::SIDECAR, Permissions::from_mode(0o644)).unwrap();
    let refused = append(writer(&place).as_mut(), "text").unwrap_err();
    assert_eq!(refused, Some(Refusal::Foreign));
    assert_eq!(place.mode(Place::SIDECAR), 0o644, "nothing of it is changed");
    assert_eq!(place.sidecar_bytes(), PRECIOUS_TEXT.as_bytes());
}

#[test]
fn a_file_put_in_its_place_stays_refused_until_the_sidecar_is_back() {
    let mut other = String::new();
    lines(&session("other"), ["theirs"])[0].write(1, &mut other);
    for foreign in [PRECIOUS_TEXT, other.as_str()] {
        let place = place();
        let recorder = place.recorder(&Settings::standard());
        recorder.record(event("one"));
        assert!(recorder.flush().is_complete());
        place.folder.rename(Place::SIDECAR, &place.folder, "away").unwrap();
        place.folder.write(Place::SIDECAR, foreign).unwrap();
        for text in ["two", "three"] {
            recorder.record(event(text));
            let report = recorder.flush();
            assert!(report.error.unwrap().contains("replaced by another file"));
            assert_eq!(place.sidecar_bytes(), foreign.as_bytes());
        }
        assert_eq!(recorder.stats().dropped.storage, 2);

        place.folder.rename("away", &place.folder, Place::SIDECAR).unwrap();
        recorder.record(event("four"));
        assert!(recorder.flush().is_complete());
        let sidecar = place.sidecar();
        sidecar.assert_sound();
        sidecar.assert_runs_numbered();
        let kinds: Vec<&str> = sidecar.rows.iter().map(|row| row.kind.as_str()).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == "trace.truncated").count(), 1);
        assert!(sidecar.texts().contains(&"four"), "{kinds:?}");
    }
}

#[test]
fn a_pointer_that_is_not_ours_is_left_alone_and_costs_no_line() {
    type Put = fn(&Place);
    let puts: [(&str, Put); 4] = [
        ("symlink", |place| place.folder.symlink(PRECIOUS, Place::POINTER).unwrap()),
        ("hard link", |place| {
            place.folder.hard_link(PRECIOUS, &place.folder, Place::POINTER).unwrap();
        }),
        ("fifo", |place| {
            put_special(&place.folder, place.path(), FileType::Fifo, Place::POINTER);
        }),
        ("folder", |place| {
            put_special(&place.folder, place.path(), FileType::Directory, Place::POINTER);
        }),
    ];
    for (what, put) in puts {
        let place = place();
        put(&place);
        let before = place.folder.symlink_metadata(Place::POINTER).unwrap().file_type();
        let place = without_blocking(move || {
            append(writer(&place).as_mut(), "text").unwrap();
            place
        });
        assert_eq!(place.sidecar().texts(), ["text"], "{what}");
        assert_precious_untouched(&place);
        let after = place.folder.symlink_metadata(Place::POINTER).unwrap().file_type();
        assert_eq!(before, after, "{what}");
        assert_eq!(place.names(), [Place::POINTER, Place::SIDECAR, PRECIOUS], "{what}");
    }
}

#[test]
fn a_linked_directory_of_blobs_is_refused_and_the_event_says_so() {
    let place = place();
    place.folder.create_dir("elsewhere").unwrap();
    place.folder.symlink("elsewhere", Place::BLOBS).unwrap();
    let refused = writer(&place).store_blob(&blob("a text")).unwrap_err();
    assert_eq!(refusal(&refused), Some(Refusal::Symlink));

    let mut settings = Settings::standard();
    settings.limits.text_units = 10;
    let recorder = place.recorder(&settings);
    recorder.record(event("longer than ten units"));
    assert!(recorder.flush().is_complete());
    let stats = recorder.stats();
    assert_eq!((stats.written_events, stats.omitted_blobs), (1, 1));
    assert!(place.sidecar().rows[0].line.contains(r#""blobOmitted":"trajectory-blob-storage""#));
    assert_eq!(place.folder.read_dir("elsewhere").unwrap().count(), 0);
}

#[test]
fn a_blob_that_is_a_link_is_refused() {
    let place = place();
    let blob = blob("a text");
    place.folder.create_dir(Place::BLOBS).unwrap();
    let name = format!("{}/{}", Place::BLOBS, blob.digest());
    place.folder.symlink("../precious", &name).unwrap();
    let refused = writer(&place).store_blob(&blob).unwrap_err();
    assert_eq!(refusal(&refused), Some(Refusal::Symlink));
    let read = place.store().read_blob(&session("chat"), blob.digest()).unwrap_err();
    assert_eq!(refusal(&read), Some(Refusal::Symlink));
    assert_precious_untouched(&place);
}

#[test]
fn a_linked_directory_on_the_way_is_refused() {
    let place = place();
    let root = Place::at(Path::new("/"));
    place.folder.create_dir("real").unwrap();
    place.folder.symlink("real", "link").unwrap();
    let path = place.path();
    for opened in [
        create_folder(&root.folder, &path.join("link")),
        create_folder(&root.folder, &path.join("link/deeper")),
        open_folder(&root.folder, &path.join("link")),
    ] {
        assert_eq!(opened.unwrap_err().refusal(), Some(Refusal::Symlink));
    }
    let escape = create_folder(&root.folder, &path.join("real/../../escape")).unwrap_err();
    assert_eq!(escape.refusal(), Some(Refusal::UnsafeName));
    let file = create_folder(&root.folder, &path.join(PRECIOUS)).unwrap_err();
    assert_eq!(file.refusal(), Some(Refusal::NotAFolder));
    assert_eq!(place.folder.read_dir("real").unwrap().count(), 0);
    create_folder(&root.folder, &path.join("real/deeper")).unwrap();
    assert_eq!(place.mode("real/deeper"), 0o700);
}

/// Swaps two names, in one step if the filesystem supports it.
fn exchange(folder: &Dir, one: &str, other: &str) {
    if renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE).is_err() {
        renameat(folder, one, folder, "between").unwrap();
        renameat(folder, other, folder, one).unwrap();
        renameat(folder, "between", folder, other).unwrap();
    }
}

/// Swaps two names over and over while `work` runs.
fn while_swapping(folder: &Dir, one: &str, other: &str, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let swaps = scope.spawn(|| {
            let mut swaps = 0_u64;
            while !done.load(Ordering::Relaxed) || !swaps.is_multiple_of(2) {
                exchange(folder, one, other);
                swaps += 1;
            }
            swaps
        });
        work();
        done.store(true, Ordering::Relaxed);
        assert!(swaps.join().unwrap() > 0);
    });
}

#[test]
fn a_race_over_the_file_never_writes_elsewhere() {
    let place = place();
    let mut writer = writer(&place);
    append(writer.as_mut(), "first").unwrap();
    place.folder.symlink(PRECIOUS, "decoy").unwrap();
    let mut written = vec!["first".to_owned()];
    while_swapping(&place.folder, Place::SIDECAR, "decoy", || {
        for number in 0..500 {
            let text = number.to_string();
            if append(writer.as_mut(), &text).is_ok() {
                written.push(text);
            }
        }
    });
    assert_precious_untouched(&place);
    let sidecar = place.sidecar();
    sidecar.assert_sound();
    assert_eq!(sidecar.texts(), written);
}

#[test]
fn a_race_over_the_directory_never_writes_elsewhere() {
    let outer = place();
    outer.folder.create_dir("sessions").unwrap();
    outer.folder.create_dir("victim").unwrap();
    outer.folder.symlink("victim", "decoy").unwrap();
    let inner = Place::at(&outer.path().join("sessions"));
    while_swapping(&outer.folder, "sessions", "decoy", || {
        for number in 0..50 {
            let mut writer = writer(&inner);
            append(writer.as_mut(), &number.to_string()).unwrap();
            writer.store_blob(&blob(&format!("blob {number}"))).unwrap();
        }
    });
    assert_eq!(outer.folder.read_dir("victim").unwrap().count(), 0);
    assert_eq!(inner.sidecar().rows.len(), 50);
    inner.sidecar().assert_sound();
}
