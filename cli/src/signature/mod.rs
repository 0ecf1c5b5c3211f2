//! Makes and verifies signatures of shared files by SSH keys. `share --sign` makes a signature, `check` verifies it.
//!
//! The signature covers the bytes of the manifest, in OpenSSH's format SSHSIG (PROTOCOL.sshsig). So `ssh-keygen -Y
//! verify` accepts signatures of `share --sign`, and `check` accepts those of `ssh-keygen -Y sign`. `key.rs` signs,
//! `signers.rs` finds the owner of a key, and `options.rs` parses the purposes and times that a key is allowed for.

mod key;
mod options;
mod signers;

use prosescope_core::issue::Issue;
use prosescope_share::signed::{NAMESPACE, Signed};
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PublicKey, SshSig};

pub(crate) use key::Key;
pub(crate) use signers::Signers;

/// The text about what a signature proves and does not prove, for the hint of an issue.
const PROVES: &str = "The owner of the key signed exactly this manifest. The signature does not prove that the run is true or complete.";

/// Returns the issues of the signature of a shared file. `signed` is `None` for a run outside of a shared file. `changed` means
/// that a part differs from the manifest, which is a separate issue.
pub(crate) fn issues(
    signed: Option<&Result<Signed, String>>,
    changed: bool,
    signers: Option<&Signers>,
    now: i64,
) -> Vec<Issue> {
    let mut issues: Vec<Issue> = signers.and_then(Signers::issue).into_iter().collect();
    let is = match changed {
        true => "Only the manifest, not the changed content, is signed",
        false => "Signed",
    };
    match (signed, signers) {
        (None, None) => {}
        (None, Some(_)) => issues.push(
            Issue::error("share-signature", "The file is not signed.").hint(
                "Ask the sender for a file that `prosescope share --sign KEY` wrote. The signature may also have been removed from this file.",
            ),
        ),
        (Some(signed), _) => {
            let known = signed.as_ref().map_err(String::clone).and_then(signer);
            issues.push(match (known, signers) {
                (Err(why), _) => Issue::error("share-signature", format!("The signature is not valid: {why}."))
                    .hint("Ask the sender for the file again, and do not rely on this file."),
                (Ok(key), None) => Issue::noted(
                    "share-signed",
                    format!("{is} with the key {}; the owner of the key was not checked.", fingerprint(&key)),
                )
                .hint(format!("{PROVES} `prosescope check FILE --allowed-signers SIGNERS` prints the owner of the key.")),
                (Ok(key), Some(signers)) => match signers.whose(&key, now) {
                    Ok(who) => Issue::noted("share-signed", format!("{is} by {who} (key {}).", fingerprint(&key)))
                        .hint(PROVES),
                    Err(why) => Issue::error("share-signature", format!("{is} with the key {}: {why}.", fingerprint(&key)))
                        .hint("Ask the sender for the fingerprint of their key, over another channel than the file."),
                },
            });
        }
    }
    issues
}

/// Returns the key of a signature, if the signature matches the manifest.
fn signer(signed: &Signed) -> Result<KeyData, String> {
    let signature = SshSig::from_pem(&signed.signature)
        .map_err(|error| format!("the text is not a readable SSH signature ({error})"))?;
    if signature.namespace() != NAMESPACE {
        return Err("the signature was made for another purpose than a shared run".to_owned());
    }
    let key = signature.public_key();
    if PublicKey::from(key.clone())
        .verify(NAMESPACE, &signed.manifest, &signature)
        .is_err()
    {
        return Err(match is_read(key) {
            true => format!("the signature does not match the manifest ({})", fingerprint(key)),
            false => "the type of the key is not supported (supported: Ed25519, ECDSA P-256, RSA of 2048 to 4096 bits)".to_owned(),
        });
    }
    Ok(key.clone())
}

/// Returns whether this program can verify signatures made with a key of this type.
fn is_read(key: &KeyData) -> bool {
    use ssh_key::EcdsaCurve;
    match key {
        KeyData::Ed25519(_) | KeyData::SkEd25519(_) | KeyData::SkEcdsaSha2NistP256(_) => true,
        KeyData::Ecdsa(key) => key.curve() == EcdsaCurve::NistP256,
        KeyData::Rsa(key) => {
            let bytes = key.n.as_positive_bytes().map_or(0, <[u8]>::len);
            (256..=512).contains(&bytes)
        }
        _ => false,
    }
}

/// Returns the fingerprint of a key, as `ssh-keygen -l` prints it.
fn fingerprint(key: &KeyData) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}
