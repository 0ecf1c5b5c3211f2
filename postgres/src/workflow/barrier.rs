//! Up to which id events are settled (errata, "Memoria": the cursor).
//!
//! An id is handed out before its row is committed. The newest id is read first, then the transactions that have the table open
//! for writing: an event with an older id that is not visible yet is of one of them, because an INSERT locks the table before
//! it takes its id. Not seen: an id that was fetched by an earlier statement of a transaction that had not written yet.

use prosescope_core::workflow::{Barrier, UnknownOrder, Waiting};

use crate::rows::get;
use crate::server::{Lost, Server, text};

/// The sequence of the ids of events.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    /// The table of events, as statements name it.
    pub(super) table: String,
    /// As statements name it; `None` where no sequence gives the ids.
    pub(super) name: Option<String>,
    /// Ids that a session takes at once.
    pub(super) cache: i64,
    /// What is between two ids.
    pub(super) step: i64,
    /// The server is a replica, which does not show who writes.
    pub(super) is_replica: bool,
}

impl Sequence {
    /// Why ids say nothing about the order of events, if they do not.
    fn unknown(&self) -> Option<UnknownOrder> {
        let why = if self.is_replica {
            "the server is a read replica, which does not show who writes: follow events on the primary".to_owned()
        } else if self.name.is_none() {
            format!(
                "no sequence gives the ids of {}: their order says nothing",
                self.table
            )
        } else if self.cache != 1 || self.step < 1 {
            format!(
                "the sequence of {} has CACHE {} and INCREMENT {}: its ids do not follow their order",
                self.table, self.cache, self.step
            )
        } else {
            return None;
        };
        Some(UnknownOrder(why))
    }
}

/// Transactions of other sessions that have the table, or a partition of it, open for writing.
const WRITERS: &str = "
    SELECT l.virtualtransaction, min(l.pid)::bigint, min(a.application_name)::text
    FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.granted AND l.mode = 'RowExclusiveLock'
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (l.relation = $1::text::regclass
           OR l.relation IN (SELECT relid FROM pg_partition_tree($1::text::regclass)))
      AND l.pid IS DISTINCT FROM pg_backend_pid()
    GROUP BY l.virtualtransaction ORDER BY 2";

/// Takes a barrier.
pub(super) fn take(server: &Server, sequence: &Sequence) -> Result<Barrier, Lost> {
    let (Some(name), None) = (&sequence.name, sequence.unknown()) else {
        return Ok(Barrier {
            unknown: sequence.unknown(),
            ..Barrier::default()
        });
    };
    // Two statements, one after the other: the newest id first.
    let newest = format!(
        "SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END, q.seqcache
         FROM {name} AS s, pg_sequence AS q WHERE q.seqrelid = $1::text::regclass"
    );
    let (of, by) = ([text(sequence.table.as_str())], [text(name.as_str())]);
    let both = futures_util::future::join(server.alone(&newest, &by), server.alone(WRITERS, &of));
    let (newest, open) = server.wait(both).ok_or(Lost::Silent)?;
    let newest = newest?;
    let newest = newest
        .first()
        .map(|row| Ok::<_, tokio_postgres::Error>((get::<i64>(row, 0)?, get::<i64>(row, 1)?)));
    let (until, cache) = newest.transpose()?.unwrap_or((0, 1));
    Ok(Barrier {
        until,
        waits: waiting(&open?)?,
        // It may have been altered since the tables were looked up.
        unknown: Sequence {
            cache,
            ..sequence.clone()
        }
        .unknown(),
    })
}

/// Those of them that have the table still open.
pub(super) fn still_open(
    server: &Server,
    sequence: &Sequence,
    waits: &[Waiting],
) -> Result<Vec<Waiting>, Lost> {
    let rows = server.ask(WRITERS, &[text(sequence.table.as_str())])?;
    let mut open = waiting(&rows)?;
    // A prepared transaction has another name once the server came back: any may be one of those.
    open.retain(|one| {
        let is_prepared = one.transaction.starts_with("-1/");
        is_prepared
            || waits
                .iter()
                .any(|known| known.transaction == one.transaction)
    });
    Ok(open)
}

fn waiting(rows: &[tokio_postgres::Row]) -> Result<Vec<Waiting>, tokio_postgres::Error> {
    let rows = rows.iter().map(|row| {
        let pid: Option<i64> = get(row, 1)?;
        Ok(Waiting {
            transaction: get(row, 0)?,
            pid: pid.and_then(|pid| i32::try_from(pid).ok()),
            application: get(row, 2)?,
        })
    });
    rows.collect()
}
