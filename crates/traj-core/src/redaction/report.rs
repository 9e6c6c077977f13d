//! What redaction did: counts, never values.

use std::collections::BTreeMap;

use serde::Serialize;

/// Maximum number of positions and survivors that a report lists; it only counts
/// further ones.
const MAX_PLACES: usize = 2_000;
const MAX_SURVIVORS: usize = 500;

/// One finding: the rule and the position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// The line of the file, counted from one, if the caller set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// JSON Pointer of the string, `""` for a plain text; `~json` steps into
    /// JSON inside a string.
    pub path: String,
}

/// A string that no rule hid but that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Survivor {
    /// The line of the file, counted from one, if the caller set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// JSON Pointer of the string.
    pub path: String,
    /// The length of the suspicious part.
    pub length: usize,
    /// Its alphabet: `base64` or `mixed`.
    pub shape: &'static str,
}

/// Counts of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileReport {
    /// Secrets hidden, by rule.
    pub rules: BTreeMap<String, u64>,
    /// Secrets hidden, by JSON Pointer and rule; list indexes are `*`.
    pub places: BTreeMap<String, BTreeMap<String, u64>>,
    /// Secrets hidden at positions beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_places: u64,
    /// Media replaced by a marker.
    pub media: u64,
    /// Host paths and names replaced by a label.
    pub paths: u64,
    /// Markers that were already in the input.
    pub foreign_markers: u64,
    /// Strings to check by hand.
    pub survivors: Vec<Survivor>,
    /// Survivors beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_survivors: u64,
}

/// Changes the value of a name; copies the name only if it is new.
fn change<V: Default>(map: &mut BTreeMap<String, V>, name: &str, change: impl FnOnce(&mut V)) {
    if let Some(value) = map.get_mut(name) {
        change(value);
    } else {
        change(map.entry(name.to_owned()).or_default());
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FileReport {
    fn add(&mut self, other: &Self) {
        for (rule, count) in &other.rules {
            *self.rules.entry(rule.clone()).or_default() += count;
        }
        for (place, rules) in &other.places {
            if self.places.len() >= MAX_PLACES && !self.places.contains_key(place) {
                self.other_places += rules.values().sum::<u64>();
                continue;
            }
            let here = self.places.entry(place.clone()).or_default();
            for (rule, count) in rules {
                *here.entry(rule.clone()).or_default() += count;
            }
        }
        self.other_places += other.other_places;
        self.media += other.media;
        self.paths += other.paths;
        self.foreign_markers += other.foreign_markers;
        for survivor in &other.survivors {
            if self.survivors.len() < MAX_SURVIVORS {
                self.survivors.push(survivor.clone());
            } else {
                self.other_survivors += 1;
            }
        }
        self.other_survivors += other.other_survivors;
    }
}

/// Counts of what was hidden, by file.
///
/// A report contains rule ids, positions and numbers, but no payload.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RedactionReport {
    files: BTreeMap<String, FileReport>,
    file: String,
    line: Option<u64>,
    findings: Option<Vec<Finding>>,
    changes: u64,
    /// Changes that the rules have not checked again.
    unsettled: u64,
    notes: u64,
}

impl RedactionReport {
    /// An empty report.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty report that will also list every single finding.
    #[must_use]
    pub fn listing() -> Self {
        Self { findings: Some(Vec::new()), ..Self::default() }
    }

    /// Later counts belong to the file called `name`.
    pub fn begin_file(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        self.line = None;
    }

    /// Later findings belong to this line, counted from one.
    pub const fn at_line(&mut self, line: u64) {
        self.line = Some(line);
    }

    /// Adds the counts of another report, for work that is done in parts.
    pub fn merge(&mut self, other: &Self) {
        for (name, theirs) in &other.files {
            let ours = self.files.entry(name.clone()).or_default();
            ours.add(theirs);
        }
        self.changes += other.changes;
        self.unsettled += other.unsettled;
        self.notes += other.notes;
        if let (Some(ours), Some(theirs)) = (&mut self.findings, &other.findings) {
            ours.extend_from_slice(theirs);
        }
    }

    /// The number of changes: secrets, media and paths. If it has not grown
    /// between two calls, nothing was changed.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// The number of changes that the rules may not have checked again, in the
    /// string itself or together with its context. If it has not grown between
    /// two calls, the rules have checked and accepted everything redacted since.
    #[must_use]
    pub const fn unsettled(&self) -> u64 {
        self.unsettled
    }

    /// Resets the unsettled count to `before`: the rules have checked again.
    pub(super) const fn settle(&mut self, before: u64) {
        self.unsettled = before;
    }

    /// Records that the rules may find more in a changed string.
    pub(super) const fn unsettle(&mut self) {
        self.unsettled += 1;
    }

    /// The number of things that were counted but not hidden.
    pub(super) const fn notes(&self) -> u64 {
        self.notes
    }

    /// The line that findings currently belong to.
    pub(super) const fn line(&self) -> Option<u64> {
        self.line
    }

    pub(super) const fn set_line(&mut self, line: Option<u64>) {
        self.line = line;
    }

    /// The files with counts, by name. Without names, everything is under the
    /// empty name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &FileReport)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// How many secrets were hidden.
    #[must_use]
    pub fn hidden(&self) -> u64 {
        self.files.values().flat_map(|file| file.rules.values()).sum()
    }

    /// How many secrets were hidden, by rule.
    #[must_use]
    pub fn by_rule(&self) -> BTreeMap<&str, u64> {
        let mut rules = BTreeMap::new();
        for (rule, count) in self.files.values().flat_map(|file| &file.rules) {
            *rules.entry(rule.as_str()).or_default() += count;
        }
        rules
    }

    /// How many media were replaced.
    #[must_use]
    pub fn media(&self) -> u64 {
        self.files.values().map(|file| file.media).sum()
    }

    /// How many host paths and names were replaced.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.files.values().map(|file| file.paths).sum()
    }

    /// How many markers were already in the input.
    #[must_use]
    pub fn foreign_markers(&self) -> u64 {
        self.files.values().map(|file| file.foreign_markers).sum()
    }

    /// How many strings look like secrets but match no rule.
    #[must_use]
    pub fn survivors(&self) -> u64 {
        self.files.values().map(|file| file.survivors.len() as u64 + file.other_survivors).sum()
    }

    /// Every finding, if the report lists them.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.findings.as_deref().unwrap_or_default()
    }

    /// The report as a versioned JSON document.
    ///
    /// # Errors
    /// Never in practice; the serializer's signature allows for errors.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Document<'r> {
            schema: &'static str,
            schema_version: u32,
            hidden: u64,
            rules: BTreeMap<&'r str, u64>,
            media: u64,
            paths: u64,
            foreign_markers: u64,
            files: &'r BTreeMap<String, FileReport>,
        }
        serde_json::to_string_pretty(&Document {
            schema: "traj-redaction-report",
            schema_version: 1,
            hidden: self.hidden(),
            rules: self.by_rule(),
            media: self.media(),
            paths: self.paths(),
            foreign_markers: self.foreign_markers(),
            files: &self.files,
        })
    }

    fn count(&mut self, count: impl FnOnce(&mut FileReport)) {
        change(&mut self.files, &self.file, count);
    }

    pub(super) fn count_hidden(&mut self, rule: &str, path: &str) {
        let line = self.line;
        self.changes += 1;
        self.unsettled += 1;
        if let Some(findings) = &mut self.findings {
            findings.push(Finding { rule: rule.to_owned(), line, path: path.to_owned() });
        }
        self.count(|file| {
            change(&mut file.rules, rule, |count| *count += 1);
            if file.places.len() < MAX_PLACES || file.places.contains_key(path) {
                change(&mut file.places, path, |rules| change(rules, rule, |count| *count += 1));
            } else {
                file.other_places += 1;
            }
        });
    }

    /// Counts a medium that was replaced, including one too large for memory
    /// that was replaced before its value was read.
    pub fn count_media(&mut self) {
        self.changes += 1;
        self.unsettled += 1;
        self.count(|file| file.media += 1);
    }

    pub(super) fn count_paths(&mut self, count: u64) {
        if count > 0 {
            self.changes += count;
            self.unsettled += count;
            self.count(|file| file.paths += count);
        }
    }

    pub(super) fn count_foreign(&mut self, count: usize) {
        if count > 0 {
            self.notes += 1;
            self.count(|file| file.foreign_markers += count as u64);
        }
    }

    pub(super) fn add_survivor(&mut self, path: &str, length: usize, shape: &'static str) {
        let line = self.line;
        self.notes += 1;
        self.count(|file| {
            if file.survivors.len() < MAX_SURVIVORS {
                file.survivors.push(Survivor { line, path: path.to_owned(), length, shape });
            } else {
                file.other_survivors += 1;
            }
        });
    }
}
