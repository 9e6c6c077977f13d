//! Every form of data URI is hidden completely, and nothing around it.

use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::in_text;
use crate::json::Json;
use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

const DRAWING: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="#333"><g transform="rotate(45)"><path d="M2 0L0 2h4zm0 5L0 3h4z"/></g><svg x="1"><text>it is; one, 100% (drawing)</text></svg></svg>"##;

fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").unwrap();
        }
        out
    })
}

fn marker(media_type: &str, original: &[u8]) -> String {
    let digest: String =
        Sha256::digest(original).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("<media:{media_type};bytes={};sha256={digest}>", original.len())
}

/// Each form of data URI, with its marker.
fn forms() -> Vec<(String, String)> {
    let bytes: Vec<u8> = (0..512_u32).map(|place| (place * 151 % 256) as u8).collect();
    let plain = STANDARD.encode(&bytes);
    let escaped = plain.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    assert!(["%2B", "%2F", "%3D"].iter().all(|escape| escaped.contains(escape)));
    let small = escaped.replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d");
    let picture = marker("image/png", &bytes);
    let single = DRAWING.replace('"', "'");
    let short = single.replace('<', "%3c").replace('>', "%3e").replace("#", "%23");
    let short = short.replace("100%", "100%25");
    let drawing = |text: &str| marker("image/svg+xml", text.as_bytes());
    vec![
        (format!("data:image/png;base64,{plain}"), picture.clone()),
        (format!("data:image/png;base64,{escaped}"), picture.clone()),
        (format!("data:image/png;base64,{small}"), picture.clone()),
        (format!("DATA:image/png;BASE64,{plain}"), picture.clone()),
        (format!("data:image/png; base64,{plain}"), picture),
        (format!("data:image/svg+xml,{}", percent_encoded(DRAWING)), drawing(DRAWING)),
        (format!("data:image/svg+xml;charset=utf-8,{short}"), drawing(&single)),
        (format!("data:image/svg+xml;utf8,{DRAWING}"), drawing(DRAWING)),
        (
            format!("Data:image/svg+xml;utf8,<?xml version='1.0'?>\n<!-- x -->{single}"),
            drawing(&format!("<?xml version='1.0'?>\n<!-- x -->{single}")),
        ),
        (
            format!("data:text/html,{}", percent_encoded(&"<p>long (as it is)</p>".repeat(9))),
            marker("text/html", "<p>long (as it is)</p>".repeat(9).as_bytes()),
        ),
    ]
}

/// The redacted value; asserts that a second pass finds nothing more.
fn redacted(value: &Json<'_>) -> Json<'static> {
    static REDACTOR: LazyLock<Redactor> =
        LazyLock::new(|| Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32]))));
    let redactor = &*REDACTOR;
    let mut report = RedactionReport::new();
    let line = redactor.json(value.clone(), &mut report).to_line().into_inner();
    let mut again = RedactionReport::new();
    redactor.recheck_json(Json::parse(&line).unwrap(), &mut again);
    assert_eq!(again.changes(), 0, "{line}");
    let parsed = Json::parse(&line).unwrap();
    let twice = redactor.json(parsed.clone(), &mut again).to_line().into_inner();
    assert_eq!(twice, line);
    Json::parse(&line).unwrap().into_owned()
}

fn redacted_text(text: &str) -> String {
    redacted(&Json::from(text.to_owned())).as_str().unwrap().to_owned()
}

#[test]
fn a_uri_becomes_its_marker_in_any_position() {
    for (uri, marker) in forms() {
        assert_eq!(redacted_text(&uri), marker, "{uri}");
        for (before, behind) in [
            ("x ", ""),
            ("x ", " and more, as was said"),
            ("![x](", ") there"),
            ("url(", ");color:red"),
            ("<img src=\"", "\" width=\"3\">"),
            ("const a = '", "'; const b = '</svg>';"),
            ("a `", "` b"),
            ("{\\\"url\\\":\\\"", "\\\",\\\"n\\\":1"),
            ("x ", "\nthe next line\n"),
            ("two: ", &format!(" {uri}")),
        ] {
            // A URI that contains single quotes is not written in single quotes.
            let quote = before.chars().next_back().filter(|last| "\"'`".contains(*last));
            if quote.is_some_and(|quote| quote == '\'' && uri.contains("='")) {
                continue;
            }
            let text = format!("{before}{uri}{behind}");
            let expected = format!("{before}{marker}{}", behind.replace(&uri, &marker));
            assert_eq!(redacted_text(&text), expected, "{text}");
        }
    }
}

#[test]
fn a_uri_becomes_its_marker_in_provider_objects() {
    for (uri, marker) in forms() {
        let (mut text, marker) = (String::new(), Json::from(marker));
        Json::from(uri).write_compact(&mut text);
        let document = format!(r#"{{"type":"image_url","image_url":{{"url":{text}}}}}"#);
        let value = redacted(&Json::parse(&document).unwrap());
        let url = value.get("image_url").and_then(|image| image.get("url"));
        assert_eq!(url, Some(&marker), "{document}");
        let document = format!(r#"{{"type":"image","mimeType":"image/x","data":{text}}}"#);
        let value = redacted(&Json::parse(&document).unwrap());
        let told = value.get("data").and_then(Json::as_str).unwrap();
        let same = marker.as_str().unwrap();
        assert_eq!(told.split_once(';').unwrap().1, same.split_once(';').unwrap().1);
    }
}

#[test]
fn a_truncated_svg_extends_to_the_end_of_its_line_or_quote() {
    let cut = DRAWING.strip_suffix("></svg></svg>").unwrap();
    let single = cut.replace('"', "'");
    for (text, rest) in [
        (format!("x data:image/svg+xml;utf8,{cut}\nmore"), "\nmore"),
        (format!("x \"data:image/svg+xml;utf8,{single}\" more"), "\" more"),
        (format!("x data:image/svg+xml,{} more", percent_encoded(cut)), " more"),
    ] {
        let found = in_text(&text);
        let [(_, end, _)] = found.as_slice() else { panic!("one in {text}") };
        assert_eq!(text.get(*end..), Some(rest), "{text}");
    }
}

#[test]
fn prose_about_uris_is_kept() {
    let prose = " and so on, with words, and more words".repeat(8);
    let code = "\" + w + \"'>\" + inner + \"</svg>\"; // ".to_owned() + &prose;
    for text in [
        format!("data: string,{prose}"),
        format!("accept='data:image/*,x'{prose}"),
        format!("data:\n  - a/b,c\n{prose}"),
        format!("data: {{\"a\":1}}\n\ndata: [DONE]\n{prose}"),
        format!(".a{{background:url(data:image/gif;base64,R0lGODlhAQABAAAAACw=)}}{prose}"),
        format!(".a{{background:url(data:image/svg+xml,%3Csvg/%3E)}}{prose}"),
        format!("use data:image/svg+xml;utf8,<svg ...> instead{prose} <svg>x</svg>"),
        format!("use data:image/svg+xml,%3Csvg here{prose}"),
        format!("a `data:image/svg+xml;utf8,<svg` there{prose}"),
        format!("u = \"data:image/svg+xml;utf8,<svg width='{code}"),
        format!("u = `data:image/svg+xml,${{encodeURIComponent(svg)}}`;{prose}"),
        format!("location = 'data:text/html,' + page;{prose}"),
        format!("use data:text/plain,hello{prose}"),
        format!("metadata:text/plain,{}", "x".repeat(200)),
        format!("data:a/b,{}", "c/d,".repeat(60)),
    ] {
        assert!(in_text(&text).is_empty(), "{text}");
        assert_eq!(redacted_text(&text), text);
    }
}

/// Takes hours if the search is quadratic.
#[test]
fn unclosed_uris_are_read_once() {
    for piece in [
        "data:image/svg+xml,<svg> ",
        "data:image/svg+xml,<svg\n",
        "\"data:image/svg+xml,<svg ",
        "=\"data:image/svg+xml,<svg ",
        "=\"data:text/plain,a ",
        "'data:text/plain,a ",
        "data:text/html,<?xml ",
        "data:data:data:image/png,",
        "data:image/png;base64,%2B ",
        "\\\"data:text/html,a\\ ",
    ] {
        let mut text = piece.repeat(20_000);
        text.push_str(&"</svg>".repeat(100));
        let found = in_text(&text);
        assert!(found.iter().all(|(start, end, _)| start < end), "{piece}");
    }
}
