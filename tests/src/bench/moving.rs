//! Compares `prosescope convert`, into PostgreSQL and out of it, with `psql \copy` of the same rows into the same tables.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::run::{fed, most_memory};
use prosescope_tests::needs;

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::table::{Table, time, times};

/// The lengths of values in bytes, used in rotation. For every [`MANY`] values, the run also has an attachment of
/// [`ATTACHED`] bytes.
const LENGTHS: [usize; 10] = [
    200, 2_000, 200, 20_000, 2_000, 200, 20_000, 90_000, 2_000, 200,
];
const ATTACHED: usize = 5_000_000;
const MANY: usize = 2_000;

/// The tables in which the run has rows, sorted so that no table refers to a later one.
const TABLES: [&str; 4] = ["run", "execution", "bindings", "x_attachments"];

/// A project with a run in a `state.db`, and a PostgreSQL database that does not contain this run yet.
struct Moved<'a> {
    cluster: &'a Cluster,
    prose: &'a Path,
    folder: tempfile::TempDir,
    url: String,
    run: String,
}

impl Moved<'_> {
    fn prose(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.prose);
        command.args(args).current_dir(self.folder.path());
        command.env("HOME", self.folder.path());
        command.env("OPENPROSE_POSTGRES_URL", &self.url);
        command.stdout(Stdio::null());
        command
    }

    fn push(&self) -> Command {
        self.prose(&["convert", &self.run, "--to", "postgres"])
    }

    fn pull(&self) -> Command {
        let there = format!("postgres:{}", self.run);
        self.prose(&["convert", &there, "--to", "sqlite", "--out", "back"])
    }

    /// Empties the tables of the database.
    fn empty(&self) {
        let tables = TABLES.map(|table| format!("VACUUM openprose.{table};"));
        let sql = format!("DELETE FROM openprose.run; {} CHECKPOINT;", tables.concat());
        self.cluster
            .psql(&self.url, &sql)
            .expect("rows are removed");
    }

    /// Copies all rows with `psql \copy` in one transaction, to or from files of the server's user.
    fn copy(&self, way: &str) {
        let mut psql = self.cluster.command("psql");
        psql.args([&self.url, "-X", "-q", "-1"]);
        for table in TABLES {
            let file = self.cluster.folder().join(format!("{table}.copy"));
            psql.arg("-c")
                .arg(format!("\\copy openprose.{table} {way} {}", file.display()));
        }
        run(&mut psql);
    }
}

fn run(command: &mut Command) {
    let status = command.status().expect("it starts");
    assert!(status.success(), "{command:?}");
}

fn took(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

pub(crate) fn measure(effort: Effort) {
    let Some(prose) = needs::prose() else { return };
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let wanted = std::env::var("PROSE_BENCH_MB").ok();
    let megabytes = wanted.and_then(|wanted| wanted.parse().ok());
    let megabytes: usize = megabytes.unwrap_or(effort.pick(100, 5));
    let moved = made(&cluster, &prose, megabytes);
    let most = [moved.push(), moved.pull()].map(|mut command| most_memory(&mut command));
    moved.copy("to");
    let back = moved.folder.path().join("back");
    let remove = || {
        let _ = std::fs::remove_dir_all(&back);
    };
    let mut table = Table::new(&[
        "",
        "prosescope",
        "psql \\copy",
        "ratio",
        "memory of prosescope",
    ]);
    let into: [Rival<'_>; 2] = [
        Rival::new("into PostgreSQL", || {
            moved.empty();
            took(|| run(&mut moved.push()))
        }),
        Rival::new("\\copy from", || {
            moved.empty();
            took(|| moved.copy("from"))
        }),
    ];
    let out: [Rival<'_>; 2] = [
        Rival::new("out of PostgreSQL", || {
            remove();
            took(|| run(&mut moved.pull()))
        }),
        Rival::new("\\copy to", || took(|| moved.copy("to"))),
    ];
    for ((name, mut rivals), most) in [("into PostgreSQL", into), ("out of PostgreSQL", out)]
        .into_iter()
        .zip(most)
    {
        let [ours, theirs] = in_turn(effort.pick(3, 1), &mut rivals)
            .try_into()
            .expect("two rivals");
        table.row(vec![
            name.to_owned(),
            time(ours.median()),
            time(theirs.median()),
            times(ours.over(&theirs).median()),
            format!("{} MB", most >> 20),
        ]);
    }
    println!("A run of {megabytes} MB; whole processes:\n");
    table.print();
}

/// Builds the run in a `state.db`: SQL inserts the rows, and `prosescope put` writes the attachments.
fn made<'a>(cluster: &'a Cluster, prose: &'a Path, megabytes: usize) -> Moved<'a> {
    let mut moved = Moved {
        cluster,
        prose,
        folder: tempfile::tempdir().expect("a folder"),
        url: cluster.database(),
        run: "20260101-000000-moving".to_owned(),
    };
    let dir = moved.folder.path();
    std::fs::create_dir(dir.join(".prose")).expect("a folder");
    std::fs::write(dir.join("p.prose"), "session \"x\"\n").expect("a file");
    run(&mut moved.prose(&["postgres", "setup", "--apply"]));
    let id = std::mem::take(&mut moved.run);
    run(&mut moved.prose(&["init", "p.prose", "--state", "sqlite", "--id", &id]));
    moved.run = id;
    let db = moved.folder.path().join(".prose/runs").join(&moved.run);
    let db = rusqlite::Connection::open(db.join("state.db")).expect("a database");
    db.execute_batch("BEGIN").expect("begun");
    let mut random = 1;
    let (mut bytes, mut n) = (0, 0);
    while bytes < megabytes * 1_000_000 {
        if n % MANY == 0 {
            db.execute_batch("COMMIT").expect("committed");
            let name = format!("attached{n}");
            let mut put = moved.prose(&["put", &name, "--run", &moved.run]);
            let put = fed(&mut put, text(ATTACHED, &mut random).as_bytes());
            assert!(put.status.success(), "{put:?}");
            db.execute_batch("BEGIN").expect("begun");
            bytes += ATTACHED;
        }
        let value = text(LENGTHS[n % LENGTHS.len()], &mut random);
        bytes += value.len();
        n += 1;
        db.prepare_cached("INSERT INTO bindings (name, value, kind) VALUES (?1, ?2, 'let')")
            .and_then(|mut insert| insert.execute((format!("v{n}"), value)))
            .expect("written");
        db.prepare_cached(
            "INSERT INTO execution (statement_index, statement_text, status, metadata)
             VALUES (1, 'session \"x\"', 'completed', '{\"a\": 1}')",
        )
        .and_then(|mut insert| insert.execute(()))
        .expect("written");
    }
    db.execute_batch("COMMIT").expect("committed");
    moved
}

/// Returns text that compresses badly.
fn text(len: usize, random: &mut u64) -> String {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \n";
    let letter = |_| {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(*random >> 58) as usize])
    };
    (0..len).map(letter).collect()
}
