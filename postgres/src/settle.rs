//! What became of a transaction whose COMMIT was not answered: asked over new connections until one says it.
//!
//! A COMMIT can be slow: a busy disk, a replica. Then the transaction still holds its locks, the server says so to whoever asks
//! for one, and it is waited for as long as for any other writer. A server that is away answers at once that nobody listens, and
//! may come back. Only a server that takes a question and says nothing is left soon.

use std::thread;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::fault;
use crate::server::{LOOK, Lost, Server};

/// How long a server that is away is looked for.
const AWAY: Duration = Duration::from_secs(20);

/// How long a transaction that goes on is waited for.
const GOES_ON: Duration = Duration::from_secs(25);

/// Looks what became of a transaction. `look` returns `None`, or the error of a lock, as long as it goes on.
///
/// Returns `None` where the server does not say it.
pub(crate) fn settled<T>(
    address: &Address,
    mut look: impl FnMut(&Server) -> Result<Option<T>, Lost>,
) -> Option<T> {
    let soon = address.clone().within(LOOK.min(address.answer));
    let begun = Instant::now();
    loop {
        let asked = Instant::now();
        let patience = match Server::connect(&soon).map(|server| (look(&server), server)) {
            Ok((Ok(Some(found)), server)) => {
                server.release();
                return Some(found);
            }
            Ok((Ok(None), _)) => GOES_ON,
            Ok((Err(lost), _)) if fault::is_locked(&lost) => GOES_ON,
            Ok((Err(Lost::Silent | Lost::Flood(_)), _)) => return None,
            // Connecting took all of its time.
            Err(_) if asked.elapsed() >= soon.answer => return None,
            Ok((Err(_), _)) | Err(_) => AWAY,
        };
        if begun.elapsed() >= patience {
            return None;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
