//! What several targets share: a folder that is opened as a run, and the pages that are computed of it.

use std::collections::BTreeSet;
use std::rc::Rc;

use prosescope_core::session::{Options, Session};
use prosescope_core::source::Source;
use prosescope_core::sqlite::MemorySource;

/// Opens files as a run and builds the pages that depend on what they say.
pub fn open(files: &[(&str, &[u8])]) {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("fuzzed", files));
    let Ok(session) = Session::open(source, "", &Options::default()) else {
        return;
    };
    let _ = session.overview(Some(1_769_349_600_000));
    let page = session.trace_page(&BTreeSet::new(), 0, 50);
    for row in page.rows.iter().take(8) {
        let _ = session.node_detail(row.node);
    }
    let _ = session.bindings_page(0, 50);
    for binding in session.run().bindings.iter().take(4) {
        let _ = session.resolve(&binding.name, binding.execution_id);
    }
    let _ = session.state_page(true);
    let _ = session.issues_page();
    let _ = session.gates(None);
}
