//! Defines the metrics that the server reports to Prometheus.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The labels of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Route {
    /// The route of the request, not its path: a path contains ids, so there would be a metric for each id.
    pub(crate) route: String,
    /// The status code of the answer that was sent.
    pub(crate) status: u16,
}

/// The metrics of a server.
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
            // Buckets from half a millisecond to half a minute.
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
            "Duration of requests",
            metrics.seconds.clone(),
        );
        registry.register("streams", "Open streams of events", metrics.streams.clone());
        registry.register(
            "events_delivered",
            "Events sent to streams",
            metrics.delivered.clone(),
        );
        registry.register(
            "streams_dropped",
            "Streams closed because the client read too slowly",
            metrics.dropped.clone(),
        );
        registry.register(
            "requests_refused",
            "Requests refused for their token, host, origin or rate",
            metrics.refused.clone(),
        );
        registry.register(
            "connections",
            "Open connections",
            metrics.connections.clone(),
        );
        registry.register(
            "connections_crowded_out",
            "Idle connections closed to make room for new ones",
            metrics.crowded_out.clone(),
        );
        registry.register(
            "feed_errors",
            "Failed reads of the feed of events",
            metrics.feed_errors.clone(),
        );
        metrics
    }

    /// Returns all metrics in Prometheus' text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }
}
