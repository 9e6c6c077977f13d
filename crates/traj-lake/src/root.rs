//! Where a dataset is, in the notation of each engine.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::views::Engine;

/// The place of a dataset: a directory, or a bucket with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetRoot {
    scheme: Scheme,
    /// The part after the scheme, without a slash at the end.
    place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Directory,
    S3,
    Google,
    Azure,
    /// A service that speaks S3, named by its own address.
    Http,
    Https,
}

/// The place of a dataset in an object store. A prefix does not end with a slash.
#[cfg(feature = "object-stores")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Store<'r> {
    S3 { endpoint: Option<String>, bucket: &'r str, prefix: &'r str },
    Google { bucket: &'r str, prefix: &'r str },
    Azure { container: &'r str, prefix: &'r str },
}

/// Why a place cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// It is not a URL with a known scheme.
    #[error("the dataset needs a URL that begins with file:///, s3://, gs:// or az://")]
    Unknown,
    /// It has a character with a special meaning in a query.
    #[error("the URL of the dataset has a quote, a wildcard or a control character")]
    Unsafe,
    /// It has a user name, a password or a query, which may be a secret.
    #[error(
        "the URL of the dataset has credentials or a query; set credentials in the environment"
    )]
    Credentials,
    /// No tested way exists for the engine to read it.
    #[error("{engine} cannot read a dataset at this kind of URL")]
    Unsupported {
        /// The engine.
        engine: &'static str,
    },
}

const SCHEMES: [(&str, Scheme); 6] = [
    ("file://", Scheme::Directory),
    ("s3://", Scheme::S3),
    ("gs://", Scheme::Google),
    ("az://", Scheme::Azure),
    ("http://", Scheme::Http),
    ("https://", Scheme::Https),
];

impl DatasetRoot {
    /// Reads a URL, or the absolute path of a directory.
    ///
    /// # Errors
    /// If it is neither, or cannot be part of a query.
    pub fn parse(url: &str) -> Result<Self, RootError> {
        let known =
            SCHEMES.iter().find_map(|(start, scheme)| Some((*scheme, url.strip_prefix(start)?)));
        let is_remote = known.is_some_and(|(scheme, _)| scheme != Scheme::Directory);
        if is_remote && url.contains(['@', '?', '#']) {
            return Err(RootError::Credentials);
        }
        let is_unsafe = |letter: char| letter.is_control() || "'\"`\\*?[]{}%;".contains(letter);
        if url.contains(is_unsafe) {
            return Err(RootError::Unsafe);
        }
        let (scheme, place) = match known {
            Some(known) => known,
            None if url.starts_with('/') => (Scheme::Directory, url),
            None => return Err(RootError::Unknown),
        };
        let place = place.trim_end_matches('/').to_owned();
        if place.is_empty() || (scheme == Scheme::Directory && !place.starts_with('/')) {
            return Err(RootError::Unknown);
        }
        Ok(Self { scheme, place })
    }

    /// A short name for the files of this host about it: 12 hexadecimal digits.
    #[must_use]
    pub fn short_digest(&self) -> String {
        let digest = Sha256::digest(self.as_uri());
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The directory, if it is one.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        (self.scheme == Scheme::Directory).then_some(self.place.as_str())
    }

    /// The bucket and the prefix in it, if the dataset is in an object store.
    #[cfg(feature = "object-stores")]
    pub(crate) fn store(&self) -> Option<Store<'_>> {
        let split = |place| str::split_once(place, '/').unwrap_or((place, ""));
        let (first, rest) = split(&self.place);
        let scheme = match self.scheme {
            Scheme::Directory => return None,
            Scheme::S3 => return Some(Store::S3 { endpoint: None, bucket: first, prefix: rest }),
            Scheme::Google => return Some(Store::Google { bucket: first, prefix: rest }),
            Scheme::Azure => return Some(Store::Azure { container: first, prefix: rest }),
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let endpoint = Some(format!("{scheme}://{first}"));
        let (bucket, prefix) = split(rest);
        Some(Store::S3 { endpoint, bucket, prefix })
    }

    /// As a URL.
    pub(crate) fn as_uri(&self) -> String {
        let start = SCHEMES.iter().find(|(_, scheme)| *scheme == self.scheme);
        format!("{}{}", start.map_or("", |(start, _)| start), self.place)
    }

    /// In the notation of an engine.
    pub(crate) fn for_engine(&self, engine: Engine) -> Result<String, RootError> {
        let place = &self.place;
        Ok(match (self.scheme, engine) {
            (Scheme::Directory, _) => place.clone(),
            (Scheme::S3, Engine::Spark) => format!("s3a://{place}"),
            (Scheme::S3, _) => format!("s3://{place}"),
            (Scheme::Google, _) => format!("gs://{place}"),
            (Scheme::Azure, Engine::DuckDb | Engine::DataFusion) => format!("az://{place}"),
            _ => return Err(RootError::Unsupported { engine: engine.as_str() }),
        })
    }

    /// The table function that reads a table.
    pub(crate) fn for_clickhouse(&self, table: &str) -> Result<String, RootError> {
        let files = format!("{}/traj/v1/{table}/*/*/*.parquet", self.place);
        Ok(match self.scheme {
            Scheme::Directory => format!("file('{files}', 'Parquet')"),
            Scheme::S3 => format!("s3('s3://{files}', 'Parquet')"),
            Scheme::Http => format!("s3('http://{files}', 'Parquet')"),
            Scheme::Https => format!("s3('https://{files}', 'Parquet')"),
            Scheme::Google => format!("gcs('https://storage.googleapis.com/{files}', 'Parquet')"),
            Scheme::Azure => {
                return Err(RootError::Unsupported { engine: Engine::ClickHouse.as_str() });
            }
        })
    }
}

/// The URL.
impl fmt::Display for DatasetRoot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.as_uri())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_is_told_in_its_own_words() {
        let of = |url: &str, engine| DatasetRoot::parse(url).unwrap().for_engine(engine);
        assert_eq!(of("file:///srv/lake/", Engine::Spark).unwrap(), "/srv/lake");
        assert_eq!(of("/srv/lake", Engine::DuckDb).unwrap(), "/srv/lake");
        assert_eq!(of("s3://b/p", Engine::Spark).unwrap(), "s3a://b/p");
        assert_eq!(of("s3://b/p", Engine::DuckDb).unwrap(), "s3://b/p");
        let unsupported = RootError::Unsupported { engine: "spark" };
        assert_eq!(of("az://b/p", Engine::Spark), Err(unsupported));
        let local = DatasetRoot::parse("http://127.0.0.1:5000/b").unwrap();
        let read = "s3('http://127.0.0.1:5000/b/traj/v1/events/*/*/*.parquet', 'Parquet')";
        assert_eq!(local.for_clickhouse("events").unwrap(), read);
    }

    #[test]
    fn a_place_cannot_change_the_query() {
        for bad in ["s3://b/a'b", "/srv/*", "/srv/a\nb", "s3://b/{x}", "/a;b"] {
            assert_eq!(DatasetRoot::parse(bad), Err(RootError::Unsafe), "{bad}");
        }
        for bad in
            ["s3://key:made-up@b", "https://s3.example/b?X-Amz-Signature=made-up", "az://c/p#x"]
        {
            assert_eq!(DatasetRoot::parse(bad), Err(RootError::Credentials), "{bad}");
        }
        for bad in ["", "lake", "ftp://x", "file://", "file://host", "/", "s3://"] {
            assert_eq!(DatasetRoot::parse(bad), Err(RootError::Unknown), "{bad}");
        }
    }

    #[cfg(feature = "object-stores")]
    #[test]
    fn a_store_has_a_bucket_and_a_prefix() {
        let store = |url: &str| format!("{:?}", DatasetRoot::parse(url).unwrap().store());
        let s3 = Store::S3 { endpoint: None, bucket: "b", prefix: "p/q" };
        assert_eq!(store("s3://b/p/q/"), format!("{:?}", Some(s3)));
        let endpoint = Some("http://127.0.0.1:5000".to_owned());
        let local = Store::S3 { endpoint, bucket: "b", prefix: "" };
        assert_eq!(store("http://127.0.0.1:5000/b"), format!("{:?}", Some(local)));
        let azure = Store::Azure { container: "c", prefix: "" };
        assert_eq!(store("az://c"), format!("{:?}", Some(azure)));
        assert_eq!(store("/srv/lake"), "None");
    }
}
