//! Pages: what `traj view` writes, and what `traj verify` makes of it.
//!
//! - `content`: what the index says, compared with other readers
//! - `safety`: secrets, and text that would be markup
//! - `tampering`: pages that somebody changed
//! - `command`: the command itself

mod command;
mod content;
mod safety;
mod tampering;

use std::num::NonZeroUsize;

use traj_core::memory::{MemoryBundle, MemoryBundleSource, MemorySources};
use traj_core::port::{BundleSourceError, Source, Sources as _};
use traj_export::{PageBundle, PageOptions, VerifyReport, verify_page, write_page};
use traj_tests::export_fixture::redactor;
use traj_tests::page_file::PageFile;

/// The page of a bundle.
fn page_of(files: &MemoryBundle) -> String {
    let mut page = Vec::new();
    write_page(&MemoryBundleSource::of(files), &PageOptions::new(), &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn parsed(files: &MemoryBundle) -> PageFile {
    PageFile::parse(&page_of(files))
}

/// What a check of a page reports.
fn checked(page: &str) -> Result<VerifyReport, BundleSourceError> {
    let source = source_of(page);
    assert!(PageBundle::is_page(&*source), "it begins as a page does");
    verify_page(&PageBundle::open(source)?, &redactor(), NonZeroUsize::MIN)
}

fn source_of(page: &str) -> Box<dyn Source> {
    let sources = MemorySources::new();
    sources.put("page.html", page);
    sources.open("page.html").unwrap()
}
