//! The files of a bundle as types, with their JSON Schemas and validation.

mod any;
mod branch;
mod event;
mod manifest;
mod side_files;

use serde::de::DeserializeOwned;
use traj_core::port::BundleFile;

pub use manifest::{ManifestContent, ManifestSource, ManifestSummary, RuleCount, SourceRole};

pub(crate) use event::EventSource;
pub(crate) use manifest::Manifest;

/// A file of a bundle, or a line of it, that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaName {
    /// `manifest.json`
    Manifest,
    /// A line of `events.jsonl`
    Event,
    /// `session-branch.json`
    SessionBranch,
    /// `metadata.json`
    Metadata,
    /// `artifacts.json`
    Artifacts,
    /// `prompts.json`
    Prompts,
    /// `tools.json`
    Tools,
}

impl SchemaName {
    /// All schemas.
    pub const ALL: [Self; 7] = [
        Self::Manifest,
        Self::Event,
        Self::SessionBranch,
        Self::Metadata,
        Self::Artifacts,
        Self::Prompts,
        Self::Tools,
    ];

    /// The name, as used in file names.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Event => "event",
            Self::SessionBranch => "session-branch",
            Self::Metadata => "metadata",
            Self::Artifacts => "artifacts",
            Self::Prompts => "prompts",
            Self::Tools => "tools",
        }
    }

    /// The schema of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|schema| schema.as_str() == name)
    }

    /// The JSON Schema, indented, with a line end.
    #[must_use]
    pub fn to_json(self) -> String {
        let schema = match self {
            Self::Manifest => schemars::schema_for!(Manifest),
            Self::Event => schemars::schema_for!(event::BundleEvent),
            Self::SessionBranch => schemars::schema_for!(branch::SessionBranch),
            Self::Metadata => schemars::schema_for!(side_files::Metadata),
            Self::Artifacts => schemars::schema_for!(side_files::Artifacts),
            Self::Prompts => schemars::schema_for!(side_files::Prompts),
            Self::Tools => schemars::schema_for!(side_files::Tools),
        };
        // A schema is a JSON value; printing it cannot fail.
        let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// An event line, if it matches its schema.
pub(crate) fn event_of(line: &[u8]) -> Option<event::BundleEvent> {
    read(line)
}

/// Whether a JSON file matches its schema. Lists are checked item by item and
/// not kept, so files of any size can be checked.
pub(crate) fn fits(file: BundleFile, content: impl std::io::Read) -> bool {
    match file {
        BundleFile::Manifest => fits_type::<Manifest>(content),
        BundleFile::SessionBranch => fits_type::<branch::SessionBranch>(content),
        BundleFile::Metadata => fits_type::<side_files::Metadata>(content),
        BundleFile::Artifacts => fits_type::<side_files::Artifacts>(content),
        BundleFile::Prompts => fits_type::<side_files::Prompts>(content),
        BundleFile::Tools => fits_type::<side_files::Tools>(content),
        // Plain text has no schema; events are checked line by line.
        _ => true,
    }
}

fn fits_type<T: DeserializeOwned>(content: impl std::io::Read) -> bool {
    let content = std::io::BufReader::with_capacity(64 * 1024, content);
    let mut deserializer = serde_json::Deserializer::from_reader(content);
    deserializer.disable_recursion_limit();
    T::deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
}

/// Deserializes a value of any depth; our own parser has already checked it.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::SchemaName;

    #[test]
    fn every_schema_has_a_title_and_a_type() {
        for name in SchemaName::ALL {
            let schema: serde_json::Value = serde_json::from_str(&name.to_json()).unwrap();
            assert!(schema.get("title").is_some(), "{name:?}");
            assert!(schema.get("type").is_some(), "{name:?}");
            assert_eq!(SchemaName::parse(name.as_str()), Some(name));
        }
    }
}
