//! A page is safe to send: no secret, and no text that becomes markup.

use traj_tests::export_fixture::exported;
use traj_tests::page_file::PageFile;
use traj_tests::rows::{assistant, event, message, next_message, tool_result, user};

use super::{checked, page_of, parsed};

/// Everything that a reader of a page can see.
fn everything(page: &PageFile) -> String {
    let chunks = page.chunks.iter().map(|chunk| String::from_utf8_lossy(chunk).into_owned());
    let index = format!("{:?}", page.index);
    [page.html.clone(), index].into_iter().chain(chunks).collect::<Vec<_>>().join("\n")
}

#[test]
fn planted_secrets_are_nowhere_in_a_page() {
    let secrets: Vec<String> = (0..50)
        .map(|number| format!("ghp_{}{number:04}", "R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe"))
        .collect();
    let rows: Vec<String> = (0_u32..)
        .zip(&secrets)
        .map(|(number, secret)| {
            let text = format!("token {secret} in call {number}");
            let content = match number % 3 {
                0 => user(&text),
                1 => assistant(&format!(
                    r#"{{"type":"toolCall","id":"c{number}","name":"shell","arguments":{{"command":"login {secret}"}}}}"#
                )),
                _ => tool_result(&format!("c{}", number - 1), "shell", &text)
                    .with("details", r#"{"exitCode":1}"#),
            };
            next_message(number, content).json()
        })
        .collect();
    let page = parsed(&exported(&rows, &[]).files);
    let seen = everything(&page);
    for secret in &secrets {
        assert!(!seen.contains(secret.as_str()), "{secret}");
    }
    assert!(
        seen.contains("<redacted:github-token:") || seen.contains("<redacted:"),
        "chips are there"
    );
    let redacted = page.index.flags.iter().filter(|flags| **flags & 16 != 0).count();
    assert!(redacted >= 34, "items with a marker say so: {redacted}");
    assert!(checked(&page.html).unwrap().is_sound());
}

const HOSTILE: [&str; 6] = [
    r"</script><script>alert(1)</script>",
    r"</div></body><img src=x onerror=alert(1)>",
    r"<!--<script>",
    r"\u2028</SCRIPT ><svg onload=alert(1)>",
    r"' onmouseover='alert(1)",
    r"]]></style><style>*{display:none}",
];

/// The tags of a page, outside the style and the script.
fn tags(html: &str) -> Vec<String> {
    let html = html.split_once("</style>").unwrap().1;
    let (before, rest) = html.split_once("<script>").unwrap();
    let after = rest.split_once("</script>").unwrap().1;
    let tags = [before, after].into_iter().flat_map(|part| part.split('<').skip(1));
    tags.map(|tag| tag.split(['>', ' ']).next().unwrap().to_owned()).collect()
}

#[test]
fn hostile_text_in_any_field_stays_text() {
    let plain = page_of(&exported(&[message("a", None, 1, user("plain"))], &[]).files);
    let known = [
        "div", "/div", "h1", "h2", "p", "/p", "pre", "/pre", "dl", "dt", "dd", "ul", "li", "table",
        "tr", "th", "td", "script", "/script", "/head", "body", "/body", "/html", "/h1", "/h2",
        "/dl", "/dt", "/dd", "/ul", "/li", "/table", "/tr", "/th", "/td",
    ];
    for hostile in HOSTILE {
        let call = assistant(&format!(
            r#"{{"type":"text","text":"{hostile}"}},{{"type":"toolCall","id":"{hostile}","name":"{hostile}","arguments":{{"command":"{hostile}"}}}}"#
        ))
        .text("model", hostile)
        .text("provider", hostile)
        .with("usage", r#"{"input":5,"output":5}"#);
        let result = tool_result(hostile, hostile, hostile).with("details", r#"{"exitCode":1}"#);
        let data = format!(
            r#"{{"error":"{hostile}","status":"{hostile}","reason":"{hostile}","subject":"{hostile}","name":"{hostile}"}}"#
        );
        let kinds = ["approval.asked", "session.ended", "prompt.skipped", hostile];
        let events: Vec<String> = (1_u32..)
            .zip(kinds)
            .map(|(seq, kind)| {
                event(kind, &format!("2026-06-01T10:00:0{seq}Z"), seq).with("data", &data).json()
            })
            .collect();
        let rows = [
            message("a", None, 1, user(hostile)),
            message("b", Some("a"), 2, call),
            message("c", Some("b"), 3, result),
        ];
        let html = page_of(&exported(&rows, &events).files);
        let page = PageFile::parse(&html);
        for tag in tags(&html) {
            assert!(known.contains(&tag.as_str()), "{hostile}: <{tag}");
        }
        assert!(checked(&html).unwrap().is_sound(), "{hostile}");
        assert_eq!(
            html.matches("<script").count(),
            plain.matches("<script").count() + page.chunks.len()
                - PageFile::parse(&plain).chunks.len()
        );
    }
}

#[test]
fn a_page_loads_nothing() {
    let html = page_of(&exported(&[message("a", None, 1, user("hello"))], &[]).files);
    let policy = html.split_once("Content-Security-Policy\" content=\"").unwrap().1;
    let policy = policy.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    for never in ["unsafe", "http", "*", "self"] {
        assert!(!policy.contains(never), "{policy}");
    }
    let outside = tags(&html);
    for never in ["link", "img", "iframe", "object", "base", "form", "a"] {
        assert!(!outside.iter().any(|tag| tag == never), "{never}");
    }
}
