//! No input takes more than a fixed number of steps per byte: not the keywords,
//! prefixes and frames of the rules, repeated, alternated or nested.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::redaction::engine::steps;
use crate::redaction::marker::MarkerKey;
use crate::redaction::rule::{RuleSet, template};
use crate::redaction::text::context::hooks;

/// Maximum number of steps per byte. The largest bounded window is read for the
/// shortest keyword; a search that is not linear takes more at any of these sizes.
const MOST_PER_BYTE: u64 = 1_000;

/// Steps that do not depend on the length: the slack of the readers.
const BASE: u64 = 1 << 20;

/// Bytes of the texts: small in every run, megabytes in the long runs, which have
/// many more cases.
fn sizes() -> &'static [usize] {
    if ProptestConfig::default().cases > 10_000 {
        &[64 << 10, 1 << 20, 8 << 20]
    } else {
        &[16 << 10, 96 << 10]
    }
}

/// Bytes of the texts that are made of each piece in turn: megabytes only in the
/// longest run, which takes hours without optimisations.
fn longest() -> usize {
    match ProptestConfig::default().cases {
        1_000_001.. => 8 << 20,
        10_001.. => 64 << 10,
        _ => 4 << 10,
    }
}

/// What may be between two pieces.
const BETWEEN: &[&str] = &[
    "", " ", "=", "\n", "\t", ":", "\"", ": \"", "-", "(", "\t=\t", "='", "; ", ",", "/", "|",
    "\\\"", "<", ">", "_", ".", "a", "1", "\\n", "%3D", "A9", "{", "[", "\u{200b}", "'\"", "\\",
];

fn redactor() -> Redactor {
    let mut policy = RedactionPolicy::standard(MarkerKey::new([7; 32]));
    policy.personal_data = true;
    Redactor::new(policy)
}

/// Every keyword, prefix and frame of the built-in rules, and signs that other
/// readers begin at.
fn pieces() -> Vec<String> {
    const SIGNS: &[&str] = &[
        "data:image/png;base64,",
        "data:text/plain,",
        "data:image/svg+xml,<svg ",
        "</svg>",
        "<redacted:token:",
        "<redacted:token:0a1b2c>",
        "<media:",
        "{\"a\":",
        "[",
        "\"",
        "\\u0041",
        "&#65;",
        "=\n",
        "\u{1b}[1m",
        "\u{0}",
        "/home/dev/",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0",
        "H4sIAAAAAAAAA0tMSgYAwkEkNQMAAAA",
        "eJxLTEpOSU1Lz8jMys7JzcsvKCwqLiktK6+orKoGAMq0C38",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----\n",
        "insert into t (token) values ('",
        "password: |\n ",
        "<![CDATA[",
        "]]>",
        "token,key\n",
        "a.a.",
        "====",
    ];
    let rules = RuleSet::builtin().rules;
    let words = rules.iter().flat_map(|rule| rule.keywords.iter()).map(ToString::to_string);
    let frames = rules.iter().flat_map(|rule| rule.examples.iter());
    let frames = frames.map(|example| template::fill(example, 1));
    let hooks = hooks().into_iter().map(|(word, _)| word).chain(SIGNS.iter().copied());
    words.chain(frames).chain(hooks.map(str::to_owned)).collect()
}

/// The text of at least `size` bytes that repeats `unit`.
fn repeated(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len().max(1) + 1)
}

/// Redacts `text` as a text and as a value, and checks the number of steps.
fn check(redactor: &Redactor, unit: &str, text: &str) -> Result<(), TestCaseError> {
    let most = BASE + MOST_PER_BYTE * text.len() as u64;
    let taken = steps::of(|| redactor.text(text, &mut RedactionReport::new()));
    prop_assert!(taken <= most, "{} bytes of {unit:?} take {taken} steps", text.len());
    Ok(())
}

#[test]
fn every_repeated_piece_is_read_in_linear_time() {
    let redactor = redactor();
    let size = longest().min(sizes()[0]);
    for (number, piece) in pieces().iter().enumerate() {
        let unit = format!("{piece}{}", BETWEEN[number % BETWEEN.len()]);
        for unit in [piece, &unit] {
            check(&redactor, unit, &repeated(unit, size)).unwrap();
        }
    }
}

#[test]
fn every_piece_alternated_and_nested_is_read_in_linear_time() {
    let redactor = redactor();
    let pieces = pieces();
    for (number, piece) in pieces.iter().enumerate() {
        // A piece of another family, so that readers of different kinds alternate.
        let other = &pieces[(number * 7 + pieces.len() / 2) % pieces.len()];
        let unit = format!("{piece}{}{other}\n", BETWEEN[number % BETWEEN.len()]);
        check(&redactor, &unit, &repeated(&unit, longest())).unwrap();
        let (open, close) = (format!("{piece}(\""), format!("\"){other}"));
        let levels = longest() / (open.len() + close.len()) + 1;
        let nested = format!("{}{}", open.repeat(levels), close.repeat(levels));
        check(&redactor, &open, &nested).unwrap();
        if longest() > sizes()[0] {
            check(&redactor, piece, &repeated(piece, longest())).unwrap();
        }
    }
}

#[test]
fn nested_values_are_read_in_linear_time() {
    let redactor = redactor();
    for (open, close) in [("[", "]"), ("{\"password\":", "}"), ("[\"token\",", "]")] {
        let levels = crate::json::MAX_DEPTH - 1;
        let deep = format!("{}\"hunter2\"{}", open.repeat(levels), close.repeat(levels));
        let value = Json::parse(&deep).unwrap();
        let taken = steps::of(|| redactor.json(value, &mut RedactionReport::new()));
        assert!(taken <= BASE + MOST_PER_BYTE * deep.len() as u64, "{open}: {taken}");
        check(&redactor, open, &deep).unwrap();
        // JSON in a string in JSON: each level doubles the backslashes.
        let quoted = (0..8).fold(deep, |inner, _| Json::from(inner).to_line());
        check(&redactor, open, &quoted).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(2_000) / 4, ..ProptestConfig::default() })]

    #[test]
    fn pieces_in_any_order_are_read_in_linear_time(
        chosen in proptest::collection::vec((any::<Index>(), any::<Index>()), 1..4),
        size in any::<Index>(),
    ) {
        let pieces = pieces();
        let mut unit = String::new();
        for (piece, between) in &chosen {
            unit.push_str(piece.get(&pieces).as_str());
            unit.push_str(BETWEEN[between.index(BETWEEN.len())]);
        }
        check(&redactor(), &unit, &repeated(&unit, *size.get(sizes())))?;
    }
}
