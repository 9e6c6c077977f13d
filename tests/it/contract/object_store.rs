//! A dataset in an object store that answers with faults: what is an error, of
//! which kind, and how many requests it takes.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

use traj_core::port::{DatasetKey, DatasetStore as _, DatasetStoreError, Stored};
use traj_core::settings::host::Variables;
use traj_lake::{DatasetRoot, ObjectStoreDataset, StoreEnvironment};
use traj_tests::fault_server::{Arrived, Fault, FaultServer};
use traj_tests::s3_server::{S3Server, environment, open};
use traj_tests::tls_server::TlsServer;

const SECRETS: [&str; 2] = ["made-up-secret", "bWFkZSB1cA=="];

fn key() -> DatasetKey {
    DatasetKey::parse("traj/v1/events/date=2026-11-18/agent=codex/0-1-1-r1.parquet").unwrap()
}

/// A dataset on a server with these faults.
fn behind(faults: Vec<Fault>) -> (FaultServer, ObjectStoreDataset) {
    let server = FaultServer::start(faults);
    let dataset = open(&format!("{}/runs/fleet", server.address()));
    (server, dataset)
}

fn put(faults: Vec<Fault>) -> (Result<Stored, DatasetStoreError>, Vec<Arrived>) {
    let (server, dataset) = behind(faults);
    let stored = dataset.put_if_absent(&key(), b"rows");
    (stored, server.arrived())
}

/// All that an error says, with its causes.
fn said(error: &DatasetStoreError) -> String {
    let mut text = format!("{error:?}");
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(one) = cause {
        text = format!("{text}\n{one}");
        cause = one.source();
    }
    text
}

fn answer(code: u16, body: &str) -> Fault {
    Fault::Answer(code, Vec::new(), body.as_bytes().to_vec())
}

#[test]
fn a_file_is_put_on_the_condition_that_its_name_is_free() {
    let (stored, arrived) = put(vec![Fault::status(200).with("etag", "\"0\"")]);
    assert_eq!(stored.unwrap(), Stored::New);
    assert_eq!(arrived.len(), 1);
    let request = &arrived[0];
    assert_eq!(request.method, "PUT");
    // The signature covers the name in this form.
    let name = "/runs/fleet/traj/v1/events/date%3D2026-11-18/agent%3Dcodex/0-1-1-r1.parquet";
    assert_eq!(request.path, name);
    assert_eq!(request.header("if-none-match"), Some("*"));
    assert_eq!(request.body, b"rows");
    let signature = request.header("authorization").unwrap();
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=fleet/"), "{signature}");
    assert!(!format!("{request:?}").contains(SECRETS[0]));
}

#[test]
fn a_name_that_exists_is_not_an_error() {
    for code in [412, 304] {
        let (stored, arrived) = put(vec![answer(code, "<Code>PreconditionFailed</Code>")]);
        assert_eq!(stored.unwrap(), Stored::Exists, "{code}");
        assert_eq!(arrived.len(), 1);
    }
}

#[test]
fn what_may_pass_is_busy_and_asked_only_once() {
    let conflict = "<Error><Code>ConditionalRequestConflict</Code></Error>";
    for fault in [
        answer(409, conflict),
        answer(400, "<Error><Code>RequestTimeout</Code></Error>"),
        Fault::status(408),
        Fault::status(429),
        Fault::status(500),
        Fault::status(502),
        Fault::status(503),
        Fault::status(504),
        Fault::Cut,
        Fault::HalfClosed,
        Fault::Torn(503, b"<Error></Error>".to_vec()),
    ] {
        let shown = format!("{fault:?}");
        let (stored, arrived) = put(vec![fault]);
        let error = stored.unwrap_err();
        assert!(error.is_busy(), "{shown}: {}", said(&error));
        assert_eq!(arrived.len(), 1, "{shown} is not tried again here");
    }
}

#[test]
fn a_store_says_how_long_to_wait() {
    let (stored, _) = put(vec![Fault::status(503).with("retry-after", "17")]);
    let Err(DatasetStoreError::Busy { retry_after, .. }) = stored else { panic!("{stored:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(17)));
    let (stored, _) = put(vec![Fault::status(429)]);
    let Err(DatasetStoreError::Busy { retry_after, .. }) = stored else { panic!("{stored:?}") };
    assert_eq!(retry_after, None);
}

#[test]
fn a_store_that_never_answers_is_given_up() {
    let server = FaultServer::start(vec![Fault::Silence]);
    let root = DatasetRoot::parse(&format!("{}/runs", server.address())).unwrap();
    let patience = Some(Duration::from_millis(300));
    let environment = StoreEnvironment { patience, ..environment() };
    let dataset = ObjectStoreDataset::open(&root, &environment).unwrap();
    let error = dataset.put_if_absent(&key(), b"rows").unwrap_err();
    assert!(error.is_busy() && said(&error).contains("timeout"), "{}", said(&error));
}

#[test]
fn a_store_that_is_not_there_is_busy() {
    let server = FaultServer::start(Vec::new());
    let address = server.address().to_owned();
    drop(server);
    let error = open(&format!("{address}/runs")).get(&key()).unwrap_err();
    assert!(error.is_busy(), "{}", said(&error));
}

#[test]
fn refusals_name_the_reason_and_no_secret() {
    let expired = "<Error><Code>ExpiredToken</Code><Message>made-up-secret</Message></Error>";
    let skewed = "<Error><Code>RequestTimeTooSkewed</Code></Error>";
    let missing = "<Error><Code>NoSuchBucket</Code></Error>";
    for (fault, reason) in [
        (answer(400, expired), "ExpiredToken"),
        (answer(403, skewed), "RequestTimeTooSkewed"),
        (answer(403, "made-up-secret"), "status 403"),
        (Fault::status(401), "status 401"),
        (answer(404, missing), "no bucket"),
        (Fault::status(404), "no bucket"),
    ] {
        let (stored, arrived) = put(vec![fault]);
        let error = stored.unwrap_err();
        let text = said(&error);
        assert!(matches!(error, DatasetStoreError::Denied { .. }), "{text}");
        assert!(text.contains(reason), "{text}");
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
        assert_eq!(arrived.len(), 1);
    }
}

#[test]
fn a_store_without_conditional_writes_is_refused() {
    for code in [501, 405, 413] {
        let (stored, _) = put(vec![answer(code, "<Error><Code>NotImplemented</Code></Error>")]);
        let error = stored.unwrap_err();
        assert!(matches!(error, DatasetStoreError::Failed { .. }), "{}", said(&error));
        assert!(said(&error).contains("NotImplemented"), "{}", said(&error));
    }
}

#[test]
fn no_redirect_is_followed() {
    for code in [301, 302, 307, 308] {
        let elsewhere = FaultServer::start(vec![Fault::status(200)]);
        let location = format!("{}/runs/x", elsewhere.address());
        let (stored, _) = put(vec![Fault::status(code).with("location", &location)]);
        let error = stored.unwrap_err();
        assert!(matches!(error, DatasetStoreError::Denied { .. }), "{}", said(&error));
        assert!(said(&error).contains("redirects"), "{}", said(&error));
        assert!(elsewhere.arrived().is_empty(), "nothing is sent to another host");
    }
}

#[test]
fn a_missing_file_is_nothing_but_a_missing_bucket_is_an_error() {
    let no_file = answer(404, "<Error><Code>NoSuchKey</Code></Error>");
    let (_server, dataset) = behind(vec![no_file.clone()]);
    assert_eq!(dataset.get(&key()).unwrap(), None);
    let (_server, dataset) = behind(vec![no_file]);
    dataset.delete(&key()).unwrap();
    let no_bucket = answer(404, "<Error><Code>NoSuchBucket</Code></Error>");
    let (_server, dataset) = behind(vec![no_bucket.clone(), no_bucket.clone(), no_bucket]);
    let list = |dataset: &ObjectStoreDataset| {
        dataset.list("", &mut |file| panic!("{file:?} does not exist"))
    };
    for error in [
        dataset.get(&key()).unwrap_err(),
        list(&dataset).unwrap_err(),
        dataset.delete(&key()).unwrap_err(),
    ] {
        assert!(matches!(error, DatasetStoreError::Denied { .. }), "{}", said(&error));
    }
}

#[test]
fn a_torn_file_is_never_returned() {
    let (_server, dataset) = behind(vec![Fault::Torn(200, vec![7; 100_000])]);
    let error = dataset.get(&key()).unwrap_err();
    assert!(error.is_busy(), "{}", said(&error));
}

#[test]
fn a_listing_that_is_not_understood_is_an_error() {
    for body in ["", "<html>made-up-secret</html>", "<ListBucketResult><Contents>"] {
        let (_server, dataset) = behind(vec![answer(200, body)]);
        let error = dataset.list("", &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(matches!(error, DatasetStoreError::Failed { .. }), "{body}: {}", said(&error));
        assert!(!said(&error).contains(SECRETS[0]), "{}", said(&error));
    }
}

#[test]
fn a_listing_is_read_page_by_page() {
    let page = |names: &[&str], next: Option<&str>| {
        let file = |name: &&str| {
            format!(
                "<Contents><Key>fleet/{name}</Key><Size>4</Size>\
                 <LastModified>2026-11-18T00:00:00.000Z</LastModified></Contents>"
            )
        };
        let files: String = names.iter().map(file).collect();
        let next =
            next.map(|token| format!("<NextContinuationToken>{token}</NextContinuationToken>"));
        let body =
            format!("<ListBucketResult>{files}{}</ListBucketResult>", next.unwrap_or_default());
        answer(200, &body)
    };
    let faults = vec![page(&["a/1", "a b"], Some("more")), Fault::status(503)];
    let (server, dataset) = behind(faults);
    let mut seen = Vec::new();
    let outcome = dataset.list("a", &mut |file| {
        seen.push(file.key.to_string());
        ControlFlow::Continue(())
    });
    assert!(outcome.unwrap_err().is_busy(), "half a listing is not a listing");
    assert_eq!(seen, ["a/1"], "a name of another program is skipped");
    let requests = server.arrived();
    assert!(requests[0].path.contains("prefix=fleet%2Fa"), "{}", requests[0].path);
    assert!(requests[1].path.contains("continuation-token=more"), "{}", requests[1].path);
}

#[test]
fn only_a_trusted_certificate_gets_the_request() {
    let server = TlsServer::start(1);
    let error = open(&format!("{}/runs", server.address())).get(&key()).unwrap_err();
    assert!(said(&error).contains("certificate of the store is not trusted"), "{}", said(&error));
    assert!(!error.is_busy());
    assert_eq!(server.arrived(), 0);
    let server = TlsServer::start(1);
    let root = DatasetRoot::parse(&format!("{}/runs", server.address())).unwrap();
    let certificates = Some(server.certificate().as_bytes().to_vec());
    let trusting = StoreEnvironment { certificates, ..environment() };
    ObjectStoreDataset::open(&root, &trusting).unwrap().get(&key()).unwrap();
    assert_eq!(server.arrived(), 1);
}

#[test]
fn a_store_of_another_machine_needs_encryption() {
    let variables: Variables = [
        ("AWS_ACCESS_KEY_ID", "fleet"),
        ("AWS_SECRET_ACCESS_KEY", "made-up-secret"),
        ("AWS_ENDPOINT_URL", "http://s3.invalid"),
    ]
    .into_iter()
    .collect();
    let environment = StoreEnvironment { variables, ..StoreEnvironment::default() };
    let root = DatasetRoot::parse("s3://runs").unwrap();
    let dataset = ObjectStoreDataset::open(&root, &environment).unwrap();
    let error = dataset.put_if_absent(&key(), b"rows").unwrap_err();
    assert!(said(&error).contains("must use https"), "{}", said(&error));
}

#[test]
fn google_and_azure_put_on_the_same_condition() {
    let (stored, request) = put_azure(Fault::status(201).with("etag", "\"0\""));
    assert_eq!(stored.unwrap(), Stored::New);
    assert_eq!(request.header("if-none-match"), Some("*"));
    let taken = Fault::status(409).with("x-ms-error-code", "BlobAlreadyExists");
    assert_eq!(put_azure(taken).0.unwrap(), Stored::Exists);
    let leased = Fault::status(409).with("x-ms-error-code", "LeaseIdMissing");
    assert!(put_azure(leased).0.unwrap_err().is_busy());

    let (stored, request) = put_google(Fault::status(200).with("etag", "\"0\""));
    assert_eq!(stored.unwrap(), Stored::New);
    assert_eq!(request.header("x-goog-if-generation-match"), Some("0"));
    assert_eq!(put_google(Fault::status(412)).0.unwrap(), Stored::Exists);
    assert!(put_google(Fault::status(429)).0.unwrap_err().is_busy());
}

fn put_azure(fault: Fault) -> (Result<Stored, DatasetStoreError>, Arrived) {
    let server = FaultServer::start(vec![fault]);
    put_with(
        &server,
        "az://runs/fleet",
        &[
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("AZURE_STORAGE_ACCOUNT_KEY", SECRETS[1]),
            ("AZURE_STORAGE_ENDPOINT", server.address()),
        ],
    )
}

fn put_google(fault: Fault) -> (Result<Stored, DatasetStoreError>, Arrived) {
    let server = FaultServer::start(vec![fault]);
    // What servers for tests need in place of a real key.
    let account = format!(
        r#"{{"gcs_base_url": "{}", "disable_oauth": true, "client_email": "", "private_key": "",
            "private_key_id": ""}}"#,
        server.address()
    );
    put_with(&server, "gs://runs/fleet", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &account)])
}

fn put_with(
    server: &FaultServer,
    url: &str,
    variables: &[(&str, &str)],
) -> (Result<Stored, DatasetStoreError>, Arrived) {
    let variables = variables.iter().copied().collect();
    let environment = StoreEnvironment { variables, ..StoreEnvironment::default() };
    let root = DatasetRoot::parse(url).unwrap();
    let dataset = ObjectStoreDataset::open(&root, &environment).unwrap();
    let stored = dataset.put_if_absent(&key(), b"rows");
    if let Err(error) = &stored {
        let text = said(error);
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
    }
    (stored, server.arrived().remove(0))
}

#[test]
fn thousands_of_files_are_listed_whole() {
    let Some(server) = S3Server::start() else { return };
    let dataset = server.dataset("many");
    // A page has a thousand names.
    for number in 0..1_100 {
        let key = DatasetKey::parse(format!("a/{number}")).unwrap();
        dataset.put_if_absent(&key, b"").unwrap();
    }
    let mut count = 0;
    let listed = dataset.list("a/", &mut |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    listed.unwrap();
    assert_eq!(count, 1_100);
}
