//! A set of rules: the built-in ones, plus or minus the user's changes.

use super::allow_list::AllowList;
use super::builtin;
use super::definition::{Rule, RuleClass};
use crate::redaction::field_name;

/// Rules and allow-lists in force.
#[derive(Clone, Debug)]
pub struct RuleSet {
    pub(in crate::redaction) rules: Vec<Rule>,
    pub(in crate::redaction) allow: AllowList,
}

/// One rule, as shown in listings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuleInfo<'r> {
    /// The id, which is also the kind in markers.
    pub id: &'r str,
    /// What the rule hides.
    pub title: &'r str,
    /// What the rule protects.
    pub class: RuleClass,
    /// The pattern, unless the rule goes by context or by the name of a field.
    pub pattern: Option<&'r str>,
    /// For a rule that goes by the name of a field: which names, and what it does
    /// with their values. Its examples are names.
    pub names: Option<String>,
    /// Keywords; the rule is tried only in strings that contain one of them. If
    /// there are none, it is tried in every string.
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
            .chain(field_name::name_rows().map(super::definition::named))
            .collect();
        Self { rules, allow: AllowList::default() }
    }

    /// The number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All rules, built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = RuleInfo<'_>> {
        self.rules.iter().map(info)
    }

    /// The rule with this id.
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
        pattern: (!rule.pattern.is_empty()).then_some(rule.pattern.as_ref()),
        names: field_name::name_rows()
            .find(|row| row.id == rule.id)
            .map(field_name::NameRow::explanation),
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
