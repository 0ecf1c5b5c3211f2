//! Makes the runs in a PostgreSQL database available as a [`Source`]: their rows, and their files (attachments).

use std::collections::BTreeSet;
use std::rc::Rc;

use prosescope_core::model::database::{Database, DecodeError, Limits};
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::record::Fault;

use crate::address::Address;
use crate::beside::LocalAttachments;
use crate::cell::get;
use crate::fault;
use crate::find::has;
use crate::owner::{Keeper, RowOwner};
use crate::read::PostgresRun;
use crate::server::{Lost, PgClient, int, text};

/// The path of a run's rows, inside of the run. The core recognises a run's database by this name.
pub(crate) const ROWS: &str = "state.db";

/// The tables that recording changes, each with its column for the run's id.
const WRITTEN: [(&str, &str); 8] = [
    ("run", "id"),
    ("execution", "run_id"),
    ("bindings", "run_id"),
    ("agents", "run_id"),
    ("agent_segments", "run_id"),
    ("imports", "run_id"),
    ("gates", "run_id"),
    ("x_attachments", "run_id"),
];

/// Selects the `$1` newest runs whose ids begin with a time (`20260118-201530-…`), by this time. Adds the `$1` newest
/// of the other runs, by their start, and `$1` runs without a start.
pub(crate) const NEWEST: &str = r#"
    (SELECT id FROM openprose.run WHERE id ~ '^[0-9]{8}-[0-9]{6}-' COLLATE "C"
     ORDER BY left(id, 15) COLLATE "C" DESC FETCH FIRST $1 ROWS WITH TIES)
    UNION ALL
    (SELECT id FROM openprose.run WHERE id !~ '^[0-9]{8}-[0-9]{6}-' COLLATE "C"
     AND started_at IS NOT NULL ORDER BY started_at DESC FETCH FIRST $1 ROWS WITH TIES)
    UNION ALL
    (SELECT id FROM openprose.run WHERE id !~ '^[0-9]{8}-[0-9]{6}-' COLLATE "C" AND started_at IS NULL LIMIT $1)"#;

/// Size of a stored piece of a file in bytes.
const PIECE: u64 = crate::apply::PIECE as u64;

/// The path of the rows of agents that outlive runs; a `.prose` folder uses the same name.
const AGENTS: &str = "agents.db";

/// A source of runs in PostgreSQL. The path `runs/ID/state.db` means the rows of a run, `runs/ID/attachments/…` its
/// files, and `agents.db` the agents that outlive runs.
pub struct PostgresSource {
    address: Address,
    /// The id of the only run; `None` for several runs, whose attachments are not listed.
    run: Option<String>,
    /// Number of runs that are not listed; `None` if all runs are listed.
    more: Option<u32>,
    keeper: Option<Keeper>,
    /// Whether executions have the ids of the store from which they were imported (`x_source_id`), not their own.
    source_ids: bool,
    files: Vec<FileEntry>,
    /// The run's folder on this machine, and the paths of the attachments that are read from this folder.
    beside: Option<(LocalAttachments, BTreeSet<String>)>,
}

impl PostgresSource {
    /// Connects, and lists the rows and attachments of a run. The list is empty if the run does not exist.
    ///
    /// # Errors
    /// If the server cannot be reached, or cannot list the run's attachments.
    pub fn open(address: &Address, run: &str) -> Result<PostgresSource, Fault> {
        PostgresSource::of(address, Some(run), |server| {
            let sql = "SELECT FROM openprose.run WHERE id = $1";
            let there = server.ask(sql, &[text(run)])?;
            let mut files: Vec<FileEntry> = there.iter().map(|_| entry(run, ROWS, 1)).collect();
            if has(server, "openprose.x_attachments")? {
                let sql =
                    "SELECT path, sum(octet_length(bytes))::bigint FROM openprose.x_attachments
                           WHERE run_id = $1 GROUP BY path";
                for row in server.ask(sql, &[text(run)])? {
                    files.push(entry(run, get(&row, 0)?, get(&row, 1)?));
                }
            }
            Ok(files)
        })
    }

    /// Connects, and lists all runs without their attachments.
    ///
    /// # Errors
    /// If the server cannot be reached, or cannot list the runs.
    pub fn all(address: &Address) -> Result<PostgresSource, Fault> {
        PostgresSource::of(address, None, |server| {
            let rows = server.ask("SELECT id FROM openprose.run", &[])?;
            let files = rows.iter().map(|row| Ok(entry(get(row, 0)?, ROWS, 1)));
            files.collect()
        })
    }

    /// Connects, and lists the newest runs without their attachments. The list has at least `most` runs, if the
    /// database contains so many.
    ///
    /// # Errors
    /// If the server cannot be reached, or cannot list the newest runs and count all.
    pub fn newest(address: &Address, most: usize) -> Result<PostgresSource, Fault> {
        let mut total = 0;
        let mut source = PostgresSource::of(address, None, |server| {
            let rows = server.ask(NEWEST, &[int(i64::try_from(most).unwrap_or(i64::MAX))])?;
            for row in server.ask("SELECT count(*) FROM openprose.run", &[])? {
                total = u32::try_from(get::<i64>(&row, 0)?).unwrap_or_default();
            }
            let files = rows.iter().map(|row| Ok(entry(get(row, 0)?, ROWS, 1)));
            files.collect()
        })?;
        source.more =
            Some(total.saturating_sub(u32::try_from(source.files.len()).unwrap_or(u32::MAX)));
        Ok(source)
    }

    /// Connects, and lists the agents of a keeper, which outlive runs.
    ///
    /// # Errors
    /// If the server cannot be reached, or its table of agents cannot be read.
    pub fn agents(address: &Address, keeper: Keeper) -> Result<PostgresSource, Fault> {
        PostgresSource::of(address, None, |_| Ok(Vec::new()))?.with_agents(keeper)
    }

    /// Adds `agents.db` to the list, if the database contains agents that outlive runs.
    ///
    /// # Errors
    /// If the server cannot be asked whether it has such agents.
    pub fn with_agents(mut self, keeper: Keeper) -> Result<PostgresSource, Fault> {
        let server = PgClient::connect(&self.address)?;
        let sql = "SELECT EXISTS (SELECT FROM openprose.agents WHERE run_id IS NULL)";
        let looked = match server.ask(sql, &[]) {
            Err(lost) if fault::is_no_table(&lost) => Ok(None),
            found => found.map(|rows| rows.first().map(|row| get(row, 0))),
        };
        let wrong = |lost: Lost| fault::unread_fault(&self.address, &lost);
        let found: Option<bool> = looked
            .map_err(wrong)?
            .transpose()
            .map_err(|error| wrong(error.into()))?;
        server.release();
        if found == Some(true) {
            self.files.push(FileEntry {
                path: AGENTS.to_owned(),
                len: 1,
                modified: None,
            });
            self.files.sort_by(|one, other| one.path.cmp(&other.path));
        }
        self.keeper = Some(keeper);
        Ok(self)
    }

    /// Adds the attachments in the run's folder on this machine that the database does not contain.
    #[must_use]
    pub fn with_files_of(mut self, folder: Rc<dyn Source>) -> PostgresSource {
        let Some(run) = &self.run else {
            return self;
        };
        let beside = LocalAttachments::new(folder, &PostgresSource::place(run));
        let here: Vec<FileEntry> = beside
            .files()
            .filter(|file| self.file(&file.path).is_none())
            .collect();
        let paths = here.iter().map(|file| file.path.clone()).collect();
        self.files.extend(here);
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        self.beside = Some((beside, paths));
        self
    }

    /// Makes executions have the ids of their original store, for a copy that returns to that store.
    #[must_use]
    pub fn by_source_ids(mut self) -> PostgresSource {
        self.source_ids = true;
        self
    }

    /// Returns a text that differs after each write to the run.
    ///
    /// # Errors
    /// If one of the run's tables cannot be read.
    pub fn written(&self) -> Result<String, Fault> {
        let server = PgClient::connect(&self.address)?;
        let run = self.run.as_deref().unwrap_or_default();
        let unread = |lost: Lost| fault::unread_fault(&self.address, &lost);
        let mut look = Vec::new();
        for (table, column) in WRITTEN {
            let sql = format!(
                "SELECT concat_ws(' ', count(*), sum(xmin::text::bigint), max(xmin::text::bigint))
                 FROM openprose.{table} WHERE {column} = $1"
            );
            if !has(&server, &format!("openprose.{table}")).map_err(unread)? {
                continue;
            }
            for row in server.ask(&sql, &[text(run)]).map_err(unread)? {
                let said: String = get(&row, 0).map_err(|error| unread(error.into()))?;
                look.push(format!("{table} {said}"));
            }
        }
        server.release();
        Ok(look.join("\n"))
    }

    /// Returns the path of a run in the source: `runs/ID`.
    pub fn place(run: &str) -> String {
        format!("runs/{run}")
    }

    fn of(
        address: &Address,
        run: Option<&str>,
        list: impl FnOnce(&PgClient) -> Result<Vec<FileEntry>, Lost>,
    ) -> Result<PostgresSource, Fault> {
        let server = PgClient::connect(address)?;
        let listed = list(&server).or_else(|lost| {
            if fault::is_no_table(&lost) {
                Ok(Vec::new())
            } else {
                Err(lost)
            }
        });
        let mut files = listed.map_err(|lost| fault::unread_fault(address, &lost))?;
        server.release();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(PostgresSource {
            address: address.clone(),
            run: run.map(str::to_owned),
            more: None,
            keeper: None,
            source_ids: false,
            files,
            beside: None,
        })
    }

    /// Splits a path such as `runs/ID/state.db` into the run's id and the path inside of the run.
    fn split<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let inside = path.strip_prefix("runs/")?;
        match &self.run {
            Some(run) => {
                let file = inside.strip_prefix(run.as_str())?.strip_prefix('/')?;
                Some((inside.get(..run.len())?, file))
            }
            None => inside.rsplit_once('/'),
        }
    }
}

fn entry(run: &str, path: &str, len: i64) -> FileEntry {
    FileEntry {
        path: format!("{}/{path}", PostgresSource::place(run)),
        len: len.unsigned_abs(),
        modified: None,
    }
}

impl Source for PostgresSource {
    fn label(&self) -> String {
        self.address.to_string()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        if let Some((beside, paths)) = &self.beside
            && paths.contains(path)
        {
            return beside.read(path, offset, len);
        }
        let unreadable = |lost: Lost| SourceError::Unreadable {
            path: path.to_owned(),
            cause: fault::unread(&self.address, &lost).to_string(),
        };
        let found = self.split(path).filter(|(_, file)| *file != ROWS);
        let (Some((run, file)), Some(entry)) = (found, self.file(path)) else {
            return Err(SourceError::NotFound(path.to_owned()));
        };
        let unconnected = |fault: Fault| SourceError::Unreadable {
            path: path.to_owned(),
            cause: fault.to_string(),
        };
        let server = PgClient::connect(&self.address).map_err(unconnected)?;
        let end = offset.saturating_add(len as u64).min(entry.len);
        let mut bytes = Vec::new();
        let mut at = offset;
        while at < end {
            let sql = "SELECT bytes FROM openprose.x_attachments WHERE run_id = $1 AND path = $2 AND piece = $3";
            let piece = i64::try_from(at / PIECE).unwrap_or(i64::MAX);
            let rows = server.ask(sql, &[text(run), text(file), int(piece)]);
            let rows = rows.map_err(unreadable)?;
            let row = rows
                .first()
                .ok_or_else(|| SourceError::Changed(path.to_owned()))?;
            let held: &[u8] = get(row, 0).map_err(|error| unreadable(error.into()))?;
            let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(held.len());
            let part = held
                .get(within(at % PIECE)..within(at % PIECE + (end - at)))
                .unwrap_or_default();
            if part.is_empty() {
                return Err(SourceError::Changed(path.to_owned()));
            }
            bytes.extend_from_slice(part);
            at += part.len() as u64;
        }
        server.release();
        Ok(bytes)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        if let (AGENTS, Some(keeper)) = (path, &self.keeper) {
            let of = RowOwner::Agents(keeper.clone());
            return reader(path, PostgresRun::of(&self.address, of, limits));
        }
        let Some((run, ROWS)) = self.split(path) else {
            return Err(SourceError::NotFound(path.to_owned()));
        };
        match PostgresRun::connect(&self.address, run, limits) {
            Ok(found) if self.source_ids => {
                let found = found.by_source_ids();
                let found = found.map_err(|error| SourceError::of_database(path, &error))?;
                Ok(Box::new(found))
            }
            found => reader(path, found),
        }
    }

    fn all_runs(&self, limits: &Limits) -> Result<Option<Box<dyn Database>>, SourceError> {
        if self.run.is_some() {
            return Ok(None);
        }
        let listed = || {
            let places = self.files.iter().filter_map(|file| self.split(&file.path));
            places.map(|(run, _)| run.to_owned()).collect()
        };
        let of = RowOwner::Runs(self.more.map(|_| listed()));
        reader(ROWS, PostgresRun::of(&self.address, of, limits)).map(Some)
    }

    fn some_runs(
        &self,
        ids: &[&str],
        limits: &Limits,
    ) -> Result<Option<Box<dyn Database>>, SourceError> {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let of = RowOwner::Runs(Some(ids));
        reader(ROWS, PostgresRun::of(&self.address, of, limits)).map(Some)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn more_runs(&self) -> u32 {
        self.more.unwrap_or_default()
    }
}

fn reader(
    path: &str,
    reader: Result<PostgresRun, Fault>,
) -> Result<Box<dyn Database>, SourceError> {
    let reader = reader
        .map_err(|fault| SourceError::of_database(path, &DecodeError::Server(fault.to_string())))?;
    Ok(Box::new(reader))
}
