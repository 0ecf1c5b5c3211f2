use super::Session;
use super::index::{frame_path, node_of_row, short};
use super::values::Table;
use crate::model::{Binding, ValueAt};
use crate::scope;
use crate::trace::NodeKind;
use crate::view::{BindingRow, BindingsPage, CandidateView, ResolutionView};

/// How many scopes and candidates of a resolution are named.
const CHAIN: usize = 200;
const CANDIDATES: usize = 200;

/// How many fields of a header are shown, and how much of each.
const FIELDS: usize = 20;
const FIELD: usize = 200;

fn fields(binding: &Binding) -> Vec<(String, String)> {
    let shown = binding.fields.iter().take(FIELDS);
    shown
        .map(|(key, value)| (short(key, FIELD), short(value, FIELD)))
        .collect()
}

impl Session {
    /// A window of the bindings: the root first, then frame by frame. Reads previews of these rows only.
    pub fn bindings_page(&self, from: u32, len: u32) -> BindingsPage {
        let order = &self.index.binding_order;
        BindingsPage {
            total: order.len() as u32,
            from,
            rows: self.binding_rows(order.iter().skip(from as usize).take(len as usize).copied()),
        }
    }

    /// The place of a binding in the list that [`Session::bindings_page`] pages through.
    pub fn binding_place(&self, binding: u32) -> Option<u32> {
        self.index
            .binding_order
            .iter()
            .position(|&b| b == binding)
            .map(|at| at as u32)
    }

    /// One binding of the list.
    pub fn binding_row(&self, binding: u32) -> Option<BindingRow> {
        self.binding_rows([binding].into_iter()).pop()
    }

    /// Several; what a list left out of them is read at once.
    fn binding_rows(&self, wanted: impl Iterator<Item = u32>) -> Vec<BindingRow> {
        let (places, mut bindings): (Vec<u32>, Vec<Binding>) = wanted
            .filter_map(|b| Some((b, self.run.bindings.get(b as usize)?.clone())))
            .unzip();
        self.binding_tails(&mut bindings);
        let rows = places.into_iter().zip(bindings);
        rows.map(|(place, binding)| self.row_of(place, binding))
            .collect()
    }

    fn row_of(&self, binding: u32, at: Binding) -> BindingRow {
        let frame_node = at.execution_id.and_then(|id| node_of_row(&self.trace, id));
        let attachment = at.attachment.as_deref().filter(|p| !p.is_empty());
        let written = self.written(binding, Some(&at));
        BindingRow {
            binding,
            name: at.name.to_string(),
            execution_id: at.execution_id,
            frame_path: match (at.execution_id, frame_node) {
                (None, _) => String::new(),
                (Some(_), Some(node)) => frame_path(&self.trace, &self.index.frame, Some(node)),
                (Some(id), None) => format!("frame {id}"),
            },
            frame_node,
            kind: at.kind.word().to_owned(),
            len: at.value.len(),
            stored: match &at.value {
                ValueAt::Row { stored, .. } => stored.word().to_owned(),
                ValueAt::File { .. } => "file".to_owned(),
                ValueAt::Missing => "missing".to_owned(),
            },
            preview: self.preview(Table::Bindings, &at.value),
            source: at.source.as_deref().map(str::to_owned),
            created: at.created.clone(),
            updated: at.updated.clone(),
            written_by: written.by.and_then(|node| self.node_ref(node)),
            writer_inferred: written.inferred,
            not_given: match attachment {
                Some(path) => self.attachment(path).is_none() && self.source.is_loose(),
                None => matches!(at.value, ValueAt::Missing) && self.source.is_loose(),
            },
            attachment: attachment.map(str::to_owned),
            fields: fields(&at),
            attachment_len: attachment
                .and_then(|path| self.attachment(path))
                .map(|(_, len)| len),
            versions: self.index.claims.get(&binding).copied().unwrap_or(1),
            earlier: self.earlier_versions(&at),
            superseded: at.superseded,
        }
    }

    /// How many earlier values the store keeps aside (errata B6).
    fn earlier_versions(&self, binding: &Binding) -> u32 {
        let key = (binding.name.clone(), binding.execution_id);
        self.earlier.get(&key).copied().unwrap_or(0)
    }

    /// `frame 43`; what is no frame is called what it is, as a resolution may begin in a statement.
    fn scope_name(&self, id: i64) -> String {
        let node = node_of_row(&self.trace, id).and_then(|at| self.trace.nodes.get(at as usize));
        let word = match node.map(|node| &node.kind) {
            None => "frame",
            Some(NodeKind::Statement) => "execution",
            Some(kind) => kind.word(),
        };
        format!("{word} {id}")
    }

    /// What a name means in a frame, without the reasons why: the index of a binding.
    pub fn winner(&self, name: &str, from: Option<i64>) -> Option<u32> {
        scope::winner(&self.run, &self.trace, name, from).and_then(|at| u32::try_from(at).ok())
    }

    /// What a name means in a frame, and why: every candidate, the winner first.
    pub fn resolve(&self, name: &str, from: Option<i64>) -> ResolutionView {
        let found = scope::resolve(&self.run, &self.trace, name, from);
        let near = found.chain.iter().take(CHAIN);
        let mut chain: Vec<String> = near.map(|id| self.scope_name(*id)).collect();
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
            candidates: self
                .binding_rows(near.iter().map(|c| c.binding as u32))
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
}
