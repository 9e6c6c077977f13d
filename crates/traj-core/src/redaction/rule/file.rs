//! User rules and allow-lists, in TOML.
//!
//! The format is that of a gitleaks configuration, so such a file can be loaded
//! unchanged; `examples`, `counter-examples` and `class` are additions. See
//! `docs/format/redaction.md`.

use std::borrow::Cow;

use serde::Deserialize;

use super::allow_list::{AllowEntry, AllowTarget};
use super::definition::{MatchCheck, Matcher, Rule, RuleClass};
use super::go_regex::translate;
use super::set::RuleSet;
use crate::limits::Reading;
use crate::redaction::engine;
use crate::settings::toml_fault;

/// Maximum number of rules in a set.
const MAX_RULES: usize = 5_000;

/// Why a rule file was rejected. None of its rules takes effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileError {
    /// The file is too large.
    #[error(
        "the rule file has {bytes} bytes; the limit is {}",
        Reading::standard().rule_file_bytes
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The file is not TOML of this format, or has an unknown key.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, counted from one.
        line: usize,
        /// The problem. It may quote the file, because a rule file is not payload.
        problem: String,
    },
    /// A rule without an id.
    #[error("rule number {number} has no id")]
    NoId {
        /// Which rule, counted from one.
        number: usize,
    },
    /// A pattern that does not compile or is too large.
    #[error("rule {rule}: the pattern does not compile or is too large")]
    BadPattern {
        /// The rule, or the list a pattern belongs to.
        rule: String,
    },
    /// Too many rules.
    #[error("more than {MAX_RULES} rules")]
    TooManyRules,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct File {
    #[expect(dead_code, reason = "accepted for gitleaks, not used")]
    title: Option<String>,
    #[expect(dead_code, reason = "accepted for gitleaks, not used")]
    description: Option<String>,
    #[serde(rename = "minVersion")]
    #[expect(dead_code, reason = "the version of gitleaks that the file needs")]
    min_version: Option<String>,
    #[serde(default)]
    extend: Extend,
    #[serde(default)]
    rules: Vec<FileRule>,
    allowlist: Option<FileAllow>,
    #[serde(default)]
    allowlists: Vec<FileAllow>,
    /// Ids of built-in rules to disable.
    #[serde(default)]
    disabled: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Extend {
    #[expect(dead_code, reason = "the built-in rules are always extended")]
    use_default: Option<bool>,
    #[expect(dead_code, reason = "other files are not read")]
    path: Option<String>,
    #[expect(dead_code, reason = "other files are not read")]
    url: Option<String>,
    #[serde(default)]
    disabled_rules: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FileRule {
    id: Option<String>,
    description: Option<String>,
    regex: Option<String>,
    #[serde(default)]
    secret_group: usize,
    entropy: Option<f64>,
    #[serde(default)]
    keywords: Vec<String>,
    #[expect(dead_code, reason = "paths are not matched: a text may come from anywhere")]
    path: Option<String>,
    #[expect(dead_code, reason = "tags are for human readers")]
    #[serde(default)]
    tags: Vec<String>,
    allowlist: Option<FileAllow>,
    #[serde(default)]
    allowlists: Vec<FileAllow>,
    #[expect(dead_code, reason = "only controls the reports of gitleaks")]
    skip_report: Option<bool>,
    /// Rules that must match nearby. Ignored: when in doubt, a redactor hides.
    #[expect(dead_code, reason = "accepted for gitleaks, not used")]
    required: Option<Vec<toml::Value>>,
    class: Option<FileClass>,
    #[serde(default)]
    examples: Vec<String>,
    #[serde(default, rename = "counter-examples")]
    counter_examples: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileClass {
    Credential,
    Personal,
    Address,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FileAllow {
    #[expect(dead_code, reason = "for human readers")]
    description: Option<String>,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    regex_target: Option<String>,
    #[expect(dead_code, reason = "paths are not matched: a text may come from anywhere")]
    #[serde(default)]
    paths: Vec<String>,
    #[expect(dead_code, reason = "there are no commits here")]
    #[serde(default)]
    commits: Vec<String>,
    condition: Option<String>,
    #[serde(default)]
    target_rules: Vec<String>,
}

impl RuleSet {
    /// Adds the rules and allow-lists of a TOML file, such as a gitleaks
    /// configuration.
    ///
    /// # Errors
    /// When the file is too large or has another format, a rule has no id, a
    /// pattern does not compile, or there are too many rules.
    pub fn with_file(mut self, text: &str) -> Result<Self, RuleFileError> {
        if text.len() > Reading::standard().rule_file_bytes {
            return Err(RuleFileError::TooLarge { bytes: text.len() });
        }
        let file: File = toml::from_str(text).map_err(|error| syntax(text, &error))?;
        let disabled: Vec<&String> =
            file.disabled.iter().chain(&file.extend.disabled_rules).collect();
        // Frame rules cannot be disabled: code refers to them by index.
        for rule in &mut self.rules {
            if disabled.iter().any(|id| **id == rule.id) && rule.matcher != Matcher::Frame {
                rule.keywords = Cow::Borrowed(&[]);
                rule.matcher = Matcher::Off;
            }
        }
        for allow in file.allowlist.into_iter().chain(file.allowlists) {
            self.allow.entries.extend(allow_entry(allow, None, "the allow-list")?);
        }
        for (place, rule) in file.rules.into_iter().enumerate() {
            self.add(rule, place + 1)?;
        }
        if self.rules.len() > MAX_RULES {
            return Err(RuleFileError::TooManyRules);
        }
        Ok(self)
    }

    fn add(&mut self, rule: FileRule, number: usize) -> Result<(), RuleFileError> {
        let id = rule.id.ok_or(RuleFileError::NoId { number })?;
        let kind = kind_of(&id);
        for allow in rule.allowlist.into_iter().chain(rule.allowlists) {
            self.allow.entries.extend(allow_entry(allow, Some(&kind), &id)?);
        }
        // A gitleaks rule without a pattern matches only paths.
        let Some(pattern) = rule.regex else {
            return Ok(());
        };
        let pattern = translate(&pattern);
        let compiled = engine::compile(&pattern)
            .map_err(|_| RuleFileError::BadPattern { rule: id.clone() })?;
        let group = if rule.secret_group < compiled.captures_len() { rule.secret_group } else { 0 };
        let owned =
            |texts: Vec<String>| texts.into_iter().map(Cow::Owned).collect::<Vec<_>>().into();
        self.rules.retain(|known| !(known.user && known.id == kind));
        self.rules.push(Rule {
            id: Cow::Owned(kind),
            title: Cow::Owned(rule.description.unwrap_or_default()),
            class: match rule.class {
                None | Some(FileClass::Credential) => RuleClass::Credential,
                Some(FileClass::Personal) => RuleClass::Personal,
                Some(FileClass::Address) => RuleClass::Address,
            },
            matcher: Matcher::Anywhere,
            pattern: Cow::Owned(pattern),
            group,
            keywords: owned(rule.keywords.into_iter().filter(|word| !word.is_empty()).collect()),
            check: rule.entropy.map_or(MatchCheck::None, MatchCheck::Entropy),
            examples: owned(rule.examples),
            counter_examples: owned(rule.counter_examples),
            user: true,
        });
        Ok(())
    }
}

/// The id in the form that a marker allows.
fn kind_of(id: &str) -> String {
    let mut digits = 0;
    id.chars()
        .take(64)
        .map(|letter| match letter.to_ascii_lowercase() {
            digit @ '0'..='9' => {
                digits += 1;
                if digits > 6 { 'n' } else { digit }
            }
            letter @ 'a'..='z' => letter,
            _ => '-',
        })
        .collect()
}

fn allow_entry(
    allow: FileAllow,
    rule: Option<&str>,
    owner: &str,
) -> Result<Option<AllowEntry>, RuleFileError> {
    // Some conditions are not supported, so "all of them" is never met.
    if allow.condition.as_deref().is_some_and(|condition| matches!(condition, "AND" | "&&" | "and"))
    {
        return Ok(None);
    }
    let mut patterns = Vec::with_capacity(allow.regexes.len());
    for pattern in &allow.regexes {
        patterns.push(
            engine::compile(&translate(pattern))
                .map_err(|_| RuleFileError::BadPattern { rule: owner.to_owned() })?,
        );
    }
    let target = match allow.regex_target.as_deref() {
        Some("line" | "match") => AllowTarget::Line,
        _ => AllowTarget::Secret,
    };
    let rules = match rule {
        Some(rule) => vec![rule.to_owned()],
        None => allow.target_rules.iter().map(|id| kind_of(id)).collect(),
    };
    let stop_words = allow.stopwords.into_iter().filter(|word| !word.is_empty()).collect();
    Ok(Some(AllowEntry { values: allow.values, patterns, stop_words, target, rules }))
}

fn syntax(text: &str, error: &toml::de::Error) -> RuleFileError {
    let (line, problem) = toml_fault::line_and_problem(text, error);
    RuleFileError::Syntax { line, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    const FILE: &str = r#"
title = "ours"
disabled = ["npm-token"]

[[rules]]
id = "Acme_Ticket"
description = "Ticket of the acme desk"
regex = '''\bacme-([a-z0-9]{8})\b'''
secretGroup = 1
keywords = ["acme-"]
examples = ["see acme-{lo:8} now"]
counter-examples = ["acme-x"]

[[rules.allowlists]]
stopwords = ["zzzz"]

[allowlist]
values = ["hunter2"]
regexes = ['''^fixture-''']
"#;

    fn redact(rules: RuleSet, text: &str) -> String {
        let redactor =
            Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])).with_rules(rules));
        redactor.text(text, &mut RedactionReport::new()).into_inner().into_owned()
    }

    #[test]
    fn user_rules_are_added_and_built_in_ones_disabled() {
        let rules = RuleSet::builtin().with_file(FILE).unwrap();
        assert_eq!(rules.check(), []);
        let text = redact(rules.clone(), "see acme-abcd1234 now");
        assert!(text.starts_with("see acme-<redacted:acme-ticket:"), "{text}");
        assert_eq!(redact(rules.clone(), "see acme-zzzz1234 now"), "see acme-zzzz1234 now");
        let npm = format!("see npm_{} now", "a1B2c3D4e5F6".repeat(3));
        assert_eq!(redact(rules, &npm), npm);
    }

    #[test]
    fn allowed_values_are_kept() {
        let rules = RuleSet::builtin().with_file(FILE).unwrap();
        assert_eq!(redact(rules.clone(), "password=hunter2 x"), "password=hunter2 x");
        assert_eq!(redact(rules.clone(), "password=fixture-77 x"), "password=fixture-77 x");
        assert!(redact(rules, "password=hunter3 x").contains("<redacted:password:"));
    }

    #[test]
    fn a_gitleaks_configuration_is_accepted_unchanged() {
        let file = r#"
title = "rules of another tool"
minVersion = "v8.25.0"
[extend]
useDefault = true
disabledRules = ["npm-token"]
[[allowlists]]
description = "placeholders"
regexes = ['''^\$(?:\d+|{\d+})$''']
paths = ['''(?i)\.(?:gif|png)$''']
stopwords = ["00000000"]
[[rules]]
id = "acme-client-id"
description = "Client id of Acme"
regex = '''(?i)[\w.-]{0,50}?(?:acme)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|,)[\x60'"\s=]{0,5}([a-z0-9]{32})(?:[\x60'"\s;]|\\[nr]|$)'''
entropy = 2
keywords = ["acme"]
tags = ["client"]
[[rules.allowlists]]
condition = "AND"
regexTarget = "line"
regexes = ['''example''']
[[rules]]
id = "pkcs12-file"
path = '''(?i)(?:^|\/)[^\/]+\.p(?:12|fx)$'''
"#;
        let rules = RuleSet::builtin().with_file(file).unwrap();
        let text = redact(rules, "acme_id = \"a1b2c3d4e5f60718293a4b5c6d7e8f90\"");
        assert!(text.starts_with("acme_id = \"<redacted:acme-client-id:"), "{text}");
    }

    #[test]
    fn a_bad_file_is_rejected_with_a_line_number() {
        let cases = [
            ("x = ", 1),
            ("[[rules]]\nid = \"a\"\nregexp = \"b\"\n", 3),
            ("\n\n[[rules]]\nid = 7\n", 4),
        ];
        for (text, line) in cases {
            match RuleSet::builtin().with_file(text) {
                Err(RuleFileError::Syntax { line: found, .. }) => assert_eq!(found, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let pattern = "[[rules]]\nid = \"a\"\nregex = \"(\"\n";
        assert!(matches!(
            RuleSet::builtin().with_file(pattern),
            Err(RuleFileError::BadPattern { .. })
        ));
        let huge = "[[rules]]\nid = \"a\"\nregex = '(((a{500}){500}){500})'\n";
        assert!(matches!(
            RuleSet::builtin().with_file(huge),
            Err(RuleFileError::BadPattern { .. })
        ));
    }
}
