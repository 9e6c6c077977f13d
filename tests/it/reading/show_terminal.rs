//! `traj show` on a terminal: its width, its colours and its pager.

use std::process::Command;

use traj_tests::export_home::ExportHome as Home;
use traj_tests::rows::message;
use traj_tests::traj_binary::{on_terminal, traj_command};

fn show(home: &Home, more: &[&str]) -> Command {
    let mut command = traj_command(home.path());
    command.args(["show", "s1.jsonl"]).args(more);
    command
}

#[test]
fn the_pager_gets_the_text_on_a_terminal_only() {
    let home = Home::new();
    let is_paged = |text: &str| text.lines().all(|line| line.starts_with('|'));
    let (paged, code) = on_terminal(show(&home, &[]).env("PAGER", "sed s/^/|/"));
    assert_eq!(code, Some(0));
    assert!(is_paged(&paged) && paged.contains("\u{1b}["), "{paged}");
    let mut named = show(&home, &[]);
    named.env("PAGER", "false").env("TRAJ_PAGER", "sed s/^/|/").env("NO_COLOR", "1");
    let (paged, _) = on_terminal(&mut named);
    assert!(is_paged(&paged) && !paged.contains('\u{1b}'), "{paged}");
    let (text, _) = on_terminal(show(&home, &["--no-pager"]).env("PAGER", "sed s/^/|/"));
    assert!(text.contains("turn 1") && !text.contains('|'), "{text}");
    let (text, _) = on_terminal(show(&home, &["--json"]).env("PAGER", "sed s/^/|/"));
    assert!(text.starts_with('{'), "{text}");
    let output = show(&home, &[]).env("PAGER", "sed s/^/|/").output().unwrap();
    assert!(output.stdout.starts_with(b"session"), "not on a pipe");
    for absent in ["/nonexistent/pager", "", "cat"] {
        let (text, code) = on_terminal(show(&home, &[]).env("PAGER", absent));
        assert!(text.contains("turn 1"), "{absent}: {text}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn the_terminal_says_how_wide_it_is() {
    let home = Home::new();
    let (text, _) = on_terminal(show(&home, &["--no-pager"]).env("NO_COLOR", "1"));
    let rule = text.lines().find(|line| line.starts_with("── turn 1")).unwrap();
    assert_eq!(rule.chars().count(), 60);
    let (text, _) = on_terminal(show(&home, &["--no-pager"]).env("COLUMNS", "40"));
    assert!(text.contains(&"─".repeat(3)) && text.lines().count() > 3);
}

#[test]
fn leaving_the_pager_early_is_not_an_error() {
    let home = Home::new();
    let text = format!(r#"{{"role":"user","content":"{}"}}"#, "word ".repeat(1_000));
    let rows: Vec<String> = (0..200)
        .map(|number: u32| {
            let parent = number.checked_sub(1).map(|parent| parent.to_string());
            message(&number.to_string(), parent.as_deref(), number % 60, &text)
        })
        .collect();
    home.put_session(&rows);
    let (text, code) = on_terminal(show(&home, &[]).env("PAGER", "head -n 1"));
    assert_eq!((text.lines().count(), code), (1, Some(0)));
    let (_, code) = on_terminal(show(&home, &[]).env("PAGER", "false"));
    assert_eq!(code, Some(0));
}
