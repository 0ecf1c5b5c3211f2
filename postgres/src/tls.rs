//! TLS by rustls with ring, and whose certificates are taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prosescope_core::write::{Fault, FaultKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Whose certificates are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Anybody's (`sslmode=prefer`): such a connection may go without TLS as well, so that a check would prove nothing.
    Anyone,
    /// Those signed by an authority in `~/.postgresql/root.crt`, where libpq looks; else by one of the system's.
    Usual,
    /// Those signed by an authority of the system's (`sslrootcert=system`).
    System,
    /// Those signed by an authority in this file.
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
    let config = match trust {
        Trust::Anyone => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
        named => builder
            .with_root_certificates(authorities(named)?)
            .with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn unusable(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(FaultKind::Io, format!("TLS cannot be used: {error}"))
}

fn authorities(trust: &Trust) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    let libpq = std::env::home_dir().map(|home| home.join(".postgresql/root.crt"));
    let file = match trust {
        Trust::File(path) => Some(path.clone()),
        Trust::Usual => libpq.filter(|path| path.is_file()),
        Trust::System | Trust::Anyone => None,
    };
    match file {
        Some(path) => {
            for certificate in read(&path)? {
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
        }
        None => {
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

/// Takes any certificate, and checks that the server holds its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
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
            &self.0.signature_verification_algorithms,
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
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
