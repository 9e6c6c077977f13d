//! Flags that select what to hide, shared by the verbs that redact or search.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use traj_core::limits::Reading;
use traj_core::redaction::{MarkerKey, PathLabels, RedactionPolicy, Redactor, RuleSet};
use traj_fs::open_file;

use crate::command_error::CommandError;
use crate::compose::Host;

/// The flags that select the rules.
#[derive(Debug, clap::Args)]
pub(crate) struct RuleOptions {
    /// Add rules and allow-lists from a TOML file, such as a gitleaks configuration
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Include e-mail addresses and telephone, card and account numbers
    #[arg(long)]
    personal_data: bool,
    /// Include public network addresses
    #[arg(long)]
    addresses: bool,
}

impl RuleOptions {
    /// The built-in rules and those of the files.
    pub(crate) fn rule_set(&self, host: &Host) -> Result<RuleSet, CommandError> {
        let mut rules = RuleSet::builtin();
        for path in &self.rules {
            rules = add_file(rules, host, path)?;
        }
        Ok(rules)
    }

    /// A redactor with these rules that also replaces `paths`.
    pub(crate) fn redactor(
        &self,
        host: &Host,
        key: MarkerKey,
        paths: PathLabels,
    ) -> Result<Redactor, CommandError> {
        let mut policy =
            RedactionPolicy::standard(key).with_rules(self.rule_set(host)?).with_paths(paths);
        if self.personal_data {
            policy = policy.with_personal_data();
        }
        if self.addresses {
            policy = policy.with_addresses();
        }
        Ok(Redactor::new(policy))
    }
}

/// Adds the rules of a file.
pub(crate) fn add_file(rules: RuleSet, host: &Host, path: &Path) -> Result<RuleSet, CommandError> {
    let text = read_text(host, path)?;
    rules.with_file(&text).map_err(|error| {
        CommandError::usage(format!("cannot use the rules in {}", path.display()))
            .because(error)
            .hint("test the file with `traj rules check --rules FILE`; docs/format/redaction.md describes its format")
    })
}

/// Reads a file the user named, up to the size of a rules file.
pub(crate) fn read_text(host: &Host, path: &Path) -> Result<String, CommandError> {
    let cannot = |error: Box<dyn std::error::Error + Send + Sync>| {
        CommandError::failure(format!("cannot read {}", path.display())).because(error)
    };
    let (folder, name) = host.folder_of(path)?;
    let file = open_file(&folder, &name).map_err(|error| cannot(error.into()))?;
    let mut text = String::new();
    // One byte above the limit, so that a larger file is rejected, not cut.
    file.take(Reading::standard().rule_file_bytes as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|error| cannot(error.into()))?;
    Ok(text)
}

/// The flags that select the marker key.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyOptions {
    /// The key file for markers; created if it is missing
    #[arg(long, value_name = "FILE", conflicts_with = "ephemeral_key")]
    key_file: Option<PathBuf>,
    /// Use a random key, so that markers are comparable within this run only
    #[arg(long)]
    ephemeral_key: bool,
}

impl KeyOptions {
    pub(crate) fn key(&self, host: &Host) -> Result<MarkerKey, CommandError> {
        if self.ephemeral_key {
            return Host::passing_key();
        }
        match &self.key_file {
            Some(path) => host.marker_key_in(path),
            None => host.marker_key(),
        }
    }
}
