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
//!
//! Nothing here decides about workflows: [`prosescope_core::workflow`] does.

mod api;
mod body;
mod guard;
mod hub;
mod listen;
mod metrics;
mod pool;
mod problem;
mod read;
mod stream;

use std::time::Duration;

use prosescope_core::workflow::Tables;
use prosescope_core::write::Fault;

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
}

/// Wakes whoever follows events.
pub trait Wake: Send {
    /// Waits for an event, or so long; `false` when nothing wakes any more.
    fn wait(&mut self, at_most: Duration) -> bool;
}

/// Waits until the process is told to stop: Ctrl-C, or SIGTERM.
pub async fn asked_to_stop() {
    let ctrl_c = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let term = async {
            match signal(SignalKind::terminate()) {
                Ok(mut signal) => drop(signal.recv().await),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = ctrl_c => {}
            () = term => {}
        }
    }
    #[cfg(not(unix))]
    ctrl_c.await;
}

/// The description of the routes, as JSON.
pub fn openapi() -> String {
    let (_, document) = api::routes().split_for_parts();
    document.to_pretty_json().unwrap_or_default()
}
