//! How much redaction changes of text that was not written for it: sources of
//! crates, documentation, and whatever else is in the directories of
//! `TRAJ_NATURAL`.
//!
//! Nothing of it is committed. The changed lines are written to
//! `target/bench/natural.tsv` (rule, file, redacted line), because only a person
//! can tell which of them show a credential. Unpack packages of npm and PyPI into
//! a directory and name it in `TRAJ_NATURAL` (separated by colons) to add them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use traj_core::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

use crate::figure::Figure;
use crate::{Bench, Outcome};

/// The endings of files that contain text.
const ENDINGS: &[&str] = &[
    "rs", "py", "js", "ts", "tsx", "mjs", "cjs", "md", "txt", "toml", "yml", "yaml", "json",
    "html", "rst", "c", "h", "cpp", "hpp", "sh", "go", "java", "rb", "php", "css", "xml", "cfg",
    "ini", "log",
];
/// A larger file is not read.
const MAX_FILE: u64 = 1_500_000;
/// Changed lines per 10,000. Two thirds of them show a sample credential or a test
/// key, so that less than 0.3 harmless lines in 10,000 are changed.
const TARGET: f64 = 0.9;

/// What was counted in one source.
#[derive(Debug, Default)]
struct NaturalCount {
    lines: u64,
    changed: u64,
}

pub(crate) fn run(bench: &Bench) -> Outcome {
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let mut figures = Vec::new();
    let mut total = NaturalCount::default();
    let mut listing = String::new();
    for root in roots() {
        let mut count = NaturalCount::default();
        let mut files = Vec::new();
        collect(&root, bench.size(usize::MAX, 50), &mut files)?;
        for file in files {
            if let Ok(text) = fs::read_to_string(&file) {
                compare(&redactor, &file, &text, &mut count, &mut listing);
            }
        }
        total.lines += count.lines;
        total.changed += count.changed;
        figures.push(Figure::new(root.display().to_string(), rate(&count), "lines in 10,000"));
    }
    if let Some(folder) = target() {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("natural.tsv"), listing)?;
    }
    figures.push(Figure::new("lines", total.lines as f64, "lines"));
    figures.push(Figure::new("changed", rate(&total), "lines in 10,000").at_most(TARGET));
    Ok(figures)
}

fn rate(count: &NaturalCount) -> f64 {
    count.changed as f64 * 10_000.0 / count.lines.max(1) as f64
}

/// The directories that exist, of those that are searched.
fn roots() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let named = std::env::var("TRAJ_NATURAL").unwrap_or_default();
    home.map(|home| home.join("registry/src"))
        .into_iter()
        .chain([PathBuf::from("/usr/share/doc")])
        .chain(named.split(':').filter(|name| !name.is_empty()).map(PathBuf::from))
        .filter(|root| root.is_dir())
        .collect()
}

fn target() -> Option<PathBuf> {
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("target/bench"))
}

/// The text files below a directory, in order.
fn collect(folder: &Path, most: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    entries.sort();
    for path in entries {
        if files.len() >= most {
            return Ok(());
        }
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        if facts.is_dir() {
            collect(&path, most, files)?;
        } else if facts.is_file()
            && facts.len() <= MAX_FILE
            && path
                .extension()
                .and_then(|end| end.to_str())
                .is_some_and(|end| ENDINGS.contains(&end))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Redacts a file as text and counts the lines that changed.
fn compare(
    redactor: &Redactor,
    file: &Path,
    text: &str,
    count: &mut NaturalCount,
    listing: &mut String,
) {
    // With a line before it, JSON is not reformatted.
    let text = format!("listing of a file\n{text}");
    count.lines += text.lines().count() as u64;
    let redacted = redactor.text(&text, &mut RedactionReport::new()).into_inner();
    if redacted == text {
        return;
    }
    let mut before: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text.lines() {
        *before.entry(line).or_default() += 1;
    }
    for line in redacted.lines() {
        match before.get_mut(line) {
            Some(left) if *left > 0 => *left -= 1,
            _ => {
                count.changed += 1;
                let rule = line.split("<redacted:").nth(1).and_then(|rest| rest.split(':').next());
                let rule = rule.unwrap_or("media");
                let shown: String = line.chars().take(200).collect();
                let _ = writeln!(listing, "{rule}\t{}\t{shown}", file.display());
            }
        }
    }
}
