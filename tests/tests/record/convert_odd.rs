//! Tests that `prosescope convert` reports each part that the other form cannot contain, with the part's path, and
//! copies everything else byte for byte.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::project::{Project, text};

fn project() -> Option<Project> {
    Project::new("let a = session \"Work\"\n")
}

/// Converts a run. Returns the copy, and each part that was left behind, with its place and a description.
fn convert(project: &Project, run: &str, form: &str) -> (String, Vec<(String, String)>) {
    let said = project.json(&["convert", run, "--to", form]);
    let left = said["left"].as_array().cloned().unwrap_or_default();
    let word = |left: &Value, key: &str| left[key].as_str().expect("words").to_owned();
    let left = left.iter().map(|l| (word(l, "place"), word(l, "what")));
    (format!("{run}-{form}"), left.collect())
}

/// Asserts that a part was reported as left behind, with its place and these words.
#[track_caller]
fn assert_reported(left: &[(String, String)], place: &str, what: &str) {
    let found = left.iter().any(|(p, w)| p == place && w.contains(what));
    assert!(found, "{place}: {what}: {left:#?}");
}

#[track_caller]
fn sql(project: &Project, run: &str, sql: &str) -> String {
    let out = project.sqlite(run, sql);
    assert!(out.status.success(), "{sql}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn write(dir: &Path, name: &str, bytes: &[u8]) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, bytes).expect("written");
}

#[test]
fn values_are_carried_byte_for_byte() {
    let Some(project) = project() else { return };
    let run = project.init("sqlite");
    let large: String = "0123456789abcdef".repeat(200_000);
    project.expect(
        0,
        &["put", "large", "--run", &run],
        &large.as_bytes()[..90_000],
    );
    project.put(&run, "attached", large.as_bytes());
    for value in ["one", "two", "three"] {
        project.put(&run, "again", value.as_bytes());
    }
    sql(
        &project,
        &run,
        "INSERT INTO bindings (name, kind, value) VALUES
           ('null', 'let', NULL), ('number', 'let', 42), ('blob', 'let', x'00ff00fe'),
           ('utf8_blob', 'let', CAST('text' AS BLOB)), ('nul', 'let', CAST(x'610062' AS TEXT)),
           ('broken', 'weird', CAST(x'61ff62' AS TEXT)), ('empty', 'const', '');
         INSERT INTO agents (name, scope, memory) VALUES
           ('nul', 'execution', CAST(x'610062' AS TEXT)), ('broken', 'execution', CAST(x'61ff62' AS TEXT));",
    );
    let (folder, left) = convert(&project, &run, "filesystem");
    let (back, none) = convert(&project, &folder, "sqlite");
    assert_reported(&left, "binding null", "NULL");
    assert_reported(
        &left,
        "binding blob",
        "is copied as the file attachments/x_converted_",
    );
    assert_reported(
        &left,
        "binding broken",
        "is copied as the file attachments/x_converted_",
    );
    assert_reported(
        &left,
        "agent broken",
        "the original is in attachments/x_converted_",
    );
    assert_eq!(left.len(), 6, "{left:#?}");
    assert_eq!(none, [], "back");
    for name in [
        "null",
        "number",
        "blob",
        "utf8_blob",
        "nul",
        "broken",
        "empty",
        "large",
        "attached",
        "again",
    ] {
        let value = project.get(&run, name);
        for copy in [&folder, &back] {
            assert!(project.get(copy, name) == value, "{copy}: {name}");
        }
    }
    assert_eq!(project.get(&back, "blob"), b"\0\xff\0\xfe");
    let kinds = "SELECT name, kind FROM bindings ORDER BY rowid";
    assert_eq!(sql(&project, &run, kinds), sql(&project, &back, kinds));
    let history =
        "SELECT name, kind, value, created_at, updated_at, replaced_at FROM x_binding_history";
    assert_eq!(sql(&project, &run, history), sql(&project, &back, history));
    let memory = "SELECT hex(memory) FROM agents WHERE name = 'nul'";
    assert_eq!(sql(&project, &back, memory), "610062\n");
}

#[test]
fn what_only_a_database_can_say_is_told() {
    let Some(project) = project() else { return };
    let run = project.init("sqlite");
    project.put(&run, "a", b"1");
    sql(
        &project,
        &run,
        "INSERT INTO run (id, program_path, started_at, status) VALUES ('other', 'o.prose', '2020-01-01 00:00:00', 'failed');
         CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('kept'), ('too');
         CREATE TABLE nothing_yet (text TEXT);
         CREATE VIEW seen AS SELECT name FROM bindings;
         ALTER TABLE bindings ADD COLUMN tokens INTEGER;
         INSERT INTO bindings (name, kind, value) VALUES ('A', 'let', '2'), ('b__5', 'let', '3'), ('../c', 'let', '4');
         INSERT INTO bindings (name, kind, value, execution_id) VALUES ('lost', 'let', '5', 77);
         INSERT INTO x_binding_history (name, kind, value) VALUES ('gone', 'let', 'old'), ('gone', 'let', 'older');
         INSERT INTO x_agent_memory_history (agent_name, memory) VALUES ('gone', 'old');
         INSERT INTO agents (name, scope, memory) VALUES ('../up', 'execution', 'm'), ('wide', 'project', 'm'), ('idle', 'execution', NULL);
         INSERT INTO gates (id, run_id, prompt, status) VALUES ('a/b', '{run}', 'Go?', 'pending');
         INSERT INTO execution (statement_text, status, metadata) VALUES ('x', 'completed', 'no json');"
            .replace("{run}", &run)
            .as_str(),
    );
    let (folder, left) = convert(&project, &run, "filesystem");
    for (place, what) in [
        ("run other", "another run"),
        (
            "table notes",
            "2 rows of a table that OpenProse does not define",
        ),
        ("view seen", "OpenProse does not define this table or view"),
        (
            "column bindings.tokens",
            "OpenProse does not define this column",
        ),
        ("binding A", "another binding has the same name"),
        ("binding b__5", "a file cannot have the binding's name"),
        ("binding ../c", "a file cannot have the binding's name"),
        ("binding lost of frame 77", "not recorded"),
        ("x_binding_history of gone", "not copied: 2"),
        ("x_agent_memory_history of gone", "not copied: 1"),
        ("agent ../up", "a folder cannot have the agent's name"),
        ("agent wide", "the agent's scope is project"),
        ("agent idle", "neither memory nor segments"),
        ("execution 1", "x_malformed"),
    ] {
        assert_reported(&left, place, what);
    }
    assert_reported(
        &left,
        &format!("gate a/b of run {run}"),
        "a file cannot have the gate's name",
    );
    let unsaid = left.iter().find(|(place, _)| place.contains("nothing"));
    assert_eq!(unsaid, None, "an empty table is nothing");
    assert!(!project.path().join(".prose/runs/c.md").exists());
    assert_eq!(project.get(&folder, "a"), b"1");
    let issues = project.json(&["check", &folder, "--severity", "error"]);
    assert_eq!(issues["counts"]["error"], 0, "{issues}");
}

#[test]
fn what_no_row_says_stays_a_file() {
    let Some(project) = project() else { return };
    let run = project.init("filesystem");
    let id = project.begin(&["1", "--run", &run]);
    for value in ["one", "two"] {
        let put = ["put", "a", "--not-done", "--run", &run];
        project.expect(0, &put, value.as_bytes());
    }
    project.expect(0, &["end", &id, "--run", &run], b"");
    project.expect(
        0,
        &["agent", "memory", "set", "captain", "--run", &run],
        b"m",
    );
    let segment = [
        "agent", "segment", "add", "captain", "--run", &run, "--prompt", "p",
    ];
    project.expect(0, &segment, b"s");
    project.expect(
        0,
        &["gate", "create", "go", "--run", &run, "--prompt", "Go?"],
        b"",
    );
    let dir = project.run_dir(&run);
    let kept: [(&str, &[u8]); 9] = [
        ("agents/captain/notes.md", b"notes"),
        ("agents/captain/captain-1.md", b"# Segment 001\n\nsecond"),
        ("agents/stray.md", b"stray"),
        ("x_history/bindings/gone/1.md", b"# gone\n\n---\n\nold"),
        ("x_history/agents/gone/1.md", b"old"),
        ("x_history/state/7.md", b"# Execution State\n"),
        ("gates/broken.pending.json", b"{"),
        ("gates/notes.txt", b"notes"),
        ("notes/deep/é.bin", b"\0\xff"),
    ];
    for (path, bytes) in kept {
        write(&dir, path, bytes);
    }
    let gate = fs::read_to_string(dir.join("gates/go.pending.json")).expect("a gate");
    write(
        &dir,
        "gates/go.pending.json",
        gate.replacen('{', "{\"channel\": \"#ops\",", 1).as_bytes(),
    );
    let state = fs::read_to_string(dir.join("state.md")).expect("a state file");
    write(
        &dir,
        "state.md",
        format!("{state}\n## Remarks\n\nmine\n").as_bytes(),
    );
    let log = fs::read_to_string(dir.join("x_events.jsonl")).expect("events");
    let log = log.replacen('{', "{\"tokens\":7,", 1) + "no json\n";
    write(&dir, "x_events.jsonl", log.as_bytes());

    let (database, left) = convert(&project, &run, "sqlite");
    let new = project.run_dir(&database);
    for (path, bytes) in kept {
        assert_eq!(
            fs::read(new.join(path)).ok().as_deref(),
            Some(bytes),
            "{path}"
        );
    }
    let remarks = fs::read_to_string(new.join("x_history/state/1.md")).expect("kept");
    assert!(remarks.contains("mine"), "{remarks}");
    for (place, what) in [
        (
            "agent captain, segment 1",
            "another segment has the same number",
        ),
        ("gates/broken.pending.json", "not readable as a gate"),
        ("gates/go.pending.json", "the keys channel"),
        (
            "state.md",
            "cannot keep Remarks: the original is kept as x_history/state/1.md",
        ),
        ("x_events.jsonl, row 1", "the keys tokens"),
    ] {
        assert_reported(&left, place, what);
    }
    let torn = |(place, what): &(String, String)| {
        place.starts_with("x_events.jsonl, line") && what.contains("not readable")
    };
    assert!(left.iter().any(torn), "{left:#?}");
    // The database contains these parts as rows, so the copy does not have their files as well.
    for path in [
        "bindings",
        "x_events.jsonl",
        "state.md",
        "gates/go.pending.json",
        "x_history/bindings/a",
        "agents/captain/memory.md",
    ] {
        assert!(!new.join(path).exists(), "{path}");
    }
    let history = sql(&project, &database, "SELECT value FROM x_binding_history");
    assert_eq!(history, "one\n");

    let (back, left) = convert(&project, &database, "filesystem");
    let new = project.run_dir(&back);
    for (path, bytes) in kept {
        let read = ["agents/captain/captain-1.md", "gates/broken.pending.json"];
        match read.contains(&path) {
            // Readers would take such a file for a part of the run, although the database does not contain this part.
            // So `convert` leaves the file behind and reports it.
            true => assert_reported(&left, path, "the database beside this file"),
            false => assert_eq!(
                fs::read(new.join(path)).ok().as_deref(),
                Some(bytes),
                "{path}"
            ),
        }
    }
}

#[test]
fn imports_say_where_they_came_from_in_both_forms() {
    let Some(project) = project() else { return };
    for form in crate::project::FORMS {
        let run = project.init(form);
        let add = |alias: &str| {
            let import = format!("use \"https://example.org/{alias}.prose\" as {alias}");
            project.expect(0, &["begin", "--text", &import, "--run", &run], b"");
        };
        add("r");
        add("s");
        let shown = |run: &str| project.json(&["show", run])["imports"]["imports"].clone();
        if form == "sqlite" {
            // No command records the schemas of an import, but others do.
            let schema = "{\"topic\":\"text\",\"n\":1}";
            let set = format!("UPDATE imports SET inputs_schema = '{schema}' WHERE alias = 'r'");
            sql(&project, &run, &set);
            // Another registration of the same import keeps its schema.
            add("r");
            assert_eq!(shown(&run)[0]["inputs_schema"], schema);
        }
        let first = shown(&run);
        assert_eq!(
            first[0]["source_url"], "https://example.org/r.prose",
            "{form}: {first}"
        );
        let other = if form == "sqlite" {
            "filesystem"
        } else {
            "sqlite"
        };
        let (there, left) = convert(&project, &run, other);
        assert_eq!(left, [], "{form}");
        let (back, left) = convert(&project, &there, form);
        assert_eq!(left, [], "{form}");
        let named: Value =
            serde_json::from_str(&shown(&back).to_string().replace(&back, &run)).expect("JSON");
        assert_eq!(first, named, "{form}");
    }
}

#[test]
fn a_chain_that_cannot_be_carried_is_told() {
    let Some(project) = project() else { return };
    let run = project.init("sqlite");
    project.expect(
        0,
        &["gate", "create", "go", "--run", &run, "--prompt", "Go?"],
        b"",
    );
    project.expect(0, &["approve", &run, "go", "--as", "user"], b"");
    let (_, left) = convert(&project, &run, "filesystem");
    assert_eq!(left, []);
    // A folder cannot contain this column, which is part of the sealed rows. So the copy may lose their chain.
    let other = project.init("sqlite");
    sql(
        &project,
        &other,
        "ALTER TABLE gate_audit_log ADD COLUMN x_ip TEXT DEFAULT '10.0.0.1'",
    );
    project.expect(
        0,
        &["gate", "create", "go", "--run", &other, "--prompt", "Go?"],
        b"",
    );
    let was = project.json(&["audit", &other]);
    let (folder, left) = convert(&project, &other, "filesystem");
    let is = project.json(&["audit", &folder]);
    if was["chain"] != is["chain"] {
        assert_reported(&left, "the audit log", "the chain of their seals is");
    }
    assert_reported(&left, "column gate_audit_log.x_ip", "not copied");
}

/// Checks a state file without marks: together with the values beside it, the file still records which statements ran.
/// Without that file and without rows, only the values are copied, and the lost statements are reported.
#[test]
fn statements_that_only_values_show_are_carried_with_their_file_or_named() {
    let Some(project) = project() else { return };
    let ended = |run: &str| {
        let page = project.json(&["trace", run]);
        let rows = page["rows"].as_array().expect("rows").clone();
        rows.iter()
            .filter(|row| row["status"] == "completed")
            .count()
    };
    for (run, file) in [
        (
            "20260104-101500-told01",
            Some("## Progress\n\n- a and b are done\n"),
        ),
        ("20260104-101500-bare01", None),
    ] {
        let dir = project.run_dir(run);
        let program = "let a = session \"A\"\nlet b = session \"B\"\noutput c = session \"C\"\n";
        write(&dir, "program.prose", program.as_bytes());
        for name in ["a", "b"] {
            let source = format!("let {name} = session \"{}\"", name.to_uppercase());
            let value = format!(
                "# {name}\n\nkind: let\n\nsource:\n```prose\n{source}\n```\n\n---\n\nvalue\n"
            );
            write(&dir, &format!("bindings/{name}.md"), value.as_bytes());
        }
        if let Some(file) = file {
            let head = format!(
                "# Execution State\n\nrun: {run}\nprogram: p.prose\nstatus: running\n\n{file}"
            );
            write(&dir, "state.md", head.as_bytes());
        }
        assert_eq!(ended(run), 2, "{run}");
        let (copy, left) = convert(&project, run, "sqlite");
        let named = "2 statements that ended (line 1, line 2)";
        match file {
            Some(_) => {
                let kept = "the original is kept as x_history/state/1.md";
                assert_reported(&left, "state.md", kept);
                assert_eq!(ended(&copy), 2, "{left:#?}");
                let (back, _) = convert(&project, &copy, "filesystem");
                assert_eq!(ended(&back), 2);
            }
            None => assert_reported(&left, "bindings", named),
        }
    }
}
