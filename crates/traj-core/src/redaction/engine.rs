//! The compiled rules: one automaton over all keywords, patterns compiled when
//! first needed.

pub(super) mod checksum;
pub(super) mod keywords;
pub(super) mod span;

use std::collections::HashMap;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use self::keywords::{KeywordHit, Keywords};
use self::span::{RANK_TOKEN, RANK_USER, Span};
use super::cache::names::ShortStrings;
use super::field_name::NameClass;
use super::rule::{MatchCheck, Matcher, Rule, RuleClass, RuleIndex};
use super::text::context::{ContextScan, HOOKS, Hook};
use super::text::deobfuscate::is_token;
use super::text::encoded::{self, Run};
use super::text::rescan::Rescan;
use super::text::value::{entropy, looks_random};

/// How far before and after a keyword a pattern is searched for.
const NEAR_BEFORE: usize = 160;
const NEAR_BEHIND: usize = 768;
/// How far a pattern that begins with its keyword is searched for at first.
const PREFIX_WINDOW: usize = 512;
/// What a rule for runs finds has at least this many letters, digits,
/// underscores, hyphens and dots, and nothing else.
const SHORTEST_RUN_TOKEN: usize = 51;
/// The longest token a pattern is stretched to.
const MAX_WINDOW: usize = 128 * 1024;

/// What a keyword sets off.
#[derive(Clone, Copy, Debug)]
enum Action {
    Hook(Hook),
    Prefix(RuleIndex),
    Near(RuleIndex),
    Anywhere(RuleIndex),
}

/// Rules ready for use.
#[derive(Debug)]
pub(super) struct Engine {
    rules: Vec<Rule>,
    patterns: Vec<OnceLock<Option<Regex>>>,
    keywords: Keywords,
    actions: Vec<Vec<Action>>,
    /// Rules that look at long runs of token characters.
    run_rules: Vec<RuleIndex>,
    /// Rules of the user without keywords.
    always: Vec<RuleIndex>,
    labels: ShortStrings<NameClass>,
}

impl Engine {
    /// Builds the automaton over the keywords of `rules`.
    pub(super) fn new(rules: Vec<Rule>, classes: &[RuleClass]) -> Self {
        let mut keywords: Vec<String> = Vec::new();
        let mut actions: Vec<Vec<Action>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut add = |keyword: &str, action: Action| {
            let keyword = keyword.to_ascii_lowercase();
            match places.get(&keyword) {
                Some(place) => actions[*place].push(action),
                None => {
                    keywords.push(keyword.clone());
                    places.insert(keyword, actions.len());
                    actions.push(vec![action]);
                }
            }
        };
        for (keyword, hook) in HOOKS {
            add(keyword, Action::Hook(*hook));
        }
        let mut run_rules = Vec::new();
        let mut always = Vec::new();
        for (place, rule) in rules.iter().enumerate() {
            if !classes.contains(&rule.class) {
                continue;
            }
            let Ok(index) = u16::try_from(place).map(RuleIndex::new) else {
                break;
            };
            let action = match rule.matcher {
                Matcher::Frame | Matcher::Off => continue,
                Matcher::Run => {
                    run_rules.push(index);
                    continue;
                }
                Matcher::Prefix => Action::Prefix(index),
                Matcher::Near => Action::Near(index),
                Matcher::Anywhere => Action::Anywhere(index),
            };
            if rule.keywords.is_empty() {
                always.push(index);
            }
            for keyword in rule.keywords.iter() {
                add(keyword, action);
            }
        }
        let keywords = Keywords::new(&keywords);
        let patterns = rules.iter().map(|_| OnceLock::new()).collect();
        let labels = ShortStrings::new();
        Self { rules, patterns, keywords, actions, run_rules, always, labels }
    }

    /// Names in texts that were judged before.
    pub(super) const fn labels(&self) -> &ShortStrings<NameClass> {
        &self.labels
    }

    /// The rule with this index.
    pub(super) fn rule(&self, index: RuleIndex) -> Option<&Rule> {
        self.rules.get(index.place())
    }

    /// The kind a marker names for a finding of this rule.
    pub(super) fn kind(&self, index: RuleIndex) -> &str {
        self.rule(index).map_or("secret", |rule| rule.id.as_ref())
    }

    fn pattern(&self, index: RuleIndex) -> Option<&Regex> {
        let rule = self.rule(index)?;
        self.patterns.get(index.place())?.get_or_init(|| compile(&rule.pattern).ok()).as_ref()
    }

    /// Compiles every pattern; only benches and checks need that.
    pub(super) fn compile_all(&self) -> usize {
        (0..self.rules.len())
            .filter_map(|place| u16::try_from(place).ok())
            .filter(|place| {
                let index = RuleIndex::new(*place);
                self.rule(index).is_some_and(|rule| rule.matcher != Matcher::Frame)
                    && self.pattern(index).is_some()
            })
            .count()
    }

    /// Lets keywords set off rules and surroundings over the text of `scan`.
    /// With `tokens_only`, context is not read.
    pub(super) fn run(&self, scan: &mut ContextScan<'_>, tokens_only: bool) {
        let text = scan.text;
        self.run_on(scan, tokens_only, |keywords, found| keywords.find_all(text, found));
    }

    /// Like [`Engine::run`], reusing what is known of the string.
    pub(super) fn run_again(&self, scan: &mut ContextScan<'_>, sight: &mut Rescan) {
        let text = scan.text;
        self.run_on(scan, false, |keywords, mut found| {
            for end in sight.keywords(keywords, text) {
                keywords.hits_at(*end, &mut found);
            }
        });
    }

    fn run_on(
        &self,
        scan: &mut ContextScan<'_>,
        tokens_only: bool,
        find: impl FnOnce(&Keywords, &mut dyn FnMut(KeywordHit)),
    ) {
        let text = scan.text;
        let mut near: Vec<(RuleIndex, usize, usize)> = Vec::new();
        // Which window of `near` is the last one of a rule, plus one.
        let mut last_window: Vec<usize> = Vec::new();
        let mut anywhere: Vec<RuleIndex> = self.always.clone();
        find(&self.keywords, &mut |hit| {
            for action in &self.actions[hit.keyword] {
                match *action {
                    Action::Hook(_) if tokens_only => {}
                    Action::Hook(hook) => scan.hook(hook, hit.start, hit.end),
                    Action::Prefix(rule) => self.prefixed(scan, rule, hit.start, hit.end),
                    Action::Near(rule) => {
                        let start = hit.start.saturating_sub(NEAR_BEFORE);
                        let end = (hit.end + NEAR_BEHIND).min(text.len());
                        last_window.resize(self.rules.len(), 0);
                        // Windows of one rule that touch become one.
                        match last_window[rule.place()]
                            .checked_sub(1)
                            .and_then(|window| near.get_mut(window))
                        {
                            Some((_, _, last)) if start <= *last => *last = (*last).max(end),
                            _ => {
                                near.push((rule, start, end));
                                last_window[rule.place()] = near.len();
                            }
                        }
                    }
                    Action::Anywhere(rule) => {
                        if !anywhere.contains(&rule) {
                            anywhere.push(rule);
                        }
                    }
                }
            }
        });
        for (rule, start, end) in near {
            self.search(scan, rule, start, end);
        }
        for rule in anywhere {
            self.search(scan, rule, 0, text.len());
        }
    }

    /// Whether a rule other than those for runs may find something.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        !self.always.is_empty() || self.keywords.is_in(text)
    }

    fn prefixed(&self, scan: &mut ContextScan<'_>, index: RuleIndex, start: usize, end: usize) {
        let text = scan.text;
        if !boundary_before(text, start) {
            return;
        }
        let Some(rule) = self.rule(index) else {
            return;
        };
        // The automaton folds case, issuers do not.
        let exact = rule.pattern.starts_with("(?i");
        if !exact && !rule.keywords.iter().any(|keyword| keyword.as_bytes() == &text[start..end]) {
            return;
        }
        scan.token_seen = true;
        let Some(pattern) = self.pattern(index) else {
            return;
        };
        let mut window = PREFIX_WINDOW;
        loop {
            let stop = start.saturating_add(window).min(text.len());
            let input = Input::new(text).range(start..stop).anchored(Anchored::Yes);
            let Some(span) = secret_of(pattern, input, rule.group) else {
                // A long token may need more than the window; only at the head
                // of a run, so that no run is read twice.
                if stop < text.len()
                    && window < MAX_WINDOW
                    && is_token(text[stop])
                    && is_token(text[stop - 1])
                    && start.checked_sub(1).is_none_or(|before| !is_token(text[before]))
                {
                    window *= 4;
                    continue;
                }
                return;
            };
            // A match that ends with the window may go on after it.
            if span.1 == stop && stop < text.len() {
                window *= 4;
                continue;
            }
            self.accept(scan, index, span);
            return;
        }
    }

    /// Looks for all matches of a rule in a range of the text.
    fn search(&self, scan: &mut ContextScan<'_>, index: RuleIndex, start: usize, end: usize) {
        let text = scan.text;
        let (Some(rule), Some(pattern)) = (self.rule(index), self.pattern(index)) else {
            return;
        };
        let mut place = start;
        while place < end {
            let input = Input::new(text).range(place..end);
            let Some(found) = pattern.find(input.clone()) else {
                return;
            };
            let mut stop = end;
            // The match may go on after the range.
            if found.end() == end && end < text.len() {
                stop = (end + 16 * NEAR_BEHIND).min(text.len());
            } else if pattern.captures_len() == 1 {
                // What was found is what would be found from there.
                self.accept(scan, index, (found.start(), found.end()));
                place = found.end().max(found.start() + 1);
                continue;
            }
            let input = Input::new(text).range(found.start()..stop).anchored(Anchored::Yes);
            if let Some(span) = secret_of(pattern, input, rule.group) {
                self.accept(scan, index, span);
                place = span.1.max(found.end()).max(found.start() + 1);
            } else {
                place = found.end().max(found.start() + 1);
            }
        }
    }

    /// Lets rules look at the long runs of token characters in the text.
    pub(super) fn look_at_run(&self, scan: &mut ContextScan<'_>, run: Run) {
        // Dots and the like may belong to the token: look a little around.
        let start = run.start.saturating_sub(40);
        let end = (run.end + 80).min(scan.text.len());
        if !encoded::has_token_of(SHORTEST_RUN_TOKEN, scan.slice(start, end)) {
            return;
        }
        for index in &self.run_rules {
            let before = scan.spans.len();
            self.search(scan, *index, start, end);
            // A piece of a longer base64 text is not a token of its own.
            let text = scan.text;
            let inside = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'+' | b'/'));
            let mut found = scan.spans.split_off(before);
            found.retain(|span| {
                let head = span.start.checked_sub(1).and_then(|place| text.get(place));
                !inside(head) && !inside(text.get(span.end))
            });
            scan.spans.append(&mut found);
        }
    }

    fn accept(&self, scan: &mut ContextScan<'_>, index: RuleIndex, (start, end): (usize, usize)) {
        let Some(rule) = self.rule(index) else {
            return;
        };
        let secret = &scan.text[start..end];
        let passes = match rule.check {
            MatchCheck::None => true,
            MatchCheck::Entropy(bits) => entropy(secret) >= bits,
            MatchCheck::Random => looks_random(secret),
            MatchCheck::Luhn => {
                let digits: Vec<u8> = secret.iter().copied().filter(u8::is_ascii_digit).collect();
                digits.len() <= 19 && checksum::luhn(&digits)
            }
            MatchCheck::Iban => checksum::iban(secret),
            MatchCheck::PublicAddress => checksum::public_address(secret),
            MatchCheck::Phone => checksum::phone(secret),
        };
        if passes && start < end && !scan.is_inside_marker(start) && !scan.is_marked(start, end) {
            let rank = if rule.user { RANK_USER } else { RANK_TOKEN };
            scan.spans.push(Span { start, end, rule: index, rank });
        }
    }
}

/// The range a match means to hide: the asked group, else the first group
/// that took part, else all of it.
fn secret_of(pattern: &Regex, input: Input<'_>, group: usize) -> Option<(usize, usize)> {
    if pattern.captures_len() == 1 {
        return pattern.find(input).map(|found| (found.start(), found.end()));
    }
    let mut captures = pattern.create_captures();
    pattern.search_captures(&input, &mut captures);
    let whole = captures.get_match()?;
    let chosen = if group > 0 {
        captures.get_group(group)
    } else {
        (1..captures.group_len()).find_map(|group| captures.get_group(group))
    };
    Some(chosen.map_or((whole.start(), whole.end()), |span| (span.start, span.end)))
}

/// Whether a token may begin at `start`: after a letter or digit it may not,
/// unless those end an escape such as `\n`, `%3D` or `\u003d`.
fn boundary_before(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|place| text[place]) else {
        return true;
    };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let back = |count: usize| start.checked_sub(count).map_or(0, |place| text[place]);
    (matches!(before, b'n' | b'r' | b't') && back(2) == b'\\')
        || (back(3) == b'%' && back(2).is_ascii_hexdigit() && before.is_ascii_hexdigit())
        || (back(6) == b'\\' && back(5) == b'u')
        || (before == b'm' && is_colour(&text[start.saturating_sub(12)..start]))
}

fn is_colour(before: &[u8]) -> bool {
    before.iter().rposition(|byte| *byte == 0x1b).is_some_and(|escape| {
        before[escape + 1..before.len() - 1]
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'[' | b';'))
    })
}

/// Compiles a pattern over bytes.
pub(super) fn compile(pattern: &str) -> Result<Regex, Box<regex_automata::meta::BuildError>> {
    Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(Regex::config().utf8_empty(false).nfa_size_limit(Some(4 << 20)).onepass(false))
        .build(pattern)
        .map_err(Box::new)
}

#[cfg(test)]
mod tests;
