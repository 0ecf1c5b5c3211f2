//! Every page of a run, as text.

use std::collections::BTreeSet;
use std::rc::Rc;

use prosescope_core::session::{Lookup, Options, Session, ValueOf};
use prosescope_core::source::Source;
use serde::Serialize;

/// The pages of a session by name.
pub(crate) fn all(session: &Session, source: &Rc<dyn Source>) -> Vec<(String, String)> {
    let run = session.run();
    let none = BTreeSet::new();
    let mut pages = vec![
        page("overview", &session.overview(None)),
        page("summary", &session.summary()),
        page("trace", &session.trace_page(&none, 0, 500)),
        page("bindings", &session.bindings_page(0, 500)),
        page("agents", &session.agents()),
        page("gates", &session.gates(None)),
        page("audit", &session.audit(None)),
        page("imports", &session.imports()),
        page("program", &session.program_page(0, 1_000)),
        page("files", &session.files()),
        page("issues", &session.issues_page()),
        page("resume", &session.resume(None)),
        page("unread", &session.unread()),
        ("state.md".to_owned(), session.state_md(true)),
    ];
    for node in 0..session.trace().nodes.len().min(100) as u32 {
        pages.push(page(&format!("node {node}"), &session.node_detail(node)));
    }
    for (at, binding) in run.bindings.iter().enumerate().take(50) {
        for of in [ValueOf::Binding(at as u32), ValueOf::Summary(at as u32)] {
            pages.push(page(&format!("{of:?}"), &session.value(&of, 1 << 20).ok()));
            let mut bytes = Vec::new();
            let read = session.value_pieces(&of, &mut |piece| {
                bytes.extend_from_slice(piece);
                true
            });
            let part = session.value_part(&of, 3, 5).ok();
            pages.push((
                format!("{of:?} in pieces"),
                format!("{read:?} {bytes:?} {part:?}"),
            ));
        }
        let name = &binding.name;
        let from = binding.execution_id;
        let lookup = Lookup::open(source, session.place(), &Options::default(), name, from);
        let value = lookup.ok().and_then(|lookup| lookup.value(1 << 20).ok());
        pages.push(page(&format!("get {name}"), &value));
    }
    for (at, agent) in run.agents.iter().enumerate() {
        let at = at as u32;
        let memory = session.value(&ValueOf::Memory(at), 1 << 20);
        pages.push(page(&format!("memory of {}", agent.name), &memory.ok()));
        let segment = session.segment(at, None);
        pages.push((format!("segment of {}", agent.name), format!("{segment:?}")));
        let alone = Session::open_agent(
            Rc::clone(source),
            session.place(),
            &Options::default(),
            &agent.name,
        );
        let agents = alone.map(|session| session.agents()).ok();
        pages.push(page(&format!("{} alone", agent.name), &agents));
    }
    for table in &run.tables {
        for (from, len) in [(0, 50), (1, 1), (2, 3)] {
            let rows = session.table_rows(&table.name, from, len).ok();
            pages.push(page(&format!("{} from {from}", table.name), &rows));
        }
    }
    pages
}

fn page(name: &str, view: &impl Serialize) -> (String, String) {
    (name.to_owned(), serde_json::to_string_pretty(view).unwrap())
}
