//! Tests of `share` for a run in PostgreSQL: commands print the same about the shared file as about the run, and the
//! file contains no secrets.

use crate::commands::{PROGRAM, record, told};
use crate::project::{Project, SECRET, cluster};
use prosescope_share::archive::Archive;

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
    // A shared file contains only the agents of the run, so agents of the project and the user are left out of the
    // comparison.
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

/// Secrets that were planted in a run on a server do not occur in any shared file.
#[test]
fn nothing_secret_leaves_a_run_in_postgresql() {
    let Some(cluster) = cluster() else {
        return;
    };
    let secret = |n| prosescope_share::redact::shape::fill("ghp_{A:36}", n);
    let program = format!("{PROGRAM}\n# {}\n", secret(1));
    let project = Project::new(&program, &cluster.database());
    let run = project.init("postgres");
    record(&project, &run);
    let value = format!("{{\"token\": \"{}\"}}", secret(2));
    project.prose(0, &["put", "note", "--run", &run], &value);
    let memory = ["agent", "memory", "set", "keeper", "--run", &run];
    project.prose(0, &memory, &secret(3));
    let said = project.prose(0, &["share", &run, "-o", "r.zip", "--with", "history"], "");
    project.prose(0, &["share", &run, "-o", "r.db"], "");
    let zip = std::fs::read(project.path().join("r.zip")).expect("a zip");
    let archive = Archive::open(&zip[..], zip.len() as u64, 1 << 30).expect("a zip");
    let mut all = vec![std::fs::read(project.path().join("r.db")).expect("a database")];
    for entry in archive.entries() {
        all.extend(archive.whole(&entry.path).expect("read"));
    }
    for bytes in &all {
        let text = String::from_utf8_lossy(bytes);
        assert!((1..4).all(|n| !text.contains(&secret(n))));
        assert!(!text.contains(SECRET));
    }
    assert!(said.contains("github-token"), "{said}");
}
