//! Builds the page of bindings, and explains which binding a name means.

use super::calm::scope_words;
use super::index::{frame_path, short};
use super::trace::node_ref;
use super::writes::written;
use crate::model::{Binding, ValueAt};
use crate::pages::session::values::ValueTable;
use crate::pages::session::{Opened, Session};
use crate::pages::view::{BindingRow, BindingsPage, CandidateView, ResolutionView};
use crate::trace::scope;
use crate::trace::{NodeId, NodeKind};

/// The largest numbers of scopes and of candidates that a resolution lists.
const CHAIN: usize = 200;
const CANDIDATES: usize = 200;

/// The largest number of fields of a file's header that are shown, and of characters of each field.
const FIELDS: usize = 20;
const FIELD: usize = 200;

fn fields(binding: &Binding) -> Vec<(String, String)> {
    let shown = binding.fields.iter().take(FIELDS);
    shown
        .map(|(key, value)| (short(key, FIELD), short(value, FIELD)))
        .collect()
}

/// Builds `len` rows of the list of bindings, from index `from` on. The root's bindings come first, then those of each
/// frame. Only these rows are read.
pub fn bindings_page(session: &Session, from: u32, len: u32) -> BindingsPage {
    let order = &session.index.binding_order;
    BindingsPage {
        total: order.len() as u32,
        from,
        rows: binding_rows(
            session,
            order.iter().skip(from as usize).take(len as usize).copied(),
        ),
    }
}

/// Returns the position of a binding in the list of [`bindings_page`].
pub fn binding_place(opened: &Opened, binding: u32) -> Option<u32> {
    opened
        .index
        .binding_order
        .iter()
        .position(|&b| b == binding)
        .map(|at| at as u32)
}

/// Builds the row of one binding.
pub fn binding_row(session: &Session, binding: u32) -> Option<BindingRow> {
    binding_rows(session, [binding].into_iter()).pop()
}

/// Builds the rows of several bindings. Their times and attachments are read together.
fn binding_rows(session: &Session, wanted: impl Iterator<Item = u32>) -> Vec<BindingRow> {
    let (places, mut bindings): (Vec<u32>, Vec<Binding>) = wanted
        .filter_map(|b| Some((b, session.run.bindings.get(b as usize)?.clone())))
        .unzip();
    let _snapshot = session.snapshot();
    session.values.binding_tails(&mut bindings);
    let rows = places.into_iter().zip(bindings);
    rows.map(|(place, binding)| row_of(session, place, binding))
        .collect()
}

fn row_of(session: &Session, binding: u32, at: Binding) -> BindingRow {
    let frame_node = at.execution_id.and_then(|id| session.node_of_row(id));
    let attachment = at.attachment.as_deref().filter(|p| !p.is_empty());
    let written = written(session, binding, Some(&at));
    BindingRow {
        binding,
        name: at.name.to_string(),
        execution_id: at.execution_id,
        scope: scope_words(session, at.execution_id),
        frame_path: match (at.execution_id, frame_node) {
            (None, _) => String::new(),
            (Some(_), Some(node)) => frame_path(&session.trace, Some(node)),
            (Some(id), None) => format!("frame {id}"),
        },
        frame_node: frame_node.map(NodeId::get),
        kind: at.kind.word().to_owned(),
        len: at.value.len(),
        stored: match &at.value {
            ValueAt::Row { stored, .. } => stored.word().to_owned(),
            ValueAt::File { .. } => "file".to_owned(),
            ValueAt::Missing => "missing".to_owned(),
        },
        preview: session.values.preview(ValueTable::Bindings, &at.value),
        source: at.source.as_deref().map(str::to_owned),
        created: at.created.clone(),
        updated: at.updated.clone(),
        written_by: written.by.and_then(|node| node_ref(session, node)),
        writer_inferred: written.inferred,
        not_given: match attachment {
            Some(path) => {
                session.values.attachment(path).is_none() && session.values.source.is_loose()
            }
            None => matches!(at.value, ValueAt::Missing) && session.values.source.is_loose(),
        },
        attachment: attachment.map(str::to_owned),
        fields: fields(&at),
        attachment_len: attachment
            .and_then(|path| session.values.attachment(path))
            .map(|(_, len)| len),
        versions: session.index.claims.get(&binding).copied().unwrap_or(1),
        earlier: earlier_versions(session, &at),
        superseded: at.superseded,
    }
}

/// Returns how many earlier values the store keeps for a binding (errata B6).
fn earlier_versions(opened: &Opened, binding: &Binding) -> u32 {
    let key = (binding.name.clone(), binding.execution_id);
    opened.earlier.get(&key).copied().unwrap_or(0)
}

/// Returns the name of a scope, such as `frame 43`. A resolution may begin in any node, so the word may be that of
/// another kind of node: `execution 43`.
fn scope_name(opened: &Opened, id: i64) -> String {
    let node = opened.node_of_row(id).and_then(|at| opened.node(at));
    let word = match node.map(|node| &node.kind) {
        None => "frame",
        Some(NodeKind::Statement) => "execution",
        Some(kind) => kind.word(),
    };
    format!("{word} {id}")
}

/// Explains what a name means in a frame: lists every candidate, the winner first.
pub fn resolve(session: &Session, name: &str, from: Option<i64>) -> ResolutionView {
    let found = scope::resolve(&session.run, &session.trace, name, from);
    let near = found.chain.iter().take(CHAIN);
    let mut chain: Vec<String> = near.map(|id| scope_name(session, *id)).collect();
    if found.chain.len() > CHAIN {
        chain.push(format!("… {} more", found.chain.len() - CHAIN));
    }
    chain.push("root".to_owned());
    let (near, far) = found
        .candidates
        .split_at(found.candidates.len().min(CANDIDATES));
    ResolutionView {
        name: found.name,
        from: found.from,
        chain,
        candidates: binding_rows(session, near.iter().map(|c| c.binding as u32))
            .into_iter()
            .zip(near)
            .map(|(row, candidate)| CandidateView {
                row,
                distance: candidate.distance,
                outcome: candidate.outcome,
                reason: candidate.reason.clone(),
            })
            .collect(),
        more: far.len() as u32,
        issues: found.issues,
    }
}
