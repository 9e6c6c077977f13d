//! One Parquet dataset for the sessions of many hosts: where its files are, and
//! how each event gets into it exactly once.
//!
//! # Where files are
//!
//! ```text
//! <root>/traj/v1/events/date=2026-11-18/agent=codex/<host12>-<session12>-<first>-r<revision>.parquet
//! <root>/traj/v1/sessions/date=2026-11-18/agent=codex/<the same name>.parquet
//! <root>/traj/v1/blobs/ab/<sha256>.zst
//! ```
//!
//! A session is cut into *segments*: runs of consecutive events. Each is one
//! file of events and one file, under the same name, with one row about the
//! session up to the end of the segment. In a name:
//!
//! - `host12`: the first 12 digits of the column `host_id`;
//! - `session12`: the first 12 digits of the column `trace_id`;
//! - `first`: the `seq` of the first event, in decimal digits, from 1;
//! - `revision`: from 1.
//!
//! `host12-session12-first` is the *position* of a segment. **A position has one
//! valid file per table: the one with the highest revision, whatever directory
//! it is in.** If that revision is in two directories, which only happens when
//! two versions of traj ship one session at the same moment, the file whose key
//! sorts last counts. A position whose newest revision has no events is empty: the
//! session became shorter. It has a file of sessions only.
//!
//! `date` is the UTC day of the segment's first event, and `agent` its program
//! in lower case (`unknown` if it is not known). Segments also end where a
//! later day begins, so that all events of a file are of its day. Two
//! exceptions: an event without a time belongs to the day of the event before
//! it, or to 1970-01-01 if there is none; and a revision stays in the directory
//! of the first, even if an event of another day was added to it. The column
//! `ts` is always right.
//!
//! # Long texts
//!
//! A text that its recorder kept as a blob is in a file of its own, compressed with
//! zstd and named after its SHA-256, so that all sessions of all hosts share it. In
//! the column `data`, a marker has its first 4 KiB as `preview`, and the file as
//! `file`. Texts above 16 MiB have no file. Texts are stored before the rows that
//! name them.
//!
//! # Columns
//!
//! Events have the columns of [`EventTable`](traj_export::EventTable), sessions
//! those of [`SessionTable`](traj_export::SessionTable), both always have
//! `host_id` and `revision`; the first number of the segment is `segment` in
//! events and `first_seq` in sessions. Events are sorted by `seq`, which counts
//! the events of a session from 1 without gaps; `trace_id`, a digest of `agent`
//! and `session_id`, identifies a session of a host; `event_id` is made of
//! `trace_id` and `seq`. **A row of sessions contains the totals from the first
//! event to its `last_seq`: the row with the highest `first_seq` describes the
//! whole session.** Never sum these rows.
//!
//! Each file states in the key-value metadata of Parquet, in decimal digits or
//! hexadecimal ones:
//!
//! | key | value |
//! |---|---|
//! | `traj.layout` | `1` |
//! | `traj.trace_id` | the session, in full |
//! | `traj.first_seq`, `traj.last_seq` | the first and the last event; the last is one below the first if there is none |
//! | `traj.revision` | as in the name |
//! | `traj.rows` | a digest of the rows of the file, without `revision` |
//! | `traj.digest` | a digest of the rows of both tables; equal in both files of a segment |
//!
//! # Reading order
//!
//! - `layout`: names of files, and reading them;
//! - `root`: where a dataset is;
//! - `stored_file`: the metadata of a file;
//! - `packed_text`: long texts;
//! - `ship`: stores sessions in a dataset, each event once;
//! - `verify`: checks all files of a dataset;
//! - `forget`: removes a session from one;
//! - `views`: SQL for the engines that read a dataset;
//! - `object_stores`: stores files in S3, Google Cloud Storage and Azure, with the
//!   feature `object-stores`.

mod forget;
mod layout;
#[cfg(feature = "object-stores")]
mod object_stores;
mod packed_text;
mod root;
mod ship;
mod stored_file;
mod verify;
mod views;

pub use forget::{SessionInDataset, find_in_dataset, forget_in_dataset};
pub use layout::{Day, HostId, SegmentKey, SegmentName, Table};
#[cfg(feature = "object-stores")]
pub use object_stores::{ObjectStoreDataset, OpenError, StoreEnvironment};
pub use root::{DatasetRoot, RootError};
pub use ship::{
    BundleSession, DatasetAway, DatasetError, Drained, SegmentLimits, SessionShipped, SessionStamp,
    SessionUnreadable, ShipError, ShipSession, ShipSetup, Shipper, SpoolState, Standing, Tail,
};
pub use stored_file::DamagedFile;
pub use verify::{DatasetFinding, DatasetProblem, DatasetReport, verify_dataset};
pub use views::{Engine, Job, Report, views};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
