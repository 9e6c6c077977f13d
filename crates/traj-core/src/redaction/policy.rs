//! What to hide, and the key for the markers.

use super::marker::MarkerKey;
use super::paths::PathLabels;
use super::rule::RuleClass;
use super::rule::RuleSet;

/// What to hide, and how to mark it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedactionPolicy {
    /// The key for the markers.
    pub key: MarkerKey,
    /// Host paths and names to replace.
    pub paths: PathLabels,
    /// The built-in rules and the user's.
    pub rules: RuleSet,
    /// Also hide personal data: e-mail addresses, and telephone, social security,
    /// card and account numbers.
    pub personal_data: bool,
    /// Also hide public network addresses.
    pub addresses: bool,
}

impl RedactionPolicy {
    /// The default policy.
    #[must_use]
    pub fn standard(key: MarkerKey) -> Self {
        Self {
            key,
            paths: PathLabels::default(),
            rules: RuleSet::builtin(),
            personal_data: false,
            addresses: false,
        }
    }

    /// Also replaces these host paths and names.
    #[must_use]
    pub fn with_paths(mut self, paths: PathLabels) -> Self {
        self.paths = paths;
        self
    }

    /// Uses these rules instead of only the built-in ones.
    #[must_use]
    pub fn with_rules(mut self, rules: RuleSet) -> Self {
        self.rules = rules;
        self
    }

    /// Also hides personal data.
    #[must_use]
    pub const fn with_personal_data(mut self) -> Self {
        self.personal_data = true;
        self
    }

    /// Also hides public network addresses.
    #[must_use]
    pub const fn with_addresses(mut self) -> Self {
        self.addresses = true;
        self
    }

    /// The classes of rules in force.
    pub(super) fn classes(&self) -> Vec<RuleClass> {
        let mut classes = vec![RuleClass::Credential];
        if self.personal_data {
            classes.push(RuleClass::Personal);
        }
        if self.addresses {
            classes.push(RuleClass::Address);
        }
        classes
    }
}
