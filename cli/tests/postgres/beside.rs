//! Tests of attachments that subagents wrote into a run's folder. PostgreSQL stores only the paths of these files, so
//! commands read the files from this machine.

use crate::project::{Project, cluster};

#[test]
fn an_attachment_in_the_runs_folder_on_this_machine_is_read() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("let report = session \"Report\"\n", &url);
    let run = project.init("postgres");
    let id = run.trim_start_matches("postgres:");
    // This is the SQL of postgres.md, "Large Outputs".
    let sql = format!(
        "INSERT INTO openprose.bindings (name, run_id, kind, value, attachment_path, source_statement)
         VALUES ('report', '{id}', 'let', 'Full report - see attachment', 'attachments/report.md', 'let report = session \"Report\"')"
    );
    cluster.psql(&url, &sql).unwrap();
    let elsewhere = project.prose(1, &["check", &run], "");
    assert!(
        elsewhere.contains("is not on this machine") && !elsewhere.contains("lost"),
        "{elsewhere}"
    );
    let summary = project.prose(3, &["get", "report", "--run", &run], "");
    assert!(
        summary.contains("see attachment") && summary.contains("is not on this machine"),
        "{summary}"
    );

    let folder = project.path().join(".prose/runs").join(id);
    std::fs::create_dir_all(folder.join("attachments")).unwrap();
    std::fs::create_dir_all(folder.join("bindings")).unwrap();
    std::fs::write(folder.join("attachments/report.md"), "the whole report").unwrap();
    std::fs::write(
        folder.join("bindings/other.md"),
        "kind: let\n\n---\n\nother",
    )
    .unwrap();
    project.prose(0, &["check", &run], "");
    for _ in 0..2 {
        let value = project.give(&["get", "report", "--run", &run], b"");
        assert_eq!(value.stdout, b"the whole report");
        project.prose(0, &["convert", &run, "--to", "sqlite", "--out", "back"], "");
    }
    assert_eq!(
        project.line(&["get", "report", "--run", "back/state.db"]),
        "the whole report"
    );
    assert!(!project.prose(0, &["bindings", &run], "").contains("other"));
}
