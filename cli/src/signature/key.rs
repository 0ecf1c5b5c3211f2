//! Reads private SSH keys, and signs the manifest of a shared file with them.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use prosescope_share::signed::NAMESPACE;
use rsa::BigUint;
use rsa::pkcs1v15::SigningKey;
use rsa::sha2::Sha512;
use rsa::signature::{RandomizedSigner, SignatureEncoding};
use ssh_key::private::{KeypairData, RsaKeypair};
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, Signature, SshSig};

use super::{fingerprint, is_read};
use crate::error::CliError;
use crate::exit::Exit;

/// Maximum bytes of a key file.
const LONGEST: u64 = 1 << 20;
/// First lines of private key files that are not in OpenSSH's format.
const OLD: [&str; 4] = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----",
];

/// A private key that can sign.
pub(crate) struct Key(PrivateKey);

impl Key {
    /// Reads a private key in OpenSSH's format. Asks for the passphrase of an encrypted key.
    pub(crate) fn read(path: &Path) -> Result<Key, CliError> {
        let shown = path.display();
        let text = text(path)?;
        let begins = text.trim_start();
        if PublicKey::from_openssh(begins).is_ok() {
            let private = path.with_extension("");
            let usage = CliError::usage(format!(
                "{shown} is a public key, and only a private key can sign"
            ));
            return Err(match path.extension().is_some_and(|end| end == "pub") {
                true => usage.hint(format!(
                    "name the private key beside the public key: --sign {}",
                    private.display()
                )),
                false => usage.hint("name the private key: --sign ~/.ssh/id_ed25519"),
            });
        }
        if OLD.iter().any(|old| begins.starts_with(old)) {
            return Err(CliError::usage(format!(
                "{shown} is a private key, but not in OpenSSH's format"
            ))
            .hint(format!(
                "copy the key, then convert the original with `ssh-keygen -p -f {shown}`"
            )));
        }
        let read = PrivateKey::from_openssh(begins).map_err(|error| {
            CliError::usage(format!("{shown} cannot be read as an SSH key: {error}"))
                // ssh-key 0.6 cannot read an ECDSA key whose secret number has leading zero bytes.
                .hint("make a usable key with `ssh-keygen -t ed25519`. prosescope cannot read one in 256 ECDSA keys")
        })?;
        let key = match read.is_encrypted() {
            true => opened(path, &read)?,
            false => read,
        };
        if !is_read(key.public_key().key_data()) || is_on_a_device(key.key_data()) {
            return Err(CliError::usage(format!(
                "{shown} has an unsupported type of key ({})",
                key.algorithm()
            ))
            .hint("use Ed25519, ECDSA P-256, or RSA of 2048 to 4096 bits; `ssh-keygen -t ed25519` makes a key"));
        }
        Ok(Key(key))
    }

    /// Returns the fingerprint, as `ssh-keygen -l` prints it.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(self.0.public_key().key_data())
    }

    /// Signs a manifest. Returns the armored signature after verifying it as a recipient would.
    pub(crate) fn sign(&self, manifest: &[u8]) -> Result<Vec<u8>, String> {
        let signed = match self.0.key_data() {
            KeypairData::Rsa(pair) => rsa(pair, manifest),
            _ => self.0.sign(NAMESPACE, HashAlg::Sha512, manifest),
        };
        let wrong = |error: ssh_key::Error| error.to_string();
        let signed = signed.map_err(wrong)?;
        let public = self.0.public_key();
        public.verify(NAMESPACE, manifest, &signed).map_err(wrong)?;
        signed
            .to_pem(LineEnding::LF)
            .map(String::into_bytes)
            .map_err(wrong)
    }
}

/// Signs with an RSA key. ssh-key 0.6 cannot sign with RSA, because it uses the first prime twice. Signing is blinded
/// against timing attacks.
fn rsa(pair: &RsaKeypair, manifest: &[u8]) -> ssh_key::Result<SshSig> {
    let number = |of| BigUint::try_from(of);
    let key = rsa::RsaPrivateKey::from_components(
        number(&pair.public.n)?,
        number(&pair.public.e)?,
        number(&pair.private.d)?,
        vec![number(&pair.private.p)?, number(&pair.private.q)?],
    )
    .map_err(|_| ssh_key::Error::Crypto)?;
    let data = SshSig::signed_data(NAMESPACE, HashAlg::Sha512, manifest)?;
    let bytes = SigningKey::<Sha512>::new(key)
        .try_sign_with_rng(&mut OsRng, &data)
        .map_err(|_| ssh_key::Error::Crypto)?;
    let algorithm = Algorithm::Rsa {
        hash: Some(HashAlg::Sha512),
    };
    let signature = Signature::new(algorithm, bytes.to_vec())?;
    let public = ssh_key::public::KeyData::Rsa(pair.public.clone());
    SshSig::new(public, NAMESPACE, HashAlg::Sha512, signature)
}

/// Returns whether the file only refers to a key on a security device. Such a file cannot sign.
fn is_on_a_device(key: &KeypairData) -> bool {
    matches!(
        key,
        KeypairData::SkEd25519(_) | KeypairData::SkEcdsaSha2NistP256(_)
    )
}

fn text(path: &Path) -> Result<String, CliError> {
    let shown = path.display();
    let file = File::open(path).map_err(|cause| {
        let exit = match cause.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Io,
        };
        CliError::new(exit, format!("cannot read the key {shown}: {cause}"))
            .hint("name your private key: --sign ~/.ssh/id_ed25519")
    })?;
    let mut text = String::new();
    let read = file.take(LONGEST).read_to_string(&mut text);
    match read {
        Ok(_) => Ok(text),
        Err(cause) if cause.kind() == io::ErrorKind::InvalidData => {
            Err(CliError::usage(format!("{shown} is not an SSH key")))
        }
        Err(cause) => Err(CliError::new(
            Exit::Io,
            format!("cannot read the key {shown}: {cause}"),
        )),
    }
}

/// Decrypts a key. Asks for its passphrase once.
fn opened(path: &Path, key: &PrivateKey) -> Result<PrivateKey, CliError> {
    let shown = path.display();
    if !io::stdin().is_terminal() {
        return Err(CliError::refused(
            "key-locked",
            format!("{shown} has a passphrase, and a passphrase can be entered only in a terminal"),
        )
        .hint("run the command in a terminal, or use a key without a passphrase"));
    }
    let passphrase = rpassword::prompt_password(format!("Passphrase of {shown}: "))?;
    key.decrypt(passphrase).map_err(|_| {
        CliError::refused("key-locked", format!("wrong passphrase for {shown}"))
            .hint("repeat the command; nothing was written")
    })
}
