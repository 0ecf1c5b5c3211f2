//! Converts the bindings of a run, with their earlier values and attachments.

use std::collections::{BTreeMap, BTreeSet};

use super::{AHEAD, Carry, ROWS, Session, ValueTable, damaged, stamp, text};
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{Binding, IndexedBinding, Text, ValueAt};
use crate::read::decode::folder;
use crate::read::decode::rows::{self, Version, Versions};
use crate::read::decode::text::is_plain_path;
use crate::record::render::binding_md;
use crate::record::{BindingRow, Change, WriteError};

impl Carry<'_, '_> {
    pub(super) fn bindings(&mut self) -> Result<(), WriteError> {
        let run = &self.session.run;
        let ids: BTreeSet<i64> = run.executions.iter().map(|row| row.id).collect();
        let mut files: BTreeSet<String> = BTreeSet::new();
        let mut bindings = run.bindings.clone();
        self.session.values.binding_tails(&mut bindings);
        let in_files = self.session.values.db.is_none();
        let indexed = run
            .state_file
            .as_ref()
            .is_some_and(|file| !file.bindings.is_empty());
        if in_files && !indexed {
            // Sorts by time, which is the order of rows in a database. The files of a folder are in the order of their
            // names.
            let first = |b: &Binding| {
                let at = b.created.as_ref().or(b.updated.as_ref());
                at.and_then(Stamp::millis)
            };
            bindings.sort_by_key(|binding| (first(binding), binding.execution_id));
        }
        // Values of an import belong to the import's own run, whose folder is copied.
        let imports = format!("{}imports/", self.session.root);
        let of_import = |b: &Binding| matches!(&b.value, ValueAt::File { path, .. } if path.starts_with(&imports));
        bindings.retain(|binding| !of_import(binding));
        let mut versions = self.session.all_versions()?;
        let mut superseded: BTreeMap<(Text, Option<i64>), Vec<&Binding>> = BTreeMap::new();
        for binding in bindings.iter().filter(|b| b.superseded) {
            superseded.entry(key(binding)).or_default().push(binding);
        }
        for (at, binding) in bindings.iter().enumerate().filter(|(_, b)| !b.superseded) {
            self.read_ahead(bindings.get(at..).unwrap_or_default())?;
            let versions = versions.remove(&key(binding)).unwrap_or_default();
            self.odd_frame(binding, &ids);
            if matches!(binding.value, ValueAt::Missing) {
                let what = "not copied: the index names the binding, but the binding has no value";
                self.left(place(binding), what);
                continue;
            }
            if self.to_folder && self.nested(binding)? {
                continue;
            }
            if self.to_folder && !takes_a_file(binding, &mut files) {
                let earlier = match versions.len() {
                    0 => String::new(),
                    n => format!("; {n} earlier values are not copied either"),
                };
                let what = "not copied: a file cannot have the binding's name, or another binding has the same name";
                self.left(place(binding), format!("{what}{earlier}"));
                continue;
            }
            for version in &versions {
                self.version(binding, version)?;
            }
            for earlier in superseded.remove(&key(binding)).unwrap_or_default() {
                self.binding(earlier, schema::BINDINGS)?;
            }
            self.binding(binding, schema::BINDINGS)?;
        }
        for ((name, frame), gone) in versions {
            // A folder has its history in files, which are copied unchanged.
            if self.session.values.db.is_some() {
                let place = format!("{} of {}", schema::BINDING_HISTORY, named(&name, frame));
                let what = "earlier values of a binding that no longer exists are not copied";
                self.left(place, format!("{what}: {}", gone.len()));
            }
        }
        Ok(())
    }

    /// Reads the values of the next bindings with one query, unless the value of the first binding was read already.
    /// Used only for stores in which each query takes noticeable time.
    fn read_ahead(&mut self, next: &[Binding]) -> Result<(), WriteError> {
        let row = |binding: &Binding| match binding.value {
            ValueAt::Row { rowid, len, .. } => Some((rowid, len?)),
            _ => None,
        };
        let first = next.first().and_then(row).map(|(at, _)| at);
        let (Some(first), Some(store)) = (first, &self.session.values.db) else {
            return Ok(());
        };
        if !self.reads_ahead || self.ahead.contains_key(&first) {
            return Ok(());
        }
        let (mut wanted, mut bytes) = (BTreeSet::new(), 0);
        for (at, len) in next.iter().filter_map(row).take(ROWS) {
            bytes += len;
            if bytes > AHEAD || wanted.last().is_some_and(|last| at < *last) {
                break;
            }
            wanted.insert(at);
        }
        let Some(last) = wanted.last() else {
            return Ok(());
        };
        self.ahead.clear();
        let ahead = &mut self.ahead;
        let read =
            store
                .db
                .texts_between(schema::BINDINGS, "value", first..=*last, &mut |at, text| {
                    if wanted.contains(&at) {
                        ahead.insert(at, text.to_vec());
                    }
                });
        read.map_err(|error| damaged(&format!("{}.value: {error}", schema::BINDINGS)))?;
        self.reads_ahead = !self.ahead.is_empty();
        Ok(())
    }

    /// Reports a binding whose frame is an execution that the run does not record.
    fn odd_frame(&mut self, binding: &Binding, ids: &BTreeSet<i64>) {
        let known = |id: &i64| ids.contains(id) || self.by_hand.frames.contains_key(id);
        let Some(id) = binding.execution_id.filter(|id| !known(id)) else {
            return;
        };
        let what = format!(
            "copied unchanged, although the binding names execution {id}, which is not recorded"
        );
        self.left(place(binding), what);
    }

    /// Returns whether a binding with a dotted name, such as `research.findings`, is also a file of a nested run
    /// (errata B12). That file is copied, so the row is not.
    fn nested(&mut self, binding: &Binding) -> Result<bool, WriteError> {
        let Some((alias, rest)) = binding.name.split_once('.') else {
            return Ok(false);
        };
        if binding.execution_id.is_some() {
            return Ok(false);
        }
        let dir = format!("{}imports/{alias}--", self.session.root);
        let end = format!("/bindings/{rest}.md");
        let source = self.session.values.source.as_ref();
        let files = source.below(&dir);
        let Some(file) = files.iter().find(|file| {
            let inside = file.path.get(dir.len()..).unwrap_or_default();
            inside
                .strip_suffix(end.as_str())
                .is_some_and(|slug| !slug.contains('/'))
        }) else {
            return Ok(false);
        };
        let head = folder::head_of(rest, file.len, |most| source.read(&file.path, 0, most).ok());
        let at = ValueAt::File {
            path: file.path.as_str().into(),
            start: head.as_ref().map_or(0, |head| head.start),
            len: file.len.saturating_sub(head.map_or(0, |head| head.start)),
        };
        let (path, ours) = (file.path.clone(), &binding.value);
        let own = self.whole(schema::BINDINGS, "value", &ValueTable::Bindings, ours)?;
        if own != self.whole(schema::BINDINGS, "value", &ValueTable::Bindings, &at)? {
            let what = format!(
                "not copied: the binding's row, because it differs from the file {path}, which is copied"
            );
            self.left(place(binding), what);
        }
        Ok(true)
    }

    fn version(&mut self, of: &Binding, version: &Version) -> Result<(), WriteError> {
        let earlier = Binding {
            kind: version.kind.clone(),
            source: version.source.clone(),
            created: version.created.clone(),
            updated: version.updated.clone(),
            attachment: version.attachment.clone(),
            value: version.value.clone(),
            fields: Box::default(),
            ..of.clone()
        };
        self.binding(&earlier, schema::BINDING_HISTORY)
    }

    fn binding(&mut self, binding: &Binding, table: &str) -> Result<(), WriteError> {
        let bytes = self.whole(table, "value", &ValueTable::Bindings, &binding.value)?;
        let earlier = match table {
            schema::BINDING_HISTORY => "an earlier value of ",
            _ => "",
        };
        let place = format!("{earlier}{}", place(binding));
        if let ValueAt::Row { len: None, .. } = binding.value {
            self.left(
                &*place,
                "the value is NULL and becomes an empty text in the copy",
            );
        }
        if !binding.fields.is_empty() {
            let keys: Vec<&str> = binding.fields.iter().map(|(key, _)| &**key).collect();
            let what = format!(
                "not copied: these fields of the binding's header: {}",
                keys.join(", ")
            );
            self.left(&*place, what);
        }
        let len = bytes.len();
        let mut changes = Vec::new();
        let mut attachment = text(&binding.attachment);
        let (mut value, kept) = self.text_of(bytes);
        if let Some(file) = kept {
            let what = format!(
                "the value is not text, so it is copied as the file {}",
                file.path
            );
            self.left(&*place, what);
            if attachment.is_none() {
                attachment = Some(file.path.clone());
                value = String::new();
            }
            changes.push(Change::Attachment(file));
        }
        // A file's header has no `created` if the binding was written only once (`binding_md::write`). The time of that
        // write is `updated`.
        let once = || {
            binding
                .updated
                .as_ref()
                .filter(|_| self.session.values.db.is_none())
        };
        let created = binding.created.as_ref().or_else(once);
        changes.push(Change::Binding(BindingRow {
            name: binding.name.to_string(),
            execution_id: binding.execution_id.map(|id| self.frame(id)),
            parent_execution_id: self.around(binding).map(|id| self.frame(id)),
            kind: self.kind(binding),
            value,
            source: text(&binding.source),
            attachment,
            at: stamp(binding.updated.as_ref(), self.to_folder),
            created: Some(stamp(created, self.to_folder)),
        }));
        let key = binding_md::file_name(&binding.name, binding.execution_id).to_lowercase();
        self.hold(key, len, changes)
    }
}

impl Carry<'_, '_> {
    /// Returns the kind of a binding. A file that was written by hand may have no header; the kind is then the
    /// program's.
    fn kind(&self, binding: &Binding) -> String {
        let own = binding.kind.word();
        let says = || {
            let binder = self.session.listing()?.binder(&binding.name)?;
            binder.binds.clone()
        };
        if own.is_empty() {
            says().unwrap_or_default()
        } else {
            own.to_owned()
        }
    }

    /// Returns the frame around a binding's frame, for the binding's record in the copy. In a database, the result is
    /// `None` if the binding's frame has a row.
    fn around(&self, binding: &Binding) -> Option<i64> {
        if self.to_folder {
            self.session.frame_around(binding)
        } else {
            self.session.unrecorded_frame(binding)
        }
    }
}

impl Session {
    /// Returns whether some binding is in a frame that has no row. Only the binding itself then records the frame
    /// around its frame.
    pub fn has_unrecorded_frames(&self) -> bool {
        let mut bindings = self.run.bindings.iter();
        bindings.any(|binding| self.unrecorded_frame(binding).is_some())
    }

    /// Returns the frame around a binding's frame, if the binding's frame has no row.
    fn unrecorded_frame(&self, binding: &Binding) -> Option<i64> {
        let around = binding.parent_execution_id?;
        let frame = binding.execution_id?;
        // The copy of a hand-written state file has rows for the frames of its call stack.
        let has_row = if self.run.recorded_in_rows() {
            let rows = &self.run.executions;
            rows.binary_search_by_key(&frame, |row| row.id).is_ok()
        } else {
            self.trace.of_row(frame).is_some()
        };
        (!has_row).then_some(around)
    }

    /// Returns the frame around a binding's frame: as the binding records it, or else from the trace.
    pub(super) fn frame_around(&self, binding: &Binding) -> Option<i64> {
        if binding.parent_execution_id.is_some() {
            return binding.parent_execution_id;
        }
        let node = self.node_of_row(binding.execution_id?)?;
        self.node(self.trace.frame(self.node(node)?.parent)?)?.id
    }

    /// Returns the bindings for the index in the first state.md of a new folder. The index keeps the order of the
    /// bindings, which files in a folder do not have.
    pub fn index_of_folder(&self) -> Vec<IndexedBinding> {
        let bindings = self.run.bindings.iter().filter(|b| !b.superseded);
        let rows = bindings.map(|binding| {
            let file = binding_md::file_name(&binding.name, binding.execution_id);
            IndexedBinding {
                name: Text::clone(&binding.name),
                kind: binding.kind.word().into(),
                path: format!("bindings/{file}").into(),
                execution_id: binding.execution_id,
            }
        });
        rows.collect()
    }

    /// Returns the earlier values of every binding, the oldest first.
    fn all_versions(&self) -> Result<Versions, WriteError> {
        if let Some(db) = &self.values.db {
            return rows::all_binding_versions(db.db.as_ref())
                .map_err(|error| damaged(&error.to_string()));
        }
        let (source, root) = (self.values.source.as_ref(), &self.root);
        let keys = self.earlier.keys().cloned();
        Ok(keys
            .map(|(name, frame)| {
                let versions = folder::binding_versions(source, root, &name, frame);
                ((name, frame), versions)
            })
            .collect())
    }
}

fn key(binding: &Binding) -> (Text, Option<i64>) {
    (Text::clone(&binding.name), binding.execution_id)
}

pub(super) fn named(name: &str, frame: Option<i64>) -> String {
    let of = frame.map_or(String::new(), |id| format!(" of frame {id}"));
    format!("{name}{of}")
}

pub(super) fn place(binding: &Binding) -> String {
    format!("binding {}", named(&binding.name, binding.execution_id))
}

/// Returns whether a file can have the binding's name and no earlier binding took that file. Names that differ only in
/// case count as the same, because some file systems ignore case.
fn takes_a_file(binding: &Binding, files: &mut BTreeSet<String>) -> bool {
    let (name, frame) = (&*binding.name, binding.execution_id);
    let file = binding_md::file_name(name, frame);
    // A name of the form `NAME__ID` at the root would be read back as `NAME` in frame `ID`.
    let scoped = frame.is_none() && folder::scoped(name).is_some();
    let parts_are_plain = name
        .split('/')
        .all(|part| !part.starts_with('.') && part.len() <= 200);
    let plain = is_plain_path(&file)
        && parts_are_plain
        && !name.contains(|c: char| c.is_control() || c == '\\')
        && file.len() <= 1000;
    !scoped && plain && files.insert(file.to_lowercase())
}

/// Returns whether the history in `x_history/bindings/{stem}/` belongs to a binding of the run. The history is then
/// copied with that binding.
pub(super) fn has_history(session: &Session, stem: &str) -> bool {
    let (name, frame) = folder::scoped(stem).map_or((stem, None), |(name, id)| (name, Some(id)));
    session
        .run
        .bindings
        .iter()
        .any(|b| *b.name == *name && b.execution_id == frame && b.value != ValueAt::Missing)
}
