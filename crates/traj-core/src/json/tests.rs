//! Tests of `json`: properties, formats and edge cases.

use proptest::prelude::*;

use super::*;

fn round_trip(text: &str) -> String {
    Json::parse(text).expect("valid").to_line()
}

#[test]
fn numbers_keep_their_spelling() {
    for text in ["0", "-0", "1.0", "1e400", "1E+2", "12345678901234567890", "-0.5e-7"] {
        assert_eq!(round_trip(text), text);
    }
    let digits = "9".repeat(100);
    assert_eq!(round_trip(&digits), digits);
    assert_eq!(Json::parse("18446744073709551615").unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(Json::parse("1e400").unwrap().as_f64(), None);
}

#[test]
fn members_keep_order_and_duplicates() {
    let text = r#"{"b":1,"10":2,"a":3,"b":4,"__proto__":{},"":5}"#;
    assert_eq!(round_trip(text), text);
    assert_eq!(Json::parse(text).unwrap().get("b").and_then(Json::as_u64), Some(4));
}

#[test]
fn a_name_repeated_a_million_times_is_removed_in_one_pass() {
    // Quadratic time would be noticed: hours instead of a moment.
    let mut object: Object<'_> = (0..2_000_000_u32)
        .map(|number| (if number % 2 == 0 { "a" } else { "b" }, number))
        .collect();
    assert_eq!(object.remove("a").and_then(|value| value.as_u64()), Some(1_999_998));
    assert_eq!((object.len(), object.contains("a")), (1_000_000, false));
    assert_eq!(object.remove("a"), None);
}

#[test]
fn members_of_another_object_replace_those_with_their_names() {
    let object = |text: &'static str| match Json::parse(text) {
        Ok(Json::Object(object)) => object,
        other => unreachable!("an object: {other:?}"),
    };
    let mut merged = object(r#"{"a":1,"b":2,"a":3}"#);
    merged.insert_all(object(r#"{"c":4,"a":5,"c":6}"#));
    assert_eq!(Json::from(merged).to_line(), r#"{"a":1,"b":2,"a":5,"c":6}"#);
    let many = |value: u32| (0..300_000).map(move |name| (format!("n{name}"), value)).collect();
    let mut large: Object<'_> = many(1);
    large.insert_all(many(2));
    assert_eq!(large.len(), 300_000);
    assert!(large.iter().all(|(_, value)| value.as_u64() == Some(2)));
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    let cases = [
        (r#""\ud83d\ude00""#, "\u{1f600}"),
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83dx""#, "\u{fffd}x"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
    ];
    for (text, expected) in cases {
        assert_eq!(Json::parse(text).unwrap().as_str(), Some(expected), "{text}");
    }
}

#[test]
fn errors_name_a_position_and_a_reason() {
    let cases = [
        ("", 0, ParseErrorKind::UnexpectedEnd),
        ("tru", 3, ParseErrorKind::UnexpectedEnd),
        ("trux", 0, ParseErrorKind::UnexpectedCharacter),
        ("{}x", 2, ParseErrorKind::TrailingText),
        ("01", 1, ParseErrorKind::TrailingText),
        ("-", 1, ParseErrorKind::UnexpectedEnd),
        ("1.x", 2, ParseErrorKind::InvalidNumber),
        (r#""a\q""#, 3, ParseErrorKind::InvalidEscape),
        ("\"a\nb\"", 2, ParseErrorKind::ControlCharacter),
        (r#"{"a"}"#, 4, ParseErrorKind::UnexpectedCharacter),
        ("[1,]", 3, ParseErrorKind::UnexpectedCharacter),
        (r#"{"a":1,}"#, 7, ParseErrorKind::UnexpectedCharacter),
        ("[1", 2, ParseErrorKind::UnexpectedEnd),
    ];
    for (text, offset, kind) in cases {
        assert_eq!(Json::parse(text), Err(ParseError { offset, kind }), "{text}");
    }
}

#[test]
fn what_is_replaced_by_a_marker_is_noticed() {
    for levels in [1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 2 * MAX_DEPTH] {
        for (open, close) in [("[", "]"), ("{\"[{\\\"\":", "}")] {
            let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            let is_cut = Json::parse(&text).unwrap().to_line().contains("trajectory-depth-limit");
            assert_eq!(exceeds_depth(text.as_bytes()), is_cut, "{levels} of {open}");
        }
    }
}

#[test]
fn a_million_levels_become_one_marker() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let line = round_trip(&deep);
    assert!(line.contains(r#"{"truncated":true,"reason":"trajectory-depth-limit""#));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(1_000_000), "}".repeat(1_000_000));
    assert!(round_trip(&objects).contains("trajectory-depth-limit"));
    let unclosed = "[".repeat(1_000_000);
    assert_eq!(Json::parse(&unclosed).unwrap_err().kind, ParseErrorKind::UnexpectedEnd);
    let crossed = format!("{}1{}", "[".repeat(2_000), "}".repeat(2_000));
    assert!(Json::parse(&crossed).is_err());
}

#[test]
fn a_value_built_by_hand_is_cut_like_a_parsed_one() {
    for levels in [MAX_DEPTH, MAX_DEPTH + 1, 5_000] {
        let mut by_hand = (0..levels).fold(Json::from(1), |inside, level| match level % 2 {
            0 => Json::Array(vec![inside]),
            _ => Json::Object(Object::from_iter([("a", inside)])),
        });
        let line = by_hand.to_line();
        by_hand.limit_depth();
        assert_eq!(by_hand, Json::parse(&line).unwrap(), "{levels}");
    }
}

#[test]
fn invalid_utf8_is_replaced() {
    let value = Json::parse_lossy(b"{\"a\":\"\xff!\"}").unwrap();
    assert_eq!(value.get("a").and_then(Json::as_str), Some("\u{fffd}!"));
}

#[test]
fn strings_without_escapes_are_borrowed() {
    let Json::String(text) = Json::parse(r#""plain""#).unwrap() else { panic!("not a string") };
    assert!(matches!(text, std::borrow::Cow::Borrowed("plain")));
}

#[test]
fn pretty_form_is_indented_by_two() {
    let value = Json::parse(r#"{"a":[1,{"b":[]}],"c":{}}"#).unwrap();
    insta::assert_snapshot!(value.to_pretty(), @r#"
    {
      "a": [
        1,
        {
          "b": []
        }
      ],
      "c": {}
    }
    "#);
}

#[test]
fn deep_levels_stay_on_one_line() {
    let nested = |levels: usize| format!("{}1,2{}", "[".repeat(levels), "]".repeat(levels));
    let pretty = |levels: usize| Json::parse(&nested(levels)).unwrap().to_pretty();
    assert_eq!(pretty(16).lines().count(), 16 + 2 + 16);
    assert_eq!(pretty(900).lines().count(), 16 + 1 + 16);
    assert!(pretty(900).contains(&format!("\n{}{}\n", " ".repeat(32), nested(884))));
}

/// Any JSON value, with hostile strings.
fn any_json() -> impl Strategy<Value = Json<'static>> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::Array),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// The pieces of strings, valid and invalid.
const PIECES: &[&str] = &[
    "a",
    "é",
    "\\n",
    "\\\\",
    "\\/",
    "\\\"",
    "\\u0041",
    "\\ud83d",
    "\\ude00",
    "\\u00",
    "\\uzzzz",
    "\\x",
    "\\",
    "\"",
    "\n",
    "\t",
    ",",
    "\",\"",
    "longer text without any of it",
];

proptest! {
    #[test]
    fn written_values_parse_back(value in any_json()) {
        let (line, pretty) = (value.to_line(), value.to_pretty());
        prop_assert_eq!(&Json::parse(&line).unwrap(), &value);
        prop_assert_eq!(&Json::parse(&pretty).unwrap(), &value);
    }

    #[test]
    fn shallow_values_are_unchanged(value in any_json()) {
        let mut limited = value.clone();
        limited.limit_depth();
        prop_assert_eq!(limited, value);
    }

    #[test]
    fn agrees_with_serde_json(value in any_json()) {
        let line = value.to_line();
        let theirs: serde_json::Value = serde_json::from_str(&line).expect("ours is theirs");
        // Through serde_json's writer and back, for values without duplicate
        // names.
        let again = Json::from_serialize(&theirs).unwrap();
        prop_assert_eq!(serde_json::to_value(&value).unwrap(), serde_json::to_value(&again).unwrap());
    }

    #[test]
    fn indented_as_serde_json_does(value in any_json(), levels in 0_usize..10) {
        let value = (0..levels).fold(value, |inside, _| Json::Array(vec![inside]));
        let mut written = String::new();
        value.write_pretty(0, &mut written);
        prop_assert_eq!(&written, &serde_json::to_string_pretty(&value).unwrap());
        prop_assert_eq!(Json::parse(&written).unwrap(), value);
    }

    /// Skipping rejects input at the same position as parsing.
    #[test]
    fn skipping_is_as_strict_as_parsing(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12),
    ) {
        let text = format!("[\"{}\",1]", pieces.concat());
        prop_assert_eq!(Json::parse_shallow(&text, 0).err(), Json::parse(&text).err());
    }

    #[test]
    fn never_panics(text in ".{0,64}") {
        let ours = Json::parse(&text).is_ok();
        let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert!(!theirs || ours);
    }
}

#[test]
fn shallow_parsing_checks_what_it_skips() {
    let text = r#"{"id":"a","message":{"role":"user","content":[{"deep":"\n\u00e9"}]}}"#;
    let row = Json::parse_shallow(text, 2).unwrap();
    let message = row.get("message").unwrap();
    assert_eq!(message.get("role").and_then(Json::as_str), Some("user"));
    assert_eq!(message.get("content"), Some(&Json::Array(Vec::new())));
    for broken in [r#"[[["x]]]"#, r#"[[["\x"]]]"#, "[[[\"\u{1}\"]]]", r#"[[{"a" 1}]]"#, "[[[1]]"] {
        assert!(Json::parse_shallow(broken, 1).is_err(), "{broken}");
        assert_eq!(Json::parse_shallow(broken, 1).err(), Json::parse(broken).err(), "{broken}");
    }
}
