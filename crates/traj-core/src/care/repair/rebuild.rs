//! The second reading: the lines of the copy.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::diagnosis::{Diagnosis, DocumentKind, NewParent, Problem};
use super::salvage::salvage;
use crate::dialect::shape::row;
use crate::json::Json;

/// The rows of one line.
pub(super) struct SplitLine<'a> {
    pub(super) rows: Vec<Cow<'a, [u8]>>,
    pub(super) problems: Vec<Problem>,
}

/// Splits lines into rows, the same way in both readings.
#[derive(Debug, Default)]
pub(super) struct RowSplitter {
    /// The beginning of a row that broke off in the previous line; this line may
    /// continue it.
    torn: Option<String>,
}

impl RowSplitter {
    pub(super) fn split<'a>(&mut self, line: &'a [u8]) -> SplitLine<'a> {
        let head = self.torn.take();
        // A byte order mark means nothing in UTF-8.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let Some(salvaged) = salvage(line) else {
            let is_blank = line.iter().all(u8::is_ascii_whitespace);
            let rows = if is_blank { Vec::new() } else { vec![Cow::Borrowed(line)] };
            return SplitLine { rows, problems: Vec::new() };
        };
        if let (Some(head), true) = (head, salvaged.rows.is_empty()) {
            let joined = format!("{head}{}", String::from_utf8_lossy(line));
            if Json::parse(&joined).is_ok_and(|value| DocumentKind::of_row(&value).is_some()) {
                let rows = vec![Cow::Owned(joined.into_bytes())];
                return SplitLine { rows, problems: vec![Problem::Interleaved] };
            }
        }
        self.torn = salvaged.torn_head;
        let rows = salvaged.rows.into_iter().map(|row| Cow::Owned(row.into_bytes())).collect();
        SplitLine { rows, problems: salvaged.problems }
    }
}

/// Takes every line again and returns the lines of the copy.
#[derive(Debug)]
pub struct Rebuild<'a> {
    diagnosis: &'a Diagnosis,
    splitter: RowSplitter,
    row: u64,
    ordinal: u64,
    /// Ids of rows that get new children.
    ids: HashMap<u64, String>,
    wanted: HashSet<u64>,
    /// Total length of those ids.
    id_bytes: usize,
}

/// Ids of rows that get new children are held up to this size. Beyond it, the
/// children become roots.
const MOST_ID_BYTES: usize = 8 * 1024 * 1024;

impl<'a> Rebuild<'a> {
    /// A rebuild that follows a diagnosis.
    #[must_use]
    pub fn new(diagnosis: &'a Diagnosis) -> Self {
        let wanted = diagnosis.parents.values().filter_map(|parent| match parent {
            NewParent::Row(row) => Some(*row),
            NewParent::None => None,
        });
        Self {
            diagnosis,
            splitter: RowSplitter::default(),
            row: 0,
            ordinal: 0,
            ids: HashMap::new(),
            wanted: wanted.collect(),
            id_bytes: 0,
        }
    }

    /// The line that comes before all others, if any.
    #[must_use]
    pub fn first_line(&self) -> Option<&str> {
        self.diagnosis.first_line.as_deref()
    }

    /// Takes the next line, without its line end, and passes the lines of the
    /// copy to `write`.
    ///
    /// # Errors
    /// The error of `write`.
    pub fn line<E>(
        &mut self,
        line: &[u8],
        write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for row in self.splitter.split(line).rows {
            let number = self.row;
            self.row += 1;
            if !self.diagnosis.left_out.contains(number) {
                write(&self.corrected(number, row))?;
            }
        }
        Ok(())
    }

    fn corrected<'r>(&mut self, number: u64, row: Cow<'r, [u8]>) -> Cow<'r, [u8]> {
        let is_root = self.diagnosis.roots.contains(number);
        let parent = self.diagnosis.parents.get(&number).or(is_root.then_some(&NewParent::None));
        let is_wanted = self.wanted.contains(&number);
        if parent.is_none() && !is_wanted && !self.diagnosis.is_numbered {
            return row;
        }
        let Ok(mut value) = Json::parse_lossy(&row).map(Json::into_owned) else { return row };
        if is_wanted
            && let Some(id) = row::id_of(&value)
            && self.id_bytes + id.len() <= MOST_ID_BYTES
        {
            self.id_bytes += id.len();
            self.ids.insert(number, id.to_owned());
        }
        let Some(object) = value.as_object_mut() else { return row };
        let mut changed = false;
        if let Some(parent) = parent {
            let id = match parent {
                NewParent::Row(row) => self.ids.get(row).cloned(),
                NewParent::None => None,
            };
            row::set_parent(object, id);
            changed = true;
        }
        if self.diagnosis.is_numbered && row::is_of_rollout_object(object) {
            changed |= row::renumber(object, self.ordinal);
            self.ordinal += 1;
        }
        if changed { Cow::Owned(value.to_line().into_bytes()) } else { row }
    }
}
