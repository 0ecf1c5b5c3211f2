//! Signatures of shared files, by SSH keys: `share --sign` makes one, `check` looks at one.
//!
//! What is signed is the manifest, byte for byte, in OpenSSH's form (SSHSIG: its PROTOCOL.sshsig), so that `ssh-keygen -Y verify`
//! reads ours and we read what `ssh-keygen -Y sign` wrote. `key.rs` signs, `signers.rs` says whose a key is, `options.rs` what for and when.

mod key;
mod options;
mod signers;

use prosescope_core::issue::Issue;
use prosescope_share::signed::{NAMESPACE, Signed};
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PublicKey, SshSig};

pub(crate) use key::Key;
pub(crate) use signers::Signers;

/// What every signature proves, and what none does.
const PROVES: &str = "Whoever holds that key signed exactly this manifest. That does not say that the run is true, nor that it is all of it.";

/// What a check says of the signature of a shared file; of a run that is in no shared file, `signed` is `None`. `changed` says that a part
/// is not as the manifest says, which is an issue of its own.
pub(crate) fn issues(
    signed: Option<&Result<Signed, String>>,
    changed: bool,
    signers: Option<&Signers>,
    now: i64,
) -> Vec<Issue> {
    let mut issues: Vec<Issue> = signers.and_then(Signers::issue).into_iter().collect();
    let is = match changed {
        true => "The manifest, but not what lies beside it now, is signed",
        false => "Signed",
    };
    match (signed, signers) {
        (None, None) => {}
        (None, Some(_)) => issues.push(
            Issue::error("share-signature", "It is not signed.").hint(
                "Ask for a file that `prosescope share --sign KEY` wrote. A signature may also have been taken out on the way.",
            ),
        ),
        (Some(signed), _) => {
            let known = signed.as_ref().map_err(String::clone).and_then(signer);
            issues.push(match (known, signers) {
                (Err(why), _) => Issue::error("share-signature", format!("Its signature is not valid: {why}."))
                    .hint("Ask whoever shared it for the file again, and do not rely on this one."),
                (Ok(key), None) => Issue::noted(
                    "share-signed",
                    format!("{is} with the key {}; whose key that is was not looked at.", fingerprint(&key)),
                )
                .hint(format!("{PROVES} `prosescope check FILE --allowed-signers SIGNERS` says whose key it is.")),
                (Ok(key), Some(signers)) => match signers.whose(&key, now) {
                    Ok(who) => Issue::noted("share-signed", format!("{is} by {who} (key {}).", fingerprint(&key)))
                        .hint(PROVES),
                    Err(why) => Issue::error("share-signature", format!("{is} with the key {}: {why}.", fingerprint(&key)))
                        .hint("Ask whoever you think sent it for the fingerprint of their key, on another way than the file came."),
                },
            });
        }
    }
    issues
}

/// The key that made a signature, where the signature fits the manifest.
fn signer(signed: &Signed) -> Result<KeyData, String> {
    let signature = SshSig::from_pem(&signed.signature)
        .map_err(|error| format!("it is no SSH signature that is understood ({error})"))?;
    if signature.namespace() != NAMESPACE {
        return Err("it was made for something else than a shared run".to_owned());
    }
    let key = signature.public_key();
    if PublicKey::from(key.clone())
        .verify(NAMESPACE, &signed.manifest, &signature)
        .is_err()
    {
        return Err(match is_read(key) {
            true => format!("it does not fit the manifest ({})", fingerprint(key)),
            false => "its kind of key is not read: Ed25519, ECDSA P-256, and RSA of 2048 to 4096 bits are".to_owned(),
        });
    }
    Ok(key.clone())
}

/// Whether signatures of such a key are verified here at all.
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

/// A key's fingerprint, as `ssh-keygen -l` prints it.
fn fingerprint(key: &KeyData) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}
