//! A pool of open stores for the requests of the server. A store is used on a thread that may block, because the
//! server's own threads must not block.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prosescope_core::record::{Fault, FaultKind, WriteError};
use prosescope_workflow::Tables;
use tokio::sync::Semaphore;

use crate::Workplace;
use crate::problem::Problem;

/// The most stores in use at the same time.
const MOST: usize = 8;

/// The longest time for which a request waits for a store.
const PATIENCE: Duration = Duration::from_secs(20);

/// A pool of open stores.
pub(crate) struct Pool {
    place: Arc<dyn Workplace>,
    idle: Mutex<Vec<Box<dyn Tables + Send>>>,
    free: Semaphore,
}

impl Pool {
    pub(crate) fn new(place: Arc<dyn Workplace>) -> Pool {
        Pool {
            place,
            idle: Mutex::new(Vec::new()),
            free: Semaphore::new(MOST),
        }
    }

    /// Calls `work` with a store, on a thread that may block.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Pool>,
        work: impl FnOnce(&mut dyn Tables) -> Result<T, WriteError> + Send + 'static,
    ) -> Result<T, Problem> {
        let waited = tokio::time::timeout(PATIENCE, self.free.acquire()).await;
        let Ok(Ok(_permit)) = waited else {
            return Err((&Fault::new(FaultKind::Busy, "all stores are in use")).into());
        };
        let pool = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || pool.with(work)).await;
        match done {
            Ok(done) => done.map_err(|error| {
                if let WriteError::Fault(fault) = &error {
                    self.place.failed(fault);
                }
                error.into()
            }),
            Err(_) => Err((&Fault::new(FaultKind::Damaged, "the request failed")).into()),
        }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut dyn Tables) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut store = match idle {
            Some(store) => store,
            None => self.place.open()?,
        };
        let done = work(&mut *store);
        if !matches!(done, Err(WriteError::Fault(_))) {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(store);
        }
        done
    }
}
