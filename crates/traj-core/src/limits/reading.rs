//! The limits on reading, each with its default and its reason.

use crate::settings::count;
use crate::settings::host::HostFacts;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Limits on what is read. They bound memory, whatever a file or a pipe
/// contains. Input beyond a limit is skipped, shown by its size or rejected, as
/// the field says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// Bytes of a line that `traj record` reads: 128 MiB. An event may contain
    /// the whole output of a tool, and is cut to its limits only after it was
    /// read. Longer lines are reported and not recorded.
    pub input_line_bytes: usize,
    /// Bytes of a line that `traj redact`, `traj scan` and `traj repair` read:
    /// 512 MiB. Skipped lines would be lost or stay unchecked, so the limit is
    /// as high as an ordinary machine allows.
    pub scanned_line_bytes: usize,
    /// Bytes of a transcript or sidecar row that `traj sessions` reads: 32 MiB,
    /// because it reads several files at once. Longer rows are skipped.
    pub session_line_bytes: usize,
    /// Bytes of a row that `traj tail` parses: 4 MiB. Recorders write events of
    /// 256 KiB at most, and tail must respond at once. Longer rows are shown by
    /// their size.
    pub tail_line_bytes: usize,
    /// Bytes of a line that `traj trim` rewrites: 24 MiB. Longer lines are
    /// copied unchanged.
    pub rewrite_line_bytes: usize,
    /// Bytes of a row that an export holds as a whole: 4 MiB. Longer rows are
    /// read piece by piece and shrunk, so nothing is skipped.
    pub export_row_bytes: usize,
    /// Bytes of an event or an element of a bundle: 32 MiB. Exports write
    /// shorter ones; longer ones are reported.
    pub bundle_line_bytes: usize,
    /// Bytes of a line in a sidecar that the recorder continues: 64 MiB. Its
    /// own lines are much shorter, but those of other recorders may not be. In
    /// longer lines, it only looks for the sequence number.
    pub sidecar_line_bytes: usize,
    /// Bytes of a line in traj's own logs, such as the trim queue: 64 MiB. A
    /// log with a longer line is rejected.
    pub log_line_bytes: usize,
    /// Bytes of an app-server message: 64 MiB. A file that an agent reads
    /// arrives as one message. Longer messages are skipped and counted.
    pub server_line_bytes: usize,
    /// Values in a row of a session: 1 048 576. A value takes far more memory
    /// than the two bytes that may encode it. Rows with more values are
    /// skipped.
    pub row_values: usize,

    /// Bytes of a session that is gathered from a compressed file or a database,
    /// and of that database: 8 GiB. It is kept on the disk, and a small file can
    /// be made to grow without end. Larger ones are rejected.
    pub gathered_bytes: u64,
    /// Bytes of a value in a database: 64 MiB. Longer values are shown by their
    /// size.
    pub cell_bytes: usize,

    /// Bytes of a tool's output that Claude Code stored in a separate file: 2
    /// MiB, so that a row with it can be held. Of longer output, the row's own
    /// beginning is shown.
    pub stored_output_bytes: usize,

    /// Bytes of a file's head that usually show who wrote it and which session
    /// it belongs to: 64 KiB.
    pub short_head_bytes: usize,
    /// Bytes of a file's head that are read if the short one is not enough: 4
    /// MiB.
    pub long_head_bytes: usize,
    /// Rows of a head that are checked: 1 000.
    pub head_rows: usize,
    /// Bytes of a session's header: 256 KiB. A rollout's header contains the
    /// agent's instructions.
    pub header_bytes: usize,
    /// Bytes of a file that are read to find its session id: 16 KiB. This is
    /// done for hundreds of files.
    pub id_bytes: usize,
    /// Bytes that are read to identify a file named on the command line, and of
    /// the first line that proves which session a file belongs to: 1 MiB, which
    /// is more than a recorder's longest event.
    pub first_line_bytes: usize,

    /// Bytes of a pointer to a sidecar: 64 KiB. It holds two paths.
    pub pointer_bytes: usize,
    /// Bytes of a session store: 64 MiB. It needs about 1 KiB per session.
    pub store_bytes: usize,
    /// Bytes of a bundle's manifest: 16 MiB. It lists at most 50 000 blobs.
    pub manifest_bytes: usize,
    /// Bytes that the files of an archive may have beyond what its manifest
    /// states: 64 MiB. That is enough for the manifest itself and for wrong
    /// files, which `traj verify` then reports.
    pub unstated_bytes: usize,
    /// Bytes of a stored binding: 4 MiB.
    pub binding_bytes: usize,
    /// Bytes of the configuration file and of a price file: 1 MiB. People write
    /// them by hand.
    pub configuration_bytes: usize,
    /// Bytes of a redaction rule file: 4 MiB. Rule sets may be generated.
    pub rule_file_bytes: usize,
}

impl Reading {
    /// The environment variable for the longest line that is read as a whole.
    /// It sets [`input_line_bytes`](Self::input_line_bytes),
    /// [`scanned_line_bytes`](Self::scanned_line_bytes) and
    /// [`session_line_bytes`](Self::session_line_bytes).
    pub const LINE_BYTES: &str = "TRAJ_READ_LINE_BYTES";

    /// The defaults.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            input_line_bytes: 128 * MIB,
            scanned_line_bytes: 512 * MIB,
            session_line_bytes: 32 * MIB,
            tail_line_bytes: 4 * MIB,
            rewrite_line_bytes: 24 * MIB,
            export_row_bytes: 4 * MIB,
            bundle_line_bytes: 32 * MIB,
            sidecar_line_bytes: 64 * MIB,
            log_line_bytes: 64 * MIB,
            server_line_bytes: 64 * MIB,
            row_values: MIB,
            gathered_bytes: 8 * 1024 * MIB as u64,
            cell_bytes: 64 * MIB,
            stored_output_bytes: 2 * MIB,
            short_head_bytes: 64 * KIB,
            long_head_bytes: 4 * MIB,
            head_rows: 1_000,
            header_bytes: 256 * KIB,
            id_bytes: 16 * KIB,
            first_line_bytes: MIB,
            pointer_bytes: 64 * KIB,
            store_bytes: 64 * MIB,
            manifest_bytes: 16 * MIB,
            unstated_bytes: 64 * MIB,
            binding_bytes: 4 * MIB,
            configuration_bytes: MIB,
            rule_file_bytes: 4 * MIB,
        }
    }

    /// The limits in effect on this host.
    #[must_use]
    pub fn from_host(host: &HostFacts) -> Self {
        let standard = Self::standard();
        let line = |standard| count(&host.variables, Self::LINE_BYTES, standard);
        Self {
            input_line_bytes: line(standard.input_line_bytes),
            scanned_line_bytes: line(standard.scanned_line_bytes),
            session_line_bytes: line(standard.session_line_bytes),
            ..standard
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(value: &str) -> Reading {
        let variables = [(Reading::LINE_BYTES, value)].into_iter().collect();
        Reading::from_host(&HostFacts::new(variables, "/cwd"))
    }

    #[test]
    fn one_variable_sets_the_longest_line() {
        let expected = Reading {
            input_line_bytes: 100,
            scanned_line_bytes: 100,
            session_line_bytes: 100,
            ..Reading::standard()
        };
        assert_eq!(reading("100"), expected);
        for nonsense in ["", "0", "-1", "many"] {
            assert_eq!(reading(nonsense), Reading::standard(), "{nonsense}");
        }
    }
}
