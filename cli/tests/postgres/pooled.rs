//! Tests with a connection pooler in transaction mode. Each transaction may run in another session, with settings
//! that an earlier client changed.

use prosescope_test_support::pooler::Pooler;

use crate::commands::{PROGRAM, record, told};
use crate::project::{Project, cluster};

#[test]
fn each_transaction_may_run_in_another_session() {
    let Some(cluster) = cluster() else {
        return;
    };
    let pooler = Pooler::to(cluster.port());
    let [direct, pooled] = [cluster.port(), pooler.port()].map(|port| {
        let url = cluster.database();
        let through = url.replace(&format!(":{}/", cluster.port()), &format!(":{port}/"));
        let project = Project::new(PROGRAM, &format!("{through}?sslmode=disable"));
        let run = project.init("postgres");
        record(&project, &run);
        let long = "a long value ".repeat(20_000);
        project.prose(0, &["put", "long", "--run", &run], &long);
        assert_eq!(
            project.line(&["get", "long", "--run", &run]),
            long.trim_end()
        );
        project.prose(0, &["approve", &run, "publish", "--as", "raymond"], "");
        project.prose(0, &["audit", "verify", &run], "");
        project.prose(0, &["runs"], "");
        project.prose(0, &["postgres", "status"], "");
        project.prose(0, &["convert", &run, "--to", "sqlite", "--out", "copy"], "");
        let said = told(&project, &run);
        project.prose(0, &["finish", "failed", "--run", &run], "");
        project.prose(0, &["clean", &run, "--yes"], "");
        project.prose(0, &["convert", "copy/state.db", "--to", "postgres"], "");
        said
    });
    assert_eq!(direct, pooled);
    assert!(pooler.switches() > 100, "{}", pooler.switches());
}
