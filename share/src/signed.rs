//! A signature beside the manifest: only its place and its length are known here. Who signs and who verifies holds keys, and that
//! is a shell: the viewer does not pay for it.

use crate::ReaderAt;
use crate::archive::Archive;
use crate::manifest::MANIFEST;

/// Where it lies in the zip. It is an armored SSH signature, as `ssh-keygen -Y sign` writes it, over the bytes of the manifest.
pub const SIGNATURE: &str = "prosescope-share.json.sig";
/// What the signature says that it is for: one that was made for something else is none of a shared run.
pub const NAMESPACE: &str = "prosescope-share";
/// Bytes of the longest signature that is read: one of the longest keys has about 3000.
const LONGEST: u64 = 64 << 10;

/// Signs the bytes of a manifest; gives the bytes of [`SIGNATURE`], or why there are none.
pub type Sign<'a> = dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + 'a;

/// A manifest, byte for byte, and the signature beside it. Whether they fit is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The bytes of the manifest.
    pub manifest: Vec<u8>,
    /// The bytes of the signature.
    pub signature: Vec<u8>,
}

impl Signed {
    /// Reads both from a zip; `None` where it has no signature.
    ///
    /// # Errors
    /// Why one of them cannot be read, in words.
    pub fn of<R: ReaderAt>(archive: &Archive<R>) -> Option<Result<Signed, String>> {
        let len = archive.entry(SIGNATURE)?.len;
        Some(match len > LONGEST {
            true => Err(format!(
                "{SIGNATURE} has {len} bytes: no signature is so long"
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
