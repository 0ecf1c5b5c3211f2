//! Finds out whether a transaction with an unanswered COMMIT was recorded: queries the server over new connections
//! until the result is known.
//!
//! A COMMIT can be slow because of a busy disk or a replica. Its transaction then still holds its locks, so Prosescope
//! waits as for any other writer ([`GOES_ON`]). A server that is down refuses connections, but may come back, so
//! Prosescope connects again and again ([`AWAY`]). A server that accepts a query and never answers is given up soon.

use std::thread;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::fault;
use crate::server::{LOOK, Lost, PgClient};

/// How long to wait for an unreachable server.
const AWAY: Duration = Duration::from_secs(20);

/// How long to wait for a transaction that is still open.
const GOES_ON: Duration = Duration::from_secs(25);

/// Calls `look` until the result is known; `look` returns `None` or a lock error while the transaction is open.
///
/// Returns `None` if the result is still unknown after the waiting time, or if the server does not answer a query.
pub(crate) fn settled<T>(
    address: &Address,
    mut look: impl FnMut(&PgClient) -> Result<Option<T>, Lost>,
) -> Option<T> {
    let soon = address.clone().within(LOOK.min(address.answer));
    let begun = Instant::now();
    loop {
        let asked = Instant::now();
        let patience = match PgClient::connect(&soon).map(|server| (look(&server), server)) {
            Ok((Ok(Some(found)), server)) => {
                server.release();
                return Some(found);
            }
            Ok((Ok(None), _)) => GOES_ON,
            Ok((Err(lost), _)) if fault::is_locked(&lost) => GOES_ON,
            Ok((Err(Lost::Silent | Lost::Flood(_)), _)) => return None,
            // The attempt to connect took the whole time limit, so the server counts as silent and is given up.
            Err(_) if asked.elapsed() >= soon.answer => return None,
            Ok((Err(_), _)) | Err(_) => AWAY,
        };
        if begun.elapsed() >= patience {
            return None;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
