//! A run of a database as a source: its rows, and the files beside them.

use prosescope_core::database::{Database, DecodeError, Limits};
use prosescope_core::source::{FileEntry, Source, SourceError};
use prosescope_core::write::Fault;

use crate::address::Address;
use crate::fault;
use crate::read::PostgresRun;
use crate::rows::get;
use crate::server::{Lost, Server, int, text};

/// The rows of a run, under the name that the core knows a run's database by.
const ROWS: &str = "state.db";

/// Bytes of a piece of a file, as they are written.
const PIECE: u64 = crate::apply::PIECE as u64;

/// Runs in PostgreSQL: `ID/state.db` are the rows of one, `ID/attachments/…` its files.
pub struct PostgresSource {
    address: Address,
    server: Server,
    runs: Vec<String>,
    files: Vec<FileEntry>,
}

impl PostgresSource {
    /// Connects, and lists what there is of a run; of one that is not there, nothing.
    ///
    /// # Errors
    /// When the server does not answer, or refuses.
    pub fn open(address: &Address, run: &str) -> Result<PostgresSource, Fault> {
        PostgresSource::of(address, |source| {
            let there = source
                .server
                .rows("SELECT FROM openprose.run WHERE id = $1", &[text(run)])?;
            if !there.is_empty() {
                source.add(run, ROWS, 1);
            }
            source.runs.push(run.to_owned());
            if !has(&source.server, "openprose.x_attachments")? {
                return Ok(());
            }
            let sql = "SELECT path, sum(octet_length(bytes))::bigint FROM openprose.x_attachments
                       WHERE run_id = $1 GROUP BY path";
            for row in source.server.rows(sql, &[text(run)])? {
                source.add(run, get(&row, 0)?, get(&row, 1)?);
            }
            Ok(())
        })
    }

    /// Connects, and lists the runs that started last, without the files beside their rows.
    ///
    /// # Errors
    /// When the server does not answer, or refuses.
    pub fn newest(address: &Address, most: u32) -> Result<PostgresSource, Fault> {
        PostgresSource::of(address, |source| {
            let sql = "SELECT id FROM openprose.run ORDER BY started_at DESC, id DESC LIMIT $1";
            for row in source.server.rows(sql, &[int(i64::from(most))])? {
                let run: String = get(&row, 0)?;
                source.add(&run, ROWS, 1);
                source.runs.push(run);
            }
            Ok(())
        })
    }

    fn of(
        address: &Address,
        list: impl FnOnce(&mut PostgresSource) -> Result<(), Lost>,
    ) -> Result<PostgresSource, Fault> {
        let mut source = PostgresSource {
            address: address.clone(),
            server: Server::connect(address)?,
            runs: Vec::new(),
            files: Vec::new(),
        };
        let listed = has(&source.server, "openprose.run").and_then(|there| match there {
            true => list(&mut source),
            false => Ok(()),
        });
        listed.map_err(|lost| fault::unread_fault(address, &lost))?;
        source.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(source)
    }

    fn add(&mut self, run: &str, path: &str, len: i64) {
        self.files.push(FileEntry {
            path: format!("{run}/{path}"),
            len: len.unsigned_abs(),
            modified: None,
        });
    }

    /// The run of a path, and what lies in it.
    fn split<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        self.runs.iter().find_map(|run| {
            let inside = path.strip_prefix(run.as_str())?.strip_prefix('/')?;
            Some((run.as_str(), inside))
        })
    }
}

fn has(server: &Server, table: &str) -> Result<bool, Lost> {
    let rows = server.rows("SELECT to_regclass($1) IS NOT NULL", &[text(table)])?;
    let there = rows.first().map(|row| get(row, 0)).transpose()?;
    Ok(there.unwrap_or_default())
}

impl Source for PostgresSource {
    fn label(&self) -> String {
        self.address.to_string()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let unreadable = |lost: Lost| SourceError::Unreadable {
            path: path.to_owned(),
            cause: fault::unread(&self.address, &lost).to_string(),
        };
        let found = self.split(path).filter(|(_, file)| *file != ROWS);
        let (Some((run, file)), Some(entry)) = (found, self.file(path)) else {
            return Err(SourceError::NotFound(path.to_owned()));
        };
        let end = offset.saturating_add(len as u64).min(entry.len);
        let mut bytes = Vec::new();
        let mut at = offset;
        while at < end {
            let sql = "SELECT bytes FROM openprose.x_attachments WHERE run_id = $1 AND path = $2 AND piece = $3";
            let piece = i64::try_from(at / PIECE).unwrap_or(i64::MAX);
            let rows = self
                .server
                .rows(sql, &[text(run), text(file), int(piece)])
                .map_err(unreadable)?;
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
        Ok(bytes)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let Some((run, ROWS)) = self.split(path) else {
            return Err(SourceError::NotFound(path.to_owned()));
        };
        let reader = PostgresRun::connect(&self.address, run, limits);
        let reader = reader.map_err(|fault| {
            SourceError::of_database(path, &DecodeError::Server(fault.to_string()))
        })?;
        Ok(Box::new(reader))
    }
}
