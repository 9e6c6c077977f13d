//! `traj export`, `verify`, `inspect` and `schema` as users run them.

use std::path::{Path, PathBuf};

use cap_std::fs::MetadataExt as _;
use traj_core::capture::BlobDigest;
use traj_core::json::Json;
use traj_export::SchemaName;
use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::rows::event;
use traj_tests::traj_binary::traj_command;

#[test]
fn a_session_becomes_a_private_bundle_in_the_workspace() {
    let home = Home::new();
    let exported = result(&home.export(&[]));
    let exported = &exported["result"];
    let name = "openclaw-trajectory-s1-2026-06-02T12-00-00";
    assert_eq!(exported["displayPath"], format!(".openclaw/trajectory-exports/{name}"));
    assert_eq!((&exported["eventCount"], &exported["runtimeEventCount"]), (&2.into(), &1.into()));
    let mode = |path: &str| {
        let path = format!("ws/.openclaw/trajectory-exports/{name}{path}");
        home.folder.symlink_metadata(path).unwrap().mode() & 0o777
    };
    assert_eq!((mode(""), mode("/manifest.json"), mode("/events.jsonl")), (0o700, 0o600, 0o600));
    // A second export in the same second has a different name. No progress is
    // printed to a pipe.
    let base = ["export", "--session", "s1.jsonl", "--workspace", "ws"];
    let second = home.traj(&[&base[..], &["--now", "2026-06-02T12:00:00Z"]].concat());
    assert!(second.status.success());
    assert_eq!(String::from_utf8(second.stderr).unwrap(), "");
    assert_eq!(home.exports(), [name.to_owned(), format!("{name}-2")]);
}

#[test]
fn output_names_that_could_leave_the_directory_are_refused_with_a_hint() {
    let home = Home::new();
    for name in ["/tmp/x", "~/x", "..", "../x", "a/../../b", "x.", "a\\b"] {
        let output = home.export(&["--output", name]);
        assert_eq!(output.status.code(), Some(2), "{name:?}");
        assert!(!result(&output)["error"]["hints"].as_array().unwrap().is_empty(), "{name:?}");
    }
    // The next export would take it for a leftover of a crash.
    for name in [".traj-bundle-mine.tmp", "x/.traj-bundle-1-0.tmp", ".Traj-bundle-mine.tmp"] {
        let output = home.export(&["--output", name]);
        assert_eq!(output.status.code(), Some(2), "{name:?}");
        assert!(!result(&output)["error"]["hints"].as_array().unwrap().is_empty(), "{name:?}");
    }
    home.folder.create_dir("elsewhere").unwrap();
    assert!(home.export(&["--output", "made"]).status.success());
    home.folder.symlink("../../../elsewhere", "ws/.openclaw/trajectory-exports/link").unwrap();
    assert_eq!(home.export(&["--output", "link/x"]).status.code(), Some(1));
    let taken = home.export(&["--output", "made"]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(result(&taken)["error"]["message"].as_str().unwrap().contains("already exists"));
    assert_eq!(home.folder.read_dir("elsewhere").unwrap().count(), 0);
    assert_eq!(home.exports(), ["link", "made"]);
}

#[test]
fn linked_export_directories_are_refused_unless_named() {
    let home = Home::new();
    home.folder.create_dir("elsewhere").unwrap();
    home.folder.symlink("../elsewhere", "ws/.openclaw").unwrap();
    assert_eq!(home.export(&[]).status.code(), Some(1));
    assert_eq!(home.folder.read_dir("elsewhere").unwrap().count(), 0);
    home.folder.symlink("elsewhere", "linked").unwrap();
    assert!(home.export(&["--output-root", "linked", "--output", "b"]).status.success());
    assert!(home.folder.exists("elsewhere/b/manifest.json"));
    // The same for an absolute link. Links below it are not followed.
    let target = home.path().join("elsewhere");
    home.folder.symlink_contents(&target, "absolute").unwrap();
    assert!(home.export(&["--output-root", "absolute", "--output", "c"]).status.success());
    assert!(home.folder.exists("elsewhere/c/manifest.json"));
    home.folder.symlink_contents(home.path(), "elsewhere/below").unwrap();
    assert_eq!(
        home.export(&["--output-root", "absolute", "--output", "below/d"]).status.code(),
        Some(1)
    );
    // The workspace need not exist if the bundle is written elsewhere.
    let output = home.traj(&[
        "export",
        "--session",
        "s1.jsonl",
        "--workspace",
        "gone",
        "--output-root",
        "linked",
    ]);
    assert!(output.status.success());
}

#[test]
fn the_same_input_key_and_time_give_the_same_bytes() {
    let home = Home::new();
    let export = |name: &str| {
        let output = traj_command(home.path())
            .args(["export", "--session", "s1.jsonl", "--workspace", "ws", "--output", name])
            .args(["--archive", "zip"])
            .env("SOURCE_DATE_EPOCH", "1780308000")
            .output()
            .unwrap();
        assert!(output.status.success());
        home.folder.read(format!("ws/.openclaw/trajectory-exports/{name}.zip")).unwrap()
    };
    assert_eq!(export("one"), export("two"));
}

#[test]
fn the_manifest_states_the_paths_of_the_inputs() {
    let home = Home::new();
    // With its label and a digit, the path of a session could look like a secret.
    let session = home.path().join("s1.jsonl");
    let workspace = home.path().display().to_string();
    for name in ["one", "two"] {
        let output = home.traj(&[
            "export",
            "--session",
            session.to_str().unwrap(),
            "--workspace",
            &workspace,
            "--output-root",
            &workspace,
            "--output",
            name,
            "--json",
        ]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let manifest = home.folder.read(format!("{name}/manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let expected = ["$WORKSPACE_DIR/s1.jsonl", "$WORKSPACE_DIR/s1.trajectory.jsonl"];
        let [files, sources] = [&manifest["sourceFiles"], &manifest["sources"]];
        assert_eq!([&files["session"], &files["runtime"]], expected);
        assert_eq!([&sources[0]["path"], &sources[1]["path"]], expected);
        assert_eq!(home.traj(&["verify", name]).status.code(), Some(0));
    }
}

#[test]
fn every_form_is_verified_and_inspected_in_place() {
    let home = Home::new();
    for (form, name) in [(None, "b"), (Some("zip"), "b.zip"), (Some("tar.zst"), "b.tar.zst")] {
        let archive = form.map_or(vec![], |form| vec!["--archive", form]);
        let output = home.export(&[&["--output", "b"][..], &archive].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let path = format!("ws/.openclaw/trajectory-exports/{name}");
        let verified = home.traj(&["verify", &path, "--json"]);
        assert_eq!(verified.status.code(), Some(0), "{name}");
        assert_eq!(result(&verified)["result"]["events"], 2);
        let inspected = home.traj(&["inspect", &path]);
        let text = String::from_utf8(inspected.stdout).unwrap();
        assert!(text.contains("user.message"), "{text}");
        assert!(!text.contains('\u{1b}'), "control characters are shown, not sent");
    }
    let session = home.traj(&["inspect", "s1.jsonl", "--json"]);
    assert_eq!(result(&session)["result"]["events"], 2);
    // The sidecar is found in the same places as in an export.
    home.folder.create_dir("sidecars").unwrap();
    home.folder.rename("s1.trajectory.jsonl", &home.folder, "sidecars/s1.jsonl").unwrap();
    let moved = traj_command(home.path())
        .args(["inspect", "s1.jsonl", "--json"])
        .env("OPENCLAW_TRAJECTORY_DIR", "sidecars")
        .output()
        .unwrap();
    assert_eq!(result(&moved)["result"]["events"], 2);
}

#[test]
fn documents_contain_no_terminal_control_characters() {
    let home = Home::new();
    let steering = "a\u{7f}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{2028}b";
    let kind = format!("custom.{steering}");
    let event = event(&kind, "2026-06-01T10:00:00Z", 1).json();
    home.folder.write("s1.trajectory.jsonl", event).unwrap();
    assert!(home.export(&["--output", "b"]).status.success());
    let bundle = format!("{EXPORTS}/b");
    let missing = format!("{steering}.jsonl");
    for arguments in [
        &["inspect", &bundle, "--json"][..],
        &["export", "--session", &missing, "--json"],
        &["tail", "--session", &missing, "--json"],
        &[steering, "--json"],
    ] {
        let output = home.traj(arguments);
        let said = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(said.contains(r"\u009b31m\u202e\u2066\u200f\u2028b"), "{said}");
        assert!(!said.contains(['\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}']));
        result(&output);
    }
}

#[test]
fn damage_exits_with_four_and_a_secret_with_three() {
    let home = Home::new();
    home.export(&["--output", "b"]);
    let bundle = PathBuf::from("ws/.openclaw/trajectory-exports/b");
    let events = bundle.join("events.jsonl");
    let whole = home.folder.read_to_string(&events).unwrap();
    let code = || home.traj(&["verify", bundle.to_str().unwrap()]).status.code();
    assert_eq!(code(), Some(0));
    home.folder.write(&events, whole.replace("notes", "motes")).unwrap();
    assert_eq!(code(), Some(4));
    assert_eq!(home.traj(&["inspect", bundle.to_str().unwrap()]).status.code(), Some(4));
    home.folder.write(&events, &whole).unwrap();
    home.folder.write(bundle.join("extra.txt"), "x").unwrap();
    assert_eq!(code(), Some(4));
    home.folder.remove_file(bundle.join("extra.txt")).unwrap();
    // A manifest of any length is compared with the files.
    let manifest = home.folder.read_to_string(bundle.join("manifest.json")).unwrap();
    let blanks = format!("\"contents\": [{}", " ".repeat(40 << 20));
    let large = manifest.replace("\"contents\": [", &blanks);
    home.folder.write(bundle.join("manifest.json"), large).unwrap();
    assert_eq!(code(), Some(4));
    home.folder.write(bundle.join("manifest.json"), &manifest).unwrap();
    assert_eq!(code(), Some(0));
    // A bundle cannot be written into another bundle.
    assert_eq!(home.export(&["--output", "b/inner"]).status.code(), Some(1));
    home.folder.create_dir(bundle.join("blobs")).unwrap();
    for root in ["", "deeper/still", "blobs"] {
        let root = bundle.join(root);
        let output = home.export(&["--output-root", root.to_str().unwrap(), "--output", "x"]);
        assert_eq!(output.status.code(), Some(1), "{}", root.display());
    }
    home.folder.remove_dir(bundle.join("blobs")).unwrap();
    assert_eq!(code(), Some(0));
    assert_eq!(home.traj(&["verify", "s1.jsonl"]).status.code(), Some(4));
    assert_eq!(home.traj(&["verify", "ws"]).status.code(), Some(4));
    // A secret in a bundle with a matching manifest.
    let secret = ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
    let leaking = whole.replace("notes", &secret);
    home.folder.write(&events, &leaking).unwrap();
    let digest = |text: &str| BlobDigest::of(text.as_bytes()).to_string();
    let manifest = manifest
        .replace(&digest(&whole), &digest(&leaking))
        .replace(&format!(": {},", whole.len()), &format!(": {},", leaking.len()));
    let mut sealed = Json::parse(&manifest).unwrap();
    sealed.as_object_mut().unwrap().remove("digest");
    let seal = format!("sha256:{}", digest(&sealed.to_line()));
    sealed.as_object_mut().unwrap().push("digest", seal);
    home.folder.write(bundle.join("manifest.json"), sealed.to_line()).unwrap();
    let verified = home.traj(&["verify", bundle.to_str().unwrap()]);
    let text = String::from_utf8(verified.stdout).unwrap();
    assert_eq!(verified.status.code(), Some(3), "{text}");
    assert!(text.contains("events.jsonl:2 rule github-pat") && !text.contains("q7Xw2"), "{text}");
    // `inspect` does not print the secret either.
    let inspected = home.traj(&["inspect", bundle.to_str().unwrap()]);
    assert_eq!(inspected.status.code(), Some(3));
    assert!(!String::from_utf8(inspected.stdout).unwrap().contains("q7Xw2"));
    // A link among its files is not followed.
    home.folder.remove_file(&events).unwrap();
    home.folder.symlink("../../../../s1.jsonl", &events).unwrap();
    assert_eq!(code(), Some(4));
}

#[test]
fn files_that_do_not_belong_in_a_bundle_are_reported() {
    let home = Home::new();
    home.export(&["--output", "b"]);
    let bundle = format!("{EXPORTS}/b");
    let error = |verb: &str| {
        let output = home.traj(&[verb, &bundle, "--json"]);
        assert_eq!(output.status.code(), Some(4));
        let error = result(&output)["error"].clone();
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
        error["message"].as_str().unwrap().to_owned()
    };
    home.folder.create_dir(format!("{bundle}/inner")).unwrap();
    let message = "inner in the bundle's directory is not a regular file with a plain name";
    assert_eq!((error("verify"), error("inspect")), (message.to_owned(), message.to_owned()));
    home.folder.remove_dir(format!("{bundle}/inner")).unwrap();
    home.folder.symlink("events.jsonl", format!("{bundle}/a\u{1b}b")).unwrap();
    assert!(error("verify").starts_with("a\u{1b}b in the bundle's directory"));
    home.folder.remove_file(format!("{bundle}/a\u{1b}b")).unwrap();
    home.folder.remove_file(format!("{bundle}/manifest.json")).unwrap();
    assert_eq!(error("verify"), "b has no manifest.json");
}

#[test]
fn inspecting_a_damaged_bundle_reports_the_damage() {
    let home = Home::new();
    home.export(&["--output", "b"]);
    let events = format!("{EXPORTS}/b/events.jsonl");
    let whole = home.folder.read(&events).unwrap();
    let look = |name: &str| {
        let output = home.traj(&["inspect", name, "--json"]);
        assert_eq!(output.status.code(), Some(4), "{name}");
        result(&output)["result"]["problems"].to_string()
    };
    home.folder.write(&events, &whole[..whole.len() - 9]).unwrap();
    let cut = look(&format!("{EXPORTS}/b"));
    assert!(
        cut.contains("\"is truncated\"") && cut.contains("states 2 as the number of events, not 1"),
        "{cut}"
    );
    home.folder.remove_file(&events).unwrap();
    assert!(look(&format!("{EXPORTS}/b")).contains("is missing"));
    home.folder.write("empty.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    assert!(look("empty.zip").contains("manifest.json"));
}

#[test]
fn wrong_usage_is_reported_in_full_and_makes_no_directory() {
    let home = Home::new();
    let output = home.traj(&["export", "--workspace", "ws", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let document = result(&output);
    assert_eq!(document["error"]["message"], "no session was found; name one");
    assert_eq!(home.export(&["--session-id", ""]).status.code(), Some(2));
    assert_eq!(home.export(&["--now", "someday"]).status.code(), Some(2));
    let has_hint = |output: &std::process::Output| {
        assert_eq!(output.status.code(), Some(2));
        !result(output)["error"]["hints"].as_array().unwrap().is_empty()
    };
    let agent = ["export", "--session-key", "k", "--agent", "../x", "--json"];
    assert!(has_hint(&home.traj(&agent)));
    let mut odd = traj_command(home.path());
    odd.args(["export", "--session", "s1.jsonl", "--json"]).env("SOURCE_DATE_EPOCH", "x");
    assert!(has_hint(&odd.output().unwrap()));
    let missing = home.traj(&["export", "--session", "gone.jsonl", "--workspace", "ws"]);
    assert_eq!(missing.status.code(), Some(1));
    // An error that is found only after directories were created, also with an output root.
    let late = ["--runtime", "gone.jsonl"];
    assert_eq!(home.export(&late).status.code(), Some(1));
    let strict = ["--strict-limits", "--output-root", "new/root"];
    home.folder.create("s1.trajectory.jsonl").unwrap().set_len(1 << 40).unwrap();
    assert_eq!(home.export(&strict).status.code(), Some(1));
    assert!(!home.folder.exists("new"), "a failed export leaves nothing");
    assert!(!home.folder.exists("ws/.openclaw"), "a failed export leaves nothing");
}

#[test]
fn missing_files_are_reported_with_a_hint() {
    let home = Home::new();
    let base = ["--workspace", "ws", "--json"];
    for arguments in [
        &["export", "--session", "gone/s1.jsonl"][..],
        &["export", "--session", "gone.jsonl"],
        &["export", "--session", "s1.jsonl", "--runtime", "gone/s1.trajectory.jsonl"],
        &["export", "--session-key", "agent:main:main"],
        &["inspect", "gone/s1.jsonl"],
    ] {
        let output = home.traj(&[arguments, &base].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = &result(&output)["error"];
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("file ") && message.ends_with(" does not exist"), "{error}");
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
    }
    for arguments in [["verify", "gone/b"], ["verify", "gone"], ["inspect", "gone/b.zip"]] {
        let output = home.traj(&[&arguments[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = &result(&output)["error"];
        assert_eq!(error["message"], format!("bundle {} does not exist", arguments[1]));
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
    }
    assert!(home.exports().is_empty());
    // A sidecar is exported even if the directory of its session is gone.
    let named = ["--runtime", "s1.trajectory.jsonl", "--session-id", "s1", "--output", "b"];
    let alone = [&["export", "--session", "gone/s1.jsonl"][..], &named, &base].concat();
    assert_eq!(result(&home.traj(&alone))["result"]["eventCount"], 1);
}

#[test]
fn the_shipped_schemas_are_those_of_the_types() {
    let home = Home::new();
    for name in SchemaName::ALL {
        let printed = home.traj(&["schema", name.as_str()]);
        assert!(printed.status.success());
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../docs/schema/{}.schema.json", name.as_str()));
        #[expect(clippy::disallowed_methods, reason = "the test reads a file of the repository")]
        let shipped = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            String::from_utf8(printed.stdout).unwrap(),
            shipped,
            "write it anew: traj schema {0} > docs/schema/{0}.schema.json",
            name.as_str()
        );
    }
    assert_eq!(home.traj(&["schema", "nothing"]).status.code(), Some(2));
    let in_envelope = result(&home.traj(&["schema", "tools", "--json"]));
    assert_eq!(in_envelope["result"]["name"], "tools");
    assert_eq!(in_envelope["result"]["schema"]["title"], "Tools");
}
