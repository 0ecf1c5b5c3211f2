//! Helpers for several targets: opens a folder as a run and computes its pages.

use std::collections::BTreeSet;
use std::rc::Rc;

use prosescope_core::pages::session::{Options, Session, pages};
use prosescope_core::model::source::Source;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::trace::NodeId;

/// Opens files as a run and builds the pages that depend on their content.
pub fn open(files: &[(&str, &[u8])]) {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("fuzzed", files));
    let Ok(session) = Session::open(source, "", &Options::default()) else {
        return;
    };
    let _ = pages::overview(&session, Some(1_769_349_600_000));
    let page = pages::trace_page(&session, &BTreeSet::new(), 0, 50);
    for row in page.rows.iter().take(8) {
        let _ = pages::node_detail(&session, NodeId::new(row.node));
    }
    let _ = pages::bindings_page(&session, 0, 50);
    for binding in session.run().bindings.iter().take(4) {
        let _ = pages::resolve(&session, &binding.name, binding.execution_id);
    }
    let _ = pages::state_page(&session, true);
    let _ = pages::issues_page(&session);
    let _ = pages::gates(&session, None);
}
