//! Measures recording: `prosescope put` compared with `sqlite3`, concurrent writers, and the cost of the n-th write.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use prosescope_tests::needs;

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::table::{Table, beside};

/// Returns the value that every measured write records: a text of 2 KB.
fn value() -> String {
    "it is 2,000 bytes of a finding. ".repeat(63)
}

pub(crate) fn measure(effort: Effort) {
    let (Some(prose), Some(sqlite3)) = (needs::prose(), needs::sqlite3()) else {
        return;
    };
    let project = tempfile::tempdir().expect("a folder");
    std::fs::write(
        project.path().join("p.prose"),
        "loop until **done**:\n  session \"Step\"\n",
    )
    .expect("a program");
    std::fs::create_dir(project.path().join(".prose")).expect("a folder");
    let bench = Bench {
        prose,
        sqlite3,
        dir: project.path().to_owned(),
    };
    bench.one_write(effort);
    bench.many_writers(effort);
    bench.nth_write(effort);
    bench.beside_bindings(effort);
}

struct Bench {
    prose: PathBuf,
    sqlite3: PathBuf,
    dir: PathBuf,
}

impl Bench {
    fn prose(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.prose);
        command
            .args(args)
            .current_dir(&self.dir)
            .env("HOME", "/nonexistent");
        command
    }

    fn line(&self, args: &[&str]) -> String {
        let out = self
            .prose(args)
            .stdin(Stdio::null())
            .output()
            .expect("prosescope runs");
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        // Further lines of `begin` name the next command.
        let said = String::from_utf8_lossy(&out.stdout);
        said.lines().next().unwrap_or_default().trim().to_owned()
    }

    fn init(&self, form: &str) -> (String, PathBuf) {
        let run = self.line(&["init", "p.prose", "--state", form]);
        let folder = self.dir.join(".prose/runs").join(&run);
        (run, folder)
    }

    fn put(&self, run: &str, name: &str) -> bool {
        run_with_input(&mut self.prose(&["put", name, "--run", run]), &value())
    }

    /// Writes a value with `sqlite3` as sqlite.md instructs a subagent: the value is in the command's argument.
    /// Returns whether the command succeeded.
    fn by_hand(&self, database: &Path, name: &str, timeout: Option<u32>) -> bool {
        let sql = format!(
            "INSERT OR REPLACE INTO bindings (name, execution_id, kind, value, source_statement, updated_at)
             VALUES ('{name}', NULL, 'let', '{}', 'let x = session', datetime('now'))",
            value()
        );
        let mut command = Command::new(&self.sqlite3);
        command.arg("-batch");
        if let Some(timeout) = timeout {
            command.args(["-cmd", &format!(".timeout {timeout}")]);
        }
        command
            .arg(database)
            .arg(sql)
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().expect("sqlite3 runs").success()
    }

    fn one_write(&self, effort: Effort) {
        println!(
            "One value of 2 KB into a new row, a whole process each, fsync in all (journal DELETE, synchronous FULL):"
        );
        let (ours, _) = self.init("sqlite");
        let (files, _) = self.init("filesystem");
        let (_, theirs) = self.init("sqlite");
        let theirs = theirs.join("state.db");
        let (mut a, mut b, mut c) = (0, 0, 0);
        let mut rivals = [
            Rival::whole("prosescope put, folder", || {
                a += 1;
                assert!(self.put(&files, &format!("v{a}")), "put");
            }),
            Rival::whole("prosescope put, state.db", || {
                b += 1;
                assert!(self.put(&ours, &format!("v{b}")), "put");
            }),
            Rival::whole("sqlite3", || {
                c += 1;
                assert!(self.by_hand(&theirs, &format!("v{c}"), None), "insert");
            }),
        ];
        let figures = in_turn(effort.pick(60, 3), &mut rivals);
        beside(&rivals, &figures).print();
    }

    fn many_writers(&self, effort: Effort) {
        let writes = effort.pick(20, 3);
        println!("\nProcesses that write at once, {writes} values each:");
        let mut table = Table::new(&["", "writes/s", "failed", "writes/s", "failed"]);
        table.row(
            ["processes", "10", "", "50", ""]
                .map(str::to_owned)
                .to_vec(),
        );
        let counts = effort.pick([10, 50], [4, 8]);
        let mut row = |name: &str,
                       write: &(dyn Fn(&str, &Path, &str) -> bool + Sync),
                       form: &str| {
            let mut cells = vec![name.to_owned()];
            for processes in counts {
                let (run, folder) = self.init(form);
                let database = folder.join("state.db");
                let begun = Instant::now();
                let failed: usize = thread::scope(|scope| {
                    let writers: Vec<_> = (0..processes)
                        .map(|writer| {
                            let (run, database) = (&run, &database);
                            scope.spawn(move || {
                                (0..writes)
                                    .filter(|n| !write(run, database, &format!("w{writer}_{n}")))
                                    .count()
                            })
                        })
                        .collect();
                    writers
                        .into_iter()
                        .map(|w| w.join().unwrap_or(writes))
                        .sum()
                });
                let took = begun.elapsed().as_secs_f64();
                let all = processes * writes;
                cells.push(format!("{:.0}", (all - failed) as f64 / took));
                cells.push(failed.to_string());
            }
            table.row(cells);
        };
        row(
            "sqlite3, as documented",
            &|_, database, name| self.by_hand(database, name, None),
            "sqlite",
        );
        row(
            "sqlite3, .timeout 30000",
            &|_, database, name| self.by_hand(database, name, Some(30_000)),
            "sqlite",
        );
        row(
            "prosescope put, state.db",
            &|run, _, name| self.put(run, name),
            "sqlite",
        );
        row(
            "prosescope put, folder",
            &|run, _, name| self.put(run, name),
            "filesystem",
        );
        table.print();
    }

    fn nth_write(&self, effort: Effort) {
        println!(
            "\nThe n-th round of a loop, recorded by a process of its own (rows before it are made at once):"
        );
        let sizes = effort.pick([10, 1_000, 100_000], [10, 100, 1_000]);
        for form in ["sqlite", "filesystem"] {
            let runs: Vec<(usize, String, String)> = sizes
                .iter()
                .map(|n| {
                    let (run, folder) = self.init(form);
                    let id = self.line(&["begin", "1", "--run", &run]);
                    self.rounds(&folder, form, *n);
                    (*n, run, id)
                })
                .collect();
            let mut rivals: Vec<Rival<'_>> = runs
                .iter()
                .rev()
                .map(|(n, run, id)| {
                    Rival::whole(format!("{form}, n = {n}"), || {
                        self.line(&["round", id, "--run", run]);
                    })
                })
                .collect();
            let figures = in_turn(effort.pick(30, 2), &mut rivals);
            beside(&rivals, &figures).print();
        }
    }

    fn beside_bindings(&self, effort: Effort) {
        println!("\nA statement that begins and fails in a folder with n bindings, two processes:");
        let runs = effort.pick([10, 1_000, 10_000], [10, 100, 1_000]).map(|n| {
            let (run, folder) = self.init("filesystem");
            for n in 0..n {
                let text = format!("# b{n}\n\nkind: let\n\n---\n\n{}\n", value());
                let path = folder.join("bindings").join(format!("b{n}.md"));
                std::fs::write(path, text).expect("a binding");
            }
            (n, run)
        });
        let mut rivals: Vec<Rival<'_>> = runs
            .iter()
            .rev()
            .map(|(n, run)| {
                Rival::whole(format!("n = {n}"), || {
                    let begin = ["begin", "--text", "session \"A\"", "--force"];
                    let id = self.line(&[&begin[..], &["--run", run]].concat());
                    self.line(&["fail", &id, "no", "--run", run]);
                })
            })
            .collect();
        let figures = in_turn(effort.pick(30, 2), &mut rivals);
        beside(&rivals, &figures).print();
    }

    /// Writes the rows of `count` rounds of a loop directly into the run's `state.db` or `x_events.jsonl`.
    fn rounds(&self, folder: &Path, form: &str, count: usize) {
        if form == "sqlite" {
            let database = rusqlite::Connection::open(folder.join("state.db")).expect("a database");
            let sql = format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                 INSERT INTO execution (statement_index, statement_text, status, completed_at, metadata)
                 SELECT 1, 'loop until **done**:', 'iteration', '2026-01-01 00:00:00',
                        json_object('loop_id', 'l1', 'iteration', i) FROM n"
            );
            database.execute_batch(&sql).expect("rounds");
            return;
        }
        let mut events = std::fs::OpenOptions::new()
            .append(true)
            .open(folder.join("x_events.jsonl"))
            .expect("events");
        let mut text = String::new();
        for n in 1..=count {
            text.push_str(&format!(
                "{{\"id\":{},\"statement_index\":1,\"statement_text\":\"loop until **done**:\",\"status\":\"iteration\",\"completed_at\":\"2026-01-01T00:00:00Z\",\"metadata\":{{\"loop_id\":\"l1\",\"iteration\":{n}}}}}\n",
                n + 1
            ));
        }
        events.write_all(text.as_bytes()).expect("events");
    }
}

fn run_with_input(command: &mut Command, input: &str) -> bool {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("prosescope starts");
    let _ = child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input.as_bytes());
    child.wait().expect("it ends").success()
}
