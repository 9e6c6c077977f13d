//! Bundles that the user named: a directory, an archive or a page.

use std::path::Path;

use traj_core::port::{BundleSource, BundleSourceError, BundleVisitor, Sources as _};
use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_export::PageBundle;
use traj_fs::{FsBundleSource, FsSources};

use crate::command_error::{CommandError, explain_unreadable};
use crate::compose::Host;

/// A bundle that the user named.
#[derive(Debug)]
pub(crate) enum NamedBundle {
    /// A directory or an archive.
    Files(FsBundleSource),
    /// A page that contains one.
    Page(PageBundle),
}

impl NamedBundle {
    /// Opens a bundle that the user named.
    pub(crate) fn open(path: &Path, host: &Host) -> Result<Self, CommandError> {
        let (parent, name) = host.parent_and_name(path)?;
        // As the user named it: the file name alone does not say where it is.
        let missing = || BundleSourceError::NotFound { name: path.to_string_lossy().into_owned() };
        let folder = host.folder_if_any(&parent)?.ok_or_else(|| explain_unreadable(missing()))?;
        match FsBundleSource::open(&folder, &name) {
            Ok(files) => Ok(Self::Files(files)),
            Err(BundleSourceError::NotFound { .. }) => Err(explain_unreadable(missing())),
            Err(error @ BundleSourceError::NotABundle { .. }) => {
                let sources = FsSources::new(&parent).with_root(&parent, folder);
                let source = sources.open(&parent.join(&name).to_string_lossy()).ok();
                let page = source.filter(|source| PageBundle::is_page(source.as_ref()));
                let page = page.map(PageBundle::open).transpose().map_err(explain_unreadable)?;
                page.map(Self::Page).ok_or_else(|| explain_unreadable(error))
            }
            Err(error) => Err(explain_unreadable(error)),
        }
    }
}

impl BundleSource for NamedBundle {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        match self {
            Self::Files(files) => files.visit(visit),
            Self::Page(page) => page.visit(visit),
        }
    }
}

/// The rules alone: the paths and names of this host say nothing about a
/// bundle from another one.
pub(crate) fn rules() -> Result<Redactor, CommandError> {
    Ok(Redactor::new(RedactionPolicy::standard(Host::passing_key()?)))
}
