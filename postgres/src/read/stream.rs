//! Streams rows to a callback, so that an answer is never kept in memory as a whole.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use prosescope_core::model::database::DecodeError;
use tokio_postgres::Row;

use super::PostgresRun;
use crate::cell::get;
use crate::server::{Bound, Lost, typed};

/// The interval at which a waiting reader asks its caller whether to stop.
const ASK: Duration = Duration::from_millis(50);

/// The most rows of one run that may have the same address. Only a damaged table has several such rows.
const SAME: u32 = 1000;

/// The number of unwanted rows that are skipped at the end of an answer; if more follow, the server is asked to stop.
const BEHIND: u32 = 1000;

impl PostgresRun {
    /// Passes rows to `each` as they arrive, each with its address, until `each` returns `false`. The first column is
    /// the address, by which the statement orders its rows. Falling or repeated addresses reveal a server that sends
    /// rows again and again.
    pub(super) fn each(
        &self,
        sql: &str,
        bound: &[Bound<'_>],
        each: &mut dyn FnMut(i64, &Row) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        if self.busy.replace(true) {
            return Err(DecodeError::Refused(
                "another query before all rows of the previous query were read".to_owned(),
            ));
        }
        let done = self.stream(sql, bound, each);
        self.busy.set(false);
        done
    }

    fn stream(
        &self,
        sql: &str,
        bound: &[Bound<'_>],
        each: &mut dyn FnMut(i64, &Row) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        let client = self.server.client();
        let asked = self.server.wait(client.query_typed_raw(sql, typed(bound)));
        let rows = asked.ok_or_else(|| self.unread(Lost::Silent))?;
        let mut rows = pin!(rows.map_err(|error| self.unread(self.server.lost(error)))?);
        let meter = self.server.meter();
        let (mut last, mut same) = (i64::MIN, 0);
        // The number of rows received after the last wanted row.
        let mut behind = None;
        // The bytes moved at the last measurement and the waiting time since; time that the callback takes does not
        // count.
        let (mut moved, mut waited) = (meter.moved(), Duration::ZERO);
        loop {
            // All skipped rows count as one answer, so that the limit for one answer applies to them together.
            if behind.is_none() {
                meter.begin();
            }
            let next = loop {
                if self.is_stopped() {
                    self.server.cancel();
                    return Err(DecodeError::Stopped);
                }
                let asked = Instant::now();
                let next = self.server.wait_for(ASK, rows.try_next());
                waited += asked.elapsed();
                match self.server.is_at_pace(meter.moved() - moved, waited) {
                    Some(false) => {
                        self.server.give_up();
                        return Err(self.unread(Lost::Silent));
                    }
                    Some(true) => (moved, waited) = (meter.moved(), Duration::ZERO),
                    None => {}
                }
                if let Some(next) = next {
                    break next;
                }
            };
            match (next, &mut behind) {
                (Ok(None), _) => return Ok(()),
                (Ok(Some(row)), None) => {
                    let at: i64 = get(&row, 0).map_err(|error| self.unread(error))?;
                    // In a result for several runs, addresses are unique only within a run.
                    same = if at == last && self.of.run().is_some() {
                        same + 1
                    } else {
                        0
                    };
                    if at < last || same > SAME {
                        self.server.give_up();
                        return Err(self.unread(Lost::Flood("it sends rows again")));
                    }
                    last = at;
                    if !each(at, &row)? {
                        behind = Some(0);
                    }
                }
                (Ok(Some(_)), Some(behind)) => {
                    *behind += 1;
                    if *behind == BEHIND {
                        self.server.cancel();
                    }
                }
                // The server canceled the query as requested, which made the transaction fail. A rollback to the
                // savepoint makes the snapshot usable again.
                (Err(error), Some(BEHIND..)) if error.code().is_some() => {
                    return if self.snapshot.get() {
                        self.back()
                    } else {
                        Ok(())
                    };
                }
                (Err(error), _) => return Err(self.unread(self.server.lost(error))),
            }
        }
    }
}
