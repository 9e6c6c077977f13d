//! The files of long texts: that each is the text that its name states, that the
//! rules find no secret in it, and that none is missing that a row names.

use std::collections::{BTreeMap, BTreeSet};

use traj_core::capture::BlobDigest;
use traj_core::redaction::Redactor;

use super::{DatasetFinding, DatasetProblem, DatasetReport};
use crate::DamagedFile;
use crate::layout::TextKey;
use crate::packed_text::unpack;

/// The texts that rows name, and those that are there.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Each with a file whose rows name it.
    named: BTreeMap<BlobDigest, String>,
    stored: BTreeSet<BlobDigest>,
}

impl Texts {
    /// Notes the texts that the rows of a file name.
    pub(super) fn add_named(&mut self, file: &str, texts: BTreeSet<BlobDigest>) {
        for text in texts {
            self.named.entry(text).or_insert_with(|| file.to_owned());
        }
    }

    /// Checks a file.
    pub(super) fn check(
        &mut self,
        file: &str,
        content: &[u8],
        redactor: &Redactor,
        report: &mut DatasetReport,
    ) {
        match self.read(file, content) {
            Ok(text) => {
                for finding in redactor.scan_text(&text) {
                    let (file, column) = (file.to_owned(), "text".to_owned());
                    let rule = finding.rule;
                    report.add_finding(DatasetFinding { file, seq: None, column, rule });
                }
            }
            Err(damage) => report.add_problem(DatasetProblem {
                file: Some(file.to_owned()),
                trace_id: None,
                problem: damage.what.to_owned(),
            }),
        }
    }

    fn read(&mut self, file: &str, content: &[u8]) -> Result<String, DamagedFile> {
        let damaged = |what| DamagedFile { what };
        let key = TextKey::parse(file).ok_or(damaged("it does not have the name of a text"))?;
        let text = unpack(content)?;
        if BlobDigest::of(&text) != key.0 {
            return Err(damaged("it is not the text that its name states"));
        }
        self.stored.insert(key.0);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reports texts that are missing, and counts those that no row names.
    pub(super) fn finish(self, report: &mut DatasetReport) {
        for (text, file) in &self.named {
            if !self.stored.contains(text) {
                report.add_problem(DatasetProblem {
                    file: Some(file.clone()),
                    trace_id: None,
                    problem: format!("the text {text} is missing or damaged"),
                });
            }
        }
        let unused = self.stored.iter().filter(|text| !self.named.contains_key(text));
        report.texts = self.stored.len() as u64;
        report.unused_texts = unused.count() as u64;
    }
}
