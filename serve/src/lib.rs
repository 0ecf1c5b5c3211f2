//! An HTTP server for workflows. Clients send commands, read workflows and runs, and follow events live.
//!
//! ```text
//! connection (limits, timeouts) ─► layers (host, origin, token, rate, size) ─► routes ─► Pool: stores on threads of their own
//!                                                                              └─► Hub: one feed of events ─► streams
//! ```
//!
//! | file | contains |
//! |---|---|
//! | `api.rs`, `read.rs`, `body.rs` | the routes: commands, pages, and their inputs |
//! | `stream.rs`, `hub.rs` | events from a cursor, as server-sent events and over a WebSocket |
//! | `pool.rs` | stores, which block, on threads of their own |
//! | `guard.rs` | access control: host, origin, token, rate |
//! | `listen.rs` | connections, and a shutdown that loses no request |
//! | `problem.rs` | errors as RFC 9457 |
//! //!
//! The rules of workflows are in [`prosescope_workflow`], not here.

mod api;
mod body;
mod guard;
mod hub;
mod listen;
mod pool;
mod problem;
mod read;
mod stream;

use std::future::Future;
#[cfg(unix)]
use std::task::Poll;
use std::time::Duration;

use prosescope_core::record::Fault;
use prosescope_workflow::Tables;

pub use guard::Access;
pub use listen::{Limits, WorkflowServer};

/// Access to the store of the workflows. All methods may block, so the server calls them on threads of their own.
pub trait Workplace: Send + Sync + 'static {
    /// Opens the store.
    ///
    /// # Errors
    /// The store's fault.
    fn open(&self) -> Result<Box<dyn Tables + Send>, Fault>;

    /// Returns a waker that reports new events, if the store has one.
    fn wake(&self) -> Option<Box<dyn Wake>>;

    /// Reports each fault in full to the operator of the server. Clients get only the fault's kind, because its text
    /// may contain the store's user, host and path.
    fn failed(&self, fault: &Fault);
}

/// A waker, which reports new events of the store.
pub trait Wake: Send {
    /// Waits for an event, at most for this long; returns false if the store can no longer report events.
    fn wait(&mut self, at_most: Duration) -> bool;
}

/// Waits for the first signal that asks a process to stop: Ctrl-C or SIGTERM. The signals are caught from this call
/// on, even before the future is polled. Must be called within a tokio runtime.
pub fn asked_to_stop() -> impl Future<Output = ()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let mut signals: Vec<_> = kinds.into_iter().flat_map(signal).collect();
        std::future::poll_fn(move |cx| {
            let mut came = signals.iter_mut().map(|signal| signal.poll_recv(cx));
            if came.any(|came| matches!(came, Poll::Ready(Some(())))) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    }
    #[cfg(not(unix))]
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Returns the OpenAPI description of the routes, as JSON.
pub fn openapi() -> String {
    let (_, document) = api::routes().split_for_parts();
    document.to_pretty_json().unwrap_or_default()
}
