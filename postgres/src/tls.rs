//! Sets up TLS connections with rustls and ring, and verifies the certificates of servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prosescope_core::record::{Fault, FaultKind};
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

/// The rule by which the certificates of servers are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Any certificate: the connection is encrypted, but may lead to another server.
    Anyone,
    /// Certificates signed by one of these authorities.
    Signed {
        by: Authorities,
        /// Whether the certificate must contain the host's name.
        host: bool,
    },
}

impl Trust {
    /// Returns whether the certificate check proves that the connected server is the host in the address.
    pub(crate) fn checks_host(&self) -> bool {
        matches!(self, Trust::Signed { host: true, .. })
    }
}

/// The certificate authorities that are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Authorities {
    /// The authorities of the operating system (`sslrootcert=system`).
    System,
    /// The certificates of a file.
    File(PathBuf),
}

/// Returns the connector for TLS connections.
///
/// # Errors
/// If the authorities cannot be read.
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

/// The certificate authorities that may sign the server's certificate.
#[derive(Debug)]
struct Signers {
    roots: RootCertStore,
    /// Certificates in the user's file; a server may also present one of these as its own.
    named: Vec<CertificateDer<'static>>,
}

impl Signers {
    /// Returns whether a certificate is in the user's file, and was refused only because it may sign other
    /// certificates. `openssl req -x509` makes such certificates for servers, and `psql` accepts them.
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
        let message = "no certificate authority is known with which to check the PostgreSQL server";
        return Err(Fault::new(FaultKind::Io, message).hint(
            "name a file with the certificate of the server's authority: `?sslrootcert=FILE`",
        ));
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

/// A verifier of servers: checks the certificate as far as configured, and that the server has the certificate's key.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// The accepted authorities; `None` accepts any certificate.
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
            .or_else(|refused| {
                if signers.is_named(certificate, &refused) {
                    Ok(())
                } else {
                    Err(refused)
                }
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
