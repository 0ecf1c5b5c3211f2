//! Tests of the guarantees for PostgreSQL against a temporary server on loopback.

mod connect;
mod cut;
mod damage;
mod documents;
#[path = "../../../core/tests/stores/pages.rs"]
mod pages;
mod reading;
mod schema;
mod workflows;
mod workflows_follow;
mod workflows_trouble;
mod writing;

use prosescope_postgres::{Address, init_postgres};
use prosescope_test_support::cluster::Cluster;

pub(crate) const RUN: &str = "20260116-143052-a7b3c9";

/// Returns the shared server, and the URL of a new database on it.
pub(crate) fn database() -> Option<(&'static Cluster, String)> {
    let cluster = Cluster::shared()?;
    Some((cluster, cluster.database()))
}

pub(crate) fn address(url: &str) -> Address {
    Address::parse(url, &|_| None).unwrap()
}

/// Creates a new database with a run in it.
pub(crate) fn run(program: &str) -> Option<(&'static Cluster, String)> {
    let (cluster, url) = database()?;
    init_postgres(
        &address(&url),
        RUN,
        "p.prose",
        program,
        "2026-01-16 14:30:52",
    )
    .unwrap();
    Some((cluster, url))
}
