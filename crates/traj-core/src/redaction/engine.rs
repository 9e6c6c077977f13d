//! The compiled rules: one automaton over all keywords, and patterns that are
//! compiled on first use.

pub(super) mod checksum;
pub(super) mod keywords;
mod listing;
mod prefix;
pub(super) mod span;
pub(super) mod steps;

use std::collections::HashMap;
use std::sync::OnceLock;

use regex_automata::meta::{Builder, Regex};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use self::keywords::{KeywordHit, Keywords};
use self::prefix::{Pattern, PrefixSearch};
use self::span::{RANK_TOKEN, RANK_USER, Span};
use super::cache::names::ShortStrings;
use super::field_name::{NameClass, NameTable};
use super::rule::{MatchCheck, Matcher, Rule, RuleClass, RuleIndex};
use super::text::context::{ContextScan, Hook, hooks};
use super::text::encoded::{self, EncodedRun};
use super::text::rescan::Rescan;
use super::text::value::{entropy, is_snake_name, looks_issued, looks_random, stands_in};

/// Bytes before and after a keyword that are searched for the pattern.
const NEAR_BEFORE: usize = 160;
const NEAR_BEHIND: usize = 768;
/// A match of a run rule has at least this many characters, all of them letters,
/// digits, underscores, hyphens or dots.
const SHORTEST_RUN_TOKEN: usize = 50;

/// Maximum bytes of the table of a pattern that finds its groups in one pass.
const ONE_PASS: usize = 64 * 1024;

/// What to do when a keyword is found.
#[derive(Clone, Copy, Debug)]
enum Action {
    Hook(Hook),
    Prefix(RuleIndex),
    Near(RuleIndex),
    Anywhere(RuleIndex),
}

/// The compiled rules.
#[derive(Debug)]
pub(super) struct Engine {
    rules: Vec<Rule>,
    patterns: Vec<OnceLock<Option<Pattern>>>,
    keywords: Keywords,
    actions: Vec<Vec<Action>>,
    /// Rules that search long runs of token characters.
    run_rules: Vec<RuleIndex>,
    /// All of their patterns in one: most runs match none, which one search shows.
    any_run: OnceLock<Option<Regex>>,
    /// User rules without keywords.
    always: Vec<RuleIndex>,
    classes: Vec<RuleClass>,
    labels: ShortStrings<NameClass>,
    names: NameTable,
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
        for (keyword, hook) in hooks() {
            add(keyword, Action::Hook(hook));
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
                Matcher::Frame | Matcher::Name | Matcher::Off => continue,
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
        let (labels, names) = (ShortStrings::new(), NameTable::of(&rules));
        Self {
            rules,
            patterns,
            keywords,
            actions,
            run_rules,
            any_run: OnceLock::new(),
            always,
            classes: classes.to_vec(),
            labels,
            names,
        }
    }

    /// Cache of classified names.
    pub(super) const fn labels(&self) -> &ShortStrings<NameClass> {
        &self.labels
    }

    /// The name table in force.
    pub(super) const fn names(&self) -> NameTable {
        self.names
    }

    /// The rule with this index.
    pub(super) fn rule(&self, index: RuleIndex) -> Option<&Rule> {
        self.rules.get(index.place())
    }

    /// The kind in the markers of this rule.
    pub(super) fn kind(&self, index: RuleIndex) -> &str {
        self.rule(index).map_or("secret", |rule| rule.id.as_ref())
    }

    fn pattern(&self, index: RuleIndex) -> Option<&Pattern> {
        let rule = self.rule(index)?;
        let compiled = || {
            let mut builder = builder();
            // A pattern that is only tried at one place finds its groups in one pass.
            if rule.matcher == Matcher::Prefix {
                let config = Regex::config().onepass(true).onepass_size_limit(Some(ONE_PASS));
                builder.configure(config);
            }
            let regex = builder.build(&rule.pattern).ok()?;
            Some(Pattern::new(regex, shortest_match(&rule.pattern)))
        };
        self.patterns.get(index.place())?.get_or_init(compiled).as_ref()
    }

    /// Finds the keywords in the string of `scan` and runs their rules and context
    /// readers. With `tokens_only`, the context readers are skipped.
    pub(super) fn run(&self, scan: &mut ContextScan<'_>, tokens_only: bool) {
        let text = scan.text;
        self.run_on(scan, tokens_only, |keywords, found| keywords.find_all(text, found));
    }

    /// Like [`Engine::run`], but reuses the keywords of an earlier scan.
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
        // For each rule, the index of its last window in `near`, plus one.
        let mut last_window: Vec<usize> = Vec::new();
        let mut anywhere: Vec<RuleIndex> = self.always.clone();
        let mut prefixes = PrefixSearch::default();
        find(&self.keywords, &mut |hit| {
            for action in &self.actions[hit.keyword] {
                match *action {
                    Action::Hook(_) if tokens_only => {}
                    Action::Hook(hook) => scan.hook(hook, hit.start, hit.end),
                    Action::Prefix(rule) => {
                        self.prefixed(scan, &mut prefixes, rule, (hit.start, hit.end));
                    }
                    Action::Near(rule) => {
                        let start = hit.start.saturating_sub(NEAR_BEFORE);
                        let end = (hit.end + NEAR_BEHIND).min(text.len());
                        last_window.resize(self.rules.len(), 0);
                        // Merge overlapping windows of the same rule.
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

    /// Whether any rule other than a run rule may match.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        !self.always.is_empty() || self.keywords.is_in(text)
    }

    /// Finds all matches of a rule in a range of the string.
    fn search(&self, scan: &mut ContextScan<'_>, index: RuleIndex, start: usize, end: usize) {
        let text = scan.text;
        let (Some(rule), Some(pattern)) = (self.rule(index), self.pattern(index)) else {
            return;
        };
        let pattern = &pattern.regex;
        let mut place = start;
        while place < end {
            let input = Input::new(text).range(place..end);
            let Some(found) = pattern.find(input.clone()) else {
                steps::count(end - place);
                return;
            };
            steps::count(found.end() - place);
            let mut stop = end;
            // The match may continue after the range.
            if found.end() == end && end < text.len() {
                stop = (end + 16 * NEAR_BEHIND).min(text.len());
            } else if pattern.captures_len() == 1 {
                // Without groups, an anchored search would find the same.
                self.accept(scan, index, (found.start(), found.end()));
                place = found.end().max(found.start() + 1);
                continue;
            }
            steps::count(2 * found.len() + stop.saturating_sub(end));
            let input = Input::new(text).range(found.start()..stop).anchored(Anchored::Yes);
            if let Some(span) = secret_of(pattern, input, rule.group) {
                self.accept(scan, index, span);
                place = span.1.max(found.end()).max(found.start() + 1);
            } else {
                place = found.end().max(found.start() + 1);
            }
        }
    }

    /// The patterns of all run rules in one, if they compile together.
    fn any_run(&self) -> Option<&Regex> {
        let compiled = || {
            let patterns = self.run_rules.iter().filter_map(|index| self.rule(*index));
            let patterns: Vec<&str> = patterns.map(|rule| rule.pattern.as_ref()).collect();
            builder().build_many(&patterns).ok()
        };
        self.any_run.get_or_init(compiled).as_ref()
    }

    /// Applies the run rules to a long run of token characters.
    pub(super) fn look_at_run(&self, scan: &mut ContextScan<'_>, run: EncodedRun) {
        // Characters around the run, such as dots, may belong to the token.
        let (start, end) = encoded::token_around(scan.text, run);
        if !encoded::has_token_of(SHORTEST_RUN_TOKEN, scan.slice(start, end)) {
            return;
        }
        steps::count(end - start);
        let input = Input::new(scan.text).range(start..end).earliest(true);
        if self.any_run().is_some_and(|any| !any.is_match(input)) {
            return;
        }
        for index in &self.run_rules {
            let before = scan.spans.len();
            self.search(scan, *index, start, end);
            // A part of a longer base64 string is not a token.
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

    /// Hides a match if it meets the condition of its rule; returns whether it does.
    fn accept(
        &self,
        scan: &mut ContextScan<'_>,
        index: RuleIndex,
        (start, end): (usize, usize),
    ) -> bool {
        let passes = self.rule(index).is_some_and(|rule| passes(rule, scan.slice(start, end)));
        if passes {
            self.hide(scan, index, (start, end));
        }
        passes
    }

    fn hide(&self, scan: &mut ContextScan<'_>, index: RuleIndex, (start, end): (usize, usize)) {
        let Some(rule) = self.rule(index) else {
            return;
        };
        if start < end && !scan.is_inside_marker(start) && !scan.is_marked(start, end) {
            let rank = if rule.user { RANK_USER } else { RANK_TOKEN };
            scan.spans.push(Span { start, end, rule: index, rank });
        }
    }
}

/// Whether a match meets the condition of its rule.
fn passes(rule: &Rule, secret: &[u8]) -> bool {
    // `Password=${DB_PASSWORD};`, `user:<password>`
    if !rule.user && stands_in(secret) {
        return false;
    }
    match rule.check {
        MatchCheck::None => true,
        MatchCheck::Entropy(bits) => entropy(secret) >= bits,
        MatchCheck::Random => looks_random(secret),
        MatchCheck::Dense => {
            let digits = secret.iter().filter(|byte| byte.is_ascii_digit()).count();
            digits * 8 >= secret.len() && looks_random(secret) && !is_snake_name(secret)
        }
        MatchCheck::Issued => looks_issued(secret),
        MatchCheck::Luhn => {
            let digits: Vec<u8> = secret.iter().copied().filter(u8::is_ascii_digit).collect();
            digits.len() <= 19 && checksum::luhn(&digits)
        }
        MatchCheck::Iban => checksum::iban(secret),
        MatchCheck::PublicAddress => checksum::public_address(secret),
        MatchCheck::Phone => checksum::phone(secret),
    }
}

/// The range of the secret in a match: the given group, else (for group 0) the
/// first group that matched, else the whole match.
fn secret_of(pattern: &Regex, input: Input<'_>, group: usize) -> Option<(usize, usize)> {
    if pattern.captures_len() == 1 {
        return pattern.find(input).map(|found| (found.start(), found.end()));
    }
    // Groups take memory and time for each byte, so they are looked for in the match.
    let found = pattern.find(input.clone())?;
    let input = input.range(found.range()).anchored(Anchored::Yes);
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

/// The length of the shortest match of a pattern.
fn shortest_match(pattern: &str) -> usize {
    let parsed = syntax::parse_with(pattern, &syntax::Config::new().unicode(false).utf8(false));
    parsed.ok().and_then(|parsed| parsed.properties().minimum_len()).unwrap_or_default()
}

/// Compiles a pattern over bytes.
pub(super) fn compile(pattern: &str) -> Result<Regex, Box<regex_automata::meta::BuildError>> {
    builder().build(pattern).map_err(Box::new)
}

fn builder() -> Builder {
    let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(4 << 20)).onepass(false);
    let mut builder = Regex::builder();
    builder.syntax(syntax::Config::new().unicode(false).utf8(false)).configure(config);
    builder
}

#[cfg(test)]
mod tests;
