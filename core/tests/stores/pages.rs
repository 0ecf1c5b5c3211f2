//! Builds every page of a run as text, so that tests can compare two stores.

use std::collections::BTreeSet;
use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Lookup, OneAgent, Options, Session, ValueOf, pages};
use prosescope_core::trace::NodeId;
use prosescope_test_support::pages::assert_keys_once;
use serde::Serialize;

/// Returns all pages of a session, each with its name and its content.
pub(crate) fn all(session: &Session, source: &Rc<dyn Source>) -> Vec<(String, String)> {
    let run = session.run();
    let none = BTreeSet::new();
    let mut pages = vec![
        page("overview", &pages::overview(session, None)),
        page("summary", &pages::summary(session)),
        page("trace", &pages::trace_page(session, &none, 0, 500)),
        page("bindings", &pages::bindings_page(session, 0, 500)),
        page("agents", &pages::agents(session)),
        page("gates", &pages::gates(session, None)),
        page("audit", &pages::audit(session, None)),
        page("imports", &pages::imports(session)),
        page("program", &pages::program_page(session, 0, 1_000)),
        page("files", &pages::files(session)),
        page("issues", &pages::issues_page(session)),
        page("resume", &pages::resume(session, None)),
        page("unread", &session.unread()),
        ("state.md".to_owned(), pages::state_md(session, true)),
    ];
    for node in 0..session.trace().nodes.len().min(100) as u32 {
        pages.push(page(
            &format!("node {node}"),
            &pages::node_detail(session, NodeId::new(node)),
        ));
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
        let value = lookup
            .ok()
            .and_then(|lookup| lookup.found()?.value(1 << 20).ok());
        pages.push(page(&format!("get {name}"), &value));
    }
    for (at, agent) in run.agents.iter().enumerate() {
        let at = at as u32;
        let memory = session.value(&ValueOf::Memory(at), 1 << 20);
        pages.push(page(&format!("memory of {}", agent.name), &memory.ok()));
        let segment = session.segment(at, None);
        pages.push((format!("segment of {}", agent.name), format!("{segment:?}")));
        let (source, options) = (Rc::clone(source), Options::default());
        let alone = OneAgent::open(source, session.place(), &options, &agent.name).unwrap();
        for (at, kept) in alone.agents().iter().enumerate() {
            let memory = alone.memory(at, 1 << 20).ok();
            pages.push(page(
                &format!("{} alone, {}", agent.name, kept.store),
                &memory,
            ));
            let segment = alone.segment(at, None);
            pages.push((
                format!("segment of {} alone", agent.name),
                format!("{segment:?}"),
            ));
        }
    }
    for table in &run.tables {
        for (from, len) in [(0, 50), (1, 1), (2, 3)] {
            let rows = pages::table_rows(session, &table.name, from, len).ok();
            pages.push(page(&format!("{} from {from}", table.name), &rows));
        }
    }
    pages
}

fn page(name: &str, view: &impl Serialize) -> (String, String) {
    let json = serde_json::to_string_pretty(view).unwrap();
    assert_keys_once(&json);
    (name.to_owned(), json)
}
