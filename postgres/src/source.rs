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

/// A run in PostgreSQL: `ID/state.db` are its rows, `ID/attachments/…` its files.
pub struct PostgresSource {
    address: Address,
    server: Server,
    run: String,
    files: Vec<FileEntry>,
}

impl PostgresSource {
    /// Connects, and lists what there is of a run; of one that is not there, nothing.
    ///
    /// # Errors
    /// When the server does not answer, or refuses.
    pub fn open(address: &Address, run: &str) -> Result<PostgresSource, Fault> {
        let server = Server::connect(address)?;
        let mut files = Vec::new();
        let wrong = |lost: Lost| fault::unread_fault(address, &lost);
        let has = |table: &str| -> Result<bool, Lost> {
            let rows = server.rows("SELECT to_regclass($1) IS NOT NULL", &[text(table)])?;
            Ok(rows
                .first()
                .map(|row| get(row, 0))
                .transpose()?
                .unwrap_or_default())
        };
        let mut add = |path: &str, len: i64| {
            files.push(FileEntry {
                path: format!("{run}/{path}"),
                len: len.unsigned_abs(),
                modified: None,
            });
        };
        if has("openprose.run").map_err(wrong)? {
            let there = server.rows("SELECT FROM openprose.run WHERE id = $1", &[text(run)]);
            if !there.map_err(wrong)?.is_empty() {
                add(ROWS, 1);
            }
        }
        if has("openprose.x_attachments").map_err(wrong)? {
            let sql = "SELECT path, sum(octet_length(bytes))::bigint FROM openprose.x_attachments
                       WHERE run_id = $1 GROUP BY path";
            for row in server.rows(sql, &[text(run)]).map_err(wrong)? {
                let (path, len) = (get(&row, 0), get(&row, 1));
                add(
                    path.map_err(|e| wrong(e.into()))?,
                    len.map_err(|e| wrong(e.into()))?,
                );
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(PostgresSource {
            address: address.clone(),
            server,
            run: run.to_owned(),
            files,
        })
    }

    /// The place of the run in its source.
    pub fn place(&self) -> &str {
        &self.run
    }

    fn within<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.run.as_str())?.strip_prefix('/')
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
        let unreadable = |lost: Lost| SourceError::Unreadable {
            path: path.to_owned(),
            cause: fault::unread(&self.address, &lost).to_string(),
        };
        let file = self.within(path).filter(|file| *file != ROWS);
        let (Some(file), Some(entry)) = (file, self.file(path)) else {
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
                .rows(sql, &[text(&*self.run), text(file), int(piece)])
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
        if self.within(path) != Some(ROWS) {
            return Err(SourceError::NotFound(path.to_owned()));
        }
        let reader = PostgresRun::connect(&self.address, &self.run, limits);
        let reader = reader.map_err(|fault| {
            SourceError::of_database(path, &DecodeError::Server(fault.to_string()))
        })?;
        Ok(Box::new(reader))
    }
}
