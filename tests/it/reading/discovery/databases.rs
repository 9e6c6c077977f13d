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
fn sessions_of_an_old_version_are_listed_until_there_is_a_database() {
    let home = Home::new(&[("GOOSE_PATH_ROOT", "~/g")]);
    let message =
        r#"{"role":"user","created":1748779200,"content":[{"type":"text","text":"old"}]}"#;
    home.put("g/data/sessions/20250601_120000.jsonl", message);
    home.put_storage();
    assert_eq!(home.listed(&[]), ["goose: old", "opencode: an old one"]);
    assert_eq!(home.listed(&["--agent", "opencode"]), ["opencode: an old one"]);
    assert_eq!(home.listed(&["--agent", "kilo"]), [""; 0]);
    for (arguments, prompt) in
        [(&["show", "20250601_120000"][..], "old"), (&["show", "ses_1"], "fix it")]
    {
        let output = home.run(arguments);
        assert!(printed(&output).contains(prompt), "{arguments:?}: {output:?}");
    }
    // The cache notices a new message.
    let message =
        r#"{"id":"msg_9","sessionID":"ses_1","role":"user","time":{"created":1750000009000}}"#;
    home.put(".local/share/opencode/storage/message/ses_1/msg_9.json", message);
    let part = r#"{"id":"prt_9","messageID":"msg_9","type":"text","text":"again"}"#;
    home.put(".local/share/opencode/storage/part/msg_9/prt_9.json", part);
    let report = result(&home.run(&["sessions", "--json", "--agent", "opencode"]));
    assert_eq!(report["result"]["sessions"][0]["turns"], 2, "{report}");
    home.put_database("g/data/sessions/sessions.db");
    assert_eq!(home.listed(&["--agent", "goose"]), ["goose: the first", "goose: the second"]);
}

/// opencode's sessions in files: a session with a sub-agent, of which one part is not
/// text.
impl Home {
    fn put_storage(&self) {
        let files = [
            (
                "session/p/ses_1",
                r#"{"id":"ses_1","projectID":"p","directory":"/srv/app","title":"an old one","version":"0.9.1","time":{"created":1750000000000,"updated":1750000005000}}"#,
            ),
            (
                "session/p/ses_2",
                r#"{"id":"ses_2","parentID":"ses_1","directory":"/srv/app","title":"its helper","version":"0.9.1","time":{"created":1750000002500}}"#,
            ),
            (
                "message/ses_1/msg_1",
                r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1750000001000}}"#,
            ),
            ("part/msg_1/prt_1", "{\n  \"type\": \"text\",\n  \"text\": \"fix it\"\n}"),
            (
                "message/ses_1/msg_2",
                r#"{"id":"msg_2","sessionID":"ses_1","role":"assistant","providerID":"acme","modelID":"small-1","cost":0.5,"finish":"stop","tokens":{"input":10,"output":4,"reasoning":0,"cache":{"read":0,"write":0}},"time":{"created":1750000002000,"completed":1750000004000}}"#,
            ),
            (
                "part/msg_2/prt_2",
                r#"{"type":"tool","tool":"bash","callID":"t1","state":{"status":"completed","input":{"command":"make"},"output":"no rule","metadata":{"exit":2},"time":{"start":1750000002100,"end":1750000003000}}}"#,
            ),
            ("part/msg_2/prt_3", "{torn"),
            (
                "message/ses_2/msg_3",
                r#"{"id":"msg_3","sessionID":"ses_2","role":"assistant","modelID":"small-1","finish":"stop","tokens":{"input":7,"output":1},"time":{"created":1750000002600,"completed":1750000002900}}"#,
            ),
            ("part/msg_3/prt_4", r#"{"type":"text","text":"two"}"#),
        ];
        for (name, content) in files {
            self.put(&format!(".local/share/opencode/storage/{name}.json"), content);
        }
    }
}

#[test]
fn a_session_in_many_files_is_read_like_one_in_a_database() {
    let home = Home::new(&[]);
    home.put_storage();
    let session = home.path(".local/share/opencode/storage/session/p/ses_1.json");
    let session = session.to_str().unwrap();
    let found = result(&home.run(&["inspect", "--json", session]))["result"].clone();
    assert_eq!((&found["calls"]["calls"], &found["calls"]["errors"]), (&1.into(), &1.into()));
    assert_eq!(found["usage"]["inputTokens"], 17, "{found}");
    assert_eq!(found["subRuns"].as_object().unwrap().len(), 1, "{found}");
    let exported = home.run(&["export", session, "--output-root", ".", "--output", "sent"]);
    assert!(exported.status.success(), "{exported:?}");
    let verified = home.run(&["verify", "sent"]);
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn links_in_a_store_of_many_files_are_not_followed() {
    let home = Home::new(&[]);
    home.put_storage();
    home.put("outside/prt_5.json", r#"{"type":"text","text":"from outside"}"#);
    let link = |target: &str, path: &str| {
        let path = home.path(&format!(".local/share/opencode/storage/{path}"));
        std::os::unix::fs::symlink(home.path(target), path).unwrap();
    };
    link("outside/prt_5.json", "part/msg_1/prt_5.json");
    link("outside", "part/msg_5");
    home.put(
        ".local/share/opencode/storage/message/ses_1/msg_5.json",
        r#"{"role":"user","time":{"created":1750000001500}}"#,
    );
    let output = home.run(&["show", "ses_1"]);
    let shown = printed(&output);
    assert!(shown.contains("fix it") && !shown.contains("from outside"), "{shown}");
}

#[test]
fn kilo_is_named_wherever_its_database_is() {
    let home = Home::new(&[]);
    home.put("elsewhere/kilo-beta.db", "");
    let path = home.path("elsewhere/kilo-beta.db");
    traj_tests::session_fixtures::databases::make(&path, "opencode");
    let session = format!("{}#s1", path.display());
    let found = result(&home.run(&["inspect", "--json", &session]))["result"].clone();
    assert_eq!((&found["agent"], &found["dialect"]), (&"kilo".into(), &"opencode".into()));
    let exported = home.run(&["export", &session, "--output-root", ".", "--output", "sent"]);
    assert!(exported.status.success(), "{exported:?}");
    let verified = home.run(&["verify", "sent"]);
    assert!(verified.status.success(), "{verified:?}");
    let sent = result(&home.run(&["inspect", "--json", "sent"]))["result"].clone();
    assert_eq!(sent["agent"], "kilo", "{sent}");
}
