//! `traj view` as a command.

use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::page_file::PageFile;
use traj_tests::rows::{assistant, message, tool_result, user};
use traj_tests::traj_binary::{names_in, printed};

const SECRET: &str = "ghp_R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe5TuN";

fn home() -> Home {
    let home = Home::new();
    let call =
        assistant(r#"{"type":"toolCall","id":"c","name":"shell","arguments":{"command":"make"}}"#);
    home.put_session(&[
        message("a", None, 1, user(&format!("build it with {SECRET}"))),
        message("b", Some("a"), 2, call),
        message("c", Some("b"), 3, tool_result("c", "shell", "made")),
    ]);
    home
}

#[test]
fn a_session_becomes_a_page_that_can_be_verified_and_read() {
    let home = home();
    let output = home.traj(&["view", "--session", "s1.jsonl", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let viewed = result(&output)["result"].clone();
    let html = home.folder.read_to_string("s1.html").unwrap();
    assert!(viewed["file"].as_str().unwrap().ends_with("/s1.html"));
    assert_eq!(viewed["bytes"].as_u64(), Some(html.len() as u64));
    assert!(!html.contains(SECRET));
    let page = PageFile::parse(&html);
    assert_eq!(viewed["items"], page.head["items"]);
    assert!(page.chunks.iter().all(|chunk| !String::from_utf8_lossy(chunk).contains(SECRET)));
    let verified = home.traj(&["verify", "s1.html", "--json"]);
    assert_eq!(verified.status.code(), Some(0));
    assert_eq!(result(&verified)["result"]["events"], viewed["events"]);
    let summary = result(&home.traj(&["inspect", "s1.html", "--json"]))["result"].clone();
    assert_eq!(summary, page.head["summary"]);
    let shown = printed(&home.traj(&["show", "s1.html"]));
    assert!(shown.contains("$ shell make") && !shown.contains(SECRET), "{shown}");
    let again = home.traj(&["view", "s1.html", "--output", "again.html"]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(home.folder.read_to_string("again.html").unwrap(), html);
}

#[test]
fn a_bundle_of_any_form_becomes_the_same_page() {
    let home = home();
    home.export(&["--output", "one"]);
    home.export(&["--output", "two", "--archive", "zip"]);
    let pages = ["one", "two.zip"].map(|name| {
        let bundle = format!("{EXPORTS}/{name}");
        let output = home.traj(&["view", &bundle, "--output", "-"]);
        assert_eq!(output.status.code(), Some(0), "{name}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("wrote to standard output"), "{said}");
        let page = PageFile::parse(&printed(&output));
        let mut files: Vec<_> = page.head["files"].as_array().unwrap().clone();
        files.iter_mut().for_each(|file| file["chunk"] = 0.into());
        files.sort_by_key(ToString::to_string);
        (page.head["digest"].clone(), page.head["overview"].clone(), files)
    });
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn a_file_is_replaced_only_if_asked_and_written_whole_or_not_at_all() {
    let home = home();
    let view = |more: &[&str]| {
        let base = ["view", "--session", "s1.jsonl", "--output", "run.html"];
        let output = home.traj(&[&base, more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    home.folder.write("run.html", "mine").unwrap();
    let (code, said) = view(&[]);
    assert!(code == Some(2) && said.contains("--force"), "{said}");
    assert_eq!(home.folder.read_to_string("run.html").unwrap(), "mine");
    assert_eq!(view(&["--force"]).0, Some(0));
    assert!(home.folder.read_to_string("run.html").unwrap().ends_with("</html>\n"));
    let names = names_in(home.path());
    assert!(names.iter().all(|name| !name.contains("tmp")), "{names:?}");
    let (code, said) = view(&["--force", "--output", "missing/run.html"]);
    assert!(code == Some(2) || code == Some(1), "{said}");
}

#[test]
fn a_bundle_with_a_secret_does_not_become_a_page() {
    let home = home();
    home.export(&["--output", "one"]);
    let events = format!("{EXPORTS}/one/events.jsonl");
    let text = home.folder.read_to_string(&events).unwrap();
    home.folder.write(&events, text.replace("made", SECRET)).unwrap();
    let output = home.traj(&["view", &format!("{EXPORTS}/one"), "--output", "run.html"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(!home.folder.exists("run.html"));
}

#[test]
fn a_damaged_bundle_becomes_a_page_that_says_so() {
    let home = home();
    home.export(&["--output", "one"]);
    let events = format!("{EXPORTS}/one/events.jsonl");
    let text = home.folder.read_to_string(&events).unwrap();
    home.folder.write(&events, text.replace("made", "fade")).unwrap();
    let output = home.traj(&["view", &format!("{EXPORTS}/one"), "--output", "run.html"]);
    assert_eq!(output.status.code(), Some(4));
    let verified = home.traj(&["verify", "run.html"]);
    assert_eq!(verified.status.code(), Some(4));
    assert!(printed(&verified).contains("events.jsonl"), "{}", printed(&verified));
}

#[test]
fn a_page_that_somebody_changed_is_not_sound() {
    let home = home();
    home.traj(&["view", "--session", "s1.jsonl", "--output", "run.html"]);
    let html = home.folder.read_to_string("run.html").unwrap();
    home.folder.write("run.html", html.replacen("<h1>", "<h1>Not ", 1)).unwrap();
    let verified = home.traj(&["verify", "run.html"]);
    assert_eq!(verified.status.code(), Some(4));
    assert!(printed(&verified).contains("damaged  page "), "{}", printed(&verified));
}

#[test]
fn prices_of_the_user_are_part_of_the_page() {
    let home = home();
    let prices = "[[model]] # mine\nmodel = [\"*\"]\ncurrency = \"EUR\"\ninput = 1\noutput = 2\nsource = \"my invoice\"\n";
    home.folder.write("prices.toml", prices).unwrap();
    let base = ["view", "--session", "s1.jsonl", "--prices", "prices.toml"];
    let output = home.traj(&[&base[..], &["--output", "run.html"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let html = home.folder.read_to_string("run.html").unwrap();
    assert!(!html.contains("invoice") && !html.contains("mine"));
    assert_eq!(home.traj(&["verify", "run.html"]).status.code(), Some(0));
    home.folder.write("prices.toml", prices.replace("\"*\"", &format!("\"{SECRET}\""))).unwrap();
    let output = home.traj(&[&base[..], &["--output", "other.html"]].concat());
    assert_eq!(output.status.code(), Some(3));
    assert!(!home.folder.exists("other.html"));
}

#[test]
fn a_page_for_review_says_so_and_lists_what_looks_like_a_secret() {
    let home = home();
    let odd = "q7RtZ0aWm3KxVb9LpY2sHd8GfJ4cNe6T";
    home.put_session(&[
        message("a", None, 1, user("look")),
        message("b", Some("a"), 2, assistant(&format!(r#"{{"type":"text","text":"{odd}"}}"#))),
    ]);
    let output = home.traj(&["view", "s1.jsonl", "--review"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let html = home.folder.read_to_string("s1.html").unwrap();
    let page = PageFile::parse(&html);
    assert_eq!(page.head["review"], true);
    let findings = page.head["reviewFindings"].as_array().unwrap();
    let rows = page.rows();
    let found = findings.iter().any(|finding| {
        let row = usize::try_from(finding["row"].as_u64().unwrap()).unwrap();
        finding["file"] == "events.jsonl" && rows[row].to_string().contains(odd)
    });
    assert!(found, "{findings:?}");
    assert!(html.contains("do not send this page"));
    assert_eq!(home.traj(&["verify", "s1.html"]).status.code(), Some(0));
    let shorter = html.replacen(r#""reviewFindings":[{"#, r#""reviewFindings":[],"x":[{"#, 1);
    home.folder.write("s1.html", shorter).unwrap();
    assert_eq!(home.traj(&["verify", "s1.html"]).status.code(), Some(4));
    home.traj(&["view", "s1.jsonl", "--force"]);
    let html = home.folder.read_to_string("s1.html").unwrap();
    assert_eq!(PageFile::parse(&html).head["reviewFindings"], serde_json::Value::Null);
}
