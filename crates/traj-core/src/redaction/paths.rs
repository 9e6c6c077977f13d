//! Paths and names of the host, replaced by labels at their boundaries.

mod words;

use std::borrow::Cow;

use memchr::memmem::Finder;

use crate::settings::host::HostFacts;

/// Paths and names of the host that labels replace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PathLabels {
    /// The workspace of the run, by all its names: `$WORKSPACE_DIR`.
    pub workspaces: Vec<String>,
    /// The state directory of the harness: `$OPENCLAW_STATE_DIR`.
    pub state_dirs: Vec<String>,
    /// Home directories: `~`.
    pub homes: Vec<String>,
    /// The user's account name: `$USER`.
    pub user: Option<String>,
    /// The host's name: `$HOSTNAME`.
    pub host: Option<String>,
}

impl PathLabels {
    /// The labels of a host, and of the workspace of a run if it is known.
    #[must_use]
    pub fn of_host(facts: &HostFacts, workspace: Option<&str>) -> Self {
        let names = ["HOME", "USERPROFILE", "OPENCLAW_HOME", "TRAJ_HOME"];
        let homes = names.iter().filter_map(|name| facts.real(name));
        Self {
            workspaces: workspace.map(str::to_owned).into_iter().collect(),
            state_dirs: facts.state_dir().into_iter().collect(),
            homes: homes.map(|home| facts.absolute(&home)).collect(),
            user: facts.user.clone(),
            host: facts.host_name.clone(),
        }
    }
}

const WORKSPACE: &str = "$WORKSPACE_DIR";
const STATE_DIR: &str = "$OPENCLAW_STATE_DIR";
const HOME: &str = "~";
const USER: &str = "$USER";
const HOST: &str = "$HOSTNAME";

/// Whether a value begins with the label of a path, or of a name in a path. A
/// labelled path is still a path.
pub(super) fn starts_with_label(value: &[u8]) -> bool {
    [WORKSPACE, STATE_DIR, HOME, USER, HOST].iter().any(|label| {
        let rest = value.strip_prefix(label.as_bytes());
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/' | b'\\')))
    })
}

/// One string to search for and its replacement.
#[derive(Clone, Debug)]
struct Needle {
    text: String,
    label: &'static str,
    /// A path ends at a separator; a name at any character that cannot be part of a name.
    path: bool,
    fold_case: bool,
}

/// Labels ready for use, longest first.
#[derive(Clone, Debug, Default)]
pub(super) struct PathTable {
    needles: Vec<Needle>,
    automaton: Option<aho_corasick::AhoCorasick>,
    /// Searches for needles one by one: most strings contain none, and this
    /// finds out much faster. A needle that contains another one needs no
    /// search of its own.
    finders: Vec<Finder<'static>>,
}

impl PathTable {
    pub(super) fn new(labels: &PathLabels) -> Self {
        let mut needles = Vec::new();
        let mut add = |path: &str, label: &'static str| {
            let path = path.trim_end_matches(['/', '\\']);
            // A root or a single letter would label half the text.
            if path.len() < 2
                || path.chars().all(|letter| matches!(letter, '/' | '\\' | '.' | ':'))
                || path.len() == 2 && path.ends_with(':')
            {
                return;
            }
            let windows = path.as_bytes().get(1) == Some(&b':') || path.starts_with("\\\\");
            let mut forms = vec![path.to_owned()];
            if windows {
                forms.push(path.replace('\\', "/"));
                forms.push(path.replace('\\', "\\\\"));
                forms.push(path.replace('\\', "/").replace(':', "%3A"));
                forms.push(path.replace('\\', "/").replace(' ', "%20"));
            } else if path.contains(' ') {
                forms.push(path.replace(' ', "%20"));
                forms.push(path.replace(' ', "\\ "));
            }
            forms.dedup();
            for text in forms {
                needles.push(Needle { text, label, path: true, fold_case: windows });
            }
        };
        labels.workspaces.iter().for_each(|workspace| add(workspace, WORKSPACE));
        labels.state_dirs.iter().for_each(|state_dir| add(state_dir, STATE_DIR));
        labels.homes.iter().for_each(|home| add(home, HOME));
        for (name, label) in [(&labels.user, USER), (&labels.host, HOST)] {
            if let Some(name) = name
                && name.len() >= 3
                && !words::is_word(name)
            {
                needles.push(Needle { text: name.clone(), label, path: false, fold_case: false });
            }
        }
        // The longest path first; of equal ones the first label.
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.text.len()));
        if needles.is_empty() {
            return Self::default();
        }
        let automaton = aho_corasick::AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(needles.iter().map(|needle| needle.text.as_bytes()))
            .ok();
        let exact = needles.iter().all(|needle| !needle.fold_case);
        // The needles are sorted: one that another contains comes after it.
        let holds_none = |(place, needle): &(usize, &Needle)| {
            !needles.iter().skip(place + 1).any(|other| needle.text.contains(&other.text))
        };
        let finder = |(_, needle): (usize, &Needle)| Finder::new(&needle.text).into_owned();
        let finders = if exact {
            needles.iter().enumerate().filter(holds_none).map(finder).collect()
        } else {
            Vec::new()
        };
        Self { needles, automaton, finders }
    }

    /// Whether there may be something to replace in `text`: most strings contain
    /// no needle at all.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        // The needles are sorted, the shortest is the last.
        self.needles.last().is_some_and(|shortest| shortest.text.len() <= bytes.len())
            && (self.finders.is_empty()
                || self.finders.iter().any(|finder| finder.find(bytes).is_some()))
    }

    /// The same for a string that had nothing to replace before markers were
    /// inserted: only the parts of markers can be new.
    pub(super) fn may_be_in_marker(&self, text: &str) -> bool {
        self.finders.is_empty() && !self.needles.is_empty()
            || self.finders.iter().any(|finder| {
                let needle = finder.needle();
                let is_in_markers =
                    |byte: &u8| byte.is_ascii_alphanumeric() || b":-".contains(byte);
                let may_be_new = memchr::memchr2(b'<', b'>', needle).is_some()
                    || needle.iter().all(is_in_markers);
                may_be_new && finder.find(text.as_bytes()).is_some()
            })
    }

    /// Replaces host paths and names in `text`. Returns how many.
    pub(super) fn apply<'t>(&self, text: &'t str) -> (Cow<'t, str>, u64) {
        let Some(automaton) = &self.automaton else {
            return (Cow::Borrowed(text), 0);
        };
        let bytes = text.as_bytes();
        let mut out = String::new();
        let mut copied = 0;
        let mut count = 0;
        let mut place = 0;
        while let Some(found) =
            automaton.find(aho_corasick::Input::new(bytes).span(place..bytes.len()))
        {
            place = found.start() + 1;
            let Some(needle) = self.fitting(bytes, found.start()) else {
                continue;
            };
            let end = found.start() + needle.text.len();
            if let Some(between) = text.get(copied..found.start()) {
                out.push_str(between);
                out.push_str(needle.label);
                copied = end;
                place = end;
                count += 1;
            }
        }
        if count == 0 {
            return (Cow::Borrowed(text), 0);
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        (Cow::Owned(out), count)
    }

    /// The longest needle that fits at `start` with its boundaries.
    fn fitting(&self, bytes: &[u8], start: usize) -> Option<&Needle> {
        self.needles.iter().find(|needle| {
            let Some(found) = bytes.get(start..start + needle.text.len()) else {
                return false;
            };
            let same = if needle.fold_case {
                found.eq_ignore_ascii_case(needle.text.as_bytes())
            } else {
                found == needle.text.as_bytes()
            };
            same && needle.begins_at(bytes, start)
                && needle.ends_at(bytes, start + needle.text.len())
        })
    }
}

impl Needle {
    fn begins_at(&self, bytes: &[u8], start: usize) -> bool {
        let Some(before) = start.checked_sub(1).map(|place| bytes[place]) else {
            return true;
        };
        if !self.path {
            return !(is_name(before) || matches!(before, b'$' | b'{'));
        }
        if self.text.starts_with('/') {
            // Not in the middle of a longer path or of a URL's path.
            return !(before.is_ascii_alphanumeric()
                || matches!(before, b'_' | b'-' | b'.' | b'~' | b'$' | b'}' | b'%' | b')')
                || before >= 0x80)
                && (before != b'/' || is_file_url(bytes, start))
                || is_escape(bytes, start);
        }
        !before.is_ascii_alphanumeric() && before != b'_' || is_escape(bytes, start)
    }

    fn ends_at(&self, bytes: &[u8], end: usize) -> bool {
        let Some(after) = bytes.get(end).copied() else {
            return true;
        };
        if !self.path {
            return !is_name(after);
        }
        if matches!(after, b'/' | b'\\') {
            return true;
        }
        // A dot ends a sentence or begins an extension.
        if after == b'.' {
            return !bytes.get(end + 1).is_some_and(|next| is_name(*next) || *next >= 0x80);
        }
        !is_name(after) && after < 0x80 && !matches!(after, b'~' | b'+' | b'@' | b'%')
            || (after == b'%'
                && bytes.get(end + 1..end + 3).is_some_and(|code| {
                    code.eq_ignore_ascii_case(b"2F") || code.eq_ignore_ascii_case(b"5C")
                }))
            || after >= 0x80
                && !bytes.get(end..end + 2).is_some_and(|lead| matches!(lead[0], 0xc3..=0xd4))
    }
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// `file://` or `file:///` right before.
fn is_file_url(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(12)..start];
    before.ends_with(b"file://")
        || before.ends_with(b"file:///")
        || before.ends_with(b"file:/")
        || before.ends_with(b"localhost")
}

/// The letter before belongs to an escape: `\n/home/ada`.
fn is_escape(bytes: &[u8], start: usize) -> bool {
    start >= 2 && bytes[start - 2] == b'\\' && matches!(bytes[start - 1], b'n' | b't' | b'r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PathTable {
        PathTable::new(&PathLabels {
            workspaces: vec!["/srv/ws".to_owned()],
            state_dirs: vec!["/home/dev/.openclaw".to_owned()],
            homes: vec!["/home/dev".to_owned(), "C:\\Users\\Dev".to_owned()],
            user: Some("lovelace".to_owned()),
            host: Some("analytical-engine".to_owned()),
        })
    }

    fn check(text: &str, expected: &str) {
        let table = table();
        let (once, _) = table.apply(text);
        assert_eq!(once, expected, "{text}");
        let (twice, count) = table.apply(&once);
        assert_eq!((twice.as_ref(), count), (expected, 0));
    }

    #[test]
    fn paths_are_replaced_at_boundaries_only() {
        check("/home/dev/a and /home/dev/b", "~/a and ~/b");
        check("cd /srv/ws && ls", "cd $WORKSPACE_DIR && ls");
        check("/home/devfs /home/dev-x /home/dev.bak", "/home/devfs /home/dev-x /home/dev.bak");
        check("in /home/dev.", "in ~.");
        check("https://example.com/home/dev/x", "https://example.com/home/dev/x");
        check("/mnt/home/dev/x", "/mnt/home/dev/x");
        check("\"/home/dev\",'/srv/ws':x", "\"~\",'$WORKSPACE_DIR':x");
        check("/home/dev/.openclaw/a:/home/dev/bin", "$OPENCLAW_STATE_DIR/a:~/bin");
        check("// comment", "// comment");
    }

    #[test]
    fn urls_and_windows_forms_are_known() {
        check("file:///home/dev/x.rs", "file://~/x.rs");
        check("c:\\users\\dev\\x and C:/Users/Dev/y", "~\\x and ~/y");
        check("\"C:\\\\Users\\\\Dev\\\\x\"", "\"~\\\\x\"");
    }

    #[test]
    fn names_are_replaced_as_words() {
        check("lovelace@analytical-engine:~$", "$USER@$HOSTNAME:~$");
        check("lovelaces lovelace_x", "lovelaces lovelace_x");
        check("/home/lovelace/x", "/home/$USER/x");
    }

    #[test]
    fn words_of_our_own_files_are_no_names() {
        for word in ["session", "openclaw", "Runtime", "sha256"] {
            let user = Some(word.to_owned());
            let table = PathTable::new(&PathLabels { user, ..PathLabels::default() });
            assert_eq!(table.apply(&format!("{word} {word}")).1, 0, "{word}");
        }
    }

    #[test]
    fn what_needs_no_search_is_found_as_well() {
        let table = PathTable::new(&PathLabels {
            workspaces: vec!["/home/lovelace/work".to_owned()],
            homes: vec!["/home/lovelace".to_owned(), "/home/lovelace".to_owned()],
            user: Some("lovelace".to_owned()),
            host: Some("engine".to_owned()),
            ..PathLabels::default()
        });
        assert_eq!(table.finders.len(), 2);
        for text in ["in /home/lovelace/work/x", "~ is /home/lovelace", "lovelace", "on engine."] {
            assert!(table.may_be_in(text) && table.apply(text).1 == 1, "{text}");
        }
        assert!(!table.may_be_in("/home/babbage/work"));
        // A marker can hold a name, but no path.
        assert!(table.may_be_in_marker("<redacted:engine:123456>"));
        assert!(!table.may_be_in_marker("<redacted:token:123456>"));
    }

    #[test]
    fn a_root_home_labels_nothing() {
        let table =
            PathTable::new(&PathLabels { homes: vec!["/".to_owned()], ..PathLabels::default() });
        assert_eq!(table.apply("a/b/c").1, 0);
    }
}
