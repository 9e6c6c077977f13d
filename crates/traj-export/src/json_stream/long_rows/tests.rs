//! Tests of `long_rows`: rows that are shortened.

use traj_core::json::Json;
use traj_core::memory::MemorySources;
use traj_core::port::Sources as _;

use super::*;

const MAX_TEXT: usize = CutPlan::ALL[0].max_text;

fn shortened(row: &str) -> LoadedRow {
    let sources = MemorySources::new();
    sources.put("f", row);
    let source = sources.open("f").unwrap();
    shorten(&*source, ByteRange { offset: 0, length: row.len() as u64 }).unwrap()
}

fn parsed(loaded: &LoadedRow) -> Json<'_> {
    Json::parse(std::str::from_utf8(loaded.bytes().unwrap()).unwrap()).unwrap()
}

#[test]
fn giant_texts_are_replaced_and_the_rest_stays() {
    let giant = "g\\\"".repeat(MAX_TEXT);
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
    let LoadedRow::Short(ShortenedRow { giants, .. }) = &short else { panic!("shortened") };
    let place = giants[0].place;
    assert_eq!(giants.len(), 1, "names are not strings");
    let start = usize::try_from(place.offset).unwrap();
    assert_eq!(row.get(start..start + giant.len()), Some(giant.as_str()));
    assert_eq!(giants[0].digest, BlobDigest::of(giant.as_bytes()));
    assert_eq!(content.get("blob").and_then(Json::as_str), Some(giants[0].digest.as_str()));
}

#[test]
fn only_the_heavy_containers_of_a_row_are_cut() {
    let rows = format!("[{}[1,2]]", "[1,2],".repeat(120_000));
    let row = format!(
        r#"{{"id":"a","message":{{"role":"assistant","content":[{{"text":"before"}},{{"name":"write","arguments":{{"path":"x","data":{{"rows":{rows},"n":1}}}}}},{{"name":"ls","more":{rows}}}]}},"z":[1]}}"#
    );
    let LoadedRow::Short(short) = shortened(&row) else { panic!("shortened") };
    let giants = short.giants.clone();
    assert_eq!(giants.len(), 2, "one for each list");
    let loaded = LoadedRow::Short(short);
    let marker = format!(
        r#"{{"truncated":true,"reason":"export-row-size-limit","originalBytes":{},"blob":"{}"}}"#,
        rows.len(),
        BlobDigest::of(rows.as_bytes())
    );
    assert_eq!(parsed(&loaded).to_line(), row.replace(&rows, &marker));
    for giant in giants {
        let start = usize::try_from(giant.place.offset).unwrap();
        assert_eq!(row.get(start..start + rows.len()), Some(rows.as_str()));
    }
}

#[test]
fn a_row_of_millions_of_values_keeps_its_outer_levels() {
    let bomb = "[1,".repeat(400_000) + "1" + &"]".repeat(400_000);
    let row = format!(r#"{{"id":"a","message":{{"role":"user","content":[{bomb}]}}}}"#);
    let short = shortened(&row);
    let value = parsed(&short);
    assert_eq!(value.get("message").unwrap().get("role").and_then(Json::as_str), Some("user"));
    let flat = format!(r#"{{"id":"a","many":[{}1]}}"#, "1,".repeat(MAX_VALUES * 2));
    assert!(parsed(&shortened(&flat)).get("many").unwrap().get("truncated").is_some());
    // None of these lists is heavy by itself.
    let lists = format!(r#""k":[{}1],"#, "1,".repeat(1_000)).repeat(400);
    let loaded = shortened(&format!(r#"{{{lists}"z":1}}"#));
    assert_eq!(parsed(&loaded).get("z").and_then(Json::as_u64), Some(1));
}

#[test]
fn a_row_stays_valid_whichever_byte_exceeds_the_budget() {
    // The brackets of the items, of their list and of its object, one by one.
    let items = r#"{"a":1},"#.repeat(45_000);
    for pad in 0..120 {
        let pad = "x".repeat(pad);
        let row = format!(
            r#"{{"id":"{pad}","message":{{"role":"user","content":[{items}{{"a":1}}]}},"z":1}}"#
        );
        let loaded = shortened(&row);
        assert_eq!(parsed(&loaded).get("z").and_then(Json::as_u64), Some(1), "{}", pad.len());
    }
}

#[test]
fn medium_strings_are_cut_before_their_list() {
    let text = format!(r#"{{"type":"text","text":"{}"}}"#, "words ".repeat(20_000));
    let row = format!(r#"{{"id":"a","content":[{}]}}"#, vec![text.as_str(); 40].join(","));
    let LoadedRow::Short(short) = shortened(&row) else { panic!("shortened") };
    assert_eq!(short.giants.len(), 40);
    let loaded = LoadedRow::Short(short);
    let content = parsed(&loaded);
    let content = content.get("content").unwrap().as_array().unwrap();
    assert_eq!(content.len(), 40);
    assert_eq!(content[7].get("type").and_then(Json::as_str), Some("text"));
}

#[test]
fn a_row_with_too_many_members_is_too_large() {
    let members = r#""k":1,"#.repeat(MAX_VALUES * 2);
    assert_eq!(shortened(&format!(r#"{{{members}"z":1}}"#)), LoadedRow::TooLarge);
}

#[test]
fn invalid_json_is_distinguished_from_a_large_row() {
    for garbage in ["garbage", "aaaa", "{\"a\":[1,2,", "]]", "\u{1}", "{\"open"] {
        let row = garbage.repeat(2 * 1024 * 1024 / garbage.len());
        assert_eq!(shortened(&row), LoadedRow::NotJson, "{garbage}");
    }
}

#[test]
fn only_long_rows_with_many_values_are_heavy() {
    assert!(!is_heavy(b"[1,2,3]"));
    assert!(!is_heavy(format!("[\"{}\"]", ",".repeat(2 * LIGHT_BYTES)).as_bytes()));
    assert!(is_heavy(format!("[{}1]", "1,".repeat(LIGHT_BYTES)).as_bytes()));
}

#[test]
fn more_values_than_an_export_writes_are_a_bomb() {
    assert!(!is_bomb(format!("[{}1]", "1,\n".repeat(LIGHT_BYTES / 2)).as_bytes()));
    assert!(!is_bomb(format!("[\"{}\"]", "[".repeat(2 * LIGHT_BYTES)).as_bytes()));
    assert!(is_bomb(format!("[{}1]", "{},".repeat(LIGHT_BYTES)).as_bytes()));
}

#[test]
fn a_giant_media_value_gets_the_ordinary_marker() {
    // Its first bytes do not identify it; only the members next to it do.
    let bytes = "q83vASNF".repeat(MAX_TEXT / 8 + 1);
    let picture = format!("iVBORw0KGgoA{bytes}");
    let escaped = format!(r"iVBORw0KGgoA\/{}\n", "q83vASNF".repeat(MAX_TEXT / 8 + 1));
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
        let LoadedRow::Short(short) = shortened(&row) else { panic!("shortened") };
        assert_eq!((short.giants.len(), short.media), (0, 1));
        let loaded = LoadedRow::Short(short);
        let line = parsed(&loaded).to_line();
        assert!(line.contains("<media:") && line.len() < 400, "{line}");
        assert_eq!(line.contains(r#","bytes":196"#), is_told, "{line}");
    }
    let text = format!(r#"{{"type":"image","text":"{bytes}"}}"#);
    let LoadedRow::Short(short) = shortened(&text) else { panic!("shortened") };
    assert_eq!((short.giants.len(), short.media), (1, 0), "a text stays a text");
}
