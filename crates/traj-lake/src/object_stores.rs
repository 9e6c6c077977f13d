//! A dataset in an object store: S3 and compatible services, Google Cloud
//! Storage, Azure Blob Storage.
//!
//! The crate `object_store` signs requests and knows the APIs; it is
//! asynchronous, and each call here waits for it on the caller's thread.
//!
//! - `open`: finds the store of a URL, and its credentials;
//! - `connector`: sends the requests, each once;
//! - `answer`: interprets the responses.

mod answer;
mod connector;
mod open;

use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::StreamExt as _;
use object_store::aws::AmazonS3;
use object_store::azure::MicrosoftAzure;
use object_store::gcp::GoogleCloudStorage;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use tokio::runtime::{Builder, Runtime};
use traj_core::port::{DatasetFile, DatasetKey, DatasetStore, DatasetStoreError, Stored};

use answer::Fault;
pub use open::{OpenError, StoreEnvironment};

/// The client of a store.
#[derive(Clone)]
enum Service {
    S3(Arc<AmazonS3>),
    Google(Arc<GoogleCloudStorage>),
    Azure(Arc<MicrosoftAzure>),
}

impl Service {
    fn client(&self) -> &dyn ObjectStore {
        match self {
            Self::S3(store) => store.as_ref(),
            Self::Google(store) => store.as_ref(),
            Self::Azure(store) => store.as_ref(),
        }
    }

    /// A client that lists by any beginning of a name, if it can.
    fn pages(&self) -> Option<&dyn PaginatedListStore> {
        match self {
            Self::S3(store) => Some(store.as_ref()),
            Self::Google(store) => Some(store.as_ref()),
            Self::Azure(_) => None,
        }
    }
}

/// A dataset below a prefix of a bucket. Must not be used on a thread that
/// drives an asynchronous runtime.
pub struct ObjectStoreDataset {
    service: Service,
    /// Empty, or ends with a slash.
    prefix: String,
    runtime: Runtime,
}

impl fmt::Debug for ObjectStoreDataset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client would show its configuration.
        let kind = match &self.service {
            Service::S3(_) => "s3",
            Service::Google(_) => "gs",
            Service::Azure(_) => "az",
        };
        let mut shown = formatter.debug_struct("ObjectStoreDataset");
        shown.field("kind", &kind).field("prefix", &self.prefix).finish()
    }
}

impl ObjectStoreDataset {
    fn new(service: Service, prefix: &str) -> std::io::Result<Self> {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let runtime = Builder::new_current_thread().enable_time().build()?;
        Ok(Self { service, prefix, runtime })
    }

    fn path(&self, key: &DatasetKey) -> Result<Path, DatasetStoreError> {
        let path = format!("{}{key}", self.prefix);
        Path::parse(path)
            .map_err(|_| DatasetStoreError::failed("the prefix cannot be part of a name"))
    }

    /// A file as the port names it; `None` for a file that is not part of a
    /// dataset.
    fn file(&self, found: &ObjectMeta) -> Option<DatasetFile> {
        let name = found.location.as_ref().strip_prefix(&self.prefix)?;
        let key = DatasetKey::parse(name).ok()?;
        Some(DatasetFile { key, bytes: found.size })
    }

    /// Lists page by page.
    async fn list_pages(
        &self,
        store: &dyn PaginatedListStore,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> object_store::Result<()> {
        let mut options = PaginatedListOptions::default();
        loop {
            let page = store.list_paginated(Some(prefix), options).await?;
            for file in page.result.objects.iter().filter_map(|found| self.file(found)) {
                if visit(file).is_break() {
                    return Ok(());
                }
            }
            if page.page_token.is_none() {
                return Ok(());
            }
            options = PaginatedListOptions {
                page_token: page.page_token,
                ..PaginatedListOptions::default()
            };
        }
    }

    /// Lists the directory that contains the names, and keeps those that match.
    async fn list_directory(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> object_store::Result<()> {
        let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
        let directory = Path::parse(directory)?;
        let mut files = self.service.client().list(Some(&directory));
        while let Some(found) = files.next().await {
            let found = found?;
            if !found.location.as_ref().starts_with(prefix) {
                continue;
            }
            if self.file(&found).is_some_and(|file| visit(file).is_break()) {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl DatasetStore for ObjectStoreDataset {
    fn put_if_absent(&self, key: &DatasetKey, content: &[u8]) -> Result<Stored, DatasetStoreError> {
        let path = self.path(key)?;
        let payload = PutPayload::from(content.to_vec());
        let options = PutOptions::from(PutMode::Create);
        let put = self.service.client().put_opts(&path, payload, options);
        match self.runtime.block_on(put) {
            Ok(_) => Ok(Stored::New),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(Stored::Exists),
            Err(error) => Err(explain(error)),
        }
    }

    fn get(&self, key: &DatasetKey) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        let path = self.path(key)?;
        let read = async { self.service.client().get(&path).await?.bytes().await };
        match self.runtime.block_on(read) {
            Ok(content) => Ok(Some(content.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(explain(error)),
        }
    }

    fn list(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), DatasetStoreError> {
        let prefix = format!("{}{prefix}", self.prefix);
        let listed = match self.service.pages() {
            Some(store) => self.runtime.block_on(self.list_pages(store, &prefix, visit)),
            None => self.runtime.block_on(self.list_directory(&prefix, visit)),
        };
        listed.map_err(explain)
    }

    fn delete(&self, key: &DatasetKey) -> Result<(), DatasetStoreError> {
        let path = self.path(key)?;
        match self.runtime.block_on(self.service.client().delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(explain(error)),
        }
    }
}

/// An error in the terms of the port. Errors of the client can repeat the
/// address and the answer, so only our own cause is passed on.
fn explain(error: object_store::Error) -> DatasetStoreError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(one) = cause {
        if let Some(fault) = one.downcast_ref::<Fault>() {
            return fault.clone().into_port();
        }
        cause = one.source();
    }
    match error {
        // Nothing says that a file is missing where none was asked for.
        object_store::Error::NotFound { .. } => Fault::NoBucket.into_port(),
        _ => DatasetStoreError::failed("the answer of the store is not understood"),
    }
}
