//! A run as Markdown: readable on a code host, and no text of the run becomes
//! markup of the document.

use insta::assert_snapshot;
use traj_tests::export_home::ExportHome as Home;
use traj_tests::rows::{assistant, message, tool_result, user};
use traj_tests::traj_binary::printed;

fn home(text: &str) -> Home {
    let home = Home::new();
    let say = assistant(&format!(
        r#"{{"type":"text","text":{0}}},{{"type":"toolCall","id":"c","name":"shell","arguments":{{"command":{0}}}}}"#,
        serde_json::to_string(text).unwrap()
    ));
    let failed = tool_result("c", "shell", text).with("details", r#"{"exitCode":2}"#);
    home.put_session(&[
        message("a", None, 1, user(text)),
        message("b", Some("a"), 2, say),
        message("c", Some("b"), 3, failed),
    ]);
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    home
}

fn shown(home: &Home, more: &[&str]) -> String {
    let output = home.traj(&[&["show", "s1.jsonl", "--format", "markdown"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    printed(&output)
}

#[test]
fn a_run_is_readable_on_a_code_host() {
    let text = shown(&home("make *it*\n\n- one\n- two"), &[]);
    assert_snapshot!(text);
}

/// The lines outside blocks of code and quotations.
fn own_lines(markdown: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut own = Vec::new();
    for line in markdown.lines() {
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => {
                fence = Some(line.trim_end_matches(|character: char| character != '`'));
            }
            None if !line.starts_with('>') => own.push(line),
            None => {}
        }
    }
    assert_eq!(fence, None, "every block of code ends");
    own
}

#[test]
fn hostile_text_stays_where_it_belongs() {
    for hostile in [
        "</details><h1>Not ours</h1>",
        "```\n</details>\n# Not ours\n```\n# Not ours",
        "~~~~\n# Not ours",
        "````` Not ours\n```\n</summary>",
        "---\nsession: Not ours\n---",
        "![x](https://evil.example/x.png) <img src='https://evil.example/y.png'>",
        "\u{2028}# Not ours\r\n\u{1b}]0;x\u{7}",
    ] {
        let markdown = shown(&home(hostile), &["--full"]);
        let own = own_lines(&markdown);
        for line in &own {
            let is_quiet = !line.starts_with("# Not") && !line.starts_with("session: Not");
            assert!(is_quiet, "{hostile:?}: {line}");
            let html = line.replace("\\<", "");
            let tags = html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap());
            let known = ["details", "/details", "summary", "/summary"];
            assert!(tags.clone().all(|tag| known.contains(&tag)), "{hostile:?}: {line}");
        }
        let count = |tag: &str| own.iter().filter(|line| line.starts_with(tag)).count();
        assert_eq!((count("<details>"), count("</details>")), (1, 1), "{hostile:?}");
        assert!(!markdown.contains(['\u{1b}', '\u{7}', '\u{2028}']), "{hostile:?}");
        let images = markdown.lines().filter(|line| line.starts_with('>') && line.contains("!["));
        assert_eq!(images.count(), 0, "{hostile:?}");
    }
}

#[test]
fn view_writes_it_to_a_file() {
    let home = home("make it");
    let output = home.traj(&["view", "s1.jsonl", "--markdown"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let written = home.folder.read_to_string("s1.md").unwrap();
    assert!(written.starts_with("---\nsession: \"s1\"\n"), "{written}");
    assert_eq!(written, shown(&home, &["--full", "--reasoning"]));
}
