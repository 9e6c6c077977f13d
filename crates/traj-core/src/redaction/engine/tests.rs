//! Tests the engine's assumptions about the built-in rules.

use regex_automata::nfa::thompson::{NFA, State};

use super::*;
use crate::redaction::rule::RuleSet;

/// Every byte that a pattern can consume.
fn alphabet(pattern: &str) -> Vec<u8> {
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    let nfa = NFA::compiler().syntax(syntax).build(pattern).unwrap();
    let mut bytes = Vec::new();
    let mut seen = vec![false; nfa.states().len()];
    let mut open = vec![nfa.start_anchored()];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.as_usize()], true) {
            continue;
        }
        let mut ranges = Vec::new();
        match nfa.state(id) {
            State::ByteRange { trans } => ranges.push(*trans),
            State::Sparse(sparse) => ranges.extend(sparse.transitions.iter().copied()),
            State::Look { next, .. } | State::Capture { next, .. } => open.push(*next),
            State::Union { alternates } => open.extend(alternates.iter().copied()),
            State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
            State::Dense(_) => panic!("the compiler makes no dense states"),
            State::Fail | State::Match { .. } => {}
        }
        for range in ranges {
            bytes.extend(range.start..=range.end);
            open.push(range.next);
        }
    }
    bytes
}

#[test]
fn run_rules_match_only_long_plain_tokens() {
    let rules = RuleSet::builtin().rules;
    let mut looked_at = 0;
    for rule in rules.iter().filter(|rule| rule.matcher == Matcher::Run) {
        let syntax = syntax::Config::new().unicode(false).utf8(false);
        let parsed = syntax::parse_with(&rule.pattern, &syntax).unwrap();
        assert!(parsed.properties().minimum_len() >= Some(SHORTEST_RUN_TOKEN), "{}", rule.id);
        let alphabet = alphabet(&rule.pattern);
        assert!(alphabet.contains(&b'7'), "{}", rule.id);
        let is_plain =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        assert!(alphabet.iter().all(is_plain), "{}", rule.id);
        looked_at += 1;
    }
    assert!(looked_at > 0);
}

/// Otherwise every row of the table takes twice the memory, and a scan a quarter
/// longer.
#[test]
fn the_keywords_fit_in_a_narrow_table() {
    let engine = Engine::new(RuleSet::builtin().rules, &[RuleClass::Credential]);
    assert!(engine.keywords.is_narrow());
}
