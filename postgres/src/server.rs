//! A connection to a server, asked one question after the other.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::join3;
use prosescope_core::write::Fault;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use crate::address::Address;
use crate::dial::{self, Peer};
use crate::hidden::all_rows;
use crate::meter::Meter;
use crate::store::{AT_ONCE, LOCK_WAIT};
use crate::{fault, tls};

/// How long an answer may take that comes at a pace.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// How long a server may be silent before it has answered: longer than a writer waits for a lock at once. An answer that comes
/// slower than [`PACE`] may take no longer from its first byte to its last: who sends a byte now and then is as good as silent.
const SILENCE: Duration = Duration::from_secs(12);

/// The same of a connection on which the question before was not answered: a server that stopped it, as it was asked to, answers.
const AGAIN: Duration = Duration::from_secs(2);

/// The same where another's lock is waited for at the server: for as long as its `lock_timeout` is. That a server does nothing
/// else in that time cannot be seen from here.
const LONG: Duration = Duration::from_secs(LOCK_WAIT.as_secs() + DOUBT.as_secs());

/// Bytes a second, of the question or of its answer, that show that a long one goes on: half of what a slow mobile phone has.
const PACE: u64 = 10_000;

/// How long a server may be silent at what may take long, before it is asked over another connection: whether it is there, or
/// what became of a COMMIT.
pub(crate) const DOUBT: Duration = Duration::from_secs(4);

/// How long it may be silent then.
pub(crate) const LOOK: Duration = Duration::from_secs(3);

// A server that says nothing is left within 15 s: it may be silent at two COMMITs of a command that is begun anew once, and then
// when it connects as well as when it is asked what became of them.
const MOST: Duration = Duration::from_secs(15);
const _: () = assert!(SILENCE.as_secs() + CANCEL.as_secs() + AGAIN.as_secs() <= MOST.as_secs());
// A writer waits for a lock at once, and is then told by the server.
const _: () = assert!(AT_ONCE.as_secs() < SILENCE.as_secs());
const _: () =
    assert!(2 * DOUBT.as_secs() + 2 * LOOK.as_secs() + CANCEL.as_secs() <= MOST.as_secs());

/// Begins a transaction that reads.
pub(crate) const READ: &str = concat!(
    "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog; ",
    all_rows!(
        "r",
        "c.relnamespace = to_regnamespace('openprose') OR c.relname IN ('workflows', 'workflow_runs', 'workflow_events', 'x_workflow_followers')"
    )
);

/// How long asking a server to stop may take.
const CANCEL: Duration = Duration::from_secs(1);

/// A value that is bound to a statement, with its type, so that nothing has to be prepared: a pooler may give each
/// transaction another session.
pub(crate) struct Bound<'a> {
    value: Box<dyn ToSql + Sync + 'a>,
    of: Type,
    /// Bytes that it takes in a message.
    pub(crate) len: usize,
}

/// A text, or NULL.
pub(crate) fn text<'a>(value: impl Into<Option<&'a str>>) -> Bound<'a> {
    let value = value.into();
    Bound {
        value: Box::new(value),
        of: Type::TEXT,
        len: value.map_or(0, str::len),
    }
}

/// A text of its own, or NULL.
pub(crate) fn owned<'a>(value: impl Into<Option<String>>) -> Bound<'a> {
    let value = value.into();
    let len = value.as_ref().map_or(0, String::len);
    Bound {
        value: Box::new(value),
        of: Type::TEXT,
        len,
    }
}

/// A whole number, or NULL.
pub(crate) fn int<'a>(value: impl Into<Option<i64>>) -> Bound<'a> {
    Bound {
        value: Box::new(value.into()),
        of: Type::INT8,
        len: 8,
    }
}

/// A truth.
pub(crate) fn bool_of<'a>(value: bool) -> Bound<'a> {
    Bound {
        value: Box::new(value),
        of: Type::BOOL,
        len: 1,
    }
}

/// A column of texts.
pub(crate) fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Bound<'a> {
    let values: Vec<Option<&str>> = values.into_iter().collect();
    Bound {
        len: values.iter().flatten().map(|value| value.len()).sum(),
        value: Box::new(values),
        of: Type::TEXT_ARRAY,
    }
}

/// A column of whole numbers.
pub(crate) fn ints<'a>(values: impl IntoIterator<Item = Option<i64>>) -> Bound<'a> {
    let values: Vec<Option<i64>> = values.into_iter().collect();
    Bound {
        len: 8 * values.len(),
        value: Box::new(values),
        of: Type::INT8_ARRAY,
    }
}

/// Bytes.
pub(crate) fn bytes(value: &[u8]) -> Bound<'_> {
    Bound {
        value: Box::new(value),
        of: Type::BYTEA,
        len: value.len(),
    }
}

/// Bytes of its own.
pub(crate) fn owned_bytes<'a>(value: Vec<u8>) -> Bound<'a> {
    let len = value.len();
    Bound {
        value: Box::new(value),
        of: Type::BYTEA,
        len,
    }
}

/// A connection. The core asks and waits, so its tasks run while somebody waits for an answer, on the caller's thread.
pub(crate) struct Connection {
    /// There until the drop.
    runtime: Option<Runtime>,
    client: Client,
    /// An answer did not come: nobody knows what the session does.
    silent: AtomicBool,
    /// The last answer did not come, and the server was asked to stop.
    doubted: AtomicBool,
    /// Nor did the one after it: nothing is waited for any more.
    gone: AtomicBool,
    /// What came.
    meter: Arc<Meter>,
    /// Where the server is.
    peer: Peer,
}

impl Connection {
    /// Whether the connection is known to be gone, or is not to be asked again.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.silent.load(Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The runtime's own drop waits, and panics where that is not allowed: on a thread of a server's runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A connection in use.
pub(crate) struct Server {
    connection: Arc<Connection>,
    address: Address,
}

impl Server {
    /// Takes a connection that waits for its next use, else connects.
    ///
    /// # Errors
    /// When nobody answers, or the server refuses.
    pub(crate) fn connect(address: &Address) -> Result<Server, Fault> {
        let connection = match address.idle() {
            Some(connection) => connection,
            None => Arc::new(connected(address)?),
        };
        Ok(Server {
            connection,
            address: address.clone(),
        })
    }

    /// Lets the next one use the connection, which has no transaction open and is not asked again.
    pub(crate) fn release(&self) {
        self.address.keep(Arc::clone(&self.connection));
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn client(&self) -> &Client {
        &self.connection.client
    }

    /// Whether the connection is known to be gone, or is not to be asked again.
    pub(crate) fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Waits for an answer; `None` when it does not come: then the connection is not used again, and the server is asked to stop.
    pub(crate) fn wait<T>(&self, question: impl Future<Output = T>) -> Option<T> {
        let answer = self.wait_within(SILENCE, SILENCE, || false, question);
        answer.or_else(|| {
            self.give_up();
            None
        })
    }

    /// The same for what takes long at the server, where `lock` is how long it may wait for another's lock: it may be silent a
    /// little longer than that, as long as it answers another connection.
    pub(crate) fn wait_long<T>(
        &self,
        lock: Duration,
        question: impl Future<Output = T>,
    ) -> Option<T> {
        let most = if lock > AT_ONCE { LONG } else { SILENCE };
        let answer = self.wait_within(DOUBT, most, || self.is_there(), question);
        answer.or_else(|| {
            self.give_up();
            None
        })
    }

    /// The same for a COMMIT. A server that is silent is not asked to stop: a COMMIT that waits for a replica would then be done
    /// without it. What became of it is asked over another connection ([`crate::settle`]).
    pub(crate) fn wait_commit<T>(&self, question: impl Future<Output = T>) -> Option<T> {
        let answer = self.wait_within(DOUBT, DOUBT, || false, question);
        if answer.is_none() {
            self.connection.silent.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Whether the server answers another connection.
    fn is_there(&self) -> bool {
        let soon = self.address.clone().within(LOOK.min(self.address.answer));
        let asked = connected(&soon).map(|connection| Server {
            connection: Arc::new(connection),
            address: soon,
        });
        asked.is_ok_and(|server| server.batch("").is_ok())
    }

    /// Waits for an answer: until the server has been silent for so long and is not there, or slow for so long.
    fn wait_within<T>(
        &self,
        silence: Duration,
        slow: Duration,
        is_there: impl Fn() -> bool,
        question: impl Future<Output = T>,
    ) -> Option<T> {
        let Connection {
            meter,
            doubted,
            gone,
            ..
        } = &*self.connection;
        if gone.load(Ordering::Relaxed) {
            return None;
        }
        let (silence, slow) = match doubted.load(Ordering::Relaxed) {
            true => (AGAIN, AGAIN),
            false => (silence, slow),
        };
        meter.begin();
        let mut question = pin!(question);
        // Since when it has been slow.
        let (begun, mut since) = (Instant::now(), Instant::now());
        loop {
            let (heard, moved) = (meter.heard(), meter.moved());
            let left = self.address.answer.saturating_sub(begun.elapsed());
            let left = left.min(slow.saturating_sub(since.elapsed()));
            let window = silence.min(left);
            let answer = self.wait_for(window, question.as_mut());
            if answer.is_some() {
                doubted.store(false, Ordering::Relaxed);
                return answer;
            }
            let at_pace = is_at_pace(meter.moved() - moved, window);
            if at_pace {
                since = Instant::now();
            }
            let is_over = begun.elapsed() >= self.address.answer || since.elapsed() >= slow;
            let is_silent = !at_pace && meter.heard() == heard;
            if is_over || is_silent && !is_there() {
                return None;
            }
        }
    }

    /// Does not wait any more for what was asked. A statement that is not waited for would keep its locks.
    pub(crate) fn give_up(&self) {
        let Connection {
            silent,
            doubted,
            gone,
            ..
        } = &*self.connection;
        silent.store(true, Ordering::Relaxed);
        match doubted.swap(true, Ordering::Relaxed) {
            true => gone.store(true, Ordering::Relaxed),
            false => self.cancel(),
        }
    }

    /// The setting of a transaction that has it wait so long for a lock, and shorter than an answer may take.
    pub(crate) fn lock_timeout(&self, most: Duration) -> String {
        let most = most.min(self.address.answer / 2).as_millis();
        format!("SET LOCAL lock_timeout = '{most}ms'")
    }

    /// Whether rows come at a pace of which so many bytes moved in this time; `None` as long as that cannot be told.
    pub(crate) fn is_at_pace(&self, moved: u64, waited: Duration) -> Option<bool> {
        let window = SILENCE.min(self.address.answer);
        (waited >= window).then(|| is_at_pace(moved, waited))
    }

    /// What came from the server.
    pub(crate) fn meter(&self) -> &Meter {
        &self.connection.meter
    }

    /// Why there is no answer, where the library says this.
    pub(crate) fn lost(&self, error: Error) -> Lost {
        match self.connection.meter.ended() {
            Some(what) => Lost::Flood(what),
            None => Lost::Error(error),
        }
    }

    /// Waits so long for an answer.
    pub(crate) fn wait_for<T>(
        &self,
        long: Duration,
        question: impl Future<Output = T>,
    ) -> Option<T> {
        let limited = async { tokio::time::timeout(long, question).await };
        let runtime = self.connection.runtime.as_ref()?;
        runtime.block_on(limited).ok()
    }

    /// Asks the server to stop what it does for this connection.
    pub(crate) fn cancel(&self) {
        if let Ok(tls) = tls::connector(&self.address.trust) {
            // A server that cannot be reached goes on until it sees that nobody listens.
            let Connection { client, peer, .. } = &*self.connection;
            let _ = self.wait_for(
                CANCEL,
                dial::cancel(&self.address.config, &tls, client, peer),
            );
        }
    }

    /// Asks a question, to be waited for together with others: all are sent before the first is answered.
    pub(crate) async fn question(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Error> {
        let rows = self.client().query_typed_raw(sql, typed(bound)).await?;
        TryStreamExt::try_collect(rows).await
    }

    /// The same outside of a transaction. The search path of a role may name a schema whose functions and operators are called
    /// as those of PostgreSQL are: none of them is run.
    pub(crate) async fn alone(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Error> {
        let client = self.client();
        let (begun, rows, ended) = join3(
            client.batch_execute(READ),
            self.question(sql, bound),
            client.batch_execute("END"),
        )
        .await;
        begun?;
        let rows = rows?;
        ended?;
        Ok(rows)
    }

    /// The rows that answer a question.
    pub(crate) fn rows(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Lost> {
        let rows = self.wait(self.question(sql, bound));
        rows.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }

    /// The rows that answer a question outside of a transaction.
    pub(crate) fn ask(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Lost> {
        let rows = self.wait(self.alone(sql, bound));
        rows.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }

    /// Runs statements without values, as one message.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), Lost> {
        let done = self.wait(self.client().batch_execute(sql));
        done.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }

    /// Runs statements that end with a COMMIT: making a schema may take long.
    ///
    /// # Errors
    /// [`Lost::AtCommit`] where nobody knows whether they are done.
    pub(crate) fn script(&self, sql: &str) -> Result<(), Lost> {
        let done = self.wait_long(LOCK_WAIT, self.client().batch_execute(sql));
        let done = done.ok_or(Lost::Silent);
        done.and_then(|done| done.map_err(|error| self.lost(error)))
            .map_err(Lost::at_commit)
    }

    /// Ends a transaction.
    ///
    /// # Errors
    /// [`Lost::AtCommit`] where nobody knows whether it is recorded.
    pub(crate) fn commit(&self) -> Result<(), Lost> {
        let done = self.wait_commit(self.client().batch_execute("COMMIT"));
        let done = done.ok_or(Lost::Silent);
        done.and_then(|done| done.map_err(|error| self.lost(error)))
            .map_err(Lost::at_commit)
    }

    /// As [`Server::rows`], for what takes long.
    pub(crate) fn rows_long(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Lost> {
        let rows = self.wait_long(LOCK_WAIT, self.question(sql, bound));
        rows.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }
}

/// Whether so many bytes in this time are those of an answer that comes.
fn is_at_pace(moved: u64, time: Duration) -> bool {
    moved > 0 && u128::from(moved) * 1000 >= u128::from(PACE) * time.as_millis()
}

fn connected(address: &Address) -> Result<Connection, Fault> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| fault::unconnected(address, &cause.to_string()))?;
    let tls = tls::connector(&address.trust)?;
    // The library's own limit is for each address that a name has.
    let limit = address
        .config
        .get_connect_timeout()
        .copied()
        .unwrap_or(ANSWER);
    let meter = Arc::default();
    let connecting = async {
        let dialled = address.connect(&tls, &meter);
        match tokio::time::timeout(limit, dialled).await {
            Ok(connected) => connected.map_err(|error| fault::undialled(address, &error)),
            Err(_) => {
                let what = format!("no answer within {} s", limit.as_secs_f32());
                Err(fault::unconnected(address, &what))
            }
        }
    };
    let (client, connection, peer) = match runtime.block_on(connecting) {
        Ok(connected) => connected,
        Err(fault) => {
            // The name of a host may still be looked up: nobody waits for that.
            runtime.shutdown_background();
            return Err(fault);
        }
    };
    runtime.spawn(async move {
        // Whoever waits for an answer is told the same.
        let _ = connection.await;
    });
    Ok(Connection {
        runtime: Some(runtime),
        client,
        silent: AtomicBool::default(),
        doubted: AtomicBool::default(),
        gone: AtomicBool::default(),
        meter,
        peer,
    })
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The server, or the way to it, said why.
    Error(Error),
    /// Nothing came.
    Silent,
    /// The server did this, and was not listened to any more.
    Flood(&'static str),
    /// The same of a COMMIT that may have been done.
    AtCommit(Box<Lost>),
}

impl Lost {
    /// The same, where it was a COMMIT that has no answer.
    pub(crate) fn at_commit(self) -> Lost {
        match fault::leaves_open(&self) {
            true => Lost::AtCommit(Box::new(self)),
            false => self,
        }
    }
}

impl From<Error> for Lost {
    fn from(error: Error) -> Lost {
        Lost::Error(error)
    }
}

/// The values as the library takes them.
pub(crate) fn typed<'a>(
    bound: &'a [Bound<'a>],
) -> impl ExactSizeIterator<Item = (&'a (dyn ToSql + Sync), Type)> + 'a {
    bound.iter().map(|bound| {
        (
            bound.value.as_ref() as &(dyn ToSql + Sync),
            bound.of.clone(),
        )
    })
}
