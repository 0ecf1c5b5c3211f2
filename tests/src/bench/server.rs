//! Measures writing to PostgreSQL: `prosescope put` compared with `psql` as postgres.md instructs a subagent, many
//! values over one connection, and concurrent writers compared with those of a `state.db`. As in ordinary use, the
//! server and SQLite wait for the disk.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use prosescope_core::record::{At, Put, RunStore, ValueBytes, record};
use prosescope_postgres::{Address, PostgresStore};
use prosescope_store::SqliteStore;
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::run::fed;
use prosescope_tests::needs;

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::table::{Table, beside};

/// Returns the value that every measured write records: a text of 2 KB.
fn value() -> String {
    "it is 2,000 bytes of a finding. ".repeat(63)
}

pub(crate) fn measure(effort: Effort) {
    let Some(prose) = needs::prose() else { return };
    let Some(cluster) = Cluster::start(&["fsync=on", "shared_buffers=128MB"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench {
        url: cluster.database(),
        cluster: &cluster,
        prose,
        dir: folder.path(),
    };
    std::fs::create_dir(bench.dir.join(".prose")).expect("a folder");
    std::fs::write(bench.dir.join("p.prose"), "session \"Step\"\n").expect("a program");
    bench.one_write(effort);
    bench.one_connection(effort);
    bench.writers(effort);
}

struct Bench<'a> {
    cluster: &'a Cluster,
    url: String,
    prose: PathBuf,
    dir: &'a Path,
}

impl Bench<'_> {
    fn prose(&self, args: &[&str], input: &str) -> String {
        let mut command = Command::new(&self.prose);
        command.args(args).current_dir(self.dir);
        command.env("HOME", "/nonexistent").env_remove("PROSE_RUN");
        command.env("OPENPROSE_POSTGRES_URL", &self.url);
        output_of(&mut command, input)
    }

    fn init(&self, form: &str) -> String {
        let run = self.prose(&["init", "p.prose", "--state", form], "");
        let place = if form == "postgres" { "postgres:" } else { "" };
        format!("{place}{}", run.trim())
    }

    fn database(&self, run: &str) -> PathBuf {
        self.dir.join(".prose/runs").join(run).join("state.db")
    }

    fn put(&self, run: &str, name: &str) {
        self.prose(&["put", name, "--run", run], &value());
    }

    /// Writes a value with `psql` as postgres.md instructs a subagent: the value is in the command's argument.
    fn by_hand(&self, run: &str, name: &str) {
        let run = run.trim_start_matches("postgres:");
        let sql = format!(
            "INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement)
             VALUES ('{name}', '{run}', NULL, 'let', E'{}', 'let x = session')
             ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) DO UPDATE
             SET value = EXCLUDED.value, updated_at = NOW()",
            value()
        );
        let mut psql = self.cluster.command("psql");
        psql.args([&self.url, "-X", "-q", "-c", &sql]);
        output_of(&mut psql, "");
    }

    fn one_write(&self, effort: Effort) {
        println!("One value of 2 KB into a new row, a whole process each, fsync in both:");
        let runs = [self.init("postgres"), self.init("postgres")];
        let (mut a, mut b) = (0, 0);
        let mut rivals = [
            Rival::whole("prosescope put", || {
                a += 1;
                self.put(&runs[0], &format!("v{a}"));
            }),
            Rival::whole("psql -c", || {
                b += 1;
                self.by_hand(&runs[1], &format!("v{b}"));
            }),
        ];
        let figures = in_turn(effort.pick(100, 3), &mut rivals);
        beside(&rivals, &figures).print();
    }

    fn one_connection(&self, effort: Effort) {
        let values = effort.pick(1_000, 10);
        println!("\n{values} values of 2 KB, one after the other:");
        let runs = [self.init("postgres"), self.init("postgres")];
        let mut rivals = [
            Rival::whole("our store, one connection", || {
                writes(&mut *self.store(&runs[0]), "v", values);
            }),
            Rival::whole("psql -c, a process each", || {
                (0..values).for_each(|n| self.by_hand(&runs[1], &format!("v{n}")));
            }),
        ];
        let figures = in_turn(effort.pick(3, 1), &mut rivals);
        beside(&rivals, &figures).print();
    }

    /// Opens a store with its own connection: to a run in PostgreSQL, or to a database file.
    fn store(&self, run: &str) -> Box<dyn RunStore> {
        match run.strip_prefix("postgres:") {
            Some(id) => {
                let address = Address::parse(&self.url, &|_| None).expect("a URL");
                Box::new(PostgresStore::open(&address, id).expect("a run"))
            }
            None => Box::new(SqliteStore::open(&self.database(run), None).expect("a database")),
        }
    }

    fn writers(&self, effort: Effort) {
        let each = effort.pick(20, 3);
        let counts = effort.pick([10, 50], [2, 4]);
        println!("\nWrites a second of writers at once, {each} values of 2 KB each:");
        let mut table = Table::new(&["writers", &counts[0].to_string(), &counts[1].to_string()]);
        type Write<'w> = &'w (dyn Fn(&str, &str) + Sync);
        let processes: [(&str, &str, bool, Write<'_>); 5] = [
            (
                "psql -c, processes, one run",
                "postgres",
                true,
                &|run, name| {
                    self.by_hand(run, name);
                },
            ),
            (
                "prosescope put, one run in PostgreSQL",
                "postgres",
                true,
                &|run, name| {
                    self.put(run, name);
                },
            ),
            (
                "prosescope put, a run in PostgreSQL each",
                "postgres",
                false,
                &|run, name| {
                    self.put(run, name);
                },
            ),
            (
                "prosescope put, one state.db",
                "sqlite",
                true,
                &|run, name| {
                    self.put(run, name);
                },
            ),
            (
                "prosescope put, a state.db each",
                "sqlite",
                false,
                &|run, name| self.put(run, name),
            ),
        ];
        for (what, form, shared, write) in processes {
            let cells = counts.map(|count| {
                let runs = self.runs(form, shared, count);
                at_once(count, each, &|writer| {
                    (0..each)
                        .for_each(|n| write(&runs[writer % runs.len()], &format!("w{writer}_{n}")));
                })
            });
            table.row([vec![what.to_owned()], cells.to_vec()].concat());
        }
        let connections = [
            ("a connection each, one run in PostgreSQL", "postgres", true),
            (
                "a connection each, a run in PostgreSQL each",
                "postgres",
                false,
            ),
            ("a connection each, one state.db", "sqlite", true),
            ("a connection each, a state.db each", "sqlite", false),
        ];
        for (what, form, shared) in connections {
            let cells = counts.map(|count| {
                let runs = self.runs(form, shared, count);
                at_once(count, each, &|writer| {
                    let run = &runs[writer % runs.len()];
                    writes(&mut *self.store(run), &format!("w{writer}_"), each);
                })
            });
            table.row([vec![what.to_owned()], cells.to_vec()].concat());
        }
        table.print();
    }

    fn runs(&self, form: &str, shared: bool, writers: usize) -> Vec<String> {
        let runs = if shared { 1 } else { writers };
        (0..runs).map(|_| self.init(form)).collect()
    }
}

/// Runs concurrent writers that each write `each` values; returns the writes per second as a text.
fn at_once(writers: usize, each: usize, write: &(dyn Fn(usize) + Sync)) -> String {
    let begun = Instant::now();
    thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || write(writer));
        }
    });
    format!(
        "{:.0}",
        (writers * each) as f64 / begun.elapsed().as_secs_f64()
    )
}

fn writes(store: &mut dyn RunStore, name: &str, count: usize) {
    let at = At {
        now: 1_768_573_852_000,
        os_user: None,
        client: "bench".to_owned(),
    };
    for n in 0..count {
        let put = Put {
            name: Some(format!("{name}{n}")),
            kind: Some("let".to_owned()),
            source: Some("let x = session".to_owned()),
            value: ValueBytes::from(value().into_bytes()),
            ..Put::default()
        };
        record(store, &put, &at).expect("it is recorded");
    }
}

fn output_of(command: &mut Command, input: &str) -> String {
    let out = fed(command, input.as_bytes());
    let wrong = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {wrong}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}
