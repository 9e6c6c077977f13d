//! A set of rules: the built-in ones, plus or minus the user's changes.

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
    /// The id, which is also the kind that markers name.
    pub id: &'r str,
    /// What the rule hides.
    pub title: &'r str,
    /// What the rule protects.
    pub class: RuleClass,
    /// The pattern, unless the rule goes by context.
    pub pattern: Option<&'r str>,
    /// Keywords; the rule is tried only in strings that contain one of them.
    pub keywords: Vec<&'r str>,
    /// The minimum entropy in bits per character, if the rule has one.
    pub entropy: Option<f64>,
    /// Strings in which the rule hides something.
    pub examples: Vec<String>,
    /// Strings that the rule leaves alone.
    pub counter_examples: Vec<String>,
    /// Whether the rule comes from the user's rule file.
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

    /// The number of rules.
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
