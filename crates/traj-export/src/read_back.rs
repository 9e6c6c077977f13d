//! Reads finished files back. Everything must parse, and any part that the
//! rules did not approve byte for byte during writing is scanned again.
//!
//! - `redaction_pass`: the rules of one export, applied while files are written;
//! - `approved_parts`: the hashes of the parts that the rules approved;
//! - `groups`: the parts of a file, read in groups;
//! - `scan`: parses a file and scans its parts for secrets;
//! - `recheck`: runs the scan over every file of a new bundle;
//! - `recurrence`: looks for the secrets of the session in them.

pub(crate) mod approved_parts;
pub(crate) mod groups;
pub(crate) mod recheck;
pub(crate) mod recurrence;
pub(crate) mod redaction_pass;
pub(crate) mod scan;
