//! Runs the same script in PostgreSQL, and compares the run with the run in a folder. In PostgreSQL the database
//! assigns the ids of executions and updates rows in place, so ids are translated to those of the folder.

use std::collections::BTreeMap;
use std::rc::Rc;

use prosescope_core::pages::session::{Options, Session};
use prosescope_core::record::{At, Style, at_text};
use prosescope_postgres::{Address, PostgresSource, PostgresStore, init_postgres};
use prosescope_test_support::cluster::Cluster;

use super::{BEGUN, RUN, script, told};

/// The first id that the database assigns; high enough that ids are recognizable among other numbers in a text.
const FIRST: i64 = 7_000_001;

/// A run that is recorded in PostgreSQL.
pub(crate) struct Recorded {
    cluster: &'static Cluster,
    url: String,
    address: Address,
    steps: i64,
    /// The ids in the run folder, by the ids in the database.
    ids: BTreeMap<i64, i64>,
    before: String,
}

impl Recorded {
    pub(crate) fn new(program: &str) -> Option<Recorded> {
        let cluster = Cluster::shared()?;
        let url = cluster.database();
        let address = Address::parse(&url, &|_| None).unwrap();
        let now = at_text(BEGUN, Style::InPlace);
        init_postgres(&address, RUN, "risk.prose", program, &now).unwrap();
        let restart = format!("ALTER SEQUENCE openprose.execution_id_seq RESTART {FIRST}");
        cluster.psql(&url, &restart).unwrap();
        let mut run = Recorded {
            cluster,
            url,
            address,
            steps: 0,
            ids: BTreeMap::new(),
            before: String::new(),
        };
        run.before = told::told(&run.session());
        Some(run)
    }

    pub(crate) fn session(&self) -> Session {
        let source = PostgresSource::open(&self.address, RUN).unwrap();
        Session::open(
            Rc::new(source),
            &PostgresSource::place(RUN),
            &Options::default(),
        )
        .unwrap()
    }

    /// Executes a line of a script without a folder to compare with.
    pub(crate) fn alone(&mut self, line: &str) {
        let mut store = PostgresStore::open(&self.address, RUN).unwrap();
        let at = At {
            now: BEGUN,
            os_user: None,
            client: "test".to_owned(),
        };
        script::run(&mut store, line, &at).unwrap();
    }

    pub(crate) fn sql(&self, sql: &str) {
        self.cluster.psql(&self.url, sql).unwrap();
    }

    /// Executes a line of the script; `folder` is the folder's result and facts.
    pub(crate) fn step(&mut self, line: &str, folder: &(Result<String, String>, String)) {
        let (said, now) = folder;
        let (command, refused) = match line.split_once(" !") {
            Some((command, rule)) => (command, Some(rule)),
            None => (line, None),
        };
        if let Some(seconds) = command.strip_prefix("later ") {
            self.steps += seconds.parse::<i64>().unwrap();
            return;
        }
        self.steps += 1;
        // PostgreSQL updates rows in place, so a row remains an instance even if its statement began again, and the
        // core allows this.
        if refused == Some("retry-superseded") {
            return;
        }
        let at = At {
            now: BEGUN + self.steps * 1000,
            os_user: None,
            client: "test".to_owned(),
        };
        let rows = refused.map(|_| self.rows());
        // A second writer opens the run and continues after the first one.
        let mut store = PostgresStore::open(&self.address, RUN).unwrap();
        let own = |id: i64| {
            let mut known = self.ids.iter();
            known.find(|(_, of)| **of == id).map_or(id, |(own, _)| *own)
        };
        let mine = script::run_by(&mut store, command, &at, &own);
        let tells = told::told(&self.session());
        if let Some(rule) = refused {
            assert_eq!(
                mine.as_ref().err().map(String::as_str),
                Some(rule),
                "{line}: {mine:?}"
            );
            assert_eq!(tells, self.before, "{line}");
            assert_eq!(rows, Some(self.rows()), "{line}");
        }
        if let (Ok(mine), Ok(said)) = (&mine, said) {
            self.learn(mine, said);
        }
        // A run in PostgreSQL has another name in commands.
        let mine = mine.map(|mine| self.named(&mine).replace(&format!("postgres:{RUN}"), RUN));
        assert_eq!(&mine, said, "{line}");
        assert_eq!(in_place(&self.named(&tells)), in_place(now), "{line}");
        self.before = tells;
    }

    /// Maps each id of the database in `mine` to the folder's id at the same position in `folder`.
    fn learn(&mut self, mine: &str, folder: &str) {
        for (own, other) in parts(mine).into_iter().zip(parts(folder)) {
            if let (Some(own), Ok(other)) = (id(own), other.parse()) {
                self.ids.entry(own).or_insert(other);
            }
        }
    }

    /// Returns a text in which the database's ids are replaced by the folder's.
    fn named(&self, text: &str) -> String {
        let name = |part: &str| match id(part).and_then(|id| self.ids.get(&id)) {
            Some(id) => id.to_string(),
            None => part.to_owned(),
        };
        parts(text).into_iter().map(name).collect()
    }

    /// Returns all rows as text.
    fn rows(&self) -> String {
        let tables = "SELECT string_agg(format('SELECT %L || t::text FROM openprose.%I AS t', relname, relname), ' UNION ALL ')
                      FROM pg_class WHERE relnamespace = 'openprose'::regnamespace AND relkind = 'r'";
        let all = self.cluster.psql(&self.url, tables).unwrap();
        self.cluster
            .psql(&self.url, &format!("{all} ORDER BY 1"))
            .unwrap()
    }
}

/// Returns the facts of a run without those that one row per instance cannot record: whether the last row was a retry
/// or a round, and the ends of rounds. Bindings are in the order of the folder's ids.
fn in_place(tells: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut bindings: Vec<String> = Vec::new();
    for line in tells.lines() {
        let line = line
            .replace(" Retry x", " Executing x")
            .replace(" Iteration x", " Executing x");
        let cut = match (line.contains(" Round { "), line.contains(" Loop \"")) {
            (true, _) => line.find("\" ").map_or(line.len(), |at| at + 1),
            (_, true) => line.rfind(" (").unwrap_or(line.len()),
            _ => line.len(),
        };
        if line.contains(" bytes \"") {
            bindings.push(line);
        } else {
            lines.push(line[..cut].to_owned());
        }
    }
    bindings.sort();
    lines.extend(bindings);
    lines
}

fn id(part: &str) -> Option<i64> {
    part.parse()
        .ok()
        .filter(|id| (FIRST..FIRST + 100_000).contains(id))
}

/// Splits a text into numbers and the parts between them.
fn parts(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut parts = Vec::new();
    while let Some(first) = rest.chars().next() {
        let other = |c: char| c.is_ascii_digit() != first.is_ascii_digit();
        let (part, behind) = rest.split_at(rest.find(other).unwrap_or(rest.len()));
        parts.push(part);
        rest = behind;
    }
    parts
}
