//! Workflows over HTTP: commands, pages, and events as they come.
//!
//! ```text
//! connection (limits, timeouts) ─► layers (host, origin, token, rate, size) ─► routes ─► Pool: stores on threads of their own
//!                                                                              └─► Hub: one feed of events ─► streams
//! ```
//!
//! | file | says |
//! |---|---|
//! | `api.rs`, `read.rs`, `body.rs` | the routes: commands and pages, and what they take |
//! | `stream.rs`, `hub.rs` | events from a cursor, as server-sent events and over a WebSocket |
//! | `pool.rs` | stores, which block, on threads of their own |
//! | `guard.rs` | who is let in |
//! | `listen.rs` | connections, and a stop that loses nothing |
//! | `problem.rs`, `metrics.rs` | errors as RFC 9457, figures for Prometheus |
//! | `describe.rs` | what the description says of all routes alike |
//!
//! Nothing here decides about workflows: [`prosescope_workflow`] does.

mod api;
mod body;
mod describe;
mod guard;
mod hub;
mod listen;
mod metrics;
mod pool;
mod problem;
mod read;
mod stream;

use std::future::Future;
#[cfg(unix)]
use std::task::Poll;
use std::time::Duration;

use prosescope_core::write::Fault;
use prosescope_workflow::Tables;

pub use guard::Access;
pub use listen::{Limits, Server};

/// Where workflows are kept. All of it blocks, and is called on threads of its own.
pub trait Workplace: Send + Sync + 'static {
    /// Opens the store.
    ///
    /// # Errors
    /// The fault of the store.
    fn open(&self) -> Result<Box<dyn Tables + Send>, Fault>;

    /// What wakes whoever follows events, where something does.
    fn wake(&self) -> Option<Box<dyn Wake>>;

    /// Is told each fault as the store says it, for whoever runs the server: clients are told its kind alone, because it may
    /// name the user, host and path of the store.
    fn failed(&self, fault: &Fault);
}

/// Wakes whoever follows events.
pub trait Wake: Send {
    /// Waits for an event, or so long; `false` when nothing wakes any more.
    fn wait(&mut self, at_most: Duration) -> bool;
}

/// Listens for the signals that ask a process to stop, Ctrl-C and SIGTERM, and waits for the first one. Signals count from the
/// call on, not from the first time that the future is asked. Called inside of a tokio runtime.
pub fn asked_to_stop() -> impl Future<Output = ()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let mut signals: Vec<_> = kinds.into_iter().flat_map(signal).collect();
        std::future::poll_fn(move |cx| {
            let mut came = signals.iter_mut().map(|signal| signal.poll_recv(cx));
            match came.any(|came| matches!(came, Poll::Ready(Some(())))) {
                true => Poll::Ready(()),
                false => Poll::Pending,
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

/// The description of the routes, as JSON.
pub fn openapi() -> String {
    let (_, mut document) = api::routes().split_for_parts();
    describe::complete(&mut document);
    document.to_pretty_json().unwrap_or_default()
}
