//! Detects the skills that a run used from the file paths in its tool calls.

use std::collections::HashMap;

use traj_core::dialect::particulars;
use traj_core::json::{Json, Object};

/// The paths of a run's skills, to compare with its tool calls.
#[derive(Debug, Default)]
pub(crate) struct SkillPaths {
    /// One for each entry of the skill list; `None` if it has no path.
    paths: Vec<Option<SkillPath>>,
    /// The skills by the last two parts of their path: a fast lookup, because a
    /// run can have many calls and many skills.
    by_ending: HashMap<String, Vec<usize>>,
    /// The skills with a shorter path.
    short: Vec<usize>,
}

#[derive(Debug)]
struct SkillPath {
    whole: String,
    /// `/<folder>/skill.md`
    ending: Option<String>,
}

/// One mark for each entry of the skill list.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkillMarks(Vec<bool>);

impl SkillMarks {
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), false);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mark, other)| *mark |= other);
    }

    fn set(&mut self, index: usize) {
        if self.0.len() <= index {
            self.0.resize(index + 1, false);
        }
        if let Some(mark) = self.0.get_mut(index) {
            *mark = true;
        }
    }

    fn is_set(&self, index: usize) -> bool {
        self.0.get(index).copied().unwrap_or(false)
    }
}

impl SkillPaths {
    /// The paths of the skills that the run's metadata lists.
    pub(crate) fn of_metadata(data: Option<&Json<'_>>) -> Self {
        let paths = skill_entries(data).unwrap_or_default().iter().map(|entry| {
            let whole = normalise(entry.get("filePath")?.as_str()?);
            // An empty path would match every path.
            if whole.is_empty() {
                return None;
            }
            let folder = whole.rsplit('/').nth(1).filter(|folder| !folder.is_empty());
            let ending = folder.map(|folder| format!("/{folder}/skill.md"));
            Some(SkillPath { ending, whole })
        });
        let mut skills = Self { paths: paths.collect(), ..Self::default() };
        for (index, path) in skills.paths.iter().enumerate() {
            let Some(SkillPath { whole, ending }) = path else { continue };
            match two_parts(whole) {
                Some(parts) => {
                    skills.by_ending.entry(parts.to_owned()).or_default().push(index);
                    if let Some(ending) = ending.as_ref().filter(|ending| *ending != parts) {
                        skills.by_ending.entry(ending.clone()).or_default().push(index);
                    }
                }
                None => skills.short.push(index),
            }
        }
        skills
    }

    /// Whether there are skills to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.iter().all(Option::is_none)
    }

    /// Marks the skills that the arguments of a tool call mention.
    pub(crate) fn mark(&self, arguments: &Json<'_>, marks: &mut SkillMarks) {
        match arguments {
            Json::Array(items) => items.iter().for_each(|item| self.mark(item, marks)),
            Json::Object(object) => {
                for (name, value) in object.iter() {
                    match value {
                        Json::String(text) if is_candidate(name, text) => {
                            self.mark_path(&normalise(text), marks);
                        }
                        value => self.mark(value, marks),
                    }
                }
            }
            _ => {}
        }
    }

    fn mark_path(&self, candidate: &str, marks: &mut SkillMarks) {
        let alike = two_parts(candidate).and_then(|parts| self.by_ending.get(parts));
        for index in alike.into_iter().flatten().chain(&self.short) {
            let Some(Some(path)) = self.paths.get(*index) else { continue };
            if candidate.ends_with(&path.whole)
                || path.ending.as_ref().is_some_and(|ending| candidate.ends_with(ending))
            {
                marks.set(*index);
            }
        }
    }
}

/// The last two parts of a path, with the separator before each.
fn two_parts(path: &str) -> Option<&str> {
    let last = path.rfind('/')?;
    let before = path.get(..last)?.rfind('/')?;
    path.get(before..)
}

fn skill_entries<'e, 'a>(data: Option<&'e Json<'a>>) -> Option<&'e [Json<'a>]> {
    particulars::skills(data?)
}

fn is_candidate(name: &str, text: &str) -> bool {
    name.to_ascii_lowercase().contains("path")
        || text.ends_with("SKILL.md")
        || text.ends_with("skill.md")
}

fn normalise(path: &str) -> String {
    traj_core::dialect::transcript::trim(&path.replace('\\', "/")).to_lowercase()
}

/// The skills of a run, each marked as used or not.
pub(crate) fn marked_skills<'a>(skills: Json<'a>, marks: &SkillMarks) -> Json<'a> {
    let Json::Object(mut skills) = skills else { return skills };
    if let Some(Json::Array(entries)) = skills.get_mut("entries") {
        for (index, entry) in entries.iter_mut().enumerate() {
            mark_entry(entry, marks.is_set(index));
        }
    }
    Json::Object(skills)
}

fn mark_entry(entry: &mut Json<'_>, is_invoked: bool) {
    // A null entry becomes an object for its mark, so that the list keeps its
    // length. A string or a list stays as it is: it has no place for a mark.
    if entry.is_null() {
        *entry = Json::Object(Object::new());
    }
    let Some(object) = entry.as_object_mut() else { return };
    object.insert("invoked", is_invoked);
    if is_invoked {
        object.insert("invocationDetectedBy", "tool-call-file-path");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoked(skills: &str, calls: &[&str]) -> String {
        let data = format!(r#"{{"skills":{{"entries":{skills}}}}}"#);
        let data = Json::parse(&data).unwrap();
        let paths = SkillPaths::of_metadata(Some(&data));
        let mut marks = SkillMarks::default();
        for call in calls {
            paths.mark(&Json::parse(call).unwrap(), &mut marks);
        }
        marked_skills(data.get("skills").unwrap().clone(), &marks).get("entries").unwrap().to_line()
    }

    #[test]
    fn paths_are_compared_without_case_and_separators() {
        let skills = r#"[{"filePath":"/x/deploy/SKILL.md"},{"filePath":"/x/none/SKILL.md"}]"#;
        let marked = invoked(skills, &[r#"{"path":"C:\\u\\skills\\Deploy\\SKILL.md"}"#]);
        insta::assert_snapshot!(marked, @r#"[{"filePath":"/x/deploy/SKILL.md","invoked":true,"invocationDetectedBy":"tool-call-file-path"},{"filePath":"/x/none/SKILL.md","invoked":false}]"#);
    }

    #[test]
    fn array_items_are_not_candidates_but_nested_members_are() {
        let skills = r#"[{"filePath":"git/skill.md"}]"#;
        assert!(!invoked(skills, &[r#"["/a/git/skill.md"]"#]).contains("true"));
        assert!(invoked(skills, &[r#"{"n":[{"f":"/a/git/skill.md"}]}"#]).contains("true"));
    }

    #[test]
    fn a_path_matches_by_its_ending_or_its_directory() {
        let skills = r#"[{"filePath":"/x/y/deploy.md"},{"filePath":"git/skill.md"},{"filePath":"notes.md"},{"filePath":"/a/b/tool.md"}]"#;
        let marked = |call: &str| {
            let marked = invoked(skills, &[call]);
            let entries = Json::parse(&marked).unwrap();
            let entries = entries.as_array().unwrap().iter();
            entries
                .map(|entry| entry.get("invoked").unwrap().as_bool().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(marked(r#"{"path":"/r/x/y/deploy.md"}"#), [true, false, false, false]);
        assert_eq!(marked(r#"{"path":"/r/y/skill.md"}"#), [true, false, false, false]);
        assert_eq!(marked(r#"{"path":"/r/legit/skill.md"}"#), [false, true, false, false]);
        assert_eq!(marked(r#"{"path":"mynotes.md"}"#), [false, false, true, false]);
        assert_eq!(marked(r#"{"path":"/q/b/tool.md"}"#), [false; 4]);
    }

    #[test]
    fn an_empty_path_never_matches() {
        let skills = r#"[{"filePath":""},{"filePath":"  "},{"filePath":"git/skill.md"}]"#;
        let marked = invoked(skills, &[r#"{"path":"/a/git/skill.md"}"#]);
        assert_eq!(marked.matches(r#""invoked":true"#).count(), 1, "{marked}");
    }

    #[test]
    fn a_null_entry_keeps_its_place() {
        assert_eq!(invoked("[null]", &[]), r#"[{"invoked":false}]"#);
    }

    #[test]
    fn an_entry_that_is_not_an_object_is_unchanged() {
        let skills = r#"["git",7,["x"],{"name":"deploy"}]"#;
        assert_eq!(invoked(skills, &[]), r#"["git",7,["x"],{"name":"deploy","invoked":false}]"#);
    }
}
