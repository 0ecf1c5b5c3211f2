//! Tests that nothing is lost when several processes record into a run at the same time (errata H1).

use std::process::Command;
use std::thread;

use prosescope_tests::work::SQLITE3_WAITS;

use crate::project::{FORMS, Project, assert_whole, many, text};

/// Checks concurrent writers: half of the processes are `prosescope`, the other half `sqlite3` with a timeout, as
/// OpenProse instructs.
#[test]
fn processes_write_at_once_and_nothing_fails_or_is_lost() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    for processes in [10, many(0, 50)] {
        if processes == 0 {
            continue;
        }
        let run = project.init("sqlite");
        let writes = many(8, 100);
        thread::scope(|scope| {
            for writer in 0..processes {
                let (project, run) = (&project, &run);
                scope.spawn(move || {
                    for n in 0..writes {
                        let (name, value) =
                            (format!("w{writer}_{n}"), format!("it's {writer} {n}"));
                        if writer % 2 == 0 {
                            project.put(run, &name, value.as_bytes());
                        } else {
                            by_hand(project, run, &name, &value);
                        }
                    }
                });
            }
        });
        assert_whole(&project, &run);
        let out = project.sqlite(
            &run,
            "SELECT count(*), count(DISTINCT name || value) FROM bindings; SELECT count(*) FROM x_binding_history;",
        );
        let all = processes * writes;
        assert_eq!(text(&out.stdout), format!("{all}|{all}\n0\n"));
        assert_eq!(project.get(&run, "w1_0"), b"it's 1 0");
    }
}

fn by_hand(project: &Project, run: &str, name: &str, value: &str) {
    let sql = format!(
        "INSERT OR REPLACE INTO bindings (name, execution_id, kind, value) VALUES ('{name}', NULL, 'let', '{}')",
        value.replace('\'', "''")
    );
    let out = Command::new("sqlite3")
        .args(["-init", "/dev/null", "-cmd", SQLITE3_WAITS])
        .arg(project.run_dir(run).join("state.db"))
        .arg(sql)
        .output()
        .expect("sqlite3 runs");
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{}",
        text(&out.stderr)
    );
}

/// Checks that two sessions that write anonymous values at the same time get different names (B13).
#[test]
fn anonymous_names_are_never_taken_twice() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    for form in FORMS {
        let run = project.init(form);
        let writers = 12;
        thread::scope(|scope| {
            for n in 0..writers {
                let (project, run) = (&project, &run);
                scope.spawn(move || {
                    let value = format!("value {n}");
                    project.expect(
                        0,
                        &["put", "--anon", "--not-done", "--run", run],
                        value.as_bytes(),
                    );
                });
            }
        });
        let mut values: Vec<String> = (1..=writers)
            .map(|n| text(&project.get(&run, &format!("anon_{n:03}"))))
            .collect();
        values.sort();
        values.dedup();
        assert_eq!(values.len(), writers, "{form}");
    }
}
