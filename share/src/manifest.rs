//! What a packed run says of itself.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ReaderAt;
use crate::archive::{Archive, ArchiveError};

/// Where it lies in the zip.
pub const MANIFEST: &str = "prosescope-share.json";
/// The form that this program writes.
pub const FORMAT: &str = "prosescope-share-1";
/// A longer manifest is not read.
const LONGEST: u64 = 64 << 20;

/// What was shared, and what was changed for it. Holds no secret, and no hash of one: a short secret can be guessed from its hash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// The program that made it, and its version.
    pub made_by: String,
    /// When: RFC 3339, UTC.
    pub made_at: String,
    /// Whether nothing was replaced.
    pub raw: bool,
    /// The runs, by id.
    pub runs: Vec<String>,
    /// The files, in order of path.
    pub parts: Vec<Part>,
    /// What was replaced.
    pub redactions: Vec<Redaction>,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
    /// The audit logs that were sealed anew, because something in them was replaced.
    pub sealed_anew: Vec<SealedAnew>,
}

/// A file of the packed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its path.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// SHA-256, in hex.
    pub sha256: String,
}

/// How often a rule replaced something in a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redaction {
    /// The rule.
    pub rule: String,
    /// `secret` or `personal`.
    pub kind: String,
    /// Where, by kind: `bindings.value`, `program`, …
    pub place: String,
    /// How often.
    pub count: u64,
}

/// How much of a kind was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Bytes together.
    pub bytes: u64,
}

/// The head of an audit log before it was sealed anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedAnew {
    /// The run that the log is of.
    pub run: String,
    /// How many sealed rows it had.
    pub count: u64,
    /// The hash of its last one.
    pub head: String,
}

/// Whether a packed run is what its manifest says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verified {
    /// A zip that nobody's `share` made.
    NoManifest,
    /// Every part is there, with the bytes that were shared.
    Unchanged(Box<Manifest>),
    /// It is not: a sentence each.
    Changed(Vec<String>),
}

impl Manifest {
    /// Reads the manifest of a zip; `None` where it has none.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn of<R: ReaderAt>(archive: &Archive<R>) -> Option<Result<Manifest, String>> {
        let entry = archive.entry(MANIFEST)?;
        if entry.len > LONGEST {
            return Some(Err(format!("{MANIFEST} has {} bytes", entry.len)));
        }
        let bytes = match archive.whole(MANIFEST) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return Some(Err(error.to_string())),
        };
        let read = serde_json::from_slice(&bytes);
        Some(read.map_err(|error| format!("{MANIFEST} cannot be read: {error}")))
    }
}

/// Compares every part of a zip with its manifest. Who changes both goes unnoticed: a manifest tells what happened on the way, not who
/// made it.
pub fn verify<R: ReaderAt>(archive: &Archive<R>) -> Verified {
    let manifest = match Manifest::of(archive) {
        None => return Verified::NoManifest,
        Some(Err(why)) => return Verified::Changed(vec![why]),
        Some(Ok(manifest)) => manifest,
    };
    let mut wrong = Vec::new();
    for part in &manifest.parts {
        match sum(archive, &part.path) {
            Ok(None) => wrong.push(format!("{} is missing", part.path)),
            Ok(Some(sum)) if sum == part.sha256 => {}
            Ok(Some(_)) => wrong.push(format!("{} was changed", part.path)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    for entry in archive.entries() {
        let is_part = manifest.parts.iter().any(|part| part.path == entry.path);
        if !is_part && entry.path != MANIFEST {
            wrong.push(format!("{} was added", entry.path));
        }
    }
    match wrong.is_empty() {
        true => Verified::Unchanged(Box::new(manifest)),
        false => Verified::Changed(wrong),
    }
}

fn sum<R: ReaderAt>(archive: &Archive<R>, path: &str) -> Result<Option<String>, ArchiveError> {
    let Some(entry) = archive.entry(path) else {
        return Ok(None);
    };
    let mut hasher = Sha256::new();
    archive.unpack(entry, &mut |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok(Some(hex(&hasher.finalize())))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
