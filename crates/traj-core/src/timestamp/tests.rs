//! Tests of `timestamp`: laws, formats and corner cases.

use proptest::prelude::*;

use super::*;

fn lenient(text: &str) -> Option<String> {
    UnixMillis::parse_lenient(text).map(UnixMillis::to_iso)
}

#[test]
fn iso_forms_name_their_instant() {
    let cases = [
        ("2026-06-01T10:00:05.000Z", "2026-06-01T10:00:05.000Z"),
        ("2026-06-01T10:00", "2026-06-01T10:00:00.000Z"),
        ("2026-06", "2026-06-01T00:00:00.000Z"),
        ("2026-06-01T10:00:05+02:00", "2026-06-01T08:00:05.000Z"),
        ("2026-06-01T10:00:05-0330", "2026-06-01T13:30:05.000Z"),
        ("2026-06-01T10:00:05.123456789Z", "2026-06-01T10:00:05.123Z"),
        ("2026-06-01T24:00:00Z", "2026-06-02T00:00:00.000Z"),
        ("2026-02-30", "2026-03-02T00:00:00.000Z"),
        ("-000001-01-01T00:00:00Z", "-000001-01-01T00:00:00.000Z"),
        ("+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.000Z"),
        ("2026-06-01t10:00:05z", "2026-06-01T10:00:05.000Z"),
    ];
    for (text, iso) in cases {
        assert_eq!(
            UnixMillis::parse_iso(text).map(UnixMillis::to_iso).as_deref(),
            Some(iso),
            "{text}"
        );
    }
}

#[test]
fn prose_forms_name_their_instant() {
    let cases = [
        ("2026-6-1", "2026-06-01T00:00:00.000Z"),
        ("2026-06-01 10:00:05", "2026-06-01T10:00:05.000Z"),
        ("June 1, 2026", "2026-06-01T00:00:00.000Z"),
        ("Jun 1 2026 10:00 UTC", "2026-06-01T10:00:00.000Z"),
        ("1 June 2026", "2026-06-01T00:00:00.000Z"),
        ("Mon, 01 Jun 2026 10:00:05 GMT", "2026-06-01T10:00:05.000Z"),
        ("Mon Jun 01 2026 10:00:05 GMT+0200 (CEST)", "2026-06-01T08:00:05.000Z"),
        ("6/1/26", "2026-06-01T00:00:00.000Z"),
        ("6/1/70", "1970-06-01T00:00:00.000Z"),
        ("12/25/2026 3:04 pm", "2026-12-25T15:04:00.000Z"),
        ("12", "2001-12-01T00:00:00.000Z"),
        ("32", "2032-01-01T00:00:00.000Z"),
        ("0", "2000-01-01T00:00:00.000Z"),
        ("foo 2026", "2026-01-01T00:00:00.000Z"),
        ("(comment) 2026-06-01", "2026-06-01T00:00:00.000Z"),
        ("2026-06-01 10:00:05.25 EST", "2026-06-01T15:00:05.250Z"),
    ];
    for (text, iso) in cases {
        assert_eq!(lenient(text).as_deref(), Some(iso), "{text}");
    }
}

#[test]
fn what_is_no_date_is_none() {
    let cases = [
        "",
        "  ",
        "not a date",
        "2026 foo",
        "10:00",
        "T10:00:00Z",
        "2026-13-01",
        "2026-00-01",
        "2026-06-01T24:00:01Z",
        "2026-06-01T23:59:60Z",
        "2026-06-01T10",
        "25/12/2026",
        "13",
        "2026-06-01T10:00:05.Z",
        "20260601",
        "1780308005000",
        "2026-W23-1",
        "-000000-01-01T00:00:00Z",
        " 2026-06-01T10:00:05Z",
        "2026-06-01T10:00:05Z ",
        "+275760-09-13T00:00:00.001Z",
        "NaN",
        "2026-06-01T10:00:05 +0200",
        "2026-06-01T10:00:05.000Z\n",
        "２０２６",
        "1-1-1-1",
    ];
    for text in cases {
        assert_eq!(lenient(text), None, "{text}");
    }
}

#[test]
fn file_stamps_have_no_colon() {
    assert_eq!(UnixMillis(1_780_308_005_000).to_file_stamp(), "2026-06-01T10-00-05");
}

proptest! {
    #[test]
    fn iso_round_trips(millis in -UnixMillis::MAX_DISTANCE..=UnixMillis::MAX_DISTANCE) {
        let instant = UnixMillis::new(millis).unwrap();
        prop_assert_eq!(UnixMillis::parse_iso(&instant.to_iso()), Some(instant));
    }

    #[test]
    fn nothing_panics(text in "[0-9a-zA-Z:+/(). -]{0,40}") {
        let instant = UnixMillis::parse_lenient(&text);
        prop_assert!(instant.is_none_or(|at| UnixMillis::new(at.as_millis()).is_some()));
    }
}
