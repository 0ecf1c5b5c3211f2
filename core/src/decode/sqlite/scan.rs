//! Walking over a table whose shape is not known, without ever holding a large value.
//!
//! A statement is made for the columns that are there. SQLite reads a row's columns in order, and a column
//! behind a large value costs that value's pages (build.md, "Lazy lists"); `octet_length` and `typeof` look at
//! the row's header only. So each text is asked for under a condition on its length, and a column that may lie
//! behind a large one under a condition on what lies before it.

use std::collections::BTreeMap;
use std::rc::Rc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::cells::{At, Texts, int_of, stamp_of, text_from, text_of};
use super::error::{DecodeError, bytes_in_words};
use super::notes::Notes;
use super::read;
use super::shape::{self, Shape, quoted};
use crate::issue::Issue;
use crate::model::Text;
use crate::schema::Found;
use crate::time::Stamp;

/// Longest statement, message, metadata …; the rest of a longer one is read when somebody opens the row.
pub(super) const LONG_TEXT: u32 = 64 << 10;
/// Longest name, kind, status, time.
pub(super) const SHORT_TEXT: u32 = 4 << 10;
/// Bytes that a row takes on its page at least: two that point to it, its length, its key, the length of its header.
const SMALLEST_ROW: u64 = 5;
/// How many times its file's bytes a database's texts may take: UTF-16 takes fewer bytes than UTF-8 at best by half.
const MOST_READ: u64 = 2;
/// Rows of one table that are held.
pub(super) const MOST_ROWS: usize = 1_000_000;

/// A column that is wanted of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Want {
    pub(super) column: &'static str,
    /// The longest text that is read; longer ones are cut.
    pub(super) most: u32,
    /// Read only where the columns before it take at most so many bytes.
    pub(super) within: Option<u32>,
}

impl Want {
    pub(super) const fn short(column: &'static str) -> Want {
        Want {
            column,
            most: SHORT_TEXT,
            within: None,
        }
    }

    pub(super) const fn long(column: &'static str) -> Want {
        Want {
            column,
            most: LONG_TEXT,
            within: None,
        }
    }

    pub(super) const fn within(self, bytes: u32) -> Want {
        Want {
            within: Some(bytes),
            ..self
        }
    }
}

/// What a scan works with: the connection, what is known of the database, and what was found odd.
#[derive(Debug)]
pub(super) struct Reader<'c> {
    pub(super) conn: &'c Connection,
    /// Shared, so that a table's shape can be looked at while its rows are read.
    pub(super) shape: Rc<Shape>,
    pub(super) notes: Notes,
    pub(super) texts: Texts,
    /// Where several runs share the file: rows of others, by a `run_id` that the documents do not have, are
    /// left out.
    pub(super) only_run: Option<Text>,
    /// Rows of the tables that were walked over from end to end.
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// The documents' tables that are known to have no rows: making the statement that walks over one costs more than
    /// many a table's rows.
    empty: Vec<&'static str>,
    /// What stopped the last walk that was stopped; it is in the notes as well.
    pub(super) failed: Option<DecodeError>,
    /// Bytes of the whole file: its rows cannot take more, nor can there be more of them than have room in it.
    file_len: u64,
}

impl<'c> Reader<'c> {
    pub(super) fn new(conn: &'c Connection, name: &str) -> Result<Reader<'c>, DecodeError> {
        let mut reader = Reader::of(conn, Shape::discover(conn)?, name)?;
        // What is damaged says so when it is walked over.
        reader.empty = shape::empty_tables(conn, &reader.shape).unwrap_or_default();
        Ok(reader)
    }

    /// A reader that knows one table only.
    pub(super) fn of_table(
        conn: &'c Connection,
        table: &str,
        name: &str,
    ) -> Result<Reader<'c>, DecodeError> {
        let shape = Shape {
            tables: vec![shape::find(conn, table)?],
            utf8: shape::is_utf8(conn)?,
        };
        Reader::of(conn, shape, name)
    }

    fn of(conn: &'c Connection, shape: Shape, name: &str) -> Result<Reader<'c>, DecodeError> {
        Ok(Reader {
            file_len: read::file_len(conn)?,
            conn,
            shape: Rc::new(shape),
            notes: Notes::new(name),
            texts: Texts::default(),
            only_run: None,
            counts: BTreeMap::new(),
            empty: Vec::new(),
            failed: None,
        })
    }
}

/// Says that something was not read to its end, and why.
pub(super) fn not_read(error: &DecodeError, message: String) -> Issue {
    let rule = match error {
        _ if error.is_stopped() => "reading-stopped",
        _ if error.is_failed() => "reading-failed",
        _ => "table-damaged",
    };
    Issue::error(rule, message).hint(error.next_step())
}

/// One row of a scan.
pub(super) struct Cells<'a, 'r> {
    row: &'a Row<'r>,
    conn: &'a Connection,
    table: &'static str,
    found: &'a Found,
    wants: &'a [Want],
    /// The row's address: its rowid, or its place in the table's order.
    pub(super) at: i64,
    cut: bool,
    pub(super) notes: &'a mut Notes,
    pub(super) texts: &'a mut Texts,
}

impl Reader<'_> {
    /// Walks over a table in the order in which it is stored. `extra` are expressions of ours, made for this
    /// table. Does nothing where there is no such table; what stops the walk is an issue.
    pub(super) fn scan(
        &mut self,
        table: &'static str,
        wants: &[Want],
        extra: &[String],
        each: impl FnMut(&mut Cells<'_, '_>),
    ) {
        let shape = Rc::clone(&self.shape);
        let Some(found) = shape.table(table) else {
            return;
        };
        if self.empty.contains(&table) {
            self.counts.insert(table, 0);
            return;
        }
        let mut sql = select(found, wants, extra);
        // What an index says is not asked: of a damaged file the table itself is believed.
        sql.push_str(" NOT INDEXED");
        let mut filter: Option<rusqlite::types::Value> = None;
        if let (Some(run), Some(column)) = (&self.only_run, found.column("run_id")) {
            let column = quoted(column);
            sql.push_str(&format!(" WHERE {column} IS NULL OR {column} = ?1"));
            filter = Some(run.to_string().into());
        }
        self.scan_by((table, found), sql, filter, wants, each);
    }

    /// Walks over the rows that an index finds, in the order in which they are stored: those whose `column` holds
    /// `text`. As [`Reader::scan`] otherwise; the rows that it gives may be more, as a column has a collation of its
    /// own.
    pub(super) fn scan_named(
        &mut self,
        table: &'static str,
        (column, text): (&str, &str),
        wants: &[Want],
        extra: &[String],
        each: impl FnMut(&mut Cells<'_, '_>),
    ) {
        let shape = Rc::clone(&self.shape);
        let Some(found) = shape.table(table) else {
            return;
        };
        let mut sql = select(found, wants, extra);
        // A text may be stored as a BLOB.
        let column = quoted(column);
        sql.push_str(&format!(" WHERE {column} IN (?1, CAST(?1 AS BLOB))"));
        let filter = Some(text.to_owned().into());
        self.scan_by((table, found), sql, filter, wants, each);
    }

    fn scan_by(
        &mut self,
        (table, found): (&'static str, &Found),
        mut sql: String,
        filter: Option<rusqlite::types::Value>,
        wants: &[Want],
        mut each: impl FnMut(&mut Cells<'_, '_>),
    ) {
        sql.push_str(&order(found));
        let filtered = filter.is_some();
        let mut count = 0_usize;
        let walked = self.walk((table, found), &sql, filter, wants, |cells| {
            count += 1;
            let more = count <= MOST_ROWS;
            if more {
                each(cells);
            }
            more
        });
        match walked {
            Ok(()) if count > MOST_ROWS => self.notes.add(
                Issue::error(
                    "too-many-rows",
                    format!("{table} has more than {MOST_ROWS} rows; the others are not shown"),
                )
                .at_table(table)
                .hint("Look at the table itself under files and tables."),
            ),
            Ok(()) if filtered => {}
            Ok(()) => {
                self.counts.insert(table, count as u64);
            }
            Err(error) => {
                let message = format!("{table} was read up to row {count}: {error}");
                self.notes.add(not_read(&error, message).at_table(table));
                self.failed = Some(error);
            }
        }
    }

    /// Reads one row by its address.
    pub(super) fn scan_row(
        &mut self,
        table: &'static str,
        wants: &[Want],
        at: i64,
        mut each: impl FnMut(&mut Cells<'_, '_>),
    ) -> Result<(), DecodeError> {
        let shape = Rc::clone(&self.shape);
        let found = shape
            .table(table)
            .ok_or_else(|| DecodeError::NotFound(format!("table {table}")))?;
        let mut sql = select(found, wants, &[]);
        sql.push_str(" NOT INDEXED");
        sql.push_str(&read::address(found).replace("?2", "1"));
        self.walk((table, found), &sql, Some(at.into()), wants, |cells| {
            each(cells);
            false
        })
    }

    /// How many rows a table has at the most, by the ids at its ends: two steps down the tree, no scan. 0 where
    /// its rows have no ids, or nothing is to be had.
    pub(super) fn span(&self, table: &str) -> u64 {
        let Some(found) = self.shape.table(table) else {
            return 0;
        };
        let Some(rowid) = found.rowid_name() else {
            return 0;
        };
        let name = quoted(&found.info.name);
        let sql = format!(
            "SELECT (SELECT max({rowid}) FROM {name}) - (SELECT min({rowid}) FROM {name}) + 1"
        );
        let span = self
            .conn
            .query_row(&sql, [], |row| row.get::<_, Option<i64>>(0));
        u64::try_from(span.ok().flatten().unwrap_or(0)).unwrap_or(0)
    }

    /// How many rows to make room for, so that a long list is not moved while it grows (in wasm, memory that was
    /// held once is never given back). A guess, and capped.
    pub(super) fn room_for(&self, table: &str) -> usize {
        const MOST: u64 = 1 << 17;
        self.span(table).min(MOST) as usize
    }

    /// Runs a statement of [`select`]; `each` says whether to go on.
    fn walk(
        &mut self,
        (table, found): (&'static str, &Found),
        sql: &str,
        parameter: Option<rusqlite::types::Value>,
        wants: &[Want],
        mut each: impl FnMut(&mut Cells<'_, '_>) -> bool,
    ) -> Result<(), DecodeError> {
        let mut place = 0_i64;
        let by_rowid = found.rowid_name().is_some();
        let mut statement = self.conn.prepare(sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(parameter))?;
        let mut before: Option<i64> = None;
        while let Some(row) = rows.next()? {
            let at = if by_rowid { row.get(0)? } else { place };
            place += 1;
            if by_rowid && before.is_some_and(|before| at <= before) {
                return Err(out_of_order(at));
            }
            before = Some(at);
            if place as u64 > self.file_len / SMALLEST_ROW
                || self.texts.read > MOST_READ * self.file_len
            {
                return Err(more_than_the_file());
            }
            let mut cells = Cells {
                cut: row.get::<_, Option<i64>>(1)?.unwrap_or(0) > 0,
                row,
                conn: self.conn,
                table,
                found,
                wants,
                at,
                notes: &mut self.notes,
                texts: &mut self.texts,
            };
            if !each(&mut cells) {
                break;
            }
        }
        Ok(())
    }
}

impl Cells<'_, '_> {
    /// The i-th of the extra expressions.
    pub(super) fn extra(&self, i: usize) -> ValueRef<'_> {
        self.row
            .get_ref(i + 2 + self.wants.len())
            .unwrap_or(ValueRef::Null)
    }

    /// The i-th of the extra expressions as a number.
    pub(super) fn extra_int(&self, i: usize) -> Option<i64> {
        self.extra(i).as_i64().ok()
    }

    fn place(&self, i: usize) -> At {
        At {
            table: self.table,
            row: self.at,
            column: self.wants.get(i).map_or("", |w| w.column),
        }
    }

    /// The i-th wanted column as text.
    pub(super) fn string(&mut self, i: usize) -> Option<String> {
        let at = self.place(i);
        let value = self.row.get_ref(i + 2).unwrap_or(ValueRef::Null);
        let text = match text_of(value, at, self.notes) {
            None if self.cut => self.cut_text(i),
            text => text,
        };
        self.texts.read += text.as_ref().map_or(0, |text| text.len() as u64);
        text
    }

    /// The i-th wanted column as a text that other rows may share.
    pub(super) fn text(&mut self, i: usize) -> Option<Text> {
        // The usual case takes no copy.
        if let Ok(Ok(text)) = self.row.get_ref(i + 2).map(|v| v.as_str()) {
            self.texts.read += text.len() as u64;
            return Some(self.texts.share(text));
        }
        let text = self.string(i)?;
        Some(self.texts.share(&text))
    }

    /// The i-th wanted column as a whole number.
    pub(super) fn int(&mut self, i: usize) -> Option<i64> {
        let at = self.place(i);
        let value = self.row.get_ref(i + 2).unwrap_or(ValueRef::Null);
        int_of(value, at, self.notes)
    }

    /// The i-th wanted column as a time.
    pub(super) fn stamp(&mut self, i: usize) -> Option<Stamp> {
        let at = self.place(i);
        let value = self.row.get_ref(i + 2).unwrap_or(ValueRef::Null);
        stamp_of(value, at, self.notes)
    }

    /// The beginning of a text that was too long to read whole.
    fn cut_text(&mut self, i: usize) -> Option<String> {
        let want = self.wants.get(i)?;
        let column = self.found.column(want.column)?;
        if want.within.is_some() {
            return None;
        }
        let (bytes, total) =
            read::prefix(self.conn, self.found, column, self.at, want.most).ok()??;
        let at = self.place(i);
        if total > u64::from(want.most) {
            self.notes.add(
                Issue::info(
                    "long-text",
                    format!(
                        "{column} takes {}; its first {} are shown",
                        bytes_in_words(total),
                        bytes_in_words(bytes.len() as u64)
                    ),
                )
                .at_row(at.table, at.row)
                .at_column(at.column)
                .hint("The rest is read when the row is opened."),
            );
        }
        Some(text_from(whole_characters(&bytes), at, self.notes))
    }
}

/// Rowids ascend, unless pages point back or to each other's children: such a tree may have more rows than can be
/// counted.
fn out_of_order(at: i64) -> DecodeError {
    DecodeError::Damaged(format!(
        "row {at} comes after a later one, so the table's pages point to each other"
    ))
}

fn more_than_the_file() -> DecodeError {
    DecodeError::Damaged("its rows claim more than the file holds, so they share pages".to_owned())
}

/// Without a character that was cut in two at the end.
pub(super) fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

/// `SELECT address, whether a text is too long, columns, extra FROM …`.
fn select(found: &Found, wants: &[Want], extra: &[String]) -> String {
    let mut sql = format!("SELECT {}, ", found.rowid_name().unwrap_or("NULL"));
    let too_long: Vec<String> = wants
        .iter()
        .filter_map(|w| {
            let column = quoted(found.column(w.column)?);
            Some(format!("coalesce(octet_length({column}) > {}, 0)", w.most))
        })
        .collect();
    sql.push_str(&if too_long.is_empty() {
        "0".to_owned()
    } else {
        too_long.join(" + ")
    });
    for want in wants {
        let Some(column) = found.column(want.column) else {
            sql.push_str(", NULL");
            continue;
        };
        let name = quoted(column);
        let before = want
            .within
            .and_then(|bytes| Some(format!(" AND {} <= {bytes}", before(found, column)?)))
            .unwrap_or_default();
        sql.push_str(&format!(
            ", CASE WHEN octet_length({name}) <= {}{before} THEN {name} END",
            want.most
        ));
    }
    for expression in extra {
        sql.push_str(", ");
        sql.push_str(expression);
    }
    sql.push_str(&format!(" FROM {}", quoted(&found.info.name)));
    sql
}

/// The order in which rows are stored, spelled out.
pub(super) fn order(found: &Found) -> String {
    match found.rowid_name() {
        Some(rowid) => format!(" ORDER BY {rowid}"),
        None if found.without_rowid => {
            let key: Vec<String> = found.key.iter().map(|k| quoted(k)).collect();
            format!(" ORDER BY {}", key.join(", "))
        }
        None => String::new(),
    }
}

/// An expression for the bytes that lie before a column in its row; `None` when it is the first. Behind
/// [`MOST_BEFORE`] columns nobody adds up: it is taken to be far away.
pub(super) fn before(found: &Found, column: &str) -> Option<String> {
    before_in(&found.stored_order(), column)
}

/// The same for columns in the order in which they are stored.
pub(super) fn before_in(stored: &[&str], column: &str) -> Option<String> {
    let columns: Vec<&&str> = stored
        .iter()
        .take_while(|c| **c != column)
        .take(MOST_BEFORE + 1)
        .collect();
    if columns.len() > MOST_BEFORE {
        return Some(i64::MAX.to_string());
    }
    let lengths: Vec<String> = columns
        .iter()
        .map(|c| format!("coalesce(octet_length({}), 0)", quoted(c)))
        .collect();
    balanced(&lengths)
}

/// Columns whose lengths are added up for each row. A table may have 2,000.
const MOST_BEFORE: usize = 64;

/// A sum as a balanced tree: SQLite bounds an expression's depth.
fn balanced(terms: &[String]) -> Option<String> {
    match terms {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            let (left, right) = many.split_at(many.len() / 2);
            Some(format!("({} + {})", balanced(left)?, balanced(right)?))
        }
    }
}
