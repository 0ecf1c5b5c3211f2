//! What a packed run says of itself.

use std::collections::BTreeMap;
use std::io;

use prosescope_core::issue::Issue;
use prosescope_core::text::{counted, hex};
use prosescope_core::time::Stamp;
use prosescope_core::view::{LeftOutOfShare, LogSealedAnew, SecretsReplaced};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ReaderAt;
use crate::archive::{Archive, ArchiveError};
use crate::signed::SIGNATURE;

/// Where it lies in the zip.
pub const MANIFEST: &str = "prosescope-share.json";
/// The form that this program writes.
pub const FORMAT: &str = "prosescope-share-1";
/// A longer manifest is not read.
pub(crate) const LONGEST: u64 = 64 << 20;
/// Differences that are said one by one.
const SAID: usize = 20;

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
    pub redactions: Vec<SecretsReplaced>,
    /// What was left out.
    pub left_out: Vec<LeftOutOfShare>,
    /// The audit logs that were sealed anew, because something in them was replaced.
    pub sealed_anew: Vec<LogSealedAnew>,
    /// The row of the trace that it opens on, where whoever shared it chose one: `43`, `~7`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,
    /// Whether a signature lies beside it; it may be anybody's, or fit nothing.
    #[serde(skip)]
    pub signed: bool,
}

/// Whether a text names a row of a trace: its number, or its place after `~`.
pub(crate) fn is_row(text: &str) -> bool {
    let digits = text.strip_prefix('~').unwrap_or(text);
    (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
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
        let read = serde_json::from_slice(&bytes).map(|read| Manifest {
            signed: archive.entry(SIGNATURE).is_some(),
            ..read
        });
        Some(read.map_err(|error| format!("{MANIFEST} cannot be read: {error}")))
    }

    fn compared(self, mut sums: BTreeMap<&str, String>) -> Verified {
        let mut wrong = Vec::new();
        for part in &self.parts {
            match sums.remove(part.path.as_str()) {
                None => wrong.push(format!("{} is missing", part.path)),
                Some(sum) if sum == part.sha256 => {}
                Some(_) => wrong.push(format!("{} was changed", part.path)),
            }
        }
        let added = sums.keys().map(|path| format!("{path} was added"));
        wrong.extend(added);
        let more = wrong.len().saturating_sub(SAID);
        wrong.truncate(SAID);
        if more > 0 {
            wrong.push(format!("{more} more differ"));
        }
        match wrong.is_empty() {
            true => Verified::Unchanged(Box::new(self)),
            false => Verified::Changed(wrong),
        }
    }
}

impl Verified {
    /// When it was shared and whether it is still the same, in a sentence, and that it is signed; empty for what nobody's `share` made.
    pub fn words(&self) -> String {
        match self {
            Verified::Unchanged(manifest) if manifest.signed => format!(
                "{} It is signed: `prosescope check FILE --allowed-signers SIGNERS` says by whom.",
                self.sentence()
            ),
            _ => self.sentence(),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Verified::NoManifest => String::new(),
            Verified::Unchanged(manifest) => {
                let counts = manifest.redactions.iter().map(|one| one.count);
                let replaced = match counts.fold(0, u64::saturating_add) {
                    0 => "nothing in it was".to_owned(),
                    n => counted(n, "text in it was", "texts in it were"),
                };
                let when = when(&manifest.made_at);
                format!("As shared on {when}, unchanged; {replaced} replaced.")
            }
            Verified::Changed(what) => {
                format!("Changed since it was shared: {}.", what.join("; "))
            }
        }
    }

    /// What differs from what was shared; nothing where that is not known.
    pub fn changed(&self) -> &[String] {
        match self {
            Verified::Changed(what) => what,
            Verified::NoManifest | Verified::Unchanged(_) => &[],
        }
    }

    /// The heads of the audit logs that were sealed anew; nothing where the manifest is not the file's.
    pub fn sealed_anew(&self) -> &[LogSealedAnew] {
        match self {
            Verified::Unchanged(manifest) => &manifest.sealed_anew,
            Verified::NoManifest | Verified::Changed(_) => &[],
        }
    }

    /// The row that it opens on; nothing where the manifest is not the file's.
    pub fn opens(&self) -> Option<&str> {
        match self {
            Verified::Unchanged(manifest) => manifest.opens.as_deref().filter(|row| is_row(row)),
            Verified::NoManifest | Verified::Changed(_) => None,
        }
    }

    /// What a check of the run says of it.
    pub fn issue(&self) -> Option<Issue> {
        let issue = match self {
            Verified::NoManifest => return None,
            Verified::Unchanged(_) => Issue::noted("shared-copy", self.sentence()).hint(
                "What was replaced stands in brackets, and what was left out is named where it was. A manifest tells what happened on the way, not who made the copy.",
            ),
            Verified::Changed(_) => Issue::error("share-changed", self.sentence())
                .hint("Ask whoever shared it for the file again, and do not rely on this one."),
        };
        Some(issue)
    }
}

/// Takes the files of a zip, one after the other.
pub trait Sink {
    /// A file begins, of so many bytes.
    ///
    /// # Errors
    /// When there is no place for it; unpacking then ends.
    fn begin(&mut self, path: &str, len: u64) -> io::Result<()>;

    /// Its bytes, in pieces, never more than were told.
    ///
    /// # Errors
    /// As [`Sink::begin`].
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// All of them were handed out.
    ///
    /// # Errors
    /// As [`Sink::begin`].
    fn end(&mut self) -> io::Result<()>;
}

/// Files that are unpacked into memory, by path.
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

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Unpacks all files of a zip but its manifest and the signature of that, and compares each with the manifest. Who changes both goes
/// unnoticed: a manifest tells what happened on the way, not who made it.
///
/// # Errors
/// When a file is not what the zip says of it, or `sink` fails.
pub fn unpack<R: ReaderAt>(
    archive: &Archive<R>,
    sink: &mut dyn Sink,
) -> Result<Verified, ArchiveError> {
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
        None => Verified::NoManifest,
        Some(Err(why)) => Verified::Changed(vec![why]),
        Some(Ok(manifest)) => manifest.compared(sums),
    })
}

/// A manifest's time as a person reads it, and nothing else: it comes from whoever made the file.
fn when(at: &str) -> String {
    match Stamp::parse(at) {
        stamp @ Stamp::At(_) => format!("{} UTC", stamp.minute()),
        _ => "a day that it does not say".to_owned(),
    }
}
