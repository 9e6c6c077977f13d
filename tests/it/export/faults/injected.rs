//! Any single system call of an export may fail: the result is a complete bundle
//! and a report, or an error and no files.

use std::process::Output;

use traj_tests::export_home::{EXPORTS, ExportHome};
use traj_tests::host::strace::strace;
use traj_tests::traj_binary::traj_binary;

/// The file in which strace logs the calls that it made fail.
const TRACE: &str = "trace.log";

/// Exports with an injected fault; `None` if strace cannot be used.
fn export(home: &ExportHome, calls: &str, fault: &str, more: &[&str]) -> Option<Output> {
    let mut command = strace()?;
    command.args(["-o", TRACE, "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={calls}:{fault}")]).arg(traj_binary());
    command.args(["export", "--session", "s1.jsonl", "--workspace", "ws", "--output", "n/b"]);
    command.args(more).env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
    Some(command.current_dir(home.path()).output().unwrap())
}

/// Asserts that there is a complete bundle or nothing.
fn assert_whole_or_nothing(home: &ExportHome, output: &Output, fault: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || said.contains("the bundle is complete") {
        let names = home.exports();
        assert_eq!(names, ["n"], "{fault}");
        let folder = home.folder.open_dir(format!("{EXPORTS}/n")).unwrap();
        let name = folder.entries().unwrap().next().unwrap().unwrap().file_name();
        let path = format!("{EXPORTS}/n/{}", name.to_string_lossy());
        assert!(home.traj(&["verify", &path]).status.success(), "{fault}");
        home.folder.remove_dir_all("ws/.openclaw").unwrap();
    } else {
        assert_eq!(output.status.code(), Some(1), "{fault}: {said}");
        assert!(said.contains("error: ") && said.contains("because: "), "{fault}: {said}");
        assert!(!home.folder.exists("ws/.openclaw"), "{fault}: {said} {:?}", home.exports());
    }
}

#[test]
fn whichever_call_fails_there_is_a_whole_bundle_or_nothing() {
    let home = ExportHome::new();
    let calls = ["openat2", "write", "fsync", "renameat2", "mkdirat", "fchmod", "unlinkat"];
    for (form, call) in [&[][..], &["--archive", "zip"]]
        .into_iter()
        .flat_map(|form| calls.into_iter().map(move |call| (form, call)))
    {
        let mut failed = 0;
        // Each of the first calls, then a sample of the others, which are similar.
        for number in (1..=12).chain((13..).step_by(7)) {
            let fault = format!("error=EIO:when={number}");
            let Some(output) = export(&home, call, &fault, form) else { return };
            assert_whole_or_nothing(&home, &output, &format!("{call} {fault} {form:?}"));
            if !home.folder.read_to_string(TRACE).unwrap().contains("(INJECTED)") {
                break;
            }
            failed += 1;
        }
        let is_used = call != "unlinkat" || !form.is_empty();
        assert!(failed > 0 || !is_used, "{call} {form:?}");
    }
}

#[test]
fn a_bundle_that_cannot_be_removed_again_is_reported() {
    let home = ExportHome::new();
    // The last sync fails, and so does every rename but the first.
    let mut failed = 0;
    for number in 1..20 {
        let syncs = format!("inject=fsync:error=EIO:when={number}");
        let Some(mut command) = strace() else { return };
        command.args(["-o", "/dev/null", "-e", &syncs, "-e", "inject=renameat2:error=EIO:when=2+"]);
        command.arg(traj_binary()).args(["export", "--session", "s1.jsonl", "--output-root", "to"]);
        command.args(["--output", "b"]).env_clear().env("HOME", home.path());
        let output = command.env("PATH", "/usr/bin:/bin").current_dir(home.path()).output();
        let said = String::from_utf8(output.unwrap().stderr).unwrap();
        if said.contains("was written, but could not be synced to disk") {
            assert!(home.traj(&["verify", "to/b"]).status.success(), "{number}");
            failed += 1;
        }
        home.folder.remove_dir_all("to").ok();
    }
    assert_eq!(failed, 1, "only the sync after the rename");
}

#[test]
fn without_another_thread_the_work_is_done_by_one() {
    let home = ExportHome::new();
    let threads = ["--threads", "3"];
    let Some(output) = export(&home, "clone,clone3", "error=EAGAIN", &threads) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let traced = home.folder.read_to_string(TRACE).unwrap();
    assert!(traced.contains("(INJECTED)"), "a thread was asked for: {traced}");
    assert_whole_or_nothing(&home, &output, "no threads");
}

#[test]
fn where_handles_run_out_nothing_is_left() {
    let home = ExportHome::new();
    let mut failed = 0;
    for (handles, verb) in (4..40).flat_map(|handles| [(handles, "export"), (handles, "inspect")]) {
        home.folder.create_dir_all("tmp").unwrap();
        let script = match verb {
            "export" => "export --session s1.jsonl --workspace ws --output n/b",
            _ => "inspect s1.jsonl",
        };
        let script = format!(r#"ulimit -n {handles}; exec "$0" {script}"#);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", &script]).arg(traj_binary()).env_clear().env("HOME", home.path());
        limited.env("PATH", "/usr/bin:/bin").env("TMPDIR", "tmp").current_dir(home.path());
        let output = limited.output().unwrap();
        // Below a few handles the program itself does not start.
        if output.status.code() == Some(127) {
            continue;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        failed += u32::from(!output.status.success());
        if verb == "export" {
            assert_whole_or_nothing(&home, &output, &format!("{handles} handles"));
        }
        let left = home.folder.read_dir("tmp").unwrap().count();
        assert_eq!(left, 0, "{verb} with {handles} handles: {said}");
    }
    assert!(failed > 4, "{failed}");
}
