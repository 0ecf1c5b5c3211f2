//! Reads the manifest of a packed run, and compares the files of a zip with the manifest's checksums.

use std::collections::BTreeMap;
use std::io;

use prosescope_core::model::issue::Issue;
use prosescope_core::model::text::{counted, hex, short};
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::view::{LeftOutOfShare, LogSealedAnew, SecretsReplaced};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ReaderAt;
use crate::archive::{Archive, ArchiveError};

/// The path of the manifest in the zip.
pub const MANIFEST: &str = "prosescope-share.json";
/// The path of a signature of the manifest, which earlier versions of this program wrote. It is not a file of the run.
const SIGNATURE: &str = "prosescope-share.json.sig";
/// The version of the manifest's format that this program writes.
pub const FORMAT: &str = "prosescope-share-1";
/// The longest manifest that is read, in bytes.
pub(crate) const LONGEST: u64 = 64 << 20;
/// The most differences that are listed.
const SAID: usize = 20;
/// The number of characters of a path that are shown.
const SHOWN: usize = 200;

/// The contents of a shared copy, its replacements and its omissions. Contains neither a secret nor a secret's hash,
/// because a short secret could be guessed from the hash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the manifest's format: [`FORMAT`].
    pub format: String,
    /// The program that made the copy, and its version.
    pub made_by: String,
    /// The time of sharing: RFC 3339, UTC.
    pub made_at: String,
    /// Whether the copy is raw: nothing was replaced.
    pub raw: bool,
    /// The ids of the runs.
    pub runs: Vec<String>,
    /// The files of the copy, sorted by path.
    pub parts: Vec<PackedFile>,
    /// The number of replacements, by rule and place.
    pub redactions: Vec<SecretsReplaced>,
    /// The contents that were left out, by kind.
    pub left_out: Vec<LeftOutOfShare>,
    /// The audit logs that were sealed again because a text in them was replaced.
    pub sealed_anew: Vec<LogSealedAnew>,
    /// The row of the trace to show first, if the sharer chose one: `43`, `~7`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,
}

/// Returns whether a text is the name of a row of a trace: its number (`43`), or its position after `~` (`~7`).
pub(crate) fn is_row(text: &str) -> bool {
    let digits = text.strip_prefix('~').unwrap_or(text);
    (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A file of the packed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// The file's path.
    pub path: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The SHA-256 of the file in hexadecimal digits.
    pub sha256: String,
}

/// The result of comparing a packed run with its manifest.
#[derive(Debug, Clone, PartialEq)]
pub enum ManifestCheck {
    /// The zip has no manifest, so it was not made by `prosescope share`.
    NoManifest,
    /// Every part is present and unchanged.
    Unchanged(Box<Manifest>),
    /// Some parts differ from the manifest; one sentence for each.
    Changed(Vec<String>),
    /// The manifest has a format that this version does not know: the format's name.
    Unknown(String),
}

/// The part of a manifest that every format has.
#[derive(Deserialize)]
struct ManifestFormat {
    format: String,
}

impl Manifest {
    /// Reads the manifest of a zip; `None` if it has none.
    ///
    /// # Errors
    /// The result of the comparison, if the manifest cannot be read or has an unknown format.
    pub fn of<R: ReaderAt>(archive: &Archive<R>) -> Option<Result<Manifest, ManifestCheck>> {
        let entry = archive.entry(MANIFEST)?;
        let wrong = |why: String| Some(Err(ManifestCheck::Changed(vec![why])));
        if entry.len > LONGEST {
            return wrong(format!("{MANIFEST} is longer than any manifest"));
        }
        let bytes = match archive.whole(MANIFEST) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return wrong(error.to_string()),
        };
        // Another format may have other fields, so its name is read first.
        let format = serde_json::from_slice(&bytes).map(|ManifestFormat { format }| format);
        if let Some(other) = format.ok().filter(|format| format != FORMAT) {
            return Some(Err(ManifestCheck::Unknown(short(&other, 40))));
        }
        match serde_json::from_slice(&bytes) {
            Ok(manifest) => Some(Ok(manifest)),
            Err(error) => wrong(format!("{MANIFEST} cannot be read: {error}")),
        }
    }

    fn compared(self, mut sums: BTreeMap<&str, String>) -> ManifestCheck {
        let mut wrong = Vec::new();
        for part in &self.parts {
            let path = short(&part.path, SHOWN);
            match sums.remove(part.path.as_str()) {
                None => wrong.push(format!("{path} is missing")),
                Some(sum) if sum == part.sha256 => {}
                Some(_) => wrong.push(format!("{path} was changed")),
            }
        }
        let added = sums.keys().map(|path| short(path, SHOWN) + " was added");
        wrong.extend(added);
        let more = wrong.len().saturating_sub(SAID);
        wrong.truncate(SAID);
        if more > 0 {
            wrong.push(format!("{more} more differ"));
        }
        if wrong.is_empty() {
            ManifestCheck::Unchanged(Box::new(self))
        } else {
            ManifestCheck::Changed(wrong)
        }
    }
}

impl ManifestCheck {
    /// Returns a sentence with the time of sharing, and whether the copy is unchanged.
    pub fn words(&self) -> String {
        match self {
            ManifestCheck::NoManifest => {
                "This file has no manifest: whether it was changed cannot be checked.".to_owned()
            }
            ManifestCheck::Unknown(format) => format!(
                "The manifest's format “{format}” is not known to this version: whether this copy was changed cannot be checked."
            ),
            ManifestCheck::Unchanged(manifest) => {
                let counts = manifest.redactions.iter().map(|one| one.count);
                let replaced = match counts.fold(0, u64::saturating_add) {
                    0 => "nothing in it was".to_owned(),
                    n => counted(n, "text in it was", "texts in it were"),
                };
                let when = when(&manifest.made_at);
                format!("As shared on {when}, unchanged; {replaced} replaced.")
            }
            ManifestCheck::Changed(what) => {
                format!(
                    "This copy was changed after it was shared: {}.",
                    what.join("; ")
                )
            }
        }
    }

    /// Returns whether the copy was changed, or may have been changed unnoticed, although it has a manifest.
    pub fn is_doubtful(&self) -> bool {
        matches!(self, ManifestCheck::Changed(_) | ManifestCheck::Unknown(_))
    }

    /// Returns the row to show first; `None` unless the manifest matches.
    pub fn opens(&self) -> Option<&str> {
        let ManifestCheck::Unchanged(manifest) = self else {
            return None;
        };
        manifest.opens.as_deref().filter(|row| is_row(row))
    }

    /// Returns the finding that `check` reports for a run in this state.
    pub fn issue(&self) -> Issue {
        match self {
            ManifestCheck::NoManifest => Issue::noted("share-without-manifest", self.words())
                .hint("A copy that `prosescope share` wrote has a manifest: if this is one, ask the sender for the file again."),
            ManifestCheck::Unknown(_) => Issue::warning("share-unchecked", self.words())
                .hint("Open the file with the version of Prosescope that wrote it."),
            ManifestCheck::Unchanged(_) => Issue::noted("shared-copy", self.words())
                .hint("Replacements are in brackets, and a note marks each omission."),
            ManifestCheck::Changed(_) => Issue::error("share-changed", self.words())
                .hint("Do not rely on this copy: ask the sender for the file again."),
        }
    }
}

/// Receives the files of a zip, one after the other.
pub trait Sink {
    /// Begins a file of `len` bytes.
    ///
    /// # Errors
    /// If the file cannot be stored; unpacking then stops.
    fn begin(&mut self, path: &str, len: u64) -> io::Result<()>;

    /// Receives the file's bytes in pieces, at most `len` in total.
    ///
    /// # Errors
    /// As for [`Sink::begin`].
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Ends the file, after its last bytes.
    ///
    /// # Errors
    /// As for [`Sink::begin`].
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Collects unpacked files in memory, by path.
#[derive(Default)]
pub struct InMemory(pub Vec<(String, Vec<u8>)>);

impl Sink for InMemory {
    fn begin(&mut self, path: &str, _: u64) -> io::Result<()> {
        self.0.push((path.to_owned(), Vec::new()));
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some((_, file)) = self.0.last_mut() {
            file.extend_from_slice(bytes);
        }
        Ok(())
    }
}

/// Unpacks all files of a zip except its manifest and a signature of it, and compares each with the manifest.
/// A change of both a file and the manifest stays unnoticed: a manifest does not prove who made it.
///
/// # Errors
/// If a file differs from the zip's directory, or if `sink` fails.
pub fn unpack<R: ReaderAt>(
    archive: &Archive<R>,
    sink: &mut dyn Sink,
) -> Result<ManifestCheck, ArchiveError> {
    let failed = |error: io::Error| ArchiveError::Failed(error.to_string());
    let manifest = Manifest::of(archive);
    let mut sums = BTreeMap::new();
    for entry in archive.entries() {
        if matches!(entry.path.as_str(), MANIFEST | SIGNATURE) {
            continue;
        }
        let mut hasher = manifest.is_some().then(Sha256::new);
        sink.begin(&entry.path, entry.len).map_err(failed)?;
        archive.unpack(entry, &mut |bytes| {
            if let Some(hasher) = &mut hasher {
                hasher.update(bytes);
            }
            sink.bytes(bytes)
        })?;
        sink.end().map_err(failed)?;
        let sum = hasher.map(|hasher| hex(&hasher.finalize()));
        sums.insert(entry.path.as_str(), sum.unwrap_or_default());
    }
    Ok(match manifest {
        None => ManifestCheck::NoManifest,
        Some(Err(check)) => check,
        Some(Ok(manifest)) => manifest.compared(sums),
    })
}

/// Formats a manifest's time. Any other text becomes `an unknown day`, because untrusted text is never shown.
fn when(at: &str) -> String {
    match Stamp::parse(at) {
        stamp @ Stamp::At(_) => format!("{} UTC", stamp.minute()),
        _ => "an unknown day".to_owned(),
    }
}
