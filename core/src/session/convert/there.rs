use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::{Left, Session, damaged};
use crate::write::{Change, WriteError};

/// Bytes of a file that are read at a time.
const PIECE: usize = 1 << 20;

const PROGRAM: &str = "program.prose";

/// What a run is carried as: a hash for each of its places.
type Told = BTreeMap<String, Sha256>;

/// How a copy that is there compares with its run.
#[derive(Debug, Default)]
pub struct There {
    /// Where the two differ; nowhere: the copy is whole.
    pub differs: Vec<Left>,
    /// What the copy lacks, or has in another form, as [`Session::carry`] says.
    pub left: Vec<Left>,
}

impl Session {
    /// Compares the run with a copy of it that is there already: values, files, statements, agents, imports, gates and the log.
    /// Times and metadata are not compared: another store respells them.
    ///
    /// # Errors
    /// A [`crate::write::Fault`] when either cannot be read.
    pub fn compare_with(
        &self,
        copy: &Session,
        to_folder: bool,
        with_files: bool,
    ) -> Result<There, WriteError> {
        let (mut ours, mut left) = self.told(to_folder)?;
        let (mut theirs, _) = copy.told(to_folder)?;
        for (session, told) in [(self, &mut ours), (copy, &mut theirs)] {
            tell(told, "the status", &[session.status()]);
        }
        let files = self.carry_files(to_folder, with_files);
        left.extend(files.left);
        // In a folder the program is a file: where one lies beside the rows, that file is the copy's program.
        let is_file = to_folder && files.copied.iter().any(|(_, to)| to == PROGRAM);
        let programs = [&self.run, &copy.run].map(|run| run.program.source.as_deref());
        if let ([Some(one), Some(other)], false) = (programs, is_file) {
            tell(&mut ours, "the program", &[one]);
            tell(&mut theirs, "the program", &[other]);
        }
        for (from, to) in files.copied {
            if to == PROGRAM && !is_file {
                continue;
            }
            ours.insert(format!("file {to}"), self.hash_of(&from)?);
            let full = format!("{}{to}", copy.root);
            if copy.values.source.file(&full).is_some() {
                theirs.insert(format!("file {to}"), copy.hash_of(&to)?);
            }
        }
        let said: BTreeSet<&str> = left.iter().map(|left| &*left.place).collect();
        let mut differs = Vec::new();
        let places: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for place in places {
            let what = match (ours.get(place), theirs.get(place)) {
                (Some(_), None) => "it is not in the copy",
                (None, Some(_)) => "it is in the copy only",
                (one, other) if digest(one) != digest(other) => "it is another in the copy",
                _ => continue,
            };
            if !said.contains(&**place) {
                differs.push(Left::new(place, what));
            }
        }
        Ok(There { differs, left })
    }

    /// What the run says, by place; and what could not be carried.
    fn told(&self, to_folder: bool) -> Result<(Told, Vec<Left>), WriteError> {
        let mut told = Told::new();
        let left = self.carry(to_folder, &mut |changes| {
            changes
                .iter()
                .for_each(|change| tell_change(&mut told, change));
            Ok(())
        })?;
        Ok((told, left))
    }

    fn hash_of(&self, path: &str) -> Result<Sha256, WriteError> {
        let full = format!("{}{path}", self.root);
        let source = self.values.source.as_ref();
        let len = source.file(&full).map_or(0, |file| file.len);
        let (mut hash, mut at) = (Sha256::new(), 0);
        while at < len {
            let piece = source.read(&full, at, PIECE);
            let piece = piece.map_err(|error| damaged(&error.to_string()))?;
            if piece.is_empty() {
                break;
            }
            hash.update(&piece);
            at += piece.len() as u64;
        }
        Ok(hash)
    }
}

fn digest(hash: Option<&Sha256>) -> Option<Vec<u8>> {
    hash.map(|hash| hash.clone().finalize().to_vec())
}

/// Adds texts to what is told of a place, in order.
fn tell(told: &mut Told, place: impl Into<String>, texts: &[&str]) {
    let hash = told.entry(place.into()).or_default();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
}

fn tell_change(told: &mut Told, change: &Change) {
    let number = |n: Option<i64>| n.map_or(String::new(), |n| n.to_string());
    fn some(text: &Option<String>) -> &str {
        text.as_deref().unwrap_or_default()
    }
    match change {
        Change::Execution(row) => tell(
            told,
            "what ran",
            &[
                &row.id.to_string(),
                &number(row.index),
                &number(row.parent),
                &row.text,
                &row.status,
                some(&row.error),
            ],
        ),
        Change::Binding(row) => tell(
            told,
            format!(
                "binding {}",
                super::bindings::named(&row.name, row.execution_id)
            ),
            &[
                &row.kind,
                &row.value,
                some(&row.source),
                some(&row.attachment),
            ],
        ),
        // Its memories and segments are told with their scope; one without any only has a scope.
        Change::Agent(row) => tell(told, format!("agent {}", row.agent), &[&row.scope]),
        Change::Memory(row) => tell(
            told,
            format!("agent {}", row.agent),
            &[&row.scope, &row.memory],
        ),
        Change::Segment(row) => tell(
            told,
            format!("agent {}, segment {}", row.agent, row.number),
            &[&row.prompt, &row.summary],
        ),
        Change::Import(row) => tell(told, format!("import {}", row.alias), &[&row.source_url]),
        // A file spells lists and times in its own way; who decided is in the log.
        Change::Gate(row) => tell(told, gate(&row.id, &row.run_id), &[]),
        Change::ResolveGate(row) => tell(told, gate(&row.id, &row.run_id), &[&row.status]),
        Change::Audit(row) => tell(
            told,
            "the audit log",
            &[
                &row.id.to_string(),
                &row.gate_id,
                &row.event,
                &row.principal,
                &row.metadata,
            ],
        ),
        // Files are compared by themselves, and the status as it is read.
        Change::Attachment(_) | Change::UpdateExecution(_) | Change::Run(_) => {}
    }
}

fn gate(id: &str, run: &str) -> String {
    format!("gate {id} of run {run}")
}
