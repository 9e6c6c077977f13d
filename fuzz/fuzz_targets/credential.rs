//! A credential does not survive, whatever is around it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traj_tests::redaction_laws::no_credential_survives;

fuzz_target!(|text: &str| no_credential_survives(text));
