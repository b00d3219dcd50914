//! TLS settings from `sslmode`, `sslrootcert`, `sslcert` and `sslkey`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use strum::EnumString;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::key_words::KeyWords;
use super::variables::Variables;
use crate::process::error::Error;

/// ALPN protocol, which servers expect since PostgreSQL 17.
const PROTOCOL: &[u8] = b"postgresql";
/// Value of `sslrootcert` for the certificates of the operating system.
const SYSTEM: &str = "system";

/// The value of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum TlsMode {
    Disable,
    /// Also for `allow`, which is weaker.
    #[strum(serialize = "prefer", serialize = "allow")]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsMode {
    /// The mode for the protocol; certificates are checked by the connector.
    pub(super) fn ssl_mode(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

/// TLS settings of a connection.
#[derive(Debug)]
pub(super) struct TlsSettings {
    pub(super) mode: TlsMode,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl TlsSettings {
    /// Removes the key words of TLS from `words`.
    pub(super) fn take(words: &mut KeyWords, variables: &Variables<'_>) -> Result<Self, Error> {
        let folder = variables.home().map(|home| home.join(".postgresql"));
        let present = |name: &str| {
            folder
                .as_ref()
                .map(|folder| folder.join(name))
                .filter(|path| path.exists())
        };
        let authorities = words.remove("sslrootcert").map(PathBuf::from);
        let is_system = authorities.as_deref() == Some(Path::new(SYSTEM));
        let mode = match words.remove("sslmode") {
            Some(name) => name.parse::<TlsMode>().map_err(|_| {
                Error::Usage(format!(
                    "invalid sslmode \"{name}\"\nHINT:  Use disable, allow, prefer, require, verify-ca or verify-full."
                ))
            })?,
            None if is_system => TlsMode::VerifyFull,
            None => TlsMode::Prefer,
        };
        if is_system && mode != TlsMode::VerifyFull && mode != TlsMode::Disable {
            return Err(Error::Usage(
                "sslrootcert=system needs sslmode=verify-full: anyone can get a certificate from a public authority"
                    .to_owned(),
            ));
        }
        let settings = Self {
            mode,
            authorities: authorities.or_else(|| present("root.crt")),
            certificate: words
                .remove("sslcert")
                .map(PathBuf::from)
                .or_else(|| present("postgresql.crt")),
            key: words
                .remove("sslkey")
                .map(PathBuf::from)
                .or_else(|| present("postgresql.key")),
        };
        if mode == TlsMode::VerifyCa && settings.authorities.is_none() {
            return Err(Error::Usage(
                "sslmode=verify-ca needs a root certificate: set sslrootcert".to_owned(),
            ));
        }
        Ok(settings)
    }

    /// The connector; unused if the mode is `disable`.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, Error> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(tls_error)?
            .dangerous()
            .with_custom_certificate_verifier(self.verifier(provider)?);
        let mut config = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) if self.mode != TlsMode::Disable => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(tls_error)?,
            _ => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }

    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        let lenient = |authorities| {
            Arc::new(LenientVerifier {
                provider: Arc::clone(&provider),
                authorities,
            })
        };
        let authorities = match self.mode {
            TlsMode::Disable | TlsMode::Prefer => return Ok(lenient(None)),
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => self.authorities.as_deref(),
        };
        let path = match authorities {
            Some(path) if path != Path::new(SYSTEM) => path,
            None if self.mode == TlsMode::Require => return Ok(lenient(None)),
            _ => return Ok(Arc::new(Verifier::new(provider).map_err(tls_error)?)),
        };
        let mut roots = RootCertStore::empty();
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(tls_error)?;
        }
        let full = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(tls_error)?;
        Ok(match self.mode {
            TlsMode::VerifyFull => full,
            _ => lenient(Some(full)),
        })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found: Vec<CertificateDer<'static>> = found.map_err(pem_error(path))?;
    if found.is_empty() {
        return Err(Error::Usage(format!("{}: no certificate in this file", path.display())));
    }
    Ok(found)
}

/// The client's private key. Others must not have access; if root owns it, its group may read it.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let metadata = fs::metadata(path).map_err(Error::file(path))?;
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.mode() & forbidden != 0 {
        return Err(Error::Usage(format!(
            "private key file \"{}\" has group or world access\nHINT:  Run chmod 0600 on it.",
            path.display()
        )));
    }
    PrivateKeyDer::from_pem_file(path).map_err(pem_error(path))
}

fn pem_error(path: &Path) -> impl FnOnce(rustls::pki_types::pem::Error) -> Error {
    move |error| Error::Usage(format!("{}: {error}", path.display()))
}

fn tls_error(error: impl std::fmt::Display) -> Error {
    Error::Usage(format!("TLS: {error}"))
}

/// Checks less than `verify-full`: `prefer` and `require` protect against eavesdropping, not against impostors.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    /// For `verify-ca`, checks certificates except for their host names. Without it, all certificates are accepted.
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        // The chain is verified before the name.
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
