//! Compares a run with a copy that exists already, so that a repeated conversion need not copy the run again.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::{CopyLoss, Session, damaged};
use crate::record::{Change, WriteError};

/// How many bytes of a file are read at a time.
const PIECE: usize = 1 << 20;

const PROGRAM: &str = "program.prose";

/// A hash for each place of a run, such as `binding style`, computed from the changes of a conversion.
type Hashes = BTreeMap<String, Sha256>;

/// The result of comparing a run with an existing copy.
#[derive(Debug, Default)]
pub struct CopyComparison {
    /// The places that differ; empty if the copy is complete.
    pub differs: Vec<CopyLoss>,
    /// The parts that the copy lacks or has in another form, as [`Session::carry`] reports them.
    pub left: Vec<CopyLoss>,
}

impl Session {
    /// Compares the run with an existing copy: values, files, statements, agents, imports, gates and the audit log.
    /// Times and metadata are not compared, because each store has its own notation for them.
    ///
    /// # Errors
    /// A [`crate::record::Fault`] if the run or the copy cannot be read.
    pub fn compare_with(
        &self,
        copy: &Session,
        to_folder: bool,
        with_files: bool,
    ) -> Result<CopyComparison, WriteError> {
        let (mut ours, mut left) = self.hashes(to_folder)?;
        let (mut theirs, _) = copy.hashes(to_folder)?;
        for (session, hashes) in [(self, &mut ours), (copy, &mut theirs)] {
            add(hashes, "the status", &[session.status()]);
        }
        let files = self.carry_files(to_folder, with_files);
        left.extend(files.left);
        // In a folder, the program is a file. A `program.prose` beside the original's rows becomes that file, and is
        // compared as a file.
        let is_file = to_folder && files.copied.iter().any(|(_, to)| to == PROGRAM);
        let programs = [&self.run, &copy.run].map(|run| run.program.source.as_deref());
        if let ([Some(one), Some(other)], false) = (programs, is_file) {
            add(&mut ours, "the program", &[one]);
            add(&mut theirs, "the program", &[other]);
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
                (Some(_), None) => "the copy lacks this part of the run",
                (None, Some(_)) => "only the copy has this part",
                (one, other) if digest(one) != digest(other) => "the copy has other content",
                _ => continue,
            };
            if !said.contains(&**place) {
                differs.push(CopyLoss::new(place, what));
            }
        }
        Ok(CopyComparison { differs, left })
    }

    /// Returns the hashes of the run's places, and the parts that could not be copied.
    fn hashes(&self, to_folder: bool) -> Result<(Hashes, Vec<CopyLoss>), WriteError> {
        let mut hashes = Hashes::new();
        let left = self.carry(to_folder, &mut |changes| {
            changes
                .iter()
                .for_each(|change| add_change(&mut hashes, change));
            Ok(())
        })?;
        Ok((hashes, left))
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

/// Adds texts to the hash of a place, in order.
fn add(hashes: &mut Hashes, place: impl Into<String>, texts: &[&str]) {
    let hash = hashes.entry(place.into()).or_default();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
}

fn add_change(hashes: &mut Hashes, change: &Change) {
    fn some(text: &Option<String>) -> &str {
        text.as_deref().unwrap_or_default()
    }
    match change {
        Change::Execution(row) => {
            let mut columns = row.columns();
            columns.retain(|(name, _)| !["started_at", "completed_at", "metadata"].contains(name));
            let texts: Vec<String> = columns.iter().map(|(_, value)| value.to_string()).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            add(hashes, "what ran", &texts);
        }
        Change::Binding(row) => add(
            hashes,
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
        // A memory is hashed with its agent's scope. An agent without a memory is hashed by its scope alone.
        Change::Agent(row) => add(hashes, format!("agent {}", row.agent), &[&row.scope]),
        Change::Memory(row) => add(
            hashes,
            format!("agent {}", row.agent),
            &[&row.scope, &row.memory],
        ),
        Change::Segment(row) => add(
            hashes,
            format!("agent {}, segment {}", row.agent, row.number),
            &[&row.prompt, &row.summary],
        ),
        Change::Import(row) => add(hashes, format!("import {}", row.alias), &[&row.source_url]),
        // A gate's lists and times are not hashed, because files write them in another notation. The gate's decision is
        // in the audit log.
        Change::Gate(row) => add(hashes, gate(&row.id, &row.run_id), &[]),
        Change::ResolveGate(row) => add(hashes, gate(&row.id, &row.run_id), &[&row.status]),
        Change::Audit(row) => add(
            hashes,
            "the audit log",
            &[
                &row.id.to_string(),
                &row.gate_id,
                &row.event,
                &row.principal,
                &row.metadata,
            ],
        ),
        // These changes are not hashed, because files and the status are compared separately.
        Change::Attachment(_) | Change::UpdateExecution(_) | Change::Run(_) => {}
    }
}

fn gate(id: &str, run: &str) -> String {
    format!("gate {id} of run {run}")
}
