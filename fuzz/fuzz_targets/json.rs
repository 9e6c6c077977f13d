//! What comes out parses, and redacting it again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traj_tests::redaction_laws::json_parses_and_is_settled;

fuzz_target!(|text: &str| json_parses_and_is_settled(text));
