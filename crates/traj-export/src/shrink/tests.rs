//! Rows that are shortened.

use traj_core::json::Json;
use traj_core::memory::MemorySources;
use traj_core::port::Sources as _;

use super::*;

fn shortened(row: &str) -> Loaded {
    let sources = MemorySources::new();
    sources.put("f", row);
    let source = sources.open("f").unwrap();
    shorten(&*source, Place { offset: 0, length: row.len() as u64 }).unwrap()
}

fn parsed(loaded: &Loaded) -> Json<'_> {
    Json::parse(std::str::from_utf8(loaded.bytes().unwrap()).unwrap()).unwrap()
}

#[test]
fn giant_texts_are_replaced_and_the_rest_stays() {
    let giant = "g\\\"".repeat(MAX_TEXT_BYTES);
    let row = format!(
        r#"{{"id":"a", "{giant}":1,"message":{{"role":"user","content":"{giant}"}},"z":[1,"\\"]}}"#
    );
    let short = shortened(&row);
    let value = parsed(&short);
    assert_eq!(value.get("id").and_then(Json::as_str), Some("a"));
    let content = value.get("message").unwrap().get("content").unwrap();
    assert_eq!(content.get("originalBytes").and_then(Json::as_u64), Some(giant.len() as u64));
    assert_eq!(value.get("z").unwrap().to_line(), r#"[1,"\\"]"#);
    assert!(short.bytes().unwrap().len() < 600);
    let Loaded::Short(Short { giants, .. }) = &short else { panic!("shortened") };
    let place = giants[0].place;
    assert_eq!(giants.len(), 1, "names are no texts");
    let start = usize::try_from(place.offset).unwrap();
    assert_eq!(row.get(start..start + giant.len()), Some(giant.as_str()));
    assert_eq!(giants[0].digest, BlobDigest::of(giant.as_bytes()));
    assert_eq!(content.get("blob").and_then(Json::as_str), Some(giants[0].digest.as_str()));
}

#[test]
fn a_row_of_millions_of_values_keeps_its_outer_levels() {
    let bomb = "[1,".repeat(MAX_VALUES) + "1" + &"]".repeat(MAX_VALUES);
    let row = format!(r#"{{"id":"a","message":{{"role":"user","content":[{bomb}]}}}}"#);
    let short = shortened(&row);
    let value = parsed(&short);
    assert_eq!(value.get("message").unwrap().get("role").and_then(Json::as_str), Some("user"));
    let flat = format!(r#"{{"id":"a","many":[{}1]}}"#, "1,".repeat(MAX_VALUES + 1));
    assert!(parsed(&shortened(&flat)).get("many").unwrap().get("truncated").is_some());
}

#[test]
fn a_row_of_too_many_members_is_given_up() {
    let members = r#""k":1,"#.repeat(MAX_VALUES + 1);
    assert_eq!(shortened(&format!(r#"{{{members}"z":1}}"#)), Loaded::TooLarge);
}

#[test]
fn only_long_rows_with_many_values_are_heavy() {
    assert!(!is_heavy(b"[1,2,3]"));
    assert!(!is_heavy(format!("[\"{}\"]", ",".repeat(2 * LIGHT_BYTES)).as_bytes()));
    assert!(is_heavy(format!("[{}1]", "1,".repeat(LIGHT_BYTES)).as_bytes()));
}

#[test]
fn a_giant_that_is_a_medium_gets_the_marker_of_ordinary_rows() {
    // Without a head that tells: only what stands beside it does.
    let bytes = "q83vASNF".repeat(MAX_TEXT_BYTES / 8 + 1);
    let picture = format!("iVBORw0KGgoA{bytes}");
    let escaped = format!(r"iVBORw0KGgoA\/{}\n", "q83vASNF".repeat(MAX_TEXT_BYTES / 8 + 1));
    for (row, is_told) in [
        (format!(r#"{{"type":"image","mimeType":"image/png","data":"{bytes}"}}"#), true),
        (format!(r#"{{"data":"{bytes}","a":{{"b":[]}},"mime_type":"audio/wav"}}"#), true),
        (
            format!(
                r#"[{{"source":{{"data":"{bytes}","type":"base64","media_type":"image/x"}}}}]"#
            ),
            true,
        ),
        (format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{bytes}"}}}}"#), true),
        (format!(r#"{{"image_url":{{"url":"data:image/png;base64,{bytes}"}}}}"#), false),
        (format!(r#"{{"type":"text","text":"{picture}"}}"#), false),
        (format!(r#"["{escaped}"]"#), false),
    ] {
        let Loaded::Short(short) = shortened(&row) else { panic!("shortened") };
        assert_eq!((short.giants.len(), short.media), (0, 1));
        let loaded = Loaded::Short(short);
        let line = parsed(&loaded).to_line();
        assert!(line.contains("<media:") && line.len() < 400, "{line}");
        assert_eq!(line.contains(r#","bytes":196"#), is_told, "{line}");
    }
    let text = format!(r#"{{"type":"image","text":"{bytes}"}}"#);
    let Loaded::Short(short) = shortened(&text) else { panic!("shortened") };
    assert_eq!((short.giants.len(), short.media), (1, 0), "a text stays a text");
}
