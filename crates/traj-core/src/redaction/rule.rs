//! What a rule is and where rules come from.
//!
//! In reading order:
//! - `definition`: one rule as data;
//! - `builtin`: the rules that ship with the program, one table per family;
//! - `template`: generates the examples, so that no table contains a secret;
//! - `allow_list`: values that are known not to be secrets;
//! - `set`: the rules in force ([`RuleSet`]);
//! - `file`: a user's rule file, with `go_regex` for patterns in Go syntax;
//! - `check`: tests every rule against its own examples.

pub(super) mod allow_list;
mod builtin;
mod check;
mod definition;
mod file;
mod go_regex;
mod set;
pub(super) mod template;

pub use check::RuleProblem;
pub use definition::RuleClass;
pub(super) use definition::{Frame, MatchCheck, Matcher, Rule, RuleIndex};
pub use file::RuleFileError;
pub use set::{RuleInfo, RuleSet};
