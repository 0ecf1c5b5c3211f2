//! One answer a question: a page of the core, and nothing else.

use js_sys::{Array, Uint8Array};
use prosescope_core::session::{Session, ValueOf, pages};
use prosescope_core::source::SourceError;
use prosescope_core::trace::NodeId;
use serde::Serialize;
use wasm_bindgen::JsCast as _;

use super::Answer;
use super::desk::{Desk, now};
use super::follow::Shown;
use crate::bytes::{self, WebSource};
use crate::protocol::{Request, Stats, Trouble};

/// A file of the examples, by its path in their `.prose` folder.
macro_rules! example {
    ($path:literal) => {
        (
            concat!(".prose/", $path),
            include_bytes!(concat!("../../../examples/.prose/", $path)),
        )
    };
}

/// Bytes of a value that are read at once on the way into a download.
const PART: usize = 1 << 20;

/// The runs that the viewer carries: one that finished, one that failed, one that waits.
const EXAMPLE: &[(&str, &[u8])] = &[
    example!("agents.db"),
    example!("runs/20260112-091407-k3v8qd/program.prose"),
    example!("runs/20260112-091407-k3v8qd/state.db"),
    example!("runs/20260118-201530-z4t9wa/program.prose"),
    example!("runs/20260118-201530-z4t9wa/state.db"),
    example!("runs/20260125-125506-p7r2mx/program.prose"),
    example!("runs/20260125-125506-p7r2mx/state.db"),
];

fn example() -> WebSource {
    let files = EXAMPLE.iter();
    let files = files.map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
    WebSource::of_bytes("the example".to_owned(), files.collect())
}

/// Opens the example and looks at its runs, for nobody.
pub(super) fn warm_up() {
    let mut desk = Desk::default();
    let runs = desk.open(example()).map(|opened| opened.list.runs);
    for run in runs.unwrap_or_default() {
        let page = pages::Page::Overview;
        let place = run.place;
        let _ = answer(&mut desk, Request::Page { place, page }, Vec::new);
    }
}

/// Answers one question. `files` gives the files that came with it.
pub(super) fn answer(
    desk: &mut Desk,
    request: Request,
    files: impl FnOnce() -> Vec<(String, web_sys::File)>,
) -> Result<Answer, Trouble> {
    let answer = reply(desk, request, files);
    // Lists leave out what cannot be read; a file that is no longer what was opened must not look like that.
    match desk.take_fault() {
        Some(fault @ SourceError::Changed(_)) => Err(fault.into()),
        _ => answer.map_err(|trouble| Trouble {
            passing: trouble.passing || is_being_written(desk, &trouble),
            ..trouble
        }),
    }
}

/// Whether a trouble may come of a write that was under way when the files were listed.
fn is_being_written(desk: &Desk, trouble: &Trouble) -> bool {
    let file = trouble.file.as_deref();
    file.zip(desk.source())
        .is_some_and(|(file, source)| source.was_being_written(file))
}

fn reply(
    desk: &mut Desk,
    request: Request,
    files: impl FnOnce() -> Vec<(String, web_sys::File)>,
) -> Result<Answer, Trouble> {
    match request {
        Request::OpenFiles { label, missing } => {
            json(&desk.open(WebSource::of_files(label, files(), &missing))?)
        }
        Request::OpenServed { base } => {
            let listing = bytes::list_served(&base)?;
            json(&desk.open(WebSource::of_server(&base, listing))?)
        }
        Request::Follow {
            base,
            place,
            nodes,
            bindings,
        } => {
            let listing = bytes::list_served(&base)?;
            let shown = Shown {
                place,
                nodes,
                bindings,
            };
            json(&desk.follow(WebSource::of_server(&base, listing), &shown)?)
        }
        Request::OpenExample => json(&desk.open(example())?),
        Request::Stats => json(&stats(desk)),
        Request::Workflows {
            place,
            status,
            waiting,
            from,
            len,
        } => json(&desk.tables(&place)?.list(&status, waiting, from, len)?),
        Request::Workflow { place, id } => json(&desk.tables(&place)?.show(&id)?),
        Request::Events {
            place,
            id,
            from,
            len,
        } => json(&desk.tables(&place)?.events(&id, from, len)?),
        Request::Event { place, id, event } => json(&desk.tables(&place)?.event(&id, event)?),
        Request::Page { place, page } => {
            written(page.json(&desk.run(&place)?.session, Some(now())))
        }
        Request::Program { place, from, len } => {
            json(&pages::program_page(&desk.run(&place)?.session, from, len))
        }
        Request::Nodes { place, nodes } => {
            let session = &desk.run(&place)?.session;
            let refs = nodes
                .into_iter()
                .filter_map(|node| pages::node_ref(session, NodeId::new(node)));
            json(&refs.collect::<Vec<_>>())
        }
        Request::Trace { place, from, len } => {
            let run = desk.run(&place)?;
            json(&pages::trace_page(&run.session, &run.folded, from, len))
        }
        Request::Fold {
            place,
            node,
            folded,
        } => {
            let run = desk.run(&place)?;
            match (node.map(NodeId::new), folded) {
                (Some(node), true) => drop(run.folded.insert(node)),
                (Some(node), false) => drop(run.folded.remove(&node)),
                (None, true) => run.folded = containers(&run.session),
                (None, false) => run.folded.clear(),
            }
            json(&())
        }
        Request::Reveal { place, node } => {
            let run = desk.run(&place)?;
            let node = NodeId::new(node);
            let mut unfolded = false;
            for above in run.session.trace().upward(Some(node)).skip(1) {
                unfolded |= run.folded.remove(&above);
            }
            json(&(
                pages::trace_place(&run.session, &run.folded, node),
                unfolded,
            ))
        }
        Request::Parent { place, node } => {
            let trace = desk.run(&place)?.session.trace();
            json(&trace.node(NodeId::new(node)).and_then(|node| node.parent))
        }
        Request::NextFailure {
            place,
            node,
            forward,
        } => {
            let session = &desk.run(&place)?.session;
            let next = pages::next_failure(session, node.map(NodeId::new), forward);
            json(&next.and_then(|node| pages::node_ref(session, node)))
        }
        Request::NodeOfRow { place, row } => json(&desk.run(&place)?.session.node_of_row(row)),
        Request::Node { place, node } => {
            let session = &desk.run(&place)?.session;
            json(&pages::node_detail(session, NodeId::new(node)))
        }
        Request::Bindings { place, from, len } => {
            json(&pages::bindings_page(&desk.run(&place)?.session, from, len))
        }
        Request::Binding { place, binding } => {
            json(&pages::binding_row(&desk.run(&place)?.session, binding))
        }
        Request::BindingPlace { place, binding } => {
            json(&pages::binding_place(&desk.run(&place)?.session, binding))
        }
        Request::Resolve { place, name, from } => {
            json(&pages::resolve(&desk.run(&place)?.session, &name, from))
        }
        Request::Value { place, of, most } => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            json(&desk.run(&place)?.session.value(&of, most)?)
        }
        Request::Download { place, of } => {
            let blob = download(&desk.run(&place)?.session, &of)?;
            let json = String::from("null");
            Ok(Answer {
                json,
                blob: Some(blob),
            })
        }
        Request::State { place, whole } => {
            json(&pages::state_page(&desk.run(&place)?.session, whole))
        }
        Request::Table {
            place,
            table,
            from,
            len,
        } => json(&pages::table_rows(
            &desk.run(&place)?.session,
            &table,
            from,
            len,
        )?),
    }
}

fn json<T: Serialize>(value: &T) -> Result<Answer, Trouble> {
    written(serde_json::to_string(value))
}

fn written(json: serde_json::Result<String>) -> Result<Answer, Trouble> {
    match json {
        Ok(json) => Ok(Answer { json, blob: None }),
        Err(error) => Err(Trouble::defect(&format!(
            "the answer could not be written: {error}"
        ))),
    }
}

/// Every node that has nodes below it.
fn containers(session: &Session) -> std::collections::BTreeSet<NodeId> {
    let nodes = session.trace().nodes.iter_enumerated();
    nodes
        .filter(|(_, node)| node.descendants > 0)
        .map(|(at, _)| at)
        .collect()
}

/// Reads a value part by part into a blob, which the browser keeps outside of our memory.
fn download(session: &Session, of: &ValueOf) -> Result<web_sys::Blob, Trouble> {
    let failed = |_| {
        Trouble::new(
            "The browser could not hold the value.",
            "Try a smaller one.",
        )
    };
    let len = session.value_len(of)?;
    let mut whole = web_sys::Blob::new().map_err(failed)?;
    let mut offset = 0;
    while offset < len {
        let bytes = session.value_part(of, offset, PART)?;
        if bytes.is_empty() {
            break;
        }
        offset += bytes.len() as u64;
        let parts = Array::of2(&whole, &Uint8Array::from(bytes.as_slice()));
        whole = web_sys::Blob::new_with_u8_array_sequence(&parts).map_err(failed)?;
    }
    Ok(whole)
}

fn stats(desk: &Desk) -> Stats {
    let memory: Option<js_sys::WebAssembly::Memory> = wasm_bindgen::memory().dyn_into().ok();
    let buffer: Option<js_sys::ArrayBuffer> = memory.and_then(|m| m.buffer().dyn_into().ok());
    Stats {
        counters: desk
            .source()
            .map(|source| source.counters())
            .unwrap_or_default(),
        memory: buffer.map_or(0, |b| u64::from(b.byte_length())),
    }
}
