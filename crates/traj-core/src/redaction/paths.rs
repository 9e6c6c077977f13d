//! Replaces paths and names of the host with labels.

mod words;

use std::borrow::Cow;

use memchr::memmem::Finder;

use crate::settings::host::HostFacts;

/// The paths and names of the host to replace with labels.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PathLabels {
    /// All paths of the run's workspace: `$WORKSPACE_DIR`.
    pub workspaces: Vec<String>,
    /// State directories of the harness: `$OPENCLAW_STATE_DIR`.
    pub state_dirs: Vec<String>,
    /// Home directories: `~`.
    pub homes: Vec<String>,
    /// The user's account name: `$USER`.
    pub user: Option<String>,
    /// The host's name: `$HOSTNAME`.
    pub host: Option<String>,
}

impl PathLabels {
    /// The labels for a host, and for the workspace of a run if it is known.
    #[must_use]
    pub fn of_host(facts: &HostFacts, workspace: Option<&str>) -> Self {
        let names = ["HOME", "USERPROFILE", "OPENCLAW_HOME", "TRAJ_HOME"];
        let homes = names.iter().filter_map(|name| facts.real(name));
        let mut state_dirs: Vec<String> =
            [facts.state_dir(), facts.agents_root()].into_iter().flatten().collect();
        state_dirs.dedup();
        Self {
            workspaces: workspace.map(str::to_owned).into_iter().collect(),
            state_dirs,
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

/// Whether a value is a label or a path that begins with one. A labelled path is
/// still a path.
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
    /// Whether it is a path. Paths and names have different boundaries.
    path: bool,
    fold_case: bool,
}

/// The prepared search for the paths and names.
#[derive(Clone, Debug, Default)]
pub(super) struct PathTable {
    needles: Vec<Needle>,
    automaton: Option<aho_corasick::AhoCorasick>,
    /// Single searches, for a check that is much faster than the automaton: most
    /// strings contain no needle. A needle that contains another one needs no
    /// search. Empty if a needle ignores case.
    finders: Vec<Finder<'static>>,
}

impl PathTable {
    pub(super) fn new(labels: &PathLabels) -> Self {
        let mut needles = Vec::new();
        let mut add = |path: &str, label: &'static str| {
            let path = path.trim_end_matches(['/', '\\']);
            // A root or a single letter would occur everywhere.
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
        // Longest first; the sort is stable, so the first label wins a tie.
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
        // Longest first, so a needle can only contain later ones.
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

    /// Whether `text` may contain something to replace; most strings do not.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        // Longest first, so the last needle is the shortest.
        self.needles.last().is_some_and(|shortest| shortest.text.len() <= bytes.len())
            && (self.finders.is_empty()
                || self.finders.iter().any(|finder| finder.find(bytes).is_some()))
    }

    /// Like [`PathTable::may_be_in`], for a string that contained nothing before
    /// markers were inserted: only a needle that overlaps a marker can be new.
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

    /// Replaces host paths and names in `text`; also returns their number.
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

    /// The longest needle that matches at `start`, including its boundaries.
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
            // Not inside a longer path or the path of a URL.
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
        // A dot may end a sentence, but not begin an extension.
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

/// Whether the start of a file URL, such as `file://`, comes right before.
fn is_file_url(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(12)..start];
    before.ends_with(b"file://")
        || before.ends_with(b"file:///")
        || before.ends_with(b"file:/")
        || before.ends_with(b"localhost")
}

/// Whether the letter before belongs to an escape: `\n/home/ada`.
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
    fn urls_and_windows_paths_are_recognised() {
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
    fn words_of_our_own_files_are_not_replaced() {
        for word in ["session", "openclaw", "Runtime", "sha256"] {
            let user = Some(word.to_owned());
            let table = PathTable::new(&PathLabels { user, ..PathLabels::default() });
            assert_eq!(table.apply(&format!("{word} {word}")).1, 0, "{word}");
        }
    }

    #[test]
    fn needles_without_their_own_search_are_found() {
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
        // A marker can contain a name, but not a path.
        assert!(table.may_be_in_marker("<redacted:engine:123456>"));
        assert!(!table.may_be_in_marker("<redacted:token:123456>"));
    }

    #[test]
    fn a_root_home_is_ignored() {
        let table =
            PathTable::new(&PathLabels { homes: vec!["/".to_owned()], ..PathLabels::default() });
        assert_eq!(table.apply("a/b/c").1, 0);
    }
}
