//! What each port promises: one suite per port, which runs on every adapter.
//!
//! A suite is a file with a harness (a trait through which the cases reach the
//! adapter), a list of its cases in `suite!`, and the cases as private
//! functions. A test file lists its adapters in [`contract_tests!`] and gets
//! one test for each case on each adapter. A case that is not listed is
//! dead code, which does not compile here; a listed name without a case does not
//! compile either.
//!
//! - [`trajectory_store`]: what a recorder writes to
//! - [`source`], [`scratch`], [`bundle_sink`], [`bundle_source`]: what an export
//!   reads and writes
//! - [`tables`]: the databases in which agents keep sessions
//! - [`session_rewriter`], [`line_log`], [`blob_folder`]: what a trim uses
//! - [`trace_receiver`]: what traces are sent to
//! - [`dataset_store`]: where sessions are shipped to
//! - [`binding_store`], [`turn_leases`]: what the Codex binding remembers and locks
//!
//! [`contract_tests!`]: crate::contract_tests
#![deny(dead_code, reason = "a case that no suite lists would never run")]

/// Lists the cases of a suite: functions of the file that take its harness.
///
/// The leading `$` is for the macro that this one defines: that macro takes the
/// adapters and makes the tests.
macro_rules! suite {
    ($dollar:tt $suite:ident on $harness:ident: $($case:ident,)+) => {
        /// The cases of this suite, as the tests call them.
        pub mod cases {
            $(
                #[doc = concat!("Case `", stringify!($case), "`.")]
                pub fn $case(harness: &dyn super::$harness) {
                    super::$case(harness);
                }
            )+
        }

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $suite {
            ($dollar($dollar adapter:ident => $dollar harness:expr,)+) => {
                $dollar(
                    mod $dollar adapter {
                        use super::*;

                        $(
                            #[test]
                            fn $case() {
                                $crate::contract::$suite::cases::$case(&$dollar harness);
                            }
                        )+
                    }
                )+
            };
        }
    };
}

/// One test for each case of a suite on each adapter: `adapter => harness`,
/// where the harness is an expression that makes a fresh one.
#[macro_export]
macro_rules! contract_tests {
    ($suite:ident: $($adapter:ident => $harness:expr,)+) => {
        $crate::$suite! { $($adapter => $harness,)+ }
    };
}

pub mod binding_store;
pub mod blob_folder;
pub mod bundle_sink;
pub mod bundle_source;
pub mod dataset_store;
pub mod line_log;
pub mod scratch;
pub mod session_rewriter;
pub mod source;
pub mod tables;
pub mod trace_receiver;
pub mod trajectory_store;
pub mod turn_leases;
