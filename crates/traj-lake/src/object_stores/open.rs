//! Finds the store of a URL and the credentials for it. Credentials come from
//! the environment, as values; nothing here reads a file, asks a server for
//! credentials, or shows one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ClientOptions, RetryConfig};
use traj_core::settings::host::Variables;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use super::connector::Connector;
use super::{ObjectStoreDataset, Service};
use crate::root::{DatasetRoot, Store};

/// The configuration and the credentials of stores, from the environment.
#[derive(Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "whoever reads the environment fills it")]
pub struct StoreEnvironment {
    /// The variables `AWS_…`, `GOOGLE_…` and `AZURE_…`; others are not used.
    pub variables: Variables,
    /// The file that `GOOGLE_APPLICATION_CREDENTIALS` names.
    pub google_key: Option<String>,
    /// The certificates to trust instead of the usual ones, in PEM: the file
    /// that `AWS_CA_BUNDLE` or `SSL_CERT_FILE` names.
    pub certificates: Option<Vec<u8>>,
    /// How long to wait for a response, if less than usual.
    pub patience: Option<Duration>,
}

impl fmt::Debug for StoreEnvironment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StoreEnvironment").finish_non_exhaustive()
    }
}

/// Why a store cannot be used as configured. No variant repeats a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The dataset is a directory.
    #[error("the dataset is a directory, not in an object store")]
    Directory,
    /// Credentials are missing.
    #[error("the environment has no credentials for the store: set {variables}")]
    Credentials {
        /// The variables to set.
        variables: &'static str,
    },
    /// A value cannot be used.
    #[error("{variable} has an invalid value")]
    Value {
        /// The variable.
        variable: &'static str,
    },
    /// The client could not be set up on this system.
    #[error("the client of the store cannot be started")]
    Client,
}

const S3_CREDENTIALS: OpenError =
    OpenError::Credentials { variables: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" };
const GOOGLE_CREDENTIALS: OpenError = OpenError::Credentials {
    variables: "GOOGLE_APPLICATION_CREDENTIALS (a file) or GOOGLE_SERVICE_ACCOUNT_KEY (its content)",
};
const AZURE_ACCOUNT: OpenError = OpenError::Credentials {
    variables: "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
};

impl ObjectStoreDataset {
    /// The dataset at a URL, with the credentials of the environment.
    ///
    /// # Errors
    /// See [`OpenError`]. Only the first request shows whether the store
    /// accepts the credentials.
    pub fn open(root: &DatasetRoot, environment: &StoreEnvironment) -> Result<Self, OpenError> {
        let store = root.store().ok_or(OpenError::Directory)?;
        let opening = Opening { environment, connector: connector(environment)? };
        let (service, prefix) = match store {
            Store::S3 { endpoint, bucket, prefix } => (opening.s3(endpoint, bucket)?, prefix),
            Store::Google { bucket, prefix } => (opening.google(bucket)?, prefix),
            Store::Azure { container, prefix } => (opening.azure(container)?, prefix),
        };
        Self::new(service, prefix).map_err(|_| OpenError::Client)
    }
}

fn connector(environment: &StoreEnvironment) -> Result<Connector, OpenError> {
    let roots = match &environment.certificates {
        Some(pem) => certificates(pem)?,
        None => RootCerts::WebPki,
    };
    let allow_http = is_set(&environment.variables, "AWS_ALLOW_HTTP");
    Ok(Connector::new(roots, environment.patience, allow_http))
}

fn is_set(variables: &Variables, name: &str) -> bool {
    variables.get(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

fn certificates(pem: &[u8]) -> Result<RootCerts, OpenError> {
    let unusable = OpenError::Value { variable: "AWS_CA_BUNDLE" };
    let items: Result<Vec<PemItem<'static>>, _> = parse_pem(pem).collect();
    let certificate = |item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    };
    let certificates: Vec<Certificate<'static>> =
        items.map_err(|_| unusable)?.into_iter().filter_map(certificate).collect();
    if certificates.is_empty() { Err(unusable) } else { Ok(RootCerts::from(certificates)) }
}

/// The caller decides when to retry a request.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

struct Opening<'e> {
    environment: &'e StoreEnvironment,
    connector: Connector,
}

impl Opening<'_> {
    fn get(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.environment.variables.get(name))
    }

    fn s3(self, endpoint: Option<String>, bucket: &str) -> Result<Service, OpenError> {
        let key = self.get(&["AWS_ACCESS_KEY_ID"]).ok_or(S3_CREDENTIALS)?;
        let secret = self.get(&["AWS_SECRET_ACCESS_KEY"]).ok_or(S3_CREDENTIALS)?;
        let region = self.get(&["AWS_REGION", "AWS_DEFAULT_REGION"]).unwrap_or("us-east-1");
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(region)
            .with_access_key_id(key)
            .with_secret_access_key(secret)
            .with_disable_bulk_delete(true)
            .with_client_options(options())
            .with_retry(no_retries());
        if let Some(token) = self.get(&["AWS_SESSION_TOKEN"]) {
            builder = builder.with_token(token);
        }
        let configured = self.get(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]);
        if let Some(endpoint) = endpoint.or_else(|| configured.map(str::to_owned)) {
            builder = builder.with_endpoint(endpoint);
        }
        let unusable = OpenError::Value { variable: "AWS_ENDPOINT_URL" };
        let store = builder.with_http_connector(self.connector).build().map_err(|_| unusable)?;
        Ok(Service::S3(Arc::new(store)))
    }

    fn google(self, bucket: &str) -> Result<Service, OpenError> {
        let inline = self.get(&["GOOGLE_SERVICE_ACCOUNT_KEY"]);
        let key = inline.or(self.environment.google_key.as_deref()).ok_or(GOOGLE_CREDENTIALS)?;
        let builder = GoogleCloudStorageBuilder::new()
            .with_bucket_name(bucket)
            .with_service_account_key(key)
            .with_client_options(options())
            .with_retry(no_retries());
        let unusable = OpenError::Value { variable: "the key of the Google service account" };
        let store = builder.with_http_connector(self.connector).build().map_err(|_| unusable)?;
        Ok(Service::Google(Arc::new(store)))
    }

    fn azure(self, container: &str) -> Result<Service, OpenError> {
        let account = self.get(&["AZURE_STORAGE_ACCOUNT_NAME"]).ok_or(AZURE_ACCOUNT)?;
        let mut builder = MicrosoftAzureBuilder::new()
            .with_account(account)
            .with_container_name(container)
            .with_client_options(options())
            .with_retry(no_retries());
        let client = ["AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"];
        let client = client.map(|name| self.get(&[name]));
        if let Some(key) = self.get(&["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY"]) {
            builder = builder.with_access_key(key);
        } else if let Some(token) = self.get(&["AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY"])
        {
            builder = builder.with_config(AzureConfigKey::SasKey, token);
        } else if let [Some(id), Some(secret), Some(tenant)] = client {
            builder = builder.with_client_secret_authorization(id, secret, tenant);
        } else {
            return Err(AZURE_ACCOUNT);
        }
        if let Some(endpoint) = self.get(&["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"]) {
            builder = builder.with_endpoint(endpoint.to_owned());
        }
        let unusable = OpenError::Value { variable: "one of AZURE_STORAGE_…" };
        let store = builder.with_http_connector(self.connector).build().map_err(|_| unusable)?;
        Ok(Service::Azure(Arc::new(store)))
    }
}

/// The connector decides what is allowed.
fn options() -> ClientOptions {
    ClientOptions::new().with_allow_http(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> StoreEnvironment {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        StoreEnvironment { variables: variables.collect(), ..StoreEnvironment::default() }
    }

    fn root(url: &str) -> DatasetRoot {
        DatasetRoot::parse(url).unwrap()
    }

    fn opened(url: &str, variables: &[(&str, &str)]) -> Result<ObjectStoreDataset, OpenError> {
        ObjectStoreDataset::open(&root(url), &environment(variables))
    }

    const KEYS: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "made-up"), ("AWS_SECRET_ACCESS_KEY", "made-up-secret")];

    #[test]
    fn credentials_come_from_the_environment() {
        assert!(opened("s3://bucket/runs", &KEYS).is_ok());
        assert!(opened("https://s3.example/bucket/runs", &KEYS).is_ok());
        assert_eq!(opened("s3://bucket", &KEYS[..1]).unwrap_err(), S3_CREDENTIALS);
        assert_eq!(opened("gs://bucket", &KEYS).unwrap_err(), GOOGLE_CREDENTIALS);
        assert_eq!(opened("az://container", &KEYS).unwrap_err(), AZURE_ACCOUNT);
        let account = ("AZURE_STORAGE_ACCOUNT_NAME", "account");
        assert_eq!(opened("az://container", &[account]).unwrap_err(), AZURE_ACCOUNT);
        assert!(
            opened("az://container", &[account, ("AZURE_STORAGE_ACCOUNT_KEY", "bWFkZSB1cA==")])
                .is_ok()
        );
        assert_eq!(opened("file:///srv", &KEYS).unwrap_err(), OpenError::Directory);
    }

    #[test]
    fn what_cannot_be_used_is_named_and_not_shown() {
        let key = ("GOOGLE_SERVICE_ACCOUNT_KEY", "made-up-secret");
        let error = opened("gs://bucket", &[key]).unwrap_err();
        assert!(
            matches!(error, OpenError::Value { .. }) && !format!("{error:?}").contains("made-up")
        );
        let environment =
            StoreEnvironment { certificates: Some(b"none".to_vec()), ..environment(&KEYS) };
        let error = ObjectStoreDataset::open(&root("s3://bucket"), &environment).unwrap_err();
        assert_eq!(error, OpenError::Value { variable: "AWS_CA_BUNDLE" });
    }

    #[test]
    fn credentials_are_never_shown() {
        let shown = format!("{:?} {:?}", opened("s3://b/p", &KEYS).unwrap(), environment(&KEYS));
        assert!(!shown.contains("made-up"), "{shown}");
    }
}
