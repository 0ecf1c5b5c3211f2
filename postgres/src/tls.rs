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
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
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
    let (roots, host) = match trust {
        Trust::Anyone => (None, false),
        Trust::Signed { by, host } => (Some(roots(by)?), *host),
    };
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier {
            provider,
            roots,
            host,
        }))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn unusable(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(FaultKind::Io, format!("TLS cannot be used: {error}"))
}

fn roots(of: &Authorities) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    match of {
        Authorities::File(path) => {
            for certificate in read(path)? {
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
    Ok(roots)
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
    roots: Option<RootCertStore>,
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
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(certificate)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                roots,
                between,
                now,
                algorithms,
            )?;
            if self.host {
                verify_server_name(&certificate, host)?;
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
