//! Tests of what runs record beside rows and values: each kind of record, changed alone, is reported.

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::pages::session::Session;

use crate::make::{compared, told};
use crate::pairs::{PROGRAM, RUN};
use crate::session::files;

/// Records of every kind, beside those of [`RUN`].
const MORE: &str = r#"
DROP TRIGGER gate_audit_log_no_update; DROP TRIGGER gate_audit_log_no_delete; DROP TRIGGER gate_audit_log_no_replace; 
UPDATE gates SET allow = '["ada", "bob"]', timeout = '24h', timeout_at = '2026-01-26 15:06:00', on_reject = 'stop',
  metadata = '{"line": 15}';
INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata) VALUES
 (1, 'send', 'r1', 'created', NULL, '{"id": 1}', '2026-01-25 15:06:00', '{"os_user":"root"}'),
 (2, 'send', 'r1', 'approved', 'ada', 'Go', '2026-01-25 15:07:00', NULL);
INSERT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary) VALUES
 ('editor', 1, '2026-01-25 15:01:00', 'Plan', 'Planned'), ('editor', 2, '2026-01-25 15:07:00', 'Send', 'Sent');
INSERT INTO imports (alias, source_url, fetched_at, inputs_schema) VALUES
 ('spell', 'https://example.com/spell.prose', '2026-01-25 14:59:00', '{"text": "string"}');
CREATE TABLE notes (at TEXT, note); INSERT INTO notes VALUES ('2026', 'first'), ('2027', 2);
ALTER TABLE bindings ADD COLUMN mood TEXT; UPDATE bindings SET mood = 'calm' WHERE name = 'plan';
INSERT INTO x_binding_history (name, kind, replaced_at, value) VALUES ('plan', 'let', '2026-01-25 15:01:00', 'none');
UPDATE bindings SET attachment_path = 'attachments/letter.md', value = 'short' WHERE name = 'letter';
"#;

const FILES: [(&str, &str); 4] = [
    ("attachments/letter.md", "Dear Ada"),
    ("attachments/loose.bin", "\0one"),
    ("notes.txt", "a note\n"),
    (".env", "KEY=one\n"),
];

/// Opens the run in a folder with a database, changed by SQL, and with one file replaced or, without content, removed.
fn run(sql: &str, file: (&str, &str)) -> Session {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute(
        "INSERT INTO run (id, program_path, status, program_source, started_at, updated_at)
         VALUES ('r1', 'letter.prose', 'completed', ?1, '2026-01-25 15:00:00', '2026-01-25 15:30:00')",
        [PROGRAM],
    )
    .unwrap();
    conn.execute_batch(&format!("BEGIN; {RUN} {MORE} {sql}; COMMIT"))
        .unwrap();
    drop(conn);
    let own = FILES.iter().copied().filter(|own| own.0 != file.0);
    let own = own.chain(Some(file).filter(|file| !file.1.is_empty()));
    let mut all: Vec<(String, Vec<u8>)> = own
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .collect();
    all.push(("state.db".to_owned(), std::fs::read(&path).unwrap()));
    files(all)
}

#[track_caller]
fn check(sql: &str, file: (&str, &str), expected: &str) {
    let (a, b) = (run("", ("", "")), run(sql, file));
    let view = compared(&a, &b).unwrap();
    let said = told(&view);
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{sql}{file:?}");
    assert_eq!(view.equal, said.is_empty(), "{sql}{file:?}: {}", view.found);
    assert_eq!(
        view.found == "no difference",
        said.is_empty(),
        "{}",
        view.found
    );
    let back = compared(&b, &a).unwrap();
    assert_eq!(back.counts.records_differ, view.counts.records_differ);
    assert_eq!(compared(&b, &b).unwrap().found, "no difference");
}

#[test]
fn every_record_of_a_database_is_compared() {
    for (sql, expected) in [
        ("", ""),
        (
            "UPDATE gates SET prompt = 'Send now?'",
            "gate send [-prompt: Send?] [+prompt: Send now?]",
        ),
        (
            "UPDATE gates SET allow = '[\"ada\"]'",
            r#"gate send [-allow: ["ada","bob"]] [+allow: ["ada"]]"#,
        ),
        (
            "UPDATE gates SET on_reject = 'retry'",
            "gate send [-on_reject: stop] [+on_reject: retry]",
        ),
        (
            "UPDATE gates SET timeout = '2h'",
            "gate send [-timeout: 24h] [+timeout: 2h]",
        ),
        // A text is not JSON, even if it looks like JSON.
        (
            "UPDATE gates SET prompt = '\"Send?\"'",
            "gate send [-prompt: Send?] [+prompt: \"Send?\"]",
        ),
        (
            r#"UPDATE gate_audit_log SET comment = '{"id":1}' WHERE id = 1"#,
            r#"audit log send [-comment: {"id": 1}] [+comment: {"id":1}]"#,
        ),
        // The order of keys does not count in JSON, but ids that somebody wrote there do.
        (
            r#"UPDATE imports SET inputs_schema = '{"text":  "string"}'"#,
            "",
        ),
        (
            r#"UPDATE gates SET metadata = '{"line": 15, "id": 7, "of": {"id": 8}}'"#,
            r#"gate send [+id: 7] [+of: {"id":8}]"#,
        ),
        (
            "UPDATE gates SET metadata = '{\"line\": 16}'",
            "gate send [-line: 15] [+line: 16]",
        ),
        (
            "UPDATE gate_audit_log SET comment = 'Stop' WHERE id = 2",
            "audit log send [-comment: Go] [+comment: Stop]",
        ),
        (
            "UPDATE gate_audit_log SET metadata = '{\"os_user\":\"eve\"}' WHERE id = 1",
            r#"audit log send [-os_user: "root"] [+os_user: "eve"]"#,
        ),
        (
            "UPDATE gate_audit_log SET metadata = '{\"os_user\":\"root\",\"chain\":{\"seq\":1}}' WHERE id = 1",
            "audit log chain [-unsealed] [+broken]",
        ),
        (
            "DELETE FROM gate_audit_log WHERE id = 2",
            "audit log send [-event_type: approved] [-principal: ada] [-comment: Go]",
        ),
        (
            "UPDATE agent_segments SET summary = 'Planned well' WHERE segment_number = 1",
            "segment editor 1 [-summary: Planned] [+summary: Planned well]",
        ),
        (
            "UPDATE agent_segments SET prompt = 'Send' || char(10) || 'summary: Sent' WHERE segment_number = 2",
            "segment editor 2 [+  summary: Sent]",
        ),
        (
            "UPDATE bindings SET kind = 'const' WHERE name = 'plan'",
            "value plan [-kind: let] [+kind: const]",
        ),
        (
            "UPDATE bindings SET value = 'long' WHERE name = 'letter'",
            "value letter [-text: short] [+text: long]",
        ),
        (
            "UPDATE execution SET metadata = '{\"mood\":{\"now\":1}}' WHERE id = 12",
            "metadata output letter = session \"Send\" only in B [+mood: {\"now\":1}]",
        ),
        (
            "UPDATE execution SET metadata = '{\"loop_id\":\"l1\",\"iteration\":2,\"reason\":\"good\"}' WHERE id = 7",
            "metadata let review = session \"Review\" only in B [+reason: \"good\"]",
        ),
        (
            "UPDATE imports SET source_url = 'https://example.com/other.prose'",
            "import spell [-source_url: https://example.com/spell.prose] [+source_url: https://example.com/other.prose]",
        ),
        (
            "UPDATE imports SET inputs_schema = '{}'",
            r#"import spell [-inputs_schema: {"text":"string"}] [+inputs_schema: {}]"#,
        ),
        (
            "UPDATE notes SET note = '2' WHERE note = 2",
            "table notes [-note: integer \"2\"] [+note: text \"2\"]",
        ),
        (
            "CREATE TABLE more (x); INSERT INTO more VALUES (1)",
            "table more only in B [+x: integer \"1\"]",
        ),
        (
            "UPDATE bindings SET mood = 'glad' WHERE mood = 'calm'",
            "table bindings [-mood: text \"calm\"] [+mood: text \"glad\"]",
        ),
        (
            "UPDATE run SET program_path = 'other.prose'",
            "run program [-letter.prose] [+other.prose]",
        ),
    ] {
        check(sql, ("", ""), expected);
    }
}

#[test]
fn every_file_of_a_folder_is_compared() {
    for (file, expected) in [
        (
            ("notes.txt", "another\n"),
            "file notes.txt [-a note] [+another]",
        ),
        (("notes.txt", ""), "file notes.txt only in A"),
        (("sources/new.md", "new"), "file sources/new.md only in B"),
        (
            ("attachments/loose.bin", "\0two"),
            "file attachments/loose.bin [-00 6f 6e 65] [-d0d7360ab79f58ab1e1e3fe64ad77e2ea0bc07e36b5f46ed2223edd9298df9e9] [+00 74 77 6f] [+ab1ab7f07c7c8fe0eff4ba6faa53c7e4412e91a599153e8aa4e01beece5b7825]",
        ),
        (
            ("attachments/letter.md", "Dear Eve"),
            "~ output letter = session \"Send\"; wrote letter [-Dear Ada] [+Dear Eve]\nfile attachments/letter.md [-Dear Ada] [+Dear Eve]\noutput letter",
        ),
        // The lines of settings are often secrets.
        (
            (".env", "KEY=two\n"),
            "? file .env: it differs; ids, times, secrets and files outside of what was opened are not compared",
        ),
    ] {
        check("", file, expected);
    }
}

#[test]
fn ids_and_times_are_no_difference() {
    check(
        "UPDATE run SET id = 'r2', started_at = '2026-01-25 15:00:07';
         UPDATE gates SET run_id = 'r2', created_at = '2026-01-25 15:06:07', timeout_at = '2026-01-26 15:06:07';
         UPDATE gate_audit_log SET run_id = 'r2', timestamp = '2026-01-25 15:06:07';
         UPDATE agent_segments SET timestamp = NULL, id = id + 5;
         UPDATE imports SET fetched_at = NULL;
         UPDATE bindings SET updated_at = '2026-01-25 15:08:01' WHERE name = 'letter';
         UPDATE x_binding_history SET replaced_at = NULL, id = 9",
        ("", ""),
        "",
    );
}

#[test]
fn what_could_not_be_compared_is_named() {
    let plain = run("", ("", ""));
    for (sql, file, expected) in [
        (
            "INSERT INTO notes VALUES ('2028', zeroblob(2000000))",
            ("", ""),
            "A: table notes",
        ),
        ("", ("attachments/letter.md", ""), "letter"),
        (
            "UPDATE gates SET prompt = hex(zeroblob(50000))",
            ("", ""),
            "A: gates.prompt, row 1",
        ),
    ] {
        let own = run(sql, file);
        let view = compared(&own, &own).unwrap();
        let begin = format!("no difference in what was compared; not compared: {expected}");
        assert!(view.found.starts_with(&begin), "{}", view.found);
        assert!(!view.equal && view.not_compared_count > 0, "{}", view.found);
        assert!(!compared(&plain, &own).unwrap().equal);
    }
}

#[test]
fn of_contract_2_rows_and_values_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(include_str!("../fixtures/sql/contract_2.sql"))
        .unwrap();
    drop(conn);
    let run = files(vec![("state.db".to_owned(), std::fs::read(&path).unwrap())]);
    assert!(run.run().form.is_only_read(), "{:?}", run.run().form);
    let view = compared(&run, &run).unwrap();
    let expected = "not compared: records beside rows and values";
    assert!(
        view.found.ends_with(expected) && !view.equal,
        "{}",
        view.found
    );
}
