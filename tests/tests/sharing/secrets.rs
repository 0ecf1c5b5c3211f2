//! Tests that no shared file contains a planted secret in any encoding. Each kind of secret is planted in each place.

use std::collections::{BTreeMap, BTreeSet};

use prosescope_tests::needs;

use crate::made::Made;
use crate::project::{Parts, Project, page_parts, parts};
use crate::sown::Sower;

/// The number of shares that cover all combinations of kinds and places. CI runs one of them.
const TURNS: usize = 180;

/// The secrets that were found in shared files: kind and place of each secret, with the file and the encoding.
#[derive(Default)]
struct Left {
    all: BTreeMap<String, usize>,
    found: BTreeSet<(String, &'static str, String)>,
}

impl Left {
    fn search(&mut self, sower: &Sower, parts: &Parts) {
        for (path, bytes) in parts {
            for bytes in [bytes.as_slice(), path.as_bytes()] {
                for (number, form) in sower.sought.found(bytes) {
                    let sown = &sower.sown[number];
                    let where_ = format!("in {path}, {form}");
                    self.found.insert((sown.place.clone(), sown.kind, where_));
                }
            }
        }
    }

    /// Asserts that no planted secret was found in a shared file.
    #[track_caller]
    fn judge(&self, made: Made) {
        let table: Vec<String> = self
            .found
            .iter()
            .map(|(place, kind, path)| format!("{made:?} {place}: {kind} {path}"))
            .collect();
        let sown: usize = self.all.values().sum();
        eprintln!(
            "{made:?}: {sown} secrets in {} places, {} left",
            self.all.len(),
            table.len()
        );
        assert!(table.is_empty(), "{}", table.join("\n"));
    }
}

/// Returns which of the shares run: one in CI, all with `PROSE_SWEEP`, every tenth with `PROSE_SWEEP=10`.
fn turns() -> impl Iterator<Item = usize> {
    let swept = std::env::var("PROSE_SWEEP").ok();
    let step = swept.map_or(TURNS, |step| step.parse().unwrap_or(1));
    (0..TURNS).step_by(step.max(1))
}

/// Shares a run in every form, and searches the files for its secrets.
fn none_is_left(made: Made) {
    let mut left = Left::default();
    for turn in turns() {
        let Some(project) = Project::new() else {
            return;
        };
        let mut sower = Sower::new(turn, TURNS);
        made.make(&project, &mut sower);
        for sown in &sower.sown {
            *left.all.entry(sown.place.clone()).or_default() += 1;
        }
        let share = |more: &[&str]| {
            let all = [&["share", made.name(), "--yes", "--json"][..], more].concat();
            project.done(&all)
        };
        let said = share(&["-o", "r.zip", "--with", "history"]);
        left.search(&sower, &vec![("the report".to_owned(), said.into_bytes())]);
        left.search(&sower, &parts(&project.read("r.zip")));
        // Files of the other forms contain the same bytes, so they are only checked in the first share.
        if turn > 0 || made == Made::Workflows {
            continue;
        }
        if made != Made::Files {
            share(&["-o", "r.db"]);
            left.search(&sower, &vec![("r.db".to_owned(), project.read("r.db"))]);
        }
        share(&["-o", "r.txt", "--plain"]);
        left.search(&sower, &vec![("r.txt".to_owned(), project.read("r.txt"))]);
        if needs::viewer().is_some() {
            share(&["-o", "r.html"]);
            let page = project.read("r.html");
            left.search(&sower, &page_parts(&page));
            left.search(&sower, &vec![("r.html".to_owned(), page)]);
        }
    }
    left.judge(made);
}

#[test]
fn of_a_database_that_we_made() {
    none_is_left(Made::Ours);
}

#[test]
fn of_a_database_as_the_documents_make_it() {
    none_is_left(Made::Documents);
}

#[test]
fn of_a_folder() {
    none_is_left(Made::Files);
}

#[test]
fn of_workflows() {
    none_is_left(Made::Workflows);
}

/// Checks that a value is replaced if only its name marks it as secret, in each form of a run.
#[test]
fn of_values_whose_names_say_so() {
    for form in ["filesystem", "sqlite"] {
        let Some(project) = Project::new() else {
            return;
        };
        std::fs::write(project.at("p.prose"), "session \"A\"\n").expect("written");
        project.done(&["init", "p.prose", "--id", "r", "--state", form]);
        let mut sought = crate::leaks::Sought::default();
        for (number, name) in ["db_password", "api_token", "apiKey"]
            .into_iter()
            .enumerate()
        {
            let secret = prosescope_redact::shape::fill("{A:30}", number as u64);
            std::fs::write(project.at("value"), &secret).expect("written");
            project.done(&["put", name, "--run", "r", "--file", "value"]);
            sought.add(number, &secret);
        }
        project.done(&["share", "r", "-o", "r.zip"]);
        for (path, bytes) in parts(&project.read("r.zip")) {
            assert_eq!(sought.found(&bytes), BTreeMap::new(), "{form}: {path}");
        }
    }
}

/// Checks secrets in names. Queries use the names of tables, so these cannot be replaced: a table whose name contains a
/// secret is not shared. A run's own name is replaced.
#[test]
fn of_names() {
    let Some(project) = Project::new() else {
        return;
    };
    let secret = |n| prosescope_redact::shape::fill("ghp_{A:36}", n);
    std::fs::write(project.at("p.prose"), "session \"A\"\n").expect("written");
    project.done(&["init", "p.prose", "--id", "r", "--state", "sqlite"]);
    let conn = rusqlite::Connection::open(project.at(".prose/runs/r/state.db")).expect("opened");
    conn.execute_batch(&format!(
        "CREATE TABLE \"{}\" (a); CREATE TABLE b (\"{}\" TEXT); CREATE TABLE c (d {}); CREATE TABLE e (f DEFAULT '{}');
         CREATE INDEX \"{}\" ON e (f); CREATE VIEW \"{}\" AS SELECT '{}'; INSERT INTO e DEFAULT VALUES; DELETE FROM e;",
        secret(1), secret(2), secret(3), secret(4), secret(5), secret(6), secret(7),
    ))
    .expect("made");
    drop(conn);
    let mut sought = crate::leaks::Sought::default();
    (1..10).for_each(|n| sought.add(n as usize, &secret(n)));
    project.done(&["share", "r", "-o", "r.zip"]);
    let zip = project.read("r.zip");
    for (path, bytes) in parts(&zip) {
        assert_eq!(sought.found(&bytes), BTreeMap::new(), "{path}");
    }
    assert_eq!(sought.found(&zip), BTreeMap::new());
    // The name of this run is a secret, so the copy gets another name.
    let name = secret(8);
    project.done(&["init", "p.prose", "--id", &name, "--state", "filesystem"]);
    project.done(&["share", &name, "-o", "n.zip"]);
    let zip = project.read("n.zip");
    for (path, bytes) in parts(&zip) {
        assert_eq!(sought.found(&bytes), BTreeMap::new(), "{path}");
        assert!(!path.contains(&name), "{path}");
    }
    assert_eq!(sought.found(&zip), BTreeMap::new());
}
