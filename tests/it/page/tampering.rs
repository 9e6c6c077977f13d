//! Pages that somebody changed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write as _;
use traj_core::port::BundleSourceError;
use traj_tests::export_fixture::exported;
use traj_tests::rows::{assistant, message, tool_result, user};

use super::{checked, page_of};

fn page() -> String {
    let call =
        assistant(r#"{"type":"toolCall","id":"c","name":"shell","arguments":{"command":"make"}}"#);
    let failed = tool_result("c", "shell", "no rule").with("details", r#"{"exitCode":2}"#);
    let rows = [
        message("a", None, 1, user("build it")),
        message("b", Some("a"), 2, call),
        message("c", Some("b"), 3, failed),
    ];
    page_of(&exported(&rows, &[]).files)
}

/// Whether a page is refused, and with which words.
fn refusal(page: &str) -> String {
    match checked(page) {
        Ok(report) => {
            assert!(!report.problems.is_empty(), "it passes");
            report.problems.iter().map(|problem| format!("{problem:?}")).collect()
        }
        Err(error) => {
            assert!(
                matches!(error, BundleSourceError::Damaged { .. } | BundleSourceError::Bomb),
                "{error:?}"
            );
            error.to_string()
        }
    }
}

fn packed(bytes: &[u8]) -> String {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(bytes).unwrap();
    STANDARD.encode(deflate.finish().unwrap())
}

/// The content of the chunk with this id.
fn chunk<'p>(page: &'p str, id: &str) -> &'p str {
    let tag = format!("<script type=\"text/plain\" id=\"{id}\">");
    page.split_once(&tag).unwrap().1.split_once("</script>").unwrap().0
}

#[test]
fn any_change_around_the_data_is_found() {
    let page = page();
    assert!(checked(&page).unwrap().is_sound());
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let script = page.split_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    for (from, to) in [
        (style, "body{display:none}".to_owned()),
        (script, format!("{script};alert(1)")),
        ("default-src 'none'", "default-src 'none' ".to_owned()),
        ("<title>build it", "<title>Build it".to_owned()),
        ("<h1>build it", "<h1>built it".to_owned()),
        ("exit 2", "exit 0".to_owned()),
        ("<p>The conversation", "<p>A conversation".to_owned()),
        (r#""review":false"#, r#""review":true"#.to_owned()),
        (r#""errors":1"#, r#""errors":0"#.to_owned()),
        (r#""title":"build it""#, r#""title":"build it","x":1"#.to_owned()),
        (r#""prices":null"#, r##""prices":"# a note""##.to_owned()),
        ("</body>", "<p>more</p></body>".to_owned()),
        ("</body></html>\n", "</body></html>".to_owned()),
        ("</body></html>\n", "</body></html>\nmore".to_owned()),
        ("id=\"c1\"", "id=\"c1\" ".to_owned()),
        (
            "</script>\n<script type=\"text/plain\" id=\"c1\"",
            "</script>\n\n<script type=\"text/plain\" id=\"c1\"".to_owned(),
        ),
    ] {
        let changed = page.replacen(from, &to, 1);
        assert_ne!(changed, page, "{from} is there");
        refusal(&changed);
    }
}

#[test]
fn a_changed_index_is_found() {
    let page = page();
    let index = chunk(&page, "i0");
    let mut bytes = inflate(index);
    let last = bytes.len() / 2;
    bytes[last] ^= 1;
    let changed = page.replacen(index, &packed(&bytes), 1);
    assert!(refusal(&changed).contains("index"));
}

fn inflate(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = STANDARD.decode(text).unwrap();
    let mut inflate = flate2::write::DeflateDecoder::new(&mut bytes);
    inflate.write_all(&packed).unwrap();
    inflate.finish().unwrap();
    bytes
}

#[test]
fn changed_data_is_found_and_other_compression_is_not_a_change() {
    let page = page();
    for number in 0..3 {
        let id = format!("c{number}");
        let content = chunk(&page, &id).to_owned();
        let bytes = inflate(&content);
        let again = page.replacen(&content, &packed(&bytes), 1);
        assert!(checked(&again).unwrap().is_sound(), "{id}");
        let mut longer = bytes.clone();
        longer.push(b'\n');
        refusal(&page.replacen(&content, &packed(&longer), 1));
        refusal(&page.replacen(&content, &packed(&bytes[1..]), 1));
        let text = String::from_utf8(bytes).unwrap();
        let other = text.replacen("build it", "break it", 1).replacen("s1", "s2", 1);
        refusal(&page.replacen(&content, &packed(other.as_bytes()), 1));
        refusal(&page.replacen(&content, "", 1));
        refusal(&page.replacen(&content, "AAAA", 1));
        refusal(&page.replacen(&content, content.get(..content.len() - 4).unwrap(), 1));
        refusal(&page.replacen(&content, &format!("{content}AAAA"), 1));
        refusal(&page.replacen(&content, &format!(" {content}"), 1));
        let hidden =
            STANDARD.encode([STANDARD.decode(&content).unwrap(), b"hidden".to_vec()].concat());
        refusal(&page.replacen(&content, &hidden, 1));
    }
}

#[test]
fn a_chunk_that_expands_without_end_is_refused() {
    let page = page();
    let content = chunk(&page, "c0").to_owned();
    let bomb = packed(&vec![b' '; 64 << 20]);
    let changed = page.replacen(&content, &bomb, 1);
    assert!(changed.len() < page.len() + (128 << 10));
    assert_eq!(refusal(&changed), BundleSourceError::Bomb.to_string());
}

#[test]
fn copies_that_lead_nowhere_are_refused() {
    let text = "a text that is long enough to be stored once, in the events only";
    let page = page_of(&exported(&[message("a", None, 1, user(text))], &[]).files);
    let (id, content) = (0..)
        .map(|number| format!("c{number}"))
        .map(|id| (id.clone(), chunk(&page, &id).to_owned()))
        .find(|(_, content)| inflate(content).contains(&1))
        .unwrap();
    let bytes = inflate(&content);
    let place = bytes.iter().position(|byte| *byte == 1).unwrap() + 1;
    for (offset, value) in [(0, 9), (1, 0x7f), (2, 0x7f), (2, 1), (0, 0xff), (1, 0)] {
        let mut changed = bytes.clone();
        changed[place + offset] = value;
        refusal(&page.replacen(&content, &packed(&changed), 1));
    }
    let mut endless = bytes[..place].to_vec();
    endless.extend([0xff; 40]);
    refusal(&page.replacen(&content, &packed(&endless), 1));
    refusal(&page.replacen(&content, &packed(&bytes[..place]), 1));
    let copy = bytes[place - 1..place + 3].to_vec();
    let bomb = [&bytes[..place - 1], &copy.repeat(1 << 20)].concat();
    refusal(&page.replacen(&content, &packed(&bomb), 1));
    assert!(page.contains(&id));
}

#[test]
fn a_head_that_lies_about_its_files_is_refused() {
    let page = page();
    for (from, to) in [
        (r#""path":"events.jsonl""#, r#""path":"../events.jsonl""#),
        (r#""path":"events.jsonl""#, r#""path":"manifest.json""#),
        (r#""chunks":1"#, r#""chunks":2"#),
        (r#""chunks":1"#, r#""chunks":18446744073709551615"#),
        (r#""format":"traj-page/1""#, r#""format":"traj-page/9""#),
        (r#""files":["#, r#""files":[7,"#),
    ] {
        let changed = page.replacen(from, to, 1);
        assert_ne!(changed, page, "{from}");
        let report = checked(&changed);
        let is_refused = report.as_ref().map_or(true, |report| !report.problems.is_empty());
        assert!(is_refused, "{to}");
    }
}

#[test]
fn a_page_that_is_cut_is_refused() {
    let page = page();
    let data = page.find("id=\"c0\"").unwrap();
    for end in [page.len() - 1, page.len() - 30, data + 50, data, data - 100] {
        refusal(page.get(..end).unwrap());
    }
}
