//! The command line of `cargo xtask`, one `cmd` per verb.

use std::path::PathBuf;

xflags::xflags! {
    /// Automation of the traj workspace.
    cmd xtask {
        /// Run everything that must hold before a change is merged: format, lints,
        /// tidy, licences, advisories, tests, documentation, each crate alone.
        cmd ci {
            /// Go on after a failed step; the summary names every failure.
            optional --keep-going
            /// Run only the steps whose name contains this string.
            optional --only name: String
            /// Print the names of the steps and stop.
            optional --list
        }

        /// Run everything that is too slow for every change: properties with
        /// 20,000 cases, all pinned agents, benches at full size.
        cmd sweep {
            /// Go on after a failed step; the summary names every failure.
            optional --keep-going
            /// Run only the steps whose name contains this string.
            optional --only name: String
            /// Print the names of the steps and stop.
            optional --list
        }

        /// Check the house rules that the compiler cannot: dependencies, manifests,
        /// file, function and directory sizes, documentation, forgotten tests.
        cmd tidy {}

        /// Install pinned real agents into a cache, run them offline, and check that traj
        /// reads what they wrote.
        cmd agents {}

        /// Install the pinned Codex CLIs of the end-to-end tests into target/codex.
        cmd codex {}

        /// Install the pinned part of OpenClaw that loads sessions into target/openclaw.
        cmd openclaw {}

        /// Install the pinned programs that the page is compared with into target/peers.
        cmd peers {}

        /// Measure ratios in one run; print them and write target/bench/SUBJECT.json.
        cmd bench {
            /// Subjects to measure (default: all).
            repeated subject: String
            /// Measure small inputs once: proves that the benches still run.
            optional --smoke
            /// Exit with an error if a figure misses its target.
            optional --check
        }

        /// Check the laws of redaction on random texts, for an hour by default.
        cmd fuzz {
            /// For how many seconds.
            optional --seconds seconds: u64
        }

        /// Record, export and verify the example run, in target/demo.
        cmd demo {
            /// Draw its output into this SVG file.
            optional --picture file: PathBuf
        }

        /// Build the release archive: binary, completions, man page, licences, checksum.
        cmd dist {
            /// Print what would be built, and stop.
            optional --dry-run
        }

        /// Check the public API, bump the version and date the changelog, or publish.
        /// A dry run by default.
        cmd release {
            /// The version to bump to.
            optional version: String
            /// Publish the tagged version instead of bumping.
            optional --publish
            /// Write, commit or publish; without this flag nothing is changed.
            optional --execute
            /// Skip the checks of the public API and of minimal versions.
            optional --skip-checks
        }
    }
}
