//! Reads the signature of a manifest from a zip. Signing and verifying need keys, so the shells do both, and the viewer
//! contains no code for them.

use crate::ReaderAt;
use crate::archive::Archive;
use crate::manifest::MANIFEST;

/// The path of the signature in the zip. The signature is an armored SSH signature over the bytes of the manifest, as
/// `ssh-keygen -Y sign` writes it.
pub const SIGNATURE: &str = "prosescope-share.json.sig";
/// The namespace of the signature: a signature for another purpose is not valid for a shared run.
pub const NAMESPACE: &str = "prosescope-share";
/// The longest signature that is read, in bytes: with the longest keys a signature has about 3000.
const LONGEST: u64 = 64 << 10;

/// A function that signs the bytes of a manifest. It returns the content of the file [`SIGNATURE`], or the reason why
/// signing failed.
pub type Sign<'a> = dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + 'a;

/// A manifest, byte for byte, and the signature beside it, not yet verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The bytes of the manifest.
    pub manifest: Vec<u8>,
    /// The bytes of the signature.
    pub signature: Vec<u8>,
}

impl Signed {
    /// Reads the manifest and its signature from a zip; `None` if the zip has no signature.
    ///
    /// # Errors
    /// The reason why the manifest or the signature cannot be read.
    pub fn of<R: ReaderAt>(archive: &Archive<R>) -> Option<Result<Signed, String>> {
        let len = archive.entry(SIGNATURE)?.len;
        Some(match len > LONGEST {
            true => Err(format!(
                "{SIGNATURE} has {len} bytes: longer than any signature"
            )),
            false => Signed::read(archive),
        })
    }

    fn read<R: ReaderAt>(archive: &Archive<R>) -> Result<Signed, String> {
        let manifest = archive.entry(MANIFEST);
        if manifest.is_some_and(|entry| entry.len > crate::manifest::LONGEST) {
            return Err(format!("{MANIFEST} is too long to be read"));
        }
        let whole = |path| match archive.whole(path) {
            Ok(bytes) => bytes.ok_or_else(|| format!("there is no {path}")),
            Err(error) => Err(error.to_string()),
        };
        Ok(Signed {
            manifest: whole(MANIFEST)?,
            signature: whole(SIGNATURE)?,
        })
    }
}
