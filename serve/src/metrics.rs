//! Figures for Prometheus.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// What a request was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Route {
    /// The route, not the path: ids are not figures.
    pub(crate) route: String,
    /// The status of the answer.
    pub(crate) status: u16,
}

/// What is counted.
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) requests: Family<Route, Counter>,
    pub(crate) seconds: Histogram,
    pub(crate) streams: Gauge,
    pub(crate) delivered: Counter<u64, AtomicU64>,
    pub(crate) dropped: Counter<u64, AtomicU64>,
    pub(crate) refused: Counter<u64, AtomicU64>,
    pub(crate) connections: Gauge,
    pub(crate) crowded_out: Counter<u64, AtomicU64>,
    pub(crate) feed_errors: Counter<u64, AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("prose"),
            requests: Family::default(),
            // From half a millisecond to half a minute.
            seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 17)),
            streams: Gauge::default(),
            delivered: Counter::default(),
            dropped: Counter::default(),
            refused: Counter::default(),
            connections: Gauge::default(),
            crowded_out: Counter::default(),
            feed_errors: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register(
            "requests",
            "Requests by route and status",
            metrics.requests.clone(),
        );
        registry.register(
            "request_seconds",
            "How long requests took",
            metrics.seconds.clone(),
        );
        registry.register(
            "streams",
            "Streams of events that are open",
            metrics.streams.clone(),
        );
        registry.register(
            "events_delivered",
            "Events that streams were given",
            metrics.delivered.clone(),
        );
        registry.register(
            "streams_dropped",
            "Streams that were too slow",
            metrics.dropped.clone(),
        );
        registry.register(
            "requests_refused",
            "Requests without the token, of other hosts or origins, or too many",
            metrics.refused.clone(),
        );
        registry.register(
            "connections",
            "Connections that are open",
            metrics.connections.clone(),
        );
        registry.register(
            "connections_crowded_out",
            "Idle connections that were closed for new ones",
            metrics.crowded_out.clone(),
        );
        registry.register(
            "feed_errors",
            "How often the feed of events could not be read",
            metrics.feed_errors.clone(),
        );
        metrics
    }

    /// All of it as Prometheus reads it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }
}
