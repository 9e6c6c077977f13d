//! A set of rules: the built-in ones, with the user's added or taken away.

use super::allow_list::AllowList;
use super::builtin;
use super::definition::{Matcher, Rule, RuleClass};

/// Rules and allow-lists in force.
#[derive(Clone, Debug)]
pub struct RuleSet {
    pub(in crate::redaction) rules: Vec<Rule>,
    pub(in crate::redaction) allow: AllowList,
}

/// One rule, for listing and explaining.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuleInfo<'r> {
    /// The id, which is also the kind a marker names.
    pub id: &'r str,
    /// What the rule hides.
    pub title: &'r str,
    /// What the rule protects.
    pub class: RuleClass,
    /// The pattern, unless the rule rests on surroundings.
    pub pattern: Option<&'r str>,
    /// Words one of which must be in a text before the rule is tried.
    pub keywords: Vec<&'r str>,
    /// The least number of bits a character, where the rule asks for it.
    pub entropy: Option<f64>,
    /// Texts the rule hides something in.
    pub examples: Vec<String>,
    /// Texts the rule leaves alone.
    pub counter_examples: Vec<String>,
    /// Whether the rule came from a file of the user.
    pub user: bool,
}

impl RuleSet {
    /// The rules that come with traj.
    #[must_use]
    pub fn builtin() -> Self {
        let rules = builtin::TABLES
            .iter()
            .flat_map(|table| table.iter())
            .map(super::definition::Row::rule)
            .collect();
        Self { rules, allow: AllowList::default() }
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All rules, built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = RuleInfo<'_>> {
        self.rules.iter().map(info)
    }

    /// The rule called `id`.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<RuleInfo<'_>> {
        self.rules.iter().find(|rule| rule.id == id).map(info)
    }
}

fn info(rule: &Rule) -> RuleInfo<'_> {
    let filled = |texts: &[std::borrow::Cow<'static, str>]| {
        texts.iter().map(|text| super::template::fill(text, 1).replace(['⟦', '⟧'], "")).collect()
    };
    RuleInfo {
        id: &rule.id,
        title: &rule.title,
        class: rule.class,
        pattern: (rule.matcher != Matcher::Frame).then_some(rule.pattern.as_ref()),
        keywords: rule.keywords.iter().map(AsRef::as_ref).collect(),
        entropy: if let super::definition::MatchCheck::Entropy(bits) = rule.check {
            Some(bits)
        } else {
            None
        },
        examples: filled(&rule.examples),
        counter_examples: filled(&rule.counter_examples),
        user: rule.user,
    }
}
