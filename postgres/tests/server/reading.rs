//! Tests of reading: a run from PostgreSQL reads like the same run from SQLite, without reading the rows of other runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use prosescope_core::model::database::{
    Database, DecodeError, FoundTable, Limits, Scan, Value, Want, WantedRows,
};
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::{
    Filter, ListOrder, Options, Session, list, list_page, survey,
};
use prosescope_core::read::sqlite::MemorySource;
use prosescope_postgres::{PostgresRun, PostgresSource};
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::work::PATIENCE;
use prosescope_test_support::{files, needs};

use super::pages;
use super::{RUN, address, run};

/// A source with the files of `other`. Each database of `other` is copied into PostgreSQL, column by column.
struct Copied {
    other: Rc<dyn Source>,
    cluster: &'static Cluster,
    made: RefCell<BTreeMap<String, Option<(String, String)>>>,
}

impl Source for Copied {
    fn label(&self) -> String {
        self.other.label()
    }

    fn files(&self) -> &[FileEntry] {
        self.other.files()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        self.other.read(path, offset, len)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let db = self.other.database(path, limits)?;
        let mut made = self.made.borrow_mut();
        let copy = made.entry(path.to_owned()).or_insert_with(|| {
            let (sql, run) = copy_of(db.as_ref())?;
            let url = self.cluster.database();
            self.cluster
                .psql(&url, &sql)
                .map_err(|error| println!("{path}: {error}"))
                .ok()?;
            Some((url, run))
        });
        let Some((url, run)) = copy else {
            // A database of agents, or one that PostgreSQL refuses, is read from the original source.
            return Ok(db);
        };
        let reader = PostgresRun::connect(&address(url), run, limits).unwrap();
        Ok(Box::new(reader))
    }

    fn notes(&self, path: &str) -> Vec<prosescope_core::model::issue::Issue> {
        self.other.notes(path)
    }
}

type Rowed = Vec<(i64, Vec<Value<'static>>)>;

fn rows_of(db: &dyn Database, found: &FoundTable) -> Result<Rowed, DecodeError> {
    let columns = found.info.columns.iter();
    let wants: Vec<Want<'_>> = columns.map(|c| Want::of(&c.name, u32::MAX)).collect();
    let scan = Scan {
        table: found,
        wants: &wants,
        rows: WantedRows::All,
    };
    let mut rows = Vec::new();
    db.scan(&scan, &mut |row| {
        let cell = |i| row.cell(i).unwrap().value.into_owned();
        rows.push((row.at(), (0..wants.len()).map(cell).collect()));
        true
    })?;
    Ok(rows)
}

/// Returns SQL that creates the same tables with the same rows, and the run's id; `None` if a column mixes types, or
/// contains values that PostgreSQL refuses.
fn copy_of(db: &dyn Database) -> Option<(String, String)> {
    let mut sql = "CREATE SCHEMA openprose;\n".to_owned();
    let mut run = None;
    for found in db.tables().ok()? {
        if !found.is_table() {
            return None;
        }
        let rows = rows_of(db, &found).ok()?;
        let name = &found.info.name;
        let known = found.info.known;
        let mut columns = Vec::new();
        for (i, column) in found.info.columns.iter().enumerate() {
            let mut kinds: Vec<&str> = rows.iter().filter_map(|(_, row)| kind(&row[i])).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let kind = match kinds.as_slice() {
                [] if column.declared.eq_ignore_ascii_case("integer") => "bigint",
                [] => "text",
                [one] => one,
                _ => return None,
            };
            columns.push(format!("\"{}\" {kind}", column.name));
        }
        let key: Vec<String> = found
            .key
            .iter()
            .map(|column| format!("\"{column}\""))
            .collect();
        if !key.is_empty() {
            columns.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        if known {
            columns.push("x_seq bigint".to_owned());
        }
        writeln!(
            sql,
            "CREATE TABLE openprose.\"{name}\" ({});",
            columns.join(", ")
        )
        .unwrap();
        for (at, row) in &rows {
            let mut values = row.iter().map(literal).collect::<Option<Vec<_>>>()?;
            if known {
                values.push(at.to_string());
            }
            writeln!(
                sql,
                "INSERT INTO openprose.\"{name}\" VALUES ({});",
                values.join(", ")
            )
            .unwrap();
        }
        if name == "run" {
            let id = found
                .info
                .columns
                .iter()
                .position(|column| column.name == "id")?;
            // A PostgreSQL database may contain many runs, so its reader needs the id of the copied run.
            run = match rows.as_slice() {
                [(_, row)] => Some(row.get(id)?.as_text()?.to_owned()),
                _ => return None,
            };
        }
    }
    Some((sql, run?))
}

fn kind(value: &Value<'_>) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Integer(_) => Some("bigint"),
        Value::Real(_) => Some("double precision"),
        Value::Text(_) => Some("text"),
        Value::Blob(_) => Some("bytea"),
    }
}

fn literal(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) => format!("{x:?}"),
        Value::Text(_) => {
            let text = value.as_text().filter(|text| !text.contains('\0'))?;
            format!("'{}'", text.replace('\'', "''"))
        }
        Value::Blob(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("'\\x{hex}'")
        }
    })
}

/// Returns the lines of a page without the name of the store and the types of columns, which differ between stores.
fn plain(page: &str, place: &str) -> Vec<String> {
    let id = place.rsplit('/').next().unwrap_or(place);
    page.lines()
        .filter(|line| {
            let line = line.trim_start();
            !line.starts_with("\"declared\"") && !line.starts_with("\"form\"")
        })
        .map(|line| line.replace(&format!("postgres:{id}"), "state.db"))
        .collect()
}

/// Compares the runs of a source with their copies in PostgreSQL; returns the number of compared runs.
fn conforms(cluster: &'static Cluster, name: &str, files: Vec<(String, Vec<u8>)>) -> usize {
    let source: Rc<dyn Source> = Rc::new(MemorySource::new(name, files));
    let copy = Rc::new(Copied {
        other: Rc::clone(&source),
        cluster,
        made: RefCell::default(),
    });
    let copied: Rc<dyn Source> = Rc::<Copied>::clone(&copy);
    for found in survey(source.as_ref()).found {
        let open = |source: &Rc<dyn Source>| {
            Session::open(Rc::clone(source), &found.place, &Options::default())
        };
        let (Ok(one), Ok(other)) = (open(&source), open(&copied)) else {
            continue;
        };
        let (one, other) = (pages::all(&one, &source), pages::all(&other, &copied));
        for ((page, one), (_, other)) in one.iter().zip(&other) {
            let (one, other) = (plain(one, &found.place), plain(other, &found.place));
            let differs = one.iter().zip(&other).find(|(one, other)| one != other);
            assert_eq!(differs, None, "{name}, {}: {page}", found.place);
            assert_eq!(one.len(), other.len(), "{name}, {}: {page}", found.place);
        }
    }
    let made = copy.made.borrow();
    made.values().flatten().count()
}

#[test]
fn a_run_tells_the_same_from_sqlite_and_from_postgresql() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let examples = files::below(&needs::root().join("examples"));
    let databases = conforms(cluster, "examples", examples);
    assert!(databases >= 3, "{databases}");
    conforms(cluster, "runs", files::below(&needs::fixtures("runs")));
}

/// A run among many is read without the rows of others, and its values only when requested.
#[test]
fn a_run_among_others_is_read_by_itself() {
    let Some((cluster, url)) = run("session \"x\"") else {
        return;
    };
    cluster
        .psql(
            &url,
            &format!(
                "INSERT INTO openprose.run (id) SELECT 'other' || n FROM generate_series(1, 200) AS n;
                 INSERT INTO openprose.bindings (name, run_id, kind, value)
                     SELECT 'x' || n, r.id, 'let', repeat(md5(random()::text), 4000)
                     FROM openprose.run AS r, generate_series(1, 3) AS n WHERE r.id < 'other2' OR r.id = '{RUN}';
                 INSERT INTO openprose.execution (run_id, statement_index, statement_text, status)
                     SELECT r.id, 1, 'session \"x\"', 'completed' FROM openprose.run AS r"
            ),
        )
        .unwrap();
    let source: Rc<dyn Source> = Rc::new(PostgresSource::open(&address(&url), RUN).unwrap());
    let session = Session::open(
        Rc::clone(&source),
        &PostgresSource::place(RUN),
        &Options::default(),
    )
    .unwrap();
    assert_eq!(
        (session.run().bindings.len(), session.run().executions.len()),
        (3, 1)
    );
    assert_eq!(
        session
            .run()
            .tables
            .iter()
            .find(|table| table.name == "bindings")
            .unwrap()
            .rows,
        Some(3)
    );
    let mut bytes = 0;
    let value = prosescope_core::pages::session::ValueOf::Binding(1);
    session
        .value_pieces(&value, &mut |piece| {
            bytes += piece.len();
            true
        })
        .unwrap();
    assert_eq!(bytes, 128_000);
    assert_eq!(session.value_part(&value, 127_990, 100).unwrap().len(), 10);
}

#[test]
fn reading_is_of_one_moment_and_stops_when_asked() {
    let Some((cluster, url)) = run("") else {
        return;
    };
    let reader = PostgresRun::connect(&address(&url), RUN, &Limits::default()).unwrap();
    let table = reader.table("execution").unwrap();
    reader.begin().unwrap();
    assert_eq!(reader.count(&table, 10), Some(0));
    let insert = format!("INSERT INTO openprose.execution (run_id) VALUES ('{RUN}')");
    cluster.psql(&url, &insert).unwrap();
    assert_eq!(reader.count(&table, 10), Some(0));
    assert!(reader.begin().is_err());
    reader.end();
    assert_eq!(reader.count(&table, 10), Some(1));

    let limits = Limits {
        stop: Some(Arc::new(|| true)),
        ..Limits::default()
    };
    let stopped = PostgresRun::connect(&address(&url), RUN, &limits).unwrap();
    let scan = Scan {
        table: &table,
        wants: &[Want::size("id")],
        rows: WantedRows::All,
    };
    let stop = stopped.scan(&scan, &mut |_| true);
    assert_eq!(stop, Err(DecodeError::Stopped));
}

/// A list sends a fixed number of queries, whatever the number of runs, and shows the newest runs.
#[test]
fn a_list_asks_for_all_runs_at_once() {
    let Some((cluster, url)) = run("session \"x\"") else {
        return;
    };
    cluster
        .psql(
            &url,
            "INSERT INTO openprose.run (id, program_path, status, started_at, updated_at)
                 SELECT '20260101-000000-' || lpad(n::text, 6, '0'), 'p.prose', 'completed', now() - interval '1 day', now()
                 FROM generate_series(1, 300) AS n;
             INSERT INTO openprose.gates (id, run_id) VALUES ('publish', '20260101-000000-000007')",
        )
        .unwrap();
    let transactions = || {
        let sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
        let busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'prose' AND datname = current_database()";
        let begun = std::time::Instant::now();
        while cluster.psql(&url, busy).unwrap() != "0" {
            assert!(begun.elapsed() < PATIENCE, "the connections stay");
        }
        cluster.psql(&url, sql).unwrap().parse::<i64>().unwrap()
    };
    let before = transactions();
    let source: Rc<dyn Source> = Rc::new(PostgresSource::all(&address(&url)).unwrap());
    let listed = list(&source, &Options::default());
    drop(source);
    let asked = transactions() - before;
    assert_eq!((listed.total, listed.runs.len()), (301, 301));
    let waiting = listed.runs.iter().filter(|run| run.pending_gates == 1);
    assert_eq!(waiting.count(), 1);
    assert!(asked < 40, "{asked}");
}

/// A list of only the newest runs equals the beginning of the full list: by the time in the id, else by the start.
#[test]
fn the_newest_runs_alone_are_the_first_of_all() {
    let Some((cluster, url)) = run("session \"x\"") else {
        return;
    };
    cluster
        .psql(
            &url,
            "INSERT INTO openprose.run (id, program_path, status, started_at, updated_at)
                 SELECT to_char(at, 'YYYYMMDD-HH24MISS') || '-' || lpad(n::text, 6, '0'), 'p.prose', 'completed', now(), now()
                 FROM generate_series(1, 60) AS n, LATERAL (SELECT timestamp '2026-02-01' + n / 2 * interval '1 hour' AS at) AS times;
             INSERT INTO openprose.run (id, status, started_at, updated_at)
                 SELECT 'odd ' || n, 'completed', timestamptz '2026-02-01Z' + n * interval '7 hours', now() FROM generate_series(1, 9) AS n;
             INSERT INTO openprose.gates (id, run_id) VALUES ('publish', 'odd 3'), ('publish', 'odd 9')",
        )
        .unwrap();
    let first = |source: PostgresSource, most: usize| {
        let source: Rc<dyn Source> = Rc::new(source);
        let (filter, order) = (Filter::default(), ListOrder::default());
        list_page(&source, &Options::default(), &filter, order, most, None)
    };
    let url = address(&url);
    for most in [1, 2, 3, 7, 20, 69, 70, 80] {
        let alone = PostgresSource::newest(&url, most).unwrap();
        assert!(alone.files().len() <= 2 * most + 2, "{most}");
        let of_all = first(PostgresSource::all(&url).unwrap(), most);
        assert_eq!(first(alone, most), of_all, "{most}");
        assert_eq!((of_all.total, of_all.runs.len()), (70, most.min(70)));
    }
}
