//! A connection to a PostgreSQL server, on which one query ("question") is sent at a time, and its answer awaited with
//! time limits.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::join3;
use prosescope_core::record::Fault;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use crate::address::Address;
use crate::dial::{self, Peer};
use crate::hidden::all_rows;
use crate::meter::Meter;
use crate::{fault, tls};

/// Time limit for an answer that arrives at a normal pace.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// Time limit for one wait for a lock, after which the command is retried. Shorter than the limit for a silent server,
/// so that a wait for a lock does not count as silence.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(8);

/// Time limit for a wait for a lock by callers that do not retry.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(30);

/// How long a server may be silent before its answer begins. The time is longer than a writer's first wait for a lock
/// ([`AT_ONCE`]). An answer that is slower than [`PACE`] may take this time in total, because a server that sends
/// single bytes is as useless as a silent one.
const SILENCE: Duration = Duration::from_secs(12);

/// Time limit for the answer to a query that follows an unanswered one. The server was asked to cancel the unanswered
/// query. If the server did so, it answers the next query quickly.
const AGAIN: Duration = Duration::from_secs(2);

/// The limit on silence if the statement may wait for a lock at the server, for as long as `lock_timeout`. Other
/// delays of the server cannot be distinguished from this wait.
const LONG: Duration = Duration::from_secs(LOCK_WAIT.as_secs() + DOUBT.as_secs());

/// Bytes per second, sent or received, from which a long transfer counts as progressing. A slow mobile connection moves
/// twice as many.
const PACE: u64 = 10_000;

/// How long a server may be silent during a slow statement or a COMMIT. After this time, another connection checks
/// whether the server is alive, or whether the transaction was committed.
pub(crate) const DOUBT: Duration = Duration::from_secs(4);

/// Time limit for connecting and for an answer, on a second connection that checks on a silent server.
pub(crate) const LOOK: Duration = Duration::from_secs(3);

// A server that never answers is given up within 15 s. The last assertion below covers a command that is retried once:
// two COMMITs, each followed by a check over a new connection.
const MOST: Duration = Duration::from_secs(15);
const _: () = assert!(SILENCE.as_secs() + CANCEL.as_secs() + AGAIN.as_secs() <= MOST.as_secs());
// A writer's first wait for a lock must end before the limit on silence. Otherwise, a server that waits for a lock
// would count as silent.
const _: () = assert!(AT_ONCE.as_secs() < SILENCE.as_secs());
const _: () =
    assert!(2 * DOUBT.as_secs() + 2 * LOOK.as_secs() + CANCEL.as_secs() <= MOST.as_secs());

/// Begins a transaction that reads runs or workflows.
pub(crate) const READ: &str = concat!(
    "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog; ",
    all_rows!(
        "r",
        "c.relnamespace = to_regnamespace('openprose') OR c.relname IN ('workflows', 'workflow_runs', 'workflow_events')"
    )
);

/// Time limit for sending a cancel request to a server.
const CANCEL: Duration = Duration::from_secs(1);

/// A value for a placeholder of a statement, with its PostgreSQL type. The type is sent with the value, so that the
/// statement need not be prepared first: a connection pooler may send the next message to another session, which does
/// not have the prepared statement.
pub(crate) struct Bound<'a> {
    value: Box<dyn ToSql + Sync + 'a>,
    of: Type,
    /// The size of the value in a message, in bytes.
    pub(crate) len: usize,
}

/// Binds a text, or NULL.
pub(crate) fn text<'a>(value: impl Into<Option<&'a str>>) -> Bound<'a> {
    let value = value.into();
    Bound {
        value: Box::new(value),
        of: Type::TEXT,
        len: value.map_or(0, str::len),
    }
}

/// Binds an owned text, or NULL.
pub(crate) fn owned<'a>(value: impl Into<Option<String>>) -> Bound<'a> {
    let value = value.into();
    let len = value.as_ref().map_or(0, String::len);
    Bound {
        value: Box::new(value),
        of: Type::TEXT,
        len,
    }
}

/// Binds a whole number, or NULL.
pub(crate) fn int<'a>(value: impl Into<Option<i64>>) -> Bound<'a> {
    Bound {
        value: Box::new(value.into()),
        of: Type::INT8,
        len: 8,
    }
}

/// Binds a truth value.
pub(crate) fn bool_of<'a>(value: bool) -> Bound<'a> {
    Bound {
        value: Box::new(value),
        of: Type::BOOL,
        len: 1,
    }
}

/// Binds an array of texts, each of which may be NULL.
pub(crate) fn texts<'a, T: Into<Cow<'a, str>>>(
    values: impl IntoIterator<Item = Option<T>>,
) -> Bound<'a> {
    let values = values.into_iter().map(|value| value.map(Into::into));
    let values: Vec<Option<Cow<'a, str>>> = values.collect();
    Bound {
        len: values.iter().flatten().map(|value| value.len()).sum(),
        value: Box::new(values),
        of: Type::TEXT_ARRAY,
    }
}

/// Binds an array of whole numbers, each of which may be NULL.
pub(crate) fn ints<'a>(values: impl IntoIterator<Item = Option<i64>>) -> Bound<'a> {
    let values: Vec<Option<i64>> = values.into_iter().collect();
    Bound {
        len: 8 * values.len(),
        value: Box::new(values),
        of: Type::INT8_ARRAY,
    }
}

/// Binds bytes.
pub(crate) fn bytes(value: &[u8]) -> Bound<'_> {
    Bound {
        value: Box::new(value),
        of: Type::BYTEA,
        len: value.len(),
    }
}

/// Binds owned bytes.
pub(crate) fn owned_bytes<'a>(value: Vec<u8>) -> Bound<'a> {
    let len = value.len();
    Bound {
        value: Box::new(value),
        of: Type::BYTEA,
        len,
    }
}

/// A connection to a server. The core is synchronous, so the connection's tasks run on the caller's thread while that
/// thread waits for an answer.
pub(crate) struct Connection {
    /// Runs the connection's tasks; `None` only while the connection is dropped.
    runtime: Option<Runtime>,
    client: Client,
    /// Whether an answer did not arrive, so that the state of the session is unknown.
    silent: AtomicBool,
    /// Whether the last query was not answered, so that the server was asked to cancel this query.
    doubted: AtomicBool,
    /// Whether two consecutive queries were not answered, so that no further query is sent.
    gone: AtomicBool,
    /// Counts the received and sent bytes.
    meter: Arc<Meter>,
    /// The address to which a cancel request is sent.
    peer: Peer,
}

impl Connection {
    /// Returns whether the connection is lost, or must not be used again.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.silent.load(Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A plain drop of the runtime would block, and would panic on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A connection in use, together with its address.
#[derive(Clone)]
pub(crate) struct PgClient {
    connection: Arc<Connection>,
    address: Address,
}

impl PgClient {
    /// Takes an idle connection, or else connects.
    ///
    /// # Errors
    /// If no server answers, or the server refuses.
    pub(crate) fn connect(address: &Address) -> Result<PgClient, Fault> {
        let connection = match address.idle() {
            Some(connection) => connection,
            None => Arc::new(connected(address)?),
        };
        Ok(PgClient {
            connection,
            address: address.clone(),
        })
    }

    /// Keeps the connection as idle for the next use; the connection must have no open transaction.
    pub(crate) fn release(&self) {
        self.address.keep(Arc::clone(&self.connection));
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn client(&self) -> &Client {
        &self.connection.client
    }

    /// Returns whether the connection is lost, or must not be used again.
    pub(crate) fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Waits for the answer to a query. If the answer does not arrive in time, returns `None`, asks the server to
    /// cancel the query, and marks the connection as unusable.
    pub(crate) fn wait<T>(&self, question: impl Future<Output = T>) -> Option<T> {
        let answer = self.wait_within(SILENCE, SILENCE, || false, question);
        answer.or_else(|| {
            self.give_up();
            None
        })
    }

    /// Waits for the answer to a slow statement, which may wait up to `lock` for a lock. The server may be silent a
    /// little longer than `lock`, if it answers a second connection meanwhile.
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

    /// Waits for the answer to a COMMIT. A silent server is not asked to cancel the COMMIT: if the COMMIT waits for a
    /// replica, a cancel request would complete it without the replica. [`crate::settle`] finds out the result over
    /// another connection.
    pub(crate) fn wait_commit<T>(&self, question: impl Future<Output = T>) -> Option<T> {
        let answer = self.wait_within(DOUBT, DOUBT, || false, question);
        if answer.is_none() {
            self.connection.silent.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Returns whether the server answers another connection.
    fn is_there(&self) -> bool {
        let soon = self.address.clone().within(LOOK.min(self.address.answer));
        let asked = connected(&soon).map(|connection| PgClient {
            connection: Arc::new(connection),
            address: soon,
        });
        asked.is_ok_and(|server| server.batch("").is_ok())
    }

    /// Waits for an answer. Gives up if the server is silent for `silence` and `is_there` returns false, if the answer
    /// is slower than [`PACE`] for `slow`, or after the time limit for an answer.
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
        let (silence, slow) = if doubted.load(Ordering::Relaxed) {
            (AGAIN, AGAIN)
        } else {
            (silence, slow)
        };
        meter.begin();
        let mut question = pin!(question);
        // The time since when the answer has been slower than the expected pace.
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

    /// Marks the connection as unusable. Asks the server to cancel the statement, because an abandoned statement would
    /// keep its locks. After a second unanswered query, marks the server as gone and sends no cancel request.
    pub(crate) fn give_up(&self) {
        let Connection {
            silent,
            doubted,
            gone,
            ..
        } = &*self.connection;
        silent.store(true, Ordering::Relaxed);
        if doubted.swap(true, Ordering::Relaxed) {
            gone.store(true, Ordering::Relaxed);
        } else {
            self.cancel();
        }
    }

    /// Returns the statement that sets a transaction's lock timeout: `most`, but at most half of the time limit for an
    /// answer.
    pub(crate) fn lock_timeout(&self, most: Duration) -> String {
        let most = most.min(self.address.answer / 2).as_millis();
        format!("SET LOCAL lock_timeout = '{most}ms'")
    }

    /// Returns whether `moved` bytes in the time `waited` are a normal pace; `None` if this time is too short to judge.
    pub(crate) fn is_at_pace(&self, moved: u64, waited: Duration) -> Option<bool> {
        let window = SILENCE.min(self.address.answer);
        (waited >= window).then(|| is_at_pace(moved, waited))
    }

    /// Returns the counter of received and sent bytes.
    pub(crate) fn meter(&self) -> &Meter {
        &self.connection.meter
    }

    /// Returns the reason for a missing answer: the meter's reason if the meter ended the stream, else the library's
    /// error.
    pub(crate) fn lost(&self, error: Error) -> Lost {
        match self.connection.meter.ended() {
            Some(what) => Lost::Flood(what),
            None => Lost::Error(error),
        }
    }

    /// Waits for an answer at most as long as `long`; returns `None` after that.
    pub(crate) fn wait_for<T>(
        &self,
        long: Duration,
        question: impl Future<Output = T>,
    ) -> Option<T> {
        let limited = async { tokio::time::timeout(long, question).await };
        let runtime = self.connection.runtime.as_ref()?;
        runtime.block_on(limited).ok()
    }

    /// Asks the server to stop the current statement of this connection.
    pub(crate) fn cancel(&self) {
        if let Ok(tls) = tls::connector(&self.address.trust) {
            // If the request does not reach the server, the statement continues until the server notices that the
            // client is gone.
            let Connection { client, peer, .. } = &*self.connection;
            let _ = self.wait_for(
                CANCEL,
                dial::cancel(&self.address.config, &tls, client, peer),
            );
        }
    }

    /// Sends a question whose answer the caller awaits together with other answers.
    pub(crate) async fn question(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Error> {
        let rows = self.client().query_typed_raw(sql, typed(bound)).await?;
        TryStreamExt::try_collect(rows).await
    }

    /// Sends a question in a transaction of its own, which resolves names only in `pg_catalog`. A role's search path
    /// may contain foreign functions and operators that have the same names as PostgreSQL's.
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

    /// Sends a question, and returns the rows of its answer.
    pub(crate) fn rows(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Lost> {
        let rows = self.wait(self.question(sql, bound));
        rows.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }

    /// Returns the rows of an answer to a question in a transaction of its own; see [`PgClient::alone`].
    pub(crate) fn ask(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Lost> {
        let rows = self.wait(self.alone(sql, bound));
        rows.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }

    /// Executes statements without values, as one message.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), Lost> {
        let done = self.wait(self.client().batch_execute(sql));
        done.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }

    /// Executes statements that end with a COMMIT. Waits as for a slow statement, because creating a schema may take
    /// long.
    ///
    /// # Errors
    /// [`Lost::AtCommit`] if it is unknown whether the statements were committed.
    pub(crate) fn script(&self, sql: &str) -> Result<(), Lost> {
        let done = self.wait_long(LOCK_WAIT, self.client().batch_execute(sql));
        let done = done.ok_or(Lost::Silent);
        done.and_then(|done| done.map_err(|error| self.lost(error)))
            .map_err(Lost::at_commit)
    }

    /// Commits a transaction.
    ///
    /// # Errors
    /// [`Lost::AtCommit`] if it is unknown whether the transaction was committed.
    pub(crate) fn commit(&self) -> Result<(), Lost> {
        let done = self.wait_commit(self.client().batch_execute("COMMIT"));
        let done = done.ok_or(Lost::Silent);
        done.and_then(|done| done.map_err(|error| self.lost(error)))
            .map_err(Lost::at_commit)
    }

    /// Returns the rows of an answer like [`PgClient::rows`], with the time limit for a slow statement.
    pub(crate) fn rows_long(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Lost> {
        let rows = self.wait_long(LOCK_WAIT, self.question(sql, bound));
        rows.ok_or(Lost::Silent)?.map_err(|error| self.lost(error))
    }
}

/// Returns whether `moved` bytes in `time` count as progress; see [`PACE`].
fn is_at_pace(moved: u64, time: Duration) -> bool {
    moved > 0 && u128::from(moved) * 1000 >= u128::from(PACE) * time.as_millis()
}

fn connected(address: &Address) -> Result<Connection, Fault> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| fault::unconnected(address, &cause.to_string()))?;
    let tls = tls::connector(&address.trust)?;
    // This limit is for all addresses of a host name together; the library applies its own limit to each separately.
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
            // A name lookup may still run in the background, and a plain drop would wait for the lookup.
            runtime.shutdown_background();
            return Err(fault);
        }
    };
    runtime.spawn(async move {
        // The error is dropped, because the caller that waits for an answer gets the same error.
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

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The server or the network reported an error.
    Error(Error),
    /// No answer arrived.
    Silent,
    /// The server sent too much data of this kind, so the connection was ended.
    Flood(&'static str),
    /// The connection failed in this way at a COMMIT, so the transaction may have been committed.
    AtCommit(Box<Lost>),
}

impl Lost {
    /// Wraps the reason in [`Lost::AtCommit`], if the transaction may have been committed.
    pub(crate) fn at_commit(self) -> Lost {
        if fault::leaves_open(&self) {
            Lost::AtCommit(Box::new(self))
        } else {
            self
        }
    }
}

impl From<Error> for Lost {
    fn from(error: Error) -> Lost {
        Lost::Error(error)
    }
}

/// Converts bound values into the pairs of value and type that the library expects.
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
