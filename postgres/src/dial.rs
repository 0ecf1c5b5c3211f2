//! Connects to one of an address's hosts, over a stream whose bytes are counted ([`crate::meter`]).

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::future::{Either, select};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Connection, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::fault;
use crate::meter::{Meter, MeteredStream};

/// A byte stream to a server in both directions: TCP or a Unix socket.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<W: AsyncRead + AsyncWrite + Send + Unpin> Wire for W {}

type Plain = MeteredStream<Box<dyn Wire>>;
type Rustls = <MakeRustlsConnect as MakeTlsConnect<Plain>>::TlsConnect;
type Encrypted = MeteredStream<<Rustls as TlsConnect<Plain>>::Stream>;

/// The library's future that sends and receives the messages of a connection while it is polled.
pub(crate) type Driver = Connection<Plain, Encrypted>;

/// The address of the server to which a connection leads; a cancel request must go to the same server.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    at: DialTarget,
    port: u16,
    /// The name that the server's certificate must contain.
    name: String,
}

#[derive(Debug, Clone)]
enum DialTarget {
    Tcp(IpAddr),
    #[cfg_attr(not(unix), allow(dead_code))]
    Unix(PathBuf),
}

/// The reason why no host was reached.
#[derive(Debug)]
pub(crate) enum DialError {
    /// An error of the PostgreSQL library, for example a refusal of the server.
    Refused(tokio_postgres::Error),
    /// An error of the system or of the address, as a text.
    Unreached(String),
}

impl From<tokio_postgres::Error> for DialError {
    fn from(error: tokio_postgres::Error) -> DialError {
        DialError::Refused(error)
    }
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> DialError {
        DialError::Unreached(format!("error connecting to server: {error}"))
    }
}

/// TLS over a counted stream; the decrypted messages are counted too.
struct CountedTls {
    by: Rustls,
    meter: Arc<Meter>,
}

impl TlsConnect<Plain> for CountedTls {
    type Stream = Encrypted;
    type Error = <Rustls as TlsConnect<Plain>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Encrypted, Self::Error>> + Send>>;

    fn connect(self, stream: Plain) -> Self::Future {
        Box::pin(async move {
            let stream = self.by.connect(stream).await?;
            Ok(MeteredStream::messages(stream, self.meter))
        })
    }
}

/// Connects to the first host that answers.
///
/// # Errors
/// The error of the last host.
pub(crate) async fn dial(
    config: &Config,
    tls: &MakeRustlsConnect,
    meter: &Arc<Meter>,
) -> Result<(Client, Driver, Peer), DialError> {
    let (hosts, addresses, ports) = (
        config.get_hosts(),
        config.get_hostaddrs(),
        config.get_ports(),
    );
    let unusable = |what: String| Err(DialError::Unreached(what));
    let count = hosts.len().max(addresses.len());
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        return unusable(format!(
            "the address names {} hosts but {} hostaddrs; name one hostaddr for each host, or none",
            hosts.len(),
            addresses.len()
        ));
    }
    if ports.len() > 1 && ports.len() != count {
        return unusable(format!(
            "the address names {count} hosts but {} ports; name one port, or one for each host",
            ports.len()
        ));
    }
    let mut last = DialError::Unreached("the address names no host".to_owned());
    for n in 0..count {
        let port = ports.get(n).or(ports.first()).copied().unwrap_or(5432);
        let name = match hosts.get(n) {
            Some(Host::Tcp(name)) => name.clone(),
            _ => String::new(),
        };
        let found = match (addresses.get(n), hosts.get(n)) {
            (Some(address), _) => Ok(vec![DialTarget::Tcp(*address)]),
            (None, Some(Host::Tcp(name))) => lookup_host((name.as_str(), port))
                .await
                .map(|found| found.map(|found| DialTarget::Tcp(found.ip())).collect()),
            #[cfg(unix)]
            (None, Some(Host::Unix(folder))) => Ok(vec![DialTarget::Unix(folder.clone())]),
            (None, None) => Ok(Vec::new()),
        };
        match found {
            Ok(found) => {
                for at in found {
                    let name = name.clone();
                    let peer = Peer { at, port, name };
                    match one(config, tls, meter, &peer).await {
                        Ok((client, driver)) => return Ok((client, driver, peer)),
                        Err(error) => last = error,
                    }
                }
            }
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

async fn one(
    config: &Config,
    tls: &MakeRustlsConnect,
    meter: &Arc<Meter>,
    peer: &Peer,
) -> Result<(Client, Driver), DialError> {
    let plain = reach(config, meter, peer).await?;
    let tls = secured(tls, meter, peer)?;
    meter.begin();
    let (client, mut driver) = config.connect_raw(plain, tls).await?;
    let wanted = config.get_target_session_attrs();
    if wanted != TargetSessionAttrs::Any {
        let asked = pin!(client.simple_query("SHOW transaction_read_only"));
        let rows = match select(asked, &mut driver).await {
            Either::Left((rows, _)) => rows?,
            Either::Right(_) => return Err(closed()),
        };
        let is_read_only = rows.iter().any(|row| match row {
            SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
            _ => false,
        });
        if is_read_only == (wanted == TargetSessionAttrs::ReadWrite) {
            let what = if is_read_only {
                "database does not allow writes"
            } else {
                "database is not read only"
            };
            return Err(DialError::Unreached(what.to_owned()));
        }
    }
    Ok((client, driver))
}

fn closed() -> DialError {
    DialError::Unreached("connection closed".to_owned())
}

fn secured(
    tls: &MakeRustlsConnect,
    meter: &Arc<Meter>,
    peer: &Peer,
) -> Result<CountedTls, DialError> {
    let mut tls = tls.clone();
    let by = MakeTlsConnect::<Plain>::make_tls_connect(&mut tls, &peer.name);
    let by = by.map_err(|error| DialError::Unreached(error.to_string()))?;
    Ok(CountedTls {
        by,
        meter: Arc::clone(meter),
    })
}

/// Opens a stream to a server, whose bytes `meter` counts.
async fn reach(config: &Config, meter: &Arc<Meter>, peer: &Peer) -> Result<Plain, DialError> {
    let reaching = wire(config, peer);
    let wire = match config.get_connect_timeout() {
        None => reaching.await?,
        Some(limit) => match tokio::time::timeout(*limit, reaching).await {
            Ok(wire) => wire?,
            Err(_) => return Err(io::Error::from(io::ErrorKind::TimedOut).into()),
        },
    };
    let meter = Arc::clone(meter);
    let is_asked = config.get_ssl_mode() != SslMode::Disable;
    Ok(match (is_asked, config.get_ssl_negotiation()) {
        (false, _) => MeteredStream::messages(wire, meter),
        // With `sslnegotiation=direct`, TLS begins with the first byte.
        (true, SslNegotiation::Direct) => MeteredStream::encrypted(wire, meter),
        (true, _) => MeteredStream::asked_for_tls(wire, meter),
    })
}

async fn wire(config: &Config, peer: &Peer) -> io::Result<Box<dyn Wire>> {
    match &peer.at {
        DialTarget::Tcp(address) => {
            let stream = TcpStream::connect((*address, peer.port)).await?;
            stream.set_nodelay(true)?;
            let socket = SockRef::from(&stream);
            #[cfg(target_os = "linux")]
            if let Some(limit) = config.get_tcp_user_timeout() {
                socket.set_tcp_user_timeout(Some(*limit))?;
            }
            if config.get_keepalives() {
                let mut alive = TcpKeepalive::new().with_time(config.get_keepalives_idle());
                if let Some(interval) = config.get_keepalives_interval() {
                    alive = alive.with_interval(interval);
                }
                if let Some(retries) = config.get_keepalives_retries() {
                    alive = alive.with_retries(retries);
                }
                socket.set_tcp_keepalive(&alive)?;
            }
            Ok(Box::new(stream))
        }
        #[cfg(unix)]
        DialTarget::Unix(folder) => {
            let path = folder.join(format!(".s.PGSQL.{}", peer.port));
            Ok(Box::new(tokio::net::UnixStream::connect(path).await?))
        }
        #[cfg(not(unix))]
        DialTarget::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Asks a server to cancel the current statement of a connection.
pub(crate) async fn cancel(
    config: &Config,
    tls: &MakeRustlsConnect,
    client: &Client,
    peer: &Peer,
) -> Result<(), DialError> {
    let meter = Arc::default();
    let plain = reach(config, &meter, peer).await?;
    let tls = secured(tls, &meter, peer)?;
    Ok(client.cancel_token().cancel_query_raw(plain, tls).await?)
}

impl DialError {
    /// Returns the error in one line.
    pub(crate) fn words(&self) -> String {
        match self {
            DialError::Refused(error) => fault::words(error),
            DialError::Unreached(what) => what.clone(),
        }
    }
}
