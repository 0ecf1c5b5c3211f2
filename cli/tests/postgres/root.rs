//! Tests of a binding that another program wrote with the execution −1. The unique index of bindings also uses −1 for
//! the root, where the execution is NULL (errata P11).

use prosescope_test_support::{needs, run::fed};

use crate::PROGRAM;
use crate::project::{Project, cluster, text};

#[test]
fn a_binding_of_execution_minus_one_hides_no_binding_of_the_root() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    // `check` reports the row, because execution −1 does not exist.
    let run = project.init("postgres");
    let id = run.trim_start_matches("postgres:");
    let insert = format!(
        "INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value) VALUES ('x', '{id}', -1, 'let', 'odd')"
    );
    cluster.psql(&url, &insert).unwrap();
    let check = project.prose(0, &["check", &run], "");
    assert!(check.contains("unknown-execution"), "{check}");
    project.prose(3, &["get", "x", "--run", &run], "");
    // A value that is put at the root is found. The row with −1 becomes an earlier value of that binding.
    project.prose(0, &["put", "x", "--run", &run], "ours");
    assert_eq!(project.line(&["get", "x", "--run", &run]), "ours");
    let rows = |id: &str| {
        let sql = format!(
            "SELECT string_agg(concat_ws(' ', value, execution_id), ', ') FROM
                (SELECT * FROM openprose.bindings WHERE run_id = '{id}' ORDER BY x_seq) AS b
             UNION ALL SELECT string_agg(concat_ws(' ', value, execution_id), ', ')
                FROM openprose.x_binding_history WHERE run_id = '{id}'"
        );
        cluster.psql(&url, &sql).unwrap()
    };
    assert_eq!(rows(id), "ours\nodd -1");

    // The same row in a state.db is copied into PostgreSQL and back.
    if needs::sqlite3().is_none() {
        return;
    }
    let file = project.init("sqlite");
    let sql =
        "INSERT INTO bindings (name, execution_id, kind, value) VALUES ('x', -1, 'let', 'odd')";
    let db = project.path().join(format!(".prose/runs/{file}/state.db"));
    let mut sqlite = std::process::Command::new("sqlite3");
    let made = fed(sqlite.arg("-batch").arg(&db), sql.as_bytes());
    assert!(made.status.success(), "{}", text(&made.stderr));
    project.prose(0, &["convert", &file, "--to", "postgres"], "");
    assert_eq!(rows(&file), "odd -1");
}
