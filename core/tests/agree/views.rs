//! Checks that every view of a run is JSON without duplicate keys.

use std::collections::BTreeSet;

use prosescope_core::pages::session::{Session, pages};
use prosescope_core::trace::NodeId;
use prosescope_test_support::pages::assert_keys_once;
use serde::Serialize;

use crate::runs::NOW;

/// Limit for the number of nodes and of bindings of one run whose views are checked.
const MOST: u32 = 20;

/// Checks the views of all pages.
#[track_caller]
pub(crate) fn assert_each_key_once(session: &Session) {
    let (none, now) = (BTreeSet::new(), Some(NOW));
    once(&pages::overview(session, now));
    once(&pages::summary(session));
    once(&pages::program_page(session, 0, 100));
    once(&pages::trace_page(session, &none, 0, 100));
    once(&pages::timeline(session));
    once(&pages::bindings_page(session, 0, 100));
    once(&pages::agents(session));
    once(&pages::gates(session, now));
    once(&pages::audit(session, None));
    once(&pages::imports(session));
    once(&pages::state_page(session, true));
    once(&pages::files(session));
    once(&pages::issues_page(session));
    once(&pages::resume(session, now));
    once(&session.unread());
    for node in 0..(session.trace().nodes.len() as u32).min(MOST) {
        once(&pages::node_detail(session, NodeId::new(node)));
    }
    for binding in session.run().bindings.iter().take(MOST as usize) {
        once(&pages::resolve(
            session,
            &binding.name,
            binding.execution_id,
        ));
    }
    for table in &session.run().tables {
        once(&pages::table_rows(session, &table.name, 0, 5).ok());
    }
}

#[track_caller]
fn once(view: &impl Serialize) {
    assert_keys_once(&serde_json::to_string(view).expect("a view is JSON"));
}
