//! Rows that are handed on as they come, so that no answer is held as a whole.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use prosescope_core::database::DecodeError;
use tokio_postgres::Row;

use super::PostgresRun;
use crate::rows::get;
use crate::server::{Bound, Lost, typed};

/// How often somebody who waits is asked whether to stop.
const ASK: Duration = Duration::from_millis(50);

/// Rows of one run that have the same address: a damaged table may have some.
const SAME: u32 = 1000;

/// Rows behind the last wanted one that are passed over; where there are more, the server is asked to stop.
const BEHIND: u32 = 1000;

impl PostgresRun {
    /// Hands rows on as they come, each with its address, until `each` returns `false`. The first column is the address, by
    /// which the statement orders its rows: a server that gives a row twice would never end.
    pub(super) fn each(
        &self,
        sql: &str,
        bound: &[Bound<'_>],
        each: &mut dyn FnMut(i64, &Row) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        if self.busy.replace(true) {
            return Err(DecodeError::Refused(
                "a question while rows are handed out".to_owned(),
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
        // How many came behind the last wanted one, once that came.
        let mut behind = None;
        // What moved since, in the time that it was waited for: whoever takes the rows may take their time.
        let (mut moved, mut waited) = (meter.moved(), Duration::ZERO);
        loop {
            // What is passed over is counted as one answer, so that it ends.
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
                    // Those of several runs have addresses of their own in each.
                    same = match at == last && self.of.run().is_some() {
                        true => same + 1,
                        false => 0,
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
                // It stopped, as it was asked to, and its transaction failed.
                (Err(error), Some(BEHIND..)) if error.code().is_some() => {
                    return match self.snapshot.get() {
                        true => self.back(),
                        false => Ok(()),
                    };
                }
                (Err(error), _) => return Err(self.unread(self.server.lost(error))),
            }
        }
    }
}
