//! Redacting a text twice changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traj_tests::redaction_laws::text_is_settled;

fuzz_target!(|text: &str| text_is_settled(text));
