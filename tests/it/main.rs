//! The one integration-test binary.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of a test fail by panicking, as the test does"
)]

mod binding_store_contract;
mod bundle_archives;
mod bundle_sink_contract;
mod bundle_source_contract;
mod bundle_verify;
mod care_commands;
mod care_full_disk;
mod cli_record;
mod cli_record_losses;
mod codex_cli;
mod codex_conversation;
mod codex_faults;
mod codex_lifecycle;
mod codex_random;
mod codex_turns;
mod command_errors;
mod config_command;
mod config_prices;
mod cross_finder;
mod cross_reader;
mod export_branch;
mod export_changes;
mod export_command;
mod export_events;
mod export_faults;
mod export_injected;
mod export_long_texts;
mod export_places;
mod export_process_faults;
mod export_rollout;
mod export_shapes;
mod export_sources;
mod export_stores;
mod export_threads;
mod export_values;
mod file_limit;
mod help_texts;
mod inspect_command;
mod json_schemas;
mod prune_strays;
mod recorder_ahead;
mod recorder_behaviour;
mod recorder_crash;
mod recorder_defects;
mod recorder_end;
mod recorder_faults;
mod recorder_injected;
mod recorder_kills;
mod recorder_order;
mod recorder_process;
mod redact_command;
mod redaction;
mod resolve_session;
mod rewrite_filesystem;
mod rewrite_interleavings;
mod scratch_contract;
mod session_rewriter_contract;
mod sessions_command;
mod sidecar_attacks;
mod sidecar_files;
mod sidecar_locks;
mod source_contract;
mod tail_command;
mod traj_binary;
mod trajectory_store_contract;
mod trajectory_store_model;
mod trim_command;
mod trim_logs_contract;
mod trim_openclaw;
mod trim_rollout;
