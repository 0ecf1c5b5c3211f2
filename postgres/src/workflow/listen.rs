//! Waits for notifications of new events. A notification can be missed, so the caller also polls.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use prosescope_core::record::Fault;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client};

use crate::address::Address;
use crate::{fault, tls};

/// The statement that listens to the channel which the trigger on the table of events notifies.
const LISTEN: &str = "LISTEN prose_workflow_events";

/// Time limit for connecting, and for the LISTEN statement.
const ANSWER: Duration = Duration::from_secs(7);

/// A connection that listens for notifications.
pub struct Listener {
    /// Runs the connection's tasks; `None` only while the connection is dropped.
    runtime: Option<Runtime>,
    woken: Receiver<()>,
    _client: Client,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl Listener {
    /// Connects, and listens for notifications of new events.
    ///
    /// # Errors
    /// If no server answers, or the server refuses to listen, as a pooler in transaction mode does.
    pub fn open(address: &Address) -> Result<Listener, Fault> {
        let unconnected = |cause: std::io::Error| fault::unconnected(address, &cause.to_string());
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(unconnected)?;
        let tls = tls::connector(&address.trust)?;
        let refused = |error| fault::refused(address, &error);
        let meter = Arc::default();
        let silent = |_| fault::unconnected(address, "no answer");
        let connecting = async { timeout(ANSWER, address.connect(&tls, &meter)).await };
        let (client, mut connection, _) = runtime
            .block_on(connecting)
            .map_err(silent)?
            .map_err(|error| fault::undialled(address, &error))?;
        let (wake, woken) = channel(1);
        runtime.spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                meter.begin();
                if matches!(message, AsyncMessage::Notification(_)) {
                    // If the channel is full, a wake-up is already pending.
                    let _ = wake.try_send(());
                }
            }
        });
        let listening = async { timeout(ANSWER, client.batch_execute(LISTEN)).await };
        runtime
            .block_on(listening)
            .map_err(silent)?
            .map_err(refused)?;
        Ok(Listener {
            runtime: Some(runtime),
            woken,
            _client: client,
        })
    }

    /// Waits for a notification, for a limited time; returns `false` if the connection is lost.
    pub fn wait(&mut self, at_most: Duration) -> bool {
        let waiting = async { tokio::time::timeout(at_most, self.woken.recv()).await };
        let runtime = self.runtime.as_ref();
        runtime.is_some_and(|runtime| !matches!(runtime.block_on(waiting), Ok(None)))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The runtime is dropped in the background, because its own drop blocks.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
