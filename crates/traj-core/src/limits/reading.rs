//! The limits on reading, each with its default and its reason.

use crate::settings::count;
use crate::settings::host::HostFacts;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Bounds on what is read. They bound memory, whatever a file or a pipe holds;
/// what lies above one is passed over, shown by its size or refused, as the
/// field says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// Bytes of a line that `traj record` reads: 128 MiB. An event may carry
    /// all that a tool printed, and is cut to its limits only after it was
    /// read. A longer line is reported and not recorded.
    pub input_line_bytes: usize,
    /// Bytes of a line that `traj redact`, `traj scan` and `traj repair` read:
    /// 512 MiB. What they pass over is lost or stays unseen, so this is what an
    /// ordinary machine can bear.
    pub scanned_line_bytes: usize,
    /// Bytes of a row that `traj sessions` reads of a transcript or a sidecar:
    /// 32 MiB. Several files are read at once. A longer row is passed over.
    pub session_line_bytes: usize,
    /// Bytes of a row that `traj tail` looks into: 4 MiB. Recorders write
    /// events of 256 KiB at most, and tail has to answer at once. A longer row
    /// is shown by its size.
    pub tail_line_bytes: usize,
    /// Bytes of a line that `traj trim` rewrites: 24 MiB. A
    /// longer one is copied as it is.
    pub rewrite_line_bytes: usize,
    /// Bytes of a row that an export holds as a whole: 4 MiB. A longer one is
    /// read piece by piece and shrunk, so nothing is passed over.
    pub export_row_bytes: usize,
    /// Bytes of an event or an element of a bundle: 32 MiB. Exports write
    /// shorter ones; a longer one is reported.
    pub bundle_line_bytes: usize,
    /// Bytes of a line of a sidecar that the recorder continues: 64 MiB. It
    /// writes much shorter ones, but other recorders may not. Of a longer one
    /// only the number is looked for.
    pub sidecar_line_bytes: usize,
    /// Bytes of a line in one of traj's own logs, such as the trim queue:
    /// 64 MiB. A log with a longer line is not read.
    pub log_line_bytes: usize,
    /// Bytes of a message of an app-server: 64 MiB. A file that an agent has
    /// read comes as one message. A longer one is skipped and counted.
    pub server_line_bytes: usize,
    /// Values in a row of a session: 1 048 576. A value takes far more memory
    /// than the two bytes it may be written with. A row with more is passed
    /// over.
    pub row_values: usize,

    /// Bytes of the head of a file that are enough in most cases to see who
    /// wrote it, and whose it is: 64 KiB.
    pub short_head_bytes: usize,
    /// Bytes of the head of a file that are read where the short one is not
    /// enough: 4 MiB.
    pub long_head_bytes: usize,
    /// Rows of a head that are looked at: 1 000.
    pub head_rows: usize,
    /// Bytes of the header of a session: 256 KiB. That of a rollout holds the
    /// instructions of the agent.
    pub header_bytes: usize,
    /// Bytes of a file that are read for the id of its session: 16 KiB. It is
    /// read of hundreds of files.
    pub id_bytes: usize,
    /// Bytes of a file that is named on the command line which are read to see
    /// what it is, and of the first line that proves whose a file is: 1 MiB,
    /// which is more than the longest event of a recorder.
    pub first_line_bytes: usize,

    /// Bytes of the pointer to a sidecar: 64 KiB. It holds two paths.
    pub pointer_bytes: usize,
    /// Bytes of a store of sessions: 64 MiB. A store has some 1 KiB for each
    /// session.
    pub store_bytes: usize,
    /// Bytes of the manifest of a bundle: 16 MiB. It lists 50 000 blobs at most.
    pub manifest_bytes: usize,
    /// Bytes that all files of an archive may have beyond what its manifest
    /// states: 64 MiB. It is enough for the manifest itself, and for files that
    /// `traj verify` then names as wrong.
    pub unstated_bytes: usize,
    /// Bytes of a stored binding: 4 MiB.
    pub binding_bytes: usize,
    /// Bytes of the configuration file, and of a price file: 1 MiB. People
    /// write them by hand.
    pub configuration_bytes: usize,
    /// Bytes of a file with rules for redaction: 4 MiB. Rule sets are
    /// generated at times.
    pub rule_file_bytes: usize,
}

impl Reading {
    /// The variable for the longest line that is read as a whole. It sets
    /// [`input_line_bytes`](Self::input_line_bytes),
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
