//! Which rows of a session count.

use std::collections::HashSet;

use super::survey::{NONE, Survey, SurveyedKind, SurveyedRow};
use crate::run::Branches;

/// Whether a row counts, and if not, why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RowFate {
    /// It counts.
    #[default]
    Own,
    /// It belongs to the session that this one is a copy of.
    Inherited,
    /// It is on an abandoned branch.
    Left,
    /// An earlier row has the same id.
    Repeated,
}

/// Copied rows are older than the file by more than this, in milliseconds. Rows
/// may be written a little late.
const LATE: i64 = 1_000;

/// Old versions write copied rows within this many milliseconds of each other.
const AT_ONCE: i64 = 5;

/// The fate of each line.
#[derive(Debug, Default)]
pub(super) struct Fates {
    fates: Vec<RowFate>,
    /// For a row of a side chain, the row that begins it.
    roots: Vec<u32>,
    /// The abandoned branches.
    pub(super) left: Branches,
}

impl Fates {
    pub(super) fn of(survey: &Survey) -> Self {
        let rows = &survey.rows;
        let mut fates = vec![RowFate::Own; rows.len()];
        let (ids, parents) = links(rows, &mut fates);
        let inherited = inherited_rows(survey, &parents);
        let tree = Tree::of(survey, &fates, &ids, parents);
        let mut left = Branches::default();
        for (at, row) in rows.iter().enumerate() {
            let is_talk = row.kind != SurveyedKind::Beside;
            let Some(fate) = fates.get_mut(at).filter(|_| is_talk) else { continue };
            if *fate == RowFate::Own && inherited.get(at) == Some(&true) {
                *fate = RowFate::Inherited;
            } else if *fate == RowFate::Own && !tree.counts(at) {
                *fate = RowFate::Left;
                left.entries += 1;
                left.count += u64::from(tree.begins_branch(at));
            }
        }
        let roots = side_roots(rows, &tree.parents);
        Self { fates, roots, left }
    }

    /// Whether every row counts and needs no mark.
    pub(super) fn are_plain(&self) -> bool {
        self.roots.is_empty() && self.fates.iter().all(|fate| *fate == RowFate::Own)
    }

    pub(super) fn of_line(&self, line: usize) -> RowFate {
        self.fates.get(line).copied().unwrap_or_default()
    }

    /// The line that begins the side chain which this line is part of.
    pub(super) fn root_of(&self, line: usize) -> Option<u32> {
        self.roots.get(line).copied().filter(|root| *root != NONE)
    }
}

/// The lines of rows, sorted by the ids of the rows.
type Ids = Vec<u32>;

/// The id of the row on a line.
fn id_of(rows: &[SurveyedRow], line: u32) -> u64 {
    rows.get(line as usize).map_or(0, |row| row.id)
}

fn line_of(rows: &[SurveyedRow], ids: &Ids, id: u64) -> Option<u32> {
    let place = ids.binary_search_by_key(&id, |line| id_of(rows, *line)).ok()?;
    ids.get(place).copied()
}

/// Finds repeated rows, and the line of each row's parent. The first row with an
/// id counts, and the last one says where it belongs.
fn links(rows: &[SurveyedRow], fates: &mut [RowFate]) -> (Ids, Vec<u32>) {
    let has_id = |row: &SurveyedRow| row.kind != SurveyedKind::Beside && row.id != 0;
    let lines = (0_u32..).zip(rows).filter(|(_, row)| has_id(row));
    let mut ids: Ids = lines.map(|(line, _)| line).collect();
    ids.sort_unstable_by_key(|line| (id_of(rows, *line), *line));
    let mut last: Vec<(u32, u32)> = Vec::new();
    for pair in ids.windows(2) {
        if let [first, line] = pair
            && id_of(rows, *first) == id_of(rows, *line)
        {
            if let Some(fate) = fates.get_mut(*line as usize) {
                *fate = RowFate::Repeated;
            }
            match last.last_mut() {
                Some((known, newest)) if id_of(rows, *known) == id_of(rows, *first) => {
                    *newest = *line;
                }
                _ => last.push((*first, *line)),
            }
        }
    }
    ids.dedup_by_key(|line| id_of(rows, *line));
    let mut parents: Vec<u32> = rows
        .iter()
        .map(|row| match row.parent {
            0 => NONE,
            parent => line_of(rows, &ids, parent).unwrap_or(NONE),
        })
        .collect();
    for (first, newest) in last {
        let moved = parents.get(newest as usize).copied().unwrap_or(NONE);
        if let Some(parent) = parents.get_mut(first as usize).filter(|_| moved != first) {
            *parent = moved;
        }
    }
    (ids, parents)
}

/// Which rows are copies from another session.
fn inherited_rows(survey: &Survey, parents: &[u32]) -> Vec<bool> {
    let rows = &survey.rows;
    let last_foreign = rows.iter().rposition(|row| row.is_foreign);
    let copied = if survey.is_old { copied_at_once(rows) } else { None };
    let began = survey.began.unwrap_or(i64::MIN);
    // The session's own answers are never older than the file, however soon it was copied.
    let is_older = |row: &SurveyedRow| row.kind == SurveyedKind::Assistant && row.at < began;
    let last_older = rows.iter().rposition(is_older);
    let until = last_foreign.max(copied).max(last_older);
    let is_copy = |at: usize, row: &SurveyedRow| {
        until.is_some_and(|until| at <= until) || row.at.saturating_add(LATE) < began
    };
    let mut inherited: Vec<bool> =
        rows.iter().enumerate().map(|(at, row)| is_copy(at, row)).collect();
    // Some versions rewrite the session in answers but not in questions.
    let mut is_answer = vec![false; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let parent = parents.get(at).copied().unwrap_or(NONE) as usize;
        let follows = row.kind != SurveyedKind::Prompt && is_answer.get(parent) == Some(&true);
        if let (Some(answer), Some(slot)) = (is_answer.get_mut(at), inherited.get_mut(at)) {
            *answer = row.is_elsewhere || follows;
            *slot |= *answer;
        }
    }
    inherited
}

/// The last row that an old version copied: all of them have the same time, and so
/// has the question that the copy was made for.
fn copied_at_once(rows: &[SurveyedRow]) -> Option<usize> {
    let talk = rows.iter().enumerate().filter(|(_, row)| row.kind != SurveyedKind::Beside);
    let (mut last, mut before) = (None, None);
    for (at, row) in talk {
        if before.is_some_and(|before: i64| row.at.saturating_sub(before) > AT_ONCE) {
            break;
        }
        if row.kind != SurveyedKind::Prompt {
            last = Some(at);
        }
        before = Some(row.at);
    }
    let has_answer = |last: &usize| {
        let copied = rows.get(..=*last).unwrap_or_default();
        copied.iter().any(|row| row.kind == SurveyedKind::Assistant)
    };
    last.filter(has_answer)
}

/// Where a row is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreePlace {
    Unknown,
    /// On the path from a leaf to its root.
    On,
    /// Beside it.
    Off,
    /// Beside it, but part of the run: another block of a message, the result of
    /// another call.
    Along,
}

struct Tree {
    parents: Vec<u32>,
    places: Vec<TreePlace>,
}

impl Tree {
    fn of(survey: &Survey, fates: &[RowFate], ids: &Ids, parents: Vec<u32>) -> Self {
        let rows = &survey.rows;
        let mut tree = Self { parents, places: vec![TreePlace::Unknown; rows.len()] };
        let is_main = |at: usize| {
            rows.get(at).is_some_and(|row| row.kind != SurveyedKind::Beside && !row.is_side)
                && fates.get(at) != Some(&RowFate::Repeated)
        };
        // The last row is the leaf, unless the program has gone back since.
        let last = (0..rows.len()).rev().find(|at| is_main(*at));
        let stated = line_of(rows, ids, survey.leaf).map(|line| line as usize);
        if let (Some(last), Some(stated)) = (last, stated.filter(|at| is_main(*at)))
            && !tree.is_above(stated, last)
        {
            tree.walk(stated);
        }
        for at in (0..rows.len()).rev().filter(|at| is_main(*at)) {
            tree.walk(at);
        }
        tree.add_what_belongs(rows);
        tree
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let parent = self.parents.get(at).copied().filter(|parent| *parent != NONE)?;
        usize::try_from(parent).ok()
    }

    fn place(&self, at: usize) -> TreePlace {
        self.places.get(at).copied().unwrap_or(TreePlace::Unknown)
    }

    fn is_above(&self, upper: usize, lower: usize) -> bool {
        let mut at = Some(lower);
        for _ in 0..=self.parents.len() {
            match at {
                Some(now) if now == upper => return true,
                Some(now) => at = self.parent(now),
                None => return false,
            }
        }
        false
    }

    /// Walks from a row to its root, or to rows whose place is known. The rows of
    /// another root are an earlier part of the session.
    fn walk(&mut self, start: usize) {
        let (mut way, mut at) = (Vec::new(), Some(start));
        let mut place = TreePlace::On;
        while let Some(now) = at {
            match self.place(now) {
                TreePlace::Unknown => {}
                _ if way.is_empty() => return,
                _ => {
                    place = TreePlace::Off;
                    break;
                }
            }
            if let Some(slot) = self.places.get_mut(now) {
                // A cycle ends here.
                *slot = TreePlace::Off;
            }
            way.push(now);
            at = self.parent(now);
        }
        for row in way {
            if let Some(slot) = self.places.get_mut(row) {
                *slot = place;
            }
        }
    }

    /// Finds rows beside the path that belong to it.
    fn add_what_belongs(&mut self, rows: &[SurveyedRow]) {
        let on_way = rows.iter().enumerate().filter(|(at, _)| self.place(*at) == TreePlace::On);
        let messages: HashSet<u64> = on_way
            .filter(|(_, row)| row.kind == SurveyedKind::Assistant && row.message != 0)
            .map(|(_, row)| row.message)
            .collect();
        for (at, row) in rows.iter().enumerate() {
            if self.place(at) != TreePlace::Off {
                continue;
            }
            let is_below = self.parent(at).is_some_and(|parent| self.counts(parent));
            let belongs = match row.kind {
                SurveyedKind::Assistant => messages.contains(&row.message),
                SurveyedKind::Result | SurveyedKind::Other => is_below,
                SurveyedKind::Prompt | SurveyedKind::Beside => false,
            };
            if let Some(slot) = self.places.get_mut(at).filter(|_| belongs) {
                *slot = TreePlace::Along;
            }
        }
    }

    fn counts(&self, at: usize) -> bool {
        self.place(at) != TreePlace::Off
    }

    fn begins_branch(&self, at: usize) -> bool {
        self.parent(at).is_none_or(|parent| self.counts(parent))
    }
}

/// The line that begins each side chain; empty if there is none. A parent comes
/// before its children.
fn side_roots(rows: &[SurveyedRow], parents: &[u32]) -> Vec<u32> {
    if !rows.iter().any(|row| row.is_side) {
        return Vec::new();
    }
    let mut roots = vec![NONE; rows.len()];
    for (at, _) in (0_u32..).zip(rows).filter(|(_, row)| row.is_side) {
        let parent = parents.get(at as usize).copied().filter(|parent| *parent < at);
        let is_side = |line: &u32| rows.get(*line as usize).is_some_and(|row| row.is_side);
        let above = parent.filter(is_side).and_then(|parent| roots.get(parent as usize).copied());
        if let Some(root) = roots.get_mut(at as usize) {
            *root = above.unwrap_or(at);
        }
    }
    roots
}
