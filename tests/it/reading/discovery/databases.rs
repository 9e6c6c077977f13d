//! The sessions in databases are listed and found like any other.

use traj_tests::export_home::result;
use traj_tests::traj_binary::printed;

use super::Place;
use super::home::Home;

/// An agent with a database, as in `PLACES`.
const DATABASES: [Place; 18] = [
    ("crush", None, "work/app/.crush/crush.db"),
    ("crush", None, "work/.crush/crush.db"),
    ("goose", None, ".local/share/goose/sessions/sessions.db"),
    ("goose", None, ".local/share/Block/goose/sessions/sessions.db"),
    ("goose", Some(("XDG_DATA_HOME", "~/x")), "x/goose/sessions/sessions.db"),
    ("goose", Some(("GOOSE_PATH_ROOT", "~/x")), "x/data/sessions/sessions.db"),
    ("kilo", None, ".local/share/kilo/kilo.db"),
    ("kilo", Some(("XDG_DATA_HOME", "~/x")), "x/kilo/kilo.db"),
    ("kilo", Some(("KILO_DB", "~/x/my.db")), "x/my.db"),
    ("openclaw", None, ".openclaw/agents/main/agent/openclaw-agent.sqlite"),
    ("openclaw", Some(("OPENCLAW_STATE_DIR", "~/x")), "x/agents/a/agent/openclaw-agent.sqlite"),
    ("opencode", None, ".local/share/opencode/opencode.db"),
    ("opencode", None, ".local/share/opencode/opencode-beta.db"),
    ("opencode", Some(("XDG_DATA_HOME", "~/x")), "x/opencode/opencode.db"),
    ("opencode", Some(("OPENCODE_DB", "~/x/my.db")), "x/my.db"),
    ("opencode", Some(("OPENCODE_DB", "my.db")), ".local/share/opencode/my.db"),
    ("crush", Some(("XDG_DATA_HOME", "~/x")), "registered/.crush/crush.db"),
    ("crush", Some(("CRUSH_GLOBAL_DATA", "~/x/crush")), "registered/.crush/crush.db"),
];

impl Home {
    /// Puts a database with two sessions there. Which program's tables it has does
    /// not matter to discovery.
    pub(super) fn put_database(&self, path: &str) -> rusqlite::Connection {
        self.put(path, "");
        let database = rusqlite::Connection::open(self.path(path)).unwrap();
        let here = self.path("work/app");
        let sql = format!(
            "PRAGMA journal_mode=WAL;
             create table sessions(id text primary key, name text, working_dir text,
                 created_at text, updated_at text);
             create table messages(id integer primary key, message_id text, session_id text,
                 role text, content_json text, created_timestamp integer);
             insert into sessions values
                 ('20260601_1', 'the first', '{}', '2026-06-01 10:00:00', '2026-06-01 10:00:05'),
                 ('20260601_2', 'the second', '/elsewhere', '2026-06-01 11:00:00', '2026-06-01 11:00:05');
             insert into messages(message_id, session_id, role, content_json, created_timestamp) values
                 ('a', '20260601_1', 'user', '[{{\"type\":\"text\",\"text\":\"one\"}}]', 1780308000),
                 ('b', '20260601_2', 'user', '[{{\"type\":\"text\",\"text\":\"two\"}}]', 1780311600);",
            here.display()
        );
        database.execute_batch(&sql).unwrap();
        database
    }
}

#[test]
fn the_sessions_of_a_database_are_listed_and_found() {
    for (agent, variable, path) in DATABASES {
        let home = Home::new(variable.as_slice());
        let database = home.put_database(path);
        let registered = home.path("registered").display().to_string();
        let registry = format!(r#"{{"projects":[{{"path":"{registered}"}}]}}"#);
        home.put("x/crush/projects.json", &registry);
        let both = [format!("{agent}: the first"), format!("{agent}: the second")];
        assert_eq!(home.listed(&[]), both, "{agent}: {variable:?}");
        assert_eq!(home.listed(&["--agent", agent]), both, "{agent}: {variable:?}");
        assert_eq!(home.listed(&["--workspace", "."]), both[..1], "{agent}: {variable:?}");
        for (arguments, prompt) in [(&["show", "20260601_2"][..], "two"), (&["show"], "one")] {
            let output = home.run(arguments);
            assert!(printed(&output).contains(prompt), "{agent}: {arguments:?}: {output:?}");
        }
        drop(database);
    }
}

#[test]
fn sessions_of_an_old_version_are_counted_until_there_is_a_database() {
    let home = Home::new(&[]);
    let message = r#"{"role":"user","created":1,"content":[]}"#;
    home.put(".local/share/goose/sessions/20250601_120000.jsonl", message);
    home.put(".local/share/opencode/storage/session/p/ses_1.json", r#"{"id":"ses_1"}"#);
    home.put(".local/share/opencode/storage/session/p/ses_2.json", r#"{"id":"ses_2"}"#);
    let output = home.run(&["sessions", "--json"]);
    assert_eq!(result(&output)["result"]["unrecognised"], 3);
    let said = String::from_utf8(home.run(&["sessions"]).stderr).unwrap();
    assert!(said.contains("1 file of goose skipped: the format of an old version"), "{said}");
    assert!(said.contains("2 files of opencode skipped"), "{said}");
    home.put_database(".local/share/goose/sessions/sessions.db");
    assert_eq!(home.listed(&[]), ["goose: the first", "goose: the second"]);
    let said = String::from_utf8(home.run(&["sessions"]).stderr).unwrap();
    assert!(!said.contains("goose") && said.contains("opencode"), "{said}");
}
