//! Accepts the connections of the server within limits, and shuts the server down without losing a request.

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
use tokio::sync::{Notify, watch};
use tokio_io_timeout::TimeoutStream;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

use crate::Workplace;
use crate::api::{self, Site};
use crate::guard::{Access, Guard, guard};
use crate::hub::Hub;
use crate::pool::Pool;

/// The server's limits on connections and requests.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// The most connections. At this number, a new connection replaces the oldest one that has not yet sent a whole
    /// request.
    pub connections: usize,
    /// The time in which a connection must send the head of a request, including the idle time before the request.
    pub head: Duration,
    /// The longest duration of a request; streams are exempt.
    pub request: Duration,
    /// The longest time in which a client accepts no bytes before its connection is closed.
    pub write: Duration,
    /// The longest time for which a shutdown waits for requests.
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

/// The longest time for which a shutdown waits for the feed's last read.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// A server bound to an address.
pub struct WorkflowServer {
    listener: std::net::TcpListener,
    place: Arc<dyn Workplace>,
    access: Access,
    limits: Limits,
}

impl std::fmt::Debug for WorkflowServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("listener", &self.listener)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// An open connection.
struct OpenConnection {
    /// Whether the connection has sent a whole request.
    asked: AtomicBool,
    close: Notify,
}

/// The open connections, the oldest first.
#[derive(Default)]
struct Connections(Mutex<VecDeque<Weak<OpenConnection>>>);

impl Connections {
    /// Adds a connection. If `most` connections are open, the new connection replaces the oldest one that has not yet
    /// sent a whole request; returns false if no connection can be replaced.
    fn add(&self, open: &Arc<OpenConnection>, most: usize) -> bool {
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
            }
        }
        all.push_back(Arc::downgrade(open));
        true
    }
}

impl WorkflowServer {
    /// Binds the server to an address.
    ///
    /// # Errors
    /// If the system refuses the address.
    pub fn listen(
        address: SocketAddr,
        place: Arc<dyn Workplace>,
        access: Access,
        limits: Limits,
    ) -> std::io::Result<WorkflowServer> {
        Ok(WorkflowServer {
            listener: std::net::TcpListener::bind(address)?,
            place,
            access,
            limits,
        })
    }

    /// Returns the server's address. If the server was bound to port 0, the system chose the port of this address.
    ///
    /// # Errors
    /// If the system does not report the address.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the future of `stop` completes. Then answers the open requests, closes each stream after sending
    /// its cursor, and returns. Calls `stop` before `ready`, so that the server can be stopped as soon as it is ready.
    ///
    /// # Errors
    /// If the system cannot start threads.
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
        // By now every open request has been answered or has timed out, so the runtime can end.
        runtime.shutdown_timeout(Duration::from_secs(1));
        // Closing a store may block, which the runtime's threads must not, so the stores are closed on this thread.
        drop(pool);
        served
    }

    async fn serve(self, pool: Arc<Pool>, stop: impl Future<Output = ()>) -> std::io::Result<()> {
        self.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(self.listener)?;
        let (hub, feed) = Hub::start(Arc::clone(&self.place))?;
        let site = Arc::new(Site {
            pool,
            hub: Arc::clone(&hub),
            horizon: Arc::new(Mutex::new(Horizon::default())),
        });
        // Each connection and each stream keeps the site until it ends.
        let users = Arc::downgrade(&site);
        let guarded = Arc::new(Guard::new(self.access));
        let app = app(site, Arc::clone(&guarded), &self.limits);
        let (stopping, stopped) = watch::channel(false);
        let connections = Arc::new(Connections::default());
        let mut tidy = tokio::time::interval(Duration::from_secs(60));
        let mut stop = std::pin::pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(_) => {
                        // Accepting fails if the process has too many open files. A short wait lets connections end.
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
            let open = Arc::new(OpenConnection {
                asked: AtomicBool::new(false),
                close: Notify::new(),
            });
            if !connections.add(&open, self.limits.connections) {
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
            let mut stopped = stopped.clone();
            tokio::spawn(async move {
                let mut connection = std::pin::pin!(connection);
                // A broken connection affects only its own client, so its error is dropped.
                let stops = tokio::select! {
                    _ = &mut connection => false,
                    () = open.close.notified() => false,
                    _ = stopped.changed() => true,
                };
                if stops {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            });
        }
        drop(listener);
        hub.stop();
        let _ = stopping.send(true);
        drop(app);
        let all = async {
            while users.strong_count() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(self.limits.stop, all).await;
        // The thread of the feed may be waiting for a store that does not answer, so this wait is limited.
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
        .layer(RequestBodyLimitLayer::new(limits.body))
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn_with_state(guarded, guard))
        .with_state(site)
}
