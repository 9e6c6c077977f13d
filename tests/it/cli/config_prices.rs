//! Which prices apply: those of a flag, a variable, the configuration file, or the
//! prices that come with traj.

use serde_json::Value;
use traj_tests::export_home::{ExportHome as Home, result};
use traj_tests::rows::message;
use traj_tests::traj_binary::{printed, traj_command};

/// A session with one model call: a million tokens in, none out.
fn home_with(model: &str) -> Home {
    let home = Home::new();
    let reply = format!(
        r#"{{"role":"assistant","model":"{model}","provider":"openai","content":[],"usage":{{"input":1000000,"output":0}}}}"#
    );
    home.put_session(&[message("a", None, 1, &reply)]);
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    home.folder.create_dir_all(".config/traj").unwrap();
    for (name, price) in [("file", 10), ("variable", 20), ("flag", 30)] {
        let row = format!(
            "[[model]]\nmodel = ['gpt-5', 'in-house']\ncurrency = 'EUR'\ninput = {price}\noutput = 1\n"
        );
        home.folder.write(format!(".config/traj/{name}.toml"), row).unwrap();
    }
    home
}

/// The usage that `inspect` reports.
fn usage(home: &Home, variables: &[(&str, &str)], flags: &[&str]) -> Value {
    let mut command = traj_command(home.path());
    command.args(["inspect", "s1.jsonl", "--json"]).args(flags).envs(variables.iter().copied());
    result(&command.output().unwrap())["result"]["usage"].clone()
}

fn configure(home: &Home) {
    home.folder.write(".config/traj/config.toml", "prices = 'file.toml'\n").unwrap();
}

#[test]
fn the_nearest_price_file_wins() {
    let home = home_with("gpt-5");
    let variable = [("TRAJ_PRICES", ".config/traj/variable.toml")];
    let flag = ["--prices", ".config/traj/flag.toml"];
    let shipped = usage(&home, &[], &[]);
    assert_eq!((&shipped["calls"], &shipped["currency"]), (&1.into(), &"USD".into()), "{shipped}");
    configure(&home);
    let cost = |variables: &[(&str, &str)], flags: &[&str]| {
        let usage = usage(&home, variables, flags);
        assert_eq!((&usage["currency"], &usage["costOrigin"]), (&"EUR".into(), &"computed".into()));
        usage["cost"].as_f64().unwrap()
    };
    assert_eq!(cost(&[], &[]), 10.0);
    assert_eq!(cost(&variable, &[]), 20.0);
    assert_eq!(cost(&variable, &flag), 30.0);
    let listed = home.traj(&[&["sessions", ".", "--json"], &flag[..]].concat());
    assert_eq!(result(&listed)["result"]["sessions"][0]["usage"]["cost"], 30.0);
}

#[test]
fn a_model_without_a_price_has_an_unknown_cost() {
    let home = home_with("in-house");
    let unknown = usage(&home, &[], &[]);
    assert_eq!((&unknown["calls"], unknown.get("cost")), (&1.into(), None), "{unknown}");
    let text = printed(&home.traj(&["inspect", "s1.jsonl"]));
    assert!(text.contains("cost unknown"), "{text}");
    configure(&home);
    assert_eq!(usage(&home, &[], &[])["cost"], 10.0);
    let text = printed(&home.traj(&["inspect", "s1.jsonl"]));
    assert!(text.contains("cost 10.0000 EUR (computed)"), "{text}");
}

#[test]
fn a_price_file_that_cannot_be_used_is_reported() {
    let home = home_with("in-house");
    let refused = |file: &str| {
        let output = home.traj(&["inspect", "s1.jsonl", "--prices", file, "--json"]);
        let error = result(&output)["error"].clone();
        assert_eq!((output.status.code(), &error["kind"]), (Some(2), &"usage".into()));
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
        error
    };
    assert!(refused("missing.toml")["message"].as_str().unwrap().starts_with("there is no price"));
    home.folder.write("wrong.toml", "[[model]]\nmodel = ['m']\ninput = 'hunter2'\n").unwrap();
    let error = refused("wrong.toml");
    assert!(error["causes"][0].as_str().unwrap().starts_with("line 3: "), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
