//! Connections: their limits, and a stop that loses nothing.

use std::collections::VecDeque;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use prosescope_workflow::Horizon;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, watch};
use tokio_io_timeout::TimeoutStream;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::Workplace;
use crate::api::{self, Site};
use crate::guard::{Access, Guard, guard};
use crate::hub::Hub;
use crate::metrics::Metrics;
use crate::pool::Pool;

/// How much of everything the server takes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Connections. When there are as many, the oldest that has not sent a whole request is closed for a new one.
    pub connections: usize,
    /// How long a connection may take to send the head of a request, and may be idle.
    pub head: Duration,
    /// How long a request may take; streams may take longer.
    pub request: Duration,
    /// How long a client may take no bytes.
    pub write: Duration,
    /// How long a stop waits for requests.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 1 << 20,
            connections: 10_000,
            head: Duration::from_secs(10),
            request: Duration::from_secs(30),
            write: Duration::from_secs(30),
            stop: Duration::from_secs(10),
        }
    }
}

/// How long a stop waits for the feed of events to end its look.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// A server that listens.
pub struct Server {
    listener: std::net::TcpListener,
    place: Arc<dyn Workplace>,
    access: Access,
    limits: Limits,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("listener", &self.listener)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A connection that is open.
struct Open {
    /// A whole request has come.
    asked: AtomicBool,
    close: Notify,
}

/// The connections, the oldest first.
#[derive(Default)]
struct Connections(Mutex<VecDeque<Weak<Open>>>);

impl Connections {
    /// Adds one; closes the oldest idle one where there are too many. Returns whether there is room for it.
    fn add(&self, open: &Arc<Open>, most: usize, metrics: &Metrics) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        if all.len() >= most {
            let idle = all.iter().position(|known| {
                known
                    .upgrade()
                    .is_some_and(|known| !known.asked.load(Ordering::Relaxed))
            });
            let Some(known) = idle.and_then(|idle| all.remove(idle)) else {
                return false;
            };
            if let Some(known) = known.upgrade() {
                known.close.notify_one();
                metrics.crowded_out.inc();
            }
        }
        all.push_back(Arc::downgrade(open));
        true
    }
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// When the system refuses the address.
    pub fn listen(
        address: SocketAddr,
        place: Arc<dyn Workplace>,
        access: Access,
        limits: Limits,
    ) -> std::io::Result<Server> {
        Ok(Server {
            listener: std::net::TcpListener::bind(address)?,
            place,
            access,
            limits,
        })
    }

    /// The address, with the port that the system chose.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is done; then answers what was asked, closes the streams with their cursors, and returns. `stop` is
    /// called first, then `ready`: whoever is told that the server is ready can stop it.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn run<S: Future<Output = ()>>(
        self,
        stop: impl FnOnce() -> S,
        ready: impl FnOnce(),
    ) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let pool = Arc::new(Pool::new(Arc::clone(&self.place)));
        let served = runtime.block_on(async {
            let stop = stop();
            ready();
            self.serve(Arc::clone(&pool), stop).await
        });
        // Nothing is waited for any more: what was asked was answered, or had its time.
        runtime.shutdown_timeout(Duration::from_secs(1));
        // Closing a store may block, which no thread of the runtime may: they are closed on this one.
        drop(pool);
        served
    }

    async fn serve(self, pool: Arc<Pool>, stop: impl Future<Output = ()>) -> std::io::Result<()> {
        self.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(self.listener)?;
        let metrics = Arc::new(Metrics::new());
        let (hub, feed) = Hub::start(Arc::clone(&self.place), Arc::clone(&metrics))?;
        let site = Arc::new(Site {
            pool,
            hub: Arc::clone(&hub),
            metrics: Arc::clone(&metrics),
            horizon: Arc::new(Mutex::new(Horizon::default())),
        });
        let guarded = Arc::new(Guard::new(
            self.access,
            self.limits.body,
            Arc::clone(&metrics),
        ));
        let app = app(site, Arc::clone(&guarded), &self.limits);
        // Told to every connection, and held by every connection until it ends.
        let (stopping, stopped) = watch::channel(false);
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let connections = Arc::new(Connections::default());
        let mut tidy = tokio::time::interval(Duration::from_secs(60));
        let mut stop = std::pin::pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(_) => {
                        // Too many files are open: some are closed as they end, or are idle.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                },
                _ = tidy.tick() => {
                    guarded.tidy();
                    continue;
                }
                () = &mut stop => break,
            };
            let open = Arc::new(Open {
                asked: AtomicBool::new(false),
                close: Notify::new(),
            });
            if !connections.add(&open, self.limits.connections, &metrics) {
                continue;
            }
            let _ = stream.set_nodelay(true);
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(self.limits.write));
            let app = app.clone();
            let asked = Arc::clone(&open);
            let service = tower::service_fn(move |mut request: Request<hyper::body::Incoming>| {
                asked.asked.store(true, Ordering::Relaxed);
                request.extensions_mut().insert(ConnectInfo(peer));
                let mut app = app.clone();
                async move { tower::Service::call(&mut app, request.map(axum::body::Body::new)).await }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.limits.head)
                .max_buf_size(64 << 10)
                .serve_connection(
                    TokioIo::new(Box::pin(stream)),
                    TowerToHyperService::new(service),
                )
                .with_upgrades();
            let (alive, mut stopped) = (alive.clone(), stopped.clone());
            let metrics = Arc::clone(&metrics);
            tokio::spawn(async move {
                metrics.connections.inc();
                let mut connection = std::pin::pin!(connection);
                // A connection that breaks off concerns its other side alone.
                let stops = tokio::select! {
                    _ = &mut connection => false,
                    () = open.close.notified() => false,
                    _ = stopped.changed() => true,
                };
                if stops {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
                metrics.connections.dec();
                drop(alive);
            });
        }
        drop(listener);
        hub.stop();
        let _ = stopping.send(true);
        drop(alive);
        let all = async {
            ended.recv().await;
            // WebSockets are connections no more; each ends once its client was told the cursor.
            while metrics.streams.get() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(self.limits.stop, all).await;
        // The feed may wait for a store that does not answer.
        let fed = tokio::task::spawn_blocking(move || feed.join());
        let _ = tokio::time::timeout(LAST_LOOK, fed).await;
        Ok(())
    }
}

fn app(site: Arc<Site>, guarded: Arc<Guard>, limits: &Limits) -> Router {
    let (router, _) = api::routes().split_for_parts();
    router
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            limits.request,
        ))
        .layer(DefaultBodyLimit::max(limits.body))
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn_with_state(guarded, guard))
        .with_state(site)
}
