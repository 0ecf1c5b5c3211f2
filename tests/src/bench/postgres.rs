//! Measures `prosescope` on a PostgreSQL database with few runs and on one with many runs, and prints the server's
//! query plans. SQL creates the runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::run::fed;
use prosescope_tests::needs;

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::table::{Table, time, times};

/// How many statements, and how many bindings, each run has.
const EACH: usize = 50;

/// The measured commands: a name and the arguments. The id of a run in the middle of the others replaces `RUN`.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("runs --limit 10", &["runs", "--limit", "10"]),
    ("show", &["show", "RUN"]),
    ("put", &["put", "report", "--run", "RUN"]),
    ("gates --pending", &["gates", "--pending"]),
];

/// A project with its runs in a PostgreSQL database.
struct Project {
    folder: tempfile::TempDir,
    prose: PathBuf,
    url: String,
    run: String,
}

impl Project {
    fn of(cluster: &Cluster, prose: &Path, runs: usize) -> Project {
        let mut project = Project {
            folder: tempfile::tempdir().expect("a folder"),
            prose: prose.to_owned(),
            url: cluster.database(),
            run: String::new(),
        };
        let dir = project.folder.path();
        std::fs::create_dir(dir.join(".prose")).expect("a folder");
        std::fs::write(dir.join("p.prose"), "session \"x\"\n").expect("a file");
        project.prose(&["postgres", "setup", "--apply"]);
        let made = cluster.psql(&project.url, &rows(runs));
        made.expect("the rows are made");
        let middle = "SELECT id FROM openprose.run WHERE status = 'running'";
        let middle = cluster.psql(&project.url, middle).expect("a run");
        project.run = format!("postgres:{middle}");
        project
    }

    fn prose(&self, args: &[&str]) {
        let args = args.iter().map(|arg| match *arg {
            "RUN" => self.run.as_str(),
            arg => arg,
        });
        let mut command = Command::new(&self.prose);
        command.args(args).current_dir(self.folder.path());
        command
            .env("HOME", self.folder.path())
            .env("OPENPROSE_POSTGRES_URL", &self.url)
            .stdout(Stdio::null());
        let out = fed(&mut command, b"a value");
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

/// Returns the SQL that creates this many runs, each with statements, bindings, events, command tokens and a gate.
/// Three of the gates are pending.
fn rows(runs: usize) -> String {
    format!(
        "INSERT INTO openprose.run (id, program_path, program_source, status, started_at, updated_at)
         SELECT to_char('2026-01-01'::timestamp + n * interval '1 minute', 'YYYYMMDD-HH24MISS-') || lpad(n::text, 6, '0'), 'p.prose', 'session \"x\"',
                CASE WHEN n = {runs} / 2 THEN 'running' ELSE 'completed' END,
                '2026-01-01'::timestamptz + n * interval '1 minute', '2026-01-01'::timestamptz + n * interval '1 minute'
         FROM generate_series(0, {runs} - 1) n;
         INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, started_at, completed_at)
         SELECT id, n, 'session \"x\"', 'completed', started_at, started_at
         FROM openprose.run, generate_series(1, {EACH}) n;
         INSERT INTO openprose.bindings (name, run_id, kind, value)
         SELECT 'v' || n, id, 'let', repeat('value ', 10) FROM openprose.run, generate_series(1, {EACH}) n;
         INSERT INTO openprose.x_commands (run_id) SELECT id FROM openprose.run, generate_series(1, 10);
         INSERT INTO openprose.gates (id, run_id, status, created_at)
         SELECT 'g', id, CASE WHEN right(id, 6)::int < 3 THEN 'pending' ELSE 'approved' END, '2026-01-01 00:00:00'
         FROM openprose.run;
         VACUUM ANALYZE;"
    )
}

pub(crate) fn measure(effort: Effort) {
    let Some(prose) = needs::prose() else { return };
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let sizes = effort.pick([10, 10_000], [5, 50]);
    let projects = sizes.map(|size| Project::of(&cluster, &prose, size));
    let mut table = Table::new(&["", "few runs", "many runs", "ratio"]);
    for (name, args) in COMMANDS {
        let mut rivals = projects
            .each_ref()
            .map(|project| Rival::whole(name, move || project.prose(args)));
        let [few, many] = in_turn(effort.pick(15, 2), &mut rivals)
            .try_into()
            .expect("two rivals");
        table.row(vec![
            name.to_owned(),
            time(few.median()),
            time(many.median()),
            times(many.over(&few).median()),
        ]);
    }
    println!(
        "{} runs beside {}, each with {EACH} statements and {EACH} bindings; whole processes:\n",
        sizes[0], sizes[1]
    );
    table.print();
    let [_, many] = &projects;
    plans(&cluster, many);
}

/// Prints the server's query plans for each command: how the server reads its tables.
fn plans(cluster: &Cluster, project: &Project) {
    let name = project.url.rsplit('/').next().unwrap_or_default();
    let logged = format!(
        "ALTER DATABASE {name} SET session_preload_libraries = 'auto_explain';
         LOAD 'auto_explain';
         ALTER DATABASE {name} SET auto_explain.log_min_duration = 0;"
    );
    if let Err(why) = cluster.psql(&project.url, &logged) {
        return println!("\nno plans: {why}");
    }
    let log = || std::fs::read_to_string(cluster.folder().join("log")).unwrap_or_default();
    for (command, args) in COMMANDS {
        let before = log().len();
        project.prose(args);
        println!("\n`prosescope {command}`:");
        let mut seen = Vec::new();
        let said = log();
        for line in said.get(before..).unwrap_or_default().lines() {
            let node = line.trim().trim_start_matches("->").trim();
            let node = node.split("  (cost").next().unwrap_or_default();
            if node.contains("Scan")
                && node.contains(" on ")
                && !node.contains(" on pg_")
                && !seen.contains(&node)
            {
                println!("  {node}");
                seen.push(node);
            }
        }
    }
}
