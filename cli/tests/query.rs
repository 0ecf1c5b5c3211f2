//! Tests of `prosescope query`: the same answers as `sqlite3`, for every form of run, without changes to files.

use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::run::fed;
use prosescope_test_support::{files, needs};

const LATEST: &str = "20260125";

/// The length of the attachment of `load_profile` in bytes.
const LOAD_PROFILE: &str = "38860";

fn examples() -> PathBuf {
    needs::root().join("examples")
}

/// Runs `prosescope query`. Returns its exit code and both outputs.
fn query(dir: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command
        .arg("query")
        .args(args)
        .current_dir(dir)
        .env("HOME", dir)
        .env("COLUMNS", "100")
        .env_remove("PROSE_RUN");
    let out = fed(&mut command, input.as_bytes());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        out.status.code().expect("a code"),
        text(out.stdout),
        text(out.stderr),
    )
}

#[track_caller]
fn done(dir: &Path, args: &[&str]) -> String {
    let (code, out, said) = query(dir, args, "");
    assert_eq!(code, 0, "{args:?}: {said}");
    out
}

/// Parses a CSV text into lines of fields.
fn fields(csv: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

#[test]
fn the_own_tables_answer_as_sqlite3_does() {
    let Some(sqlite3) = needs::sqlite3() else {
        return;
    };
    for run in [
        "20260112-091407-k3v8qd",
        "20260118-201530-z4t9wa",
        "20260125-125506-p7r2mx",
    ] {
        let db = examples().join(format!(".prose/runs/{run}/state.db"));
        for sql in [
            "SELECT * FROM execution ORDER BY id",
            "SELECT status, count(*) AS n FROM execution GROUP BY status ORDER BY n DESC, status",
            "SELECT name, kind, length(value), substr(value, 1, 300) FROM bindings ORDER BY 1, 2, 3",
            "SELECT id, program_path, status FROM run",
            "SELECT e.id, p.statement_text FROM execution e LEFT JOIN execution p ON p.id = e.parent_id ORDER BY 1",
            "WITH RECURSIVE up(id, top) AS (SELECT id, id FROM execution WHERE parent_id IS NULL
               UNION ALL SELECT e.id, up.top FROM execution e JOIN up ON e.parent_id = up.id)
             SELECT top, count(*) FROM up GROUP BY top ORDER BY top",
            "SELECT name, type FROM sqlite_schema ORDER BY 1, 2",
            "SELECT count(*) FROM agents",
            "SELECT DISTINCT typeof(value) FROM bindings ORDER BY 1",
            "SELECT max(id), min(started_at), round(avg(length(statement_text)), 2) FROM execution",
            "SELECT NULL AS a, '' AS b, 'x,\"y\"' AS c, 3 AS d, 1.5 AS e, 'line
two' AS f",
            "VALUES (1, 'a'), (2, 'b')",
            "SELECT upper(statement_text) FROM execution WHERE statement_text LIKE '%session%' ORDER BY id LIMIT 5",
            "SELECT id FROM execution WHERE id < 0",
        ] {
            let theirs = Command::new(&sqlite3)
                .args(["-readonly", "-header", "-csv"])
                .arg(&db)
                .arg(sql)
                .output()
                .expect("sqlite3 runs");
            assert!(theirs.status.success(), "{sql}: {theirs:?}");
            let theirs = fields(&String::from_utf8_lossy(&theirs.stdout));
            let ours = fields(&done(&examples(), &[run, sql, "--csv"]));
            // For a result without rows, sqlite3 prints nothing, and prosescope prints the header.
            if theirs.is_empty() {
                assert_eq!(ours.len(), 1, "{run}: {sql}");
            } else {
                assert_eq!(ours, theirs, "{run}: {sql}");
            }
        }
    }
}

#[test]
fn every_form_of_run_is_asked_in_the_same_words() {
    let sql = "SELECT count(*) > 3, sum(kind = 'statement') > 1 FROM trace";
    for run in ["20260112", "20260115", "20260118", LATEST] {
        let csv = done(&examples(), &[run, sql, "--csv"]);
        assert_eq!(fields(&csv)[1], ["1", "1"], "{run}");
        let listed = done(&examples(), &[run]);
        for part in ["trace", "value_list", "--ask longest", "Stored questions"] {
            assert!(listed.contains(part), "{run}: {listed}");
        }
        assert_eq!(
            listed.lines().any(|line| line == "The run's own tables"),
            run != "20260115"
        );
    }
    // The column `length` is the length of the whole value, also if the value is in a separate file.
    let sql = "SELECT length, value_cut FROM value_list WHERE name = 'load_profile'";
    let csv = done(&examples(), &["20260115", sql, "--csv"]);
    assert_eq!(fields(&csv)[1], [LOAD_PROFILE, "1"]);
    let (code, _, said) = query(&examples(), &["20260115", "SELECT * FROM execution"], "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no such table: execution"), "{said}");
}

#[test]
fn every_stored_question_has_an_answer() {
    for ask in [
        "longest", "failures", "values", "retries", "agents", "gates", "rounds", "silent", "gaps",
        "tables",
    ] {
        for run in ["20260112", "20260115", "20260118", LATEST] {
            let text = done(&examples(), &[run, "--ask", ask]);
            assert!(
                text.lines().all(|line| line.chars().count() <= 100),
                "{ask}: {text}"
            );
        }
    }
    let longest = done(&examples(), &["20260118", "--ask", "longest", "--csv"]);
    let times: Vec<i64> = fields(&longest)[1..]
        .iter()
        .map(|row| row[4].parse().expect("ms"))
        .collect();
    assert!(
        times.len() > 2 && times.is_sorted_by(|a, b| a >= b),
        "{longest}"
    );
    let (code, _, said) = query(&examples(), &["20260118", "--ask", "longst"], "");
    assert_eq!(code, 3);
    assert!(said.contains("did you mean longest?"), "{said}");
}

#[test]
fn no_file_of_a_run_changes_whatever_is_asked() {
    let dir = tempfile::tempdir().expect("a folder");
    files::copy(&examples().join(".prose"), &dir.path().join(".prose"));
    let before = files::below(dir.path());
    let into = dir.path().join("copy.db").display().to_string();
    for sql in [
        "UPDATE execution SET status = 'failed'".to_owned(),
        "DELETE FROM bindings".to_owned(),
        "CREATE TABLE x(a)".to_owned(),
        format!("ATTACH '{into}' AS x"),
        format!("VACUUM INTO '{into}'"),
        "PRAGMA journal_mode=WAL".to_owned(),
        "PRAGMA journal_mode=DELETE".to_owned(),
        "SELECT load_extension('x')".to_owned(),
    ] {
        let (code, out, said) = query(dir.path(), &[LATEST, &sql], "");
        assert_eq!((code, out.as_str()), (4, ""), "{sql}: {said}");
        assert!(said.contains("refused: "), "{sql}: {said}");
    }
    let (code, _, said) = query(
        dir.path(),
        &[LATEST, &format!("SELECT writefile('{into}', 'x')")],
        "",
    );
    assert_eq!(code, 2, "{said}");
    done(dir.path(), &[LATEST, "SELECT * FROM trace, value_list"]);
    assert_eq!(files::below(dir.path()), before);
}

#[test]
fn a_command_takes_sql_in_every_way_and_says_what_is_wrong_with_it() {
    let dir = examples();
    let (code, out, _) = query(&dir, &[LATEST, "-", "--csv"], "SELECT 1 AS a;\n");
    assert_eq!((code, out.as_str()), (0, "a\r\n1\r\n"));
    assert_eq!(
        done(&dir, &["--run", LATEST, "SELECT 2 AS a", "--csv"]),
        "a\r\n2\r\n"
    );
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let (code, out, said) = query(&dir, &[LATEST, many, "--csv", "--limit", "3"], "");
    assert_eq!((code, out.as_str()), (0, "i\r\n1\r\n2\r\n3\r\n"));
    assert!(said.contains("There are more rows"), "{said}");
    let json = done(&dir, &[LATEST, many, "--json", "--limit", "1"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["more"], &json["rows"][0][0]["text"]),
        (&true.into(), &"1".into())
    );
    for (args, code, part) in [
        (&["SELECT 1"][..], 2, "the run before the SQL is missing"),
        (
            &[LATEST, "SELECT stauts FROM execution"],
            2,
            "Did you mean status?",
        ),
        (&[LATEST, "SELECT 1; SELECT 2"], 2, "several"),
        (
            &[LATEST, "--csv"],
            2,
            "--csv needs SQL or a stored question",
        ),
        (
            &[LATEST, "SELECT 1", "--limit", "0"],
            2,
            "expected a whole number from 1 to",
        ),
        (&["no-such-run", "SELECT 1"], 3, "no-such-run"),
        (
            &[
                LATEST,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            ],
            4,
            "stopped",
        ),
    ] {
        let (found, out, said) = query(&dir, args, "");
        assert_eq!(found, code, "{args:?}: {out}{said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn a_terminal_is_not_told_what_to_do() {
    let text = done(
        &examples(),
        &[LATEST, "SELECT char(27) || '[2J' AS a, NULL AS b"],
    );
    assert!(
        !text.contains('\u{1b}') && text.contains("NULL"),
        "{text:?}"
    );
}

/// SQLite computes `instr` in one step, and compares four million bytes at each of eight million places.
#[test]
fn a_query_that_sqlite_cannot_interrupt_ends() {
    let sql = "SELECT instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1')";
    let (code, _, said) = query(&examples(), &[LATEST, sql], "");
    assert_eq!(code, 4, "{said}");
    assert!(said.starts_with("error: stopped: "), "{said}");
}
