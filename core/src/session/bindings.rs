use super::Session;
use super::index::{frame_path, node_of_row};
use super::values::Table;
use crate::model::{Binding, ValueAt};
use crate::scope;
use crate::trace::NodeKind;
use crate::view::{BindingRow, BindingsPage, CandidateView, ResolutionView};

impl Session {
    /// A window of the bindings: the root first, then frame by frame. Reads previews of these rows only.
    pub fn bindings_page(&self, from: u32, len: u32) -> BindingsPage {
        let order = &self.index.binding_order;
        BindingsPage {
            total: order.len() as u32,
            from,
            rows: order
                .iter()
                .skip(from as usize)
                .take(len as usize)
                .filter_map(|&b| self.binding_row(b))
                .collect(),
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
        let short = self.run.bindings.get(binding as usize)?;
        let at = self.binding_tail(short);
        let frame_node = at.execution_id.and_then(|id| node_of_row(&self.trace, id));
        let attachment = at.attachment.as_deref().filter(|p| !p.is_empty());
        let same =
            |other: &&Binding| other.name == at.name && other.execution_id == at.execution_id;
        let claims = if self.index.claimed_twice.contains(&binding) {
            self.run.bindings.iter().filter(same).count() as u32
        } else {
            1
        };
        Some(BindingRow {
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
                ValueAt::Row { stored, .. } => stored.to_string(),
                ValueAt::File { .. } => "file".to_owned(),
                ValueAt::Missing => "missing".to_owned(),
            },
            preview: self.preview(Table::Bindings, &at.value),
            source: at.source.as_deref().map(str::to_owned),
            created: at.created.clone(),
            updated: at.updated.clone(),
            attachment: attachment.map(str::to_owned),
            attachment_len: attachment
                .and_then(|path| self.attachment(path))
                .map(|(_, len)| len),
            versions: claims,
            earlier: self.earlier_versions(&at),
            superseded: at.superseded,
        })
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
        let mut chain: Vec<String> = found.chain.iter().map(|id| self.scope_name(*id)).collect();
        chain.push("root".to_owned());
        ResolutionView {
            name: found.name,
            from: found.from,
            chain,
            candidates: found
                .candidates
                .into_iter()
                .filter_map(|c| {
                    Some(CandidateView {
                        row: self.binding_row(c.binding as u32)?,
                        distance: c.distance,
                        outcome: c.outcome,
                        reason: c.reason,
                    })
                })
                .collect(),
            issues: found.issues,
        }
    }
}
