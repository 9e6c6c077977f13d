//! `traj convert --to otlp --send`, against receivers on this machine that have
//! faults.

use std::process::Output;

use serde_json::Value;
use traj_tests::export_home::{ExportHome, result};
use traj_tests::fault_server::{Fault, FaultServer};
use traj_tests::traj_binary::{answered_on_terminal, traj_command};

use super::{SECRET, home};

fn sent(home: &ExportHome, address: &str, variables: &[(&str, &str)], more: &[&str]) -> Output {
    let base = ["convert", "s1.jsonl", "--to", "otlp", "--send", address, "--json"];
    home.traj_with(variables, &[&base, more].concat())
}

fn report(output: &Output) -> Value {
    result(output)["result"]["sent"].clone()
}

fn said(output: &Output) -> String {
    let both = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[test]
fn spans_arrive_compressed_and_redacted() {
    let home = home();
    let server = FaultServer::start(vec![Fault::status(200)]);
    let secret = "made-up-token-4711";
    let headers = format!("authorization=Bearer%20{secret},x-team=a");
    let variables = [("OTEL_EXPORTER_OTLP_HEADERS", headers.as_str())];
    let output = sent(&home, server.address(), &variables, &["--yes", "--content"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains(secret), "headers are not printed");
    let report = report(&output);
    let arrived = server.arrived();
    assert_eq!((arrived.len(), &report["requests"]), (1, &1.into()));
    assert_eq!(arrived[0].path, "/v1/traces");
    assert_eq!(arrived[0].header("authorization"), Some(format!("Bearer {secret}").as_str()));
    assert_eq!(arrived[0].header("content-encoding"), Some("gzip"));
    let body = String::from_utf8_lossy(&arrived[0].body).into_owned();
    assert!(body.contains("execute_tool shell") && !body.contains(SECRET));
    let file = home.traj(&["convert", "s1.jsonl", "--to", "otlp", "--content", "--output", "-"]);
    assert_eq!(arrived[0].body, file.stdout, "what a file would contain");
}

#[test]
fn nothing_leaves_without_consent() {
    let home = home();
    let server = FaultServer::start(vec![Fault::status(200)]);
    let output = sent(&home, server.address(), &[], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let output = sent(&home, server.address(), &[], &["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let report = report(&output);
    assert_eq!((&report["dryRun"], &report["requests"]), (&true.into(), &1.into()));
    assert!(report["spans"].as_u64() > Some(2) && report["bytes"].as_u64() > Some(100));
    assert_eq!(server.address(), format!("http://{}", report["host"].as_str().unwrap()));
    assert!(!said(&output).contains("make"), "only figures are shown");
    assert!(server.arrived().is_empty());
}

#[test]
fn faults_of_the_receiver_are_told_apart() {
    let home = home();
    let wait = || Fault::status(503).with("retry-after", "0");
    for (faults, code, needle) in [
        (vec![wait(), Fault::status(429), Fault::status(200)], 0, "\"repeated\": 2"),
        (vec![Fault::Cut, Fault::status(202)], 0, "\"repeated\": 1"),
        (vec![Fault::rejecting(1)], 3, "\"rejected\": 1"),
        (vec![Fault::status(400)], 1, "status 400"),
        (vec![Fault::status(401)], 1, "OTEL_EXPORTER_OTLP_HEADERS"),
        (vec![Fault::status(503).with("retry-after", "86400")], 1, "86400 seconds"),
        (
            vec![Fault::status(307).with("location", "http://127.0.0.2/v1/traces")],
            1,
            "nothing is sent there",
        ),
    ] {
        let wanted = faults.len();
        let server = FaultServer::start(faults);
        let output = sent(&home, server.address(), &[], &["--yes"]);
        assert_eq!(output.status.code(), Some(code), "{needle}: {}", said(&output));
        assert!(said(&output).contains(needle), "{needle}: {}", said(&output));
        assert_eq!(server.arrived().len(), wanted, "{needle}");
    }
}

#[test]
fn a_silent_receiver_is_given_up() {
    let home = home();
    let server = FaultServer::start(vec![Fault::Silence, Fault::status(200)]);
    let variables = [("OTEL_EXPORTER_OTLP_TIMEOUT", "300")];
    let output = sent(&home, server.address(), &variables, &["--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(report(&output)["repeated"], 1);
}

#[test]
fn addresses_with_credentials_are_refused_and_not_repeated() {
    let home = home();
    for address in [
        "https://me:made-up-4711@127.0.0.1:1",
        "https://127.0.0.1:1/?key=made-up-4711",
        "http://collector.example/made-up-4711",
    ] {
        for (argument, variables) in [
            (address, vec![]),
            ("", vec![("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", address)]),
            ("", vec![("OTEL_EXPORTER_OTLP_ENDPOINT", address)]),
        ] {
            let output = sent(&home, argument, &variables, &["--yes"]);
            assert_eq!(output.status.code(), Some(2), "{address}: {}", said(&output));
            assert!(!said(&output).contains("made-up-4711"), "{}", said(&output));
        }
    }
    let output = sent(&home, "", &[], &["--yes"]);
    assert_eq!(output.status.code(), Some(2), "no receiver is configured");
    let both = ["convert", "s1.jsonl", "--to", "otlp", "--send", "x", "--output", "y"];
    assert_eq!(home.traj(&both).status.code(), Some(2));
    let other = ["convert", "s1.jsonl", "--to", "csv", "--send", "https://a.example", "--yes"];
    assert_eq!(home.traj(&other).status.code(), Some(2));
}

#[test]
fn the_standard_variables_name_the_receiver() {
    let home = home();
    for (name, path) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "/below/v1/traces"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/below"),
    ] {
        let server = FaultServer::start(vec![Fault::status(200)]);
        let address = format!("{}/below", server.address());
        let output = sent(&home, "", &[(name, &address)], &["--yes"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(server.arrived()[0].path, path);
    }
}

#[test]
fn variables_for_traces_win_over_those_for_all_signals() {
    let home = home();
    let server = FaultServer::start(vec![Fault::status(200), Fault::status(200)]);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.address()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=all,x-only=all"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-team=a%2Cb%20c"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "20000"),
    ];
    let several = ["convert", "s1.jsonl", "s1.jsonl", "--to", "otlp", "--send", "--yes", "--json"];
    let output = home.traj_with(&variables, &several);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(report(&output)["requests"], 2, "one for each run");
    for arrived in server.arrived() {
        assert_eq!(arrived.path, "/v1/traces");
        assert_eq!((arrived.header("x-team"), arrived.header("x-only")), (Some("a,b c"), None));
    }
    assert_eq!(server.arrived().len(), 2);
}

#[test]
fn consent_is_asked_for_on_a_terminal() {
    let home = home();
    for (answer, code, requests) in [("y\n", 0, 1), ("n\n", 2, 0), ("\n", 2, 0)] {
        let server = FaultServer::start(vec![Fault::status(200)]);
        let mut command = traj_command(home.path());
        command.args(["convert", "s1.jsonl", "--to", "otlp", "--send", server.address()]);
        let (screen, status) = answered_on_terminal(&mut command, answer);
        assert_eq!(status, Some(code), "{answer:?}: {screen}");
        assert!(screen.contains("[y/N]"), "{screen}");
        assert_eq!(server.arrived().len(), requests, "{answer:?}");
    }
}

#[test]
fn a_receiver_with_an_unknown_certificate_gets_nothing() {
    let home = home();
    let server = traj_tests::tls_server::TlsServer::start(2);
    let output = sent(&home, server.address(), &[], &["--yes"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("is not trusted"), "{}", said(&output));
    assert_eq!(server.arrived(), 0);
    // The user names the certificate.
    home.folder.write("roots.pem", server.certificate()).unwrap();
    let variables = [("OTEL_EXPORTER_OTLP_CERTIFICATE", "roots.pem")];
    let output = sent(&home, server.address(), &variables, &["--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(server.arrived(), 1);
}
