//! A run in PostgreSQL that is shared is the run again, in a file.

use crate::commands::{PROGRAM, record, told};
use crate::project::{Project, cluster};

#[test]
fn a_run_in_postgresql_is_shared_as_a_file() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let run = project.init("postgres");
    record(&project, &run);
    project.prose(0, &["share", &run, "-o", "r.zip", "--raw"], "");
    let id = run.trim_start_matches("postgres:");
    // Agents of the project and the user are none of the run's.
    let of_run = |run: &str| {
        let mut told = told(&project, run);
        told.retain(|line| line.starts_with("trace:") || line.starts_with("bindings:"));
        told
    };
    assert_eq!(of_run(&run), of_run("r.zip"));
    let said = project.prose(0, &["share", &run, "-o", "r.db"], "");
    assert!(said.contains(id), "{said}");
    let trace = |run: &str| {
        project.json(&["trace", run])["rows"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(trace(&run), trace("./r.db"));
}
