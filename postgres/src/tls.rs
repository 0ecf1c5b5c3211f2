//! TLS by rustls with ring, and whose certificates are taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prosescope_core::write::{Fault, FaultKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore,
    SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Whose certificates are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Any certificate: the connection is encrypted, and may end at another server.
    Anyone,
    /// Certificates that one of these authorities signed.
    Signed {
        by: Authorities,
        /// Whether the certificate has to name the host.
        host: bool,
    },
}

impl Trust {
    /// Whether a server has proved that it is the host which the address names.
    pub(crate) fn checks_host(&self) -> bool {
        matches!(self, Trust::Signed { host: true, .. })
    }
}

/// Who signs certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Authorities {
    /// The system's (`sslrootcert=system`).
    System,
    /// The certificates of a file.
    File(PathBuf),
}

/// What connections are secured with.
///
/// # Errors
/// When the authorities cannot be read.
pub(crate) fn connector(trust: &Trust) -> Result<MakeRustlsConnect, Fault> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let (signers, host) = match trust {
        Trust::Anyone => (None, false),
        Trust::Signed { by, host } => (Some(signers(by)?), *host),
    };
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier {
            provider,
            signers,
            host,
        }))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn unusable(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(FaultKind::Io, format!("TLS cannot be used: {error}"))
}

/// Whose signatures are taken.
#[derive(Debug)]
struct Signers {
    roots: RootCertStore,
    /// Certificates that a person named: a server may also have one of these itself.
    named: Vec<CertificateDer<'static>>,
}

impl Signers {
    /// Whether a certificate is one of those that a person named, is valid now, and was refused only because it may sign
    /// others: so is what `openssl req -x509` makes for a server, and `psql` takes it.
    fn is_named(&self, certificate: &CertificateDer<'_>, refused: &Error) -> bool {
        let Error::InvalidCertificate(CertificateError::Other(OtherError(why))) = refused else {
            return false;
        };
        matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
            && self.named.contains(certificate)
    }
}

fn signers(of: &Authorities) -> Result<Signers, Fault> {
    let mut roots = RootCertStore::empty();
    let mut named = Vec::new();
    match of {
        Authorities::File(path) => {
            named = read(path)?;
            for certificate in named.iter().cloned() {
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
        }
        Authorities::System => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        let message = "no certificate authority is known to check the PostgreSQL server by";
        return Err(Fault::new(FaultKind::Io, message)
            .hint("name a file with the server's authority: `?sslrootcert=FILE`"));
    }
    Ok(Signers { roots, named })
}

fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    all.map_err(|cause| {
        let message = format!(
            "the certificates of {} cannot be read: {cause}",
            path.display()
        );
        Fault::new(FaultKind::Io, message).hint("check `sslrootcert` in the address")
    })
}

/// Checks that the server holds its certificate's key, and as much of the certificate as was asked for.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Who may have signed the certificate; `None` where anybody may.
    signers: Option<Signers>,
    host: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(signers) = &self.signers {
            let parsed = ParsedCertificate::try_from(certificate)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &signers.roots,
                between,
                now,
                algorithms,
            )
            .or_else(|refused| match signers.is_named(certificate, &refused) {
                true => Ok(()),
                false => Err(refused),
            })?;
            if self.host {
                verify_server_name(&parsed, host)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
