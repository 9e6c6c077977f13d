//! The command line of `cargo xtask`, one `cmd` per verb.

use std::path::PathBuf;

xflags::xflags! {
    /// Automation of the traj workspace.
    cmd xtask {
        /// Run everything that must hold before a change is merged: format,
        /// lints, tidy, licences, tests, documentation, each crate alone.
        cmd ci {
            /// Go on after a failed step; the summary names every failure.
            optional --keep-going
            /// Run only the steps whose name contains this text.
            optional --only name: String
            /// Print the names of the steps and stop.
            optional --list
        }

        /// Check the house rules that the compiler cannot: dependencies,
        /// manifests, module documentation, file sizes, forgotten tests.
        cmd tidy {}

        /// Install the pinned Codex CLIs of the end-to-end tests into target/codex.
        cmd codex {}

        /// Install the pinned part of OpenClaw that loads sessions into target/openclaw.
        cmd openclaw {}

        /// Measure ratios in one run; print them and write target/bench/SUBJECT.json.
        cmd bench {
            /// Subjects to measure (all when none is named).
            repeated subject: String
            /// Small inputs, once each: proves that the benches still run.
            optional --smoke
            /// Exit with an error when a figure misses its reach.
            optional --check
        }

        /// Record, export and verify the example run, in target/demo.
        cmd demo {
            /// Draw what it printed into this SVG file.
            optional --picture file: PathBuf
        }

        /// Build the release archive: binary, completions, man page, licences, checksum.
        cmd dist {
            /// Say what would be built, and stop.
            optional --dry-run
        }

        /// Bump the version and date the changelog, or publish; a dry run unless told.
        cmd release {
            /// The version to bump to.
            optional version: String
            /// Publish the tagged version instead of bumping.
            optional --publish
            /// Do it: without this flag nothing is written, committed or published.
            optional --execute
        }
    }
}
