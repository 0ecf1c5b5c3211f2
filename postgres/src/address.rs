//! Parses the address of a PostgreSQL server as `psql` accepts it: a URL, or `key=value` words. Missing parts come from
//! the environment.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;
use prosescope_core::record::{Fault, FaultKind};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::dial::{self, DialError, Driver, Peer};
use crate::hosts::{self, PORT, SOCKETS};
use crate::meter::Meter;
use crate::server::{ANSWER, Connection};
use crate::tls::{Authorities, Trust};

/// Time limit for connecting, unless the address contains `connect_timeout`.
const CONNECT: Duration = Duration::from_secs(10);

/// Limit for the size of one statement's values, in bytes. PostgreSQL ends a connection that sends a message of 2^30
/// bytes or more. This limit is lower, because a message contains more than the values.
const MOST: usize = 1_000_000_000;

/// How long sent bytes may stay unacknowledged before the system ends the connection (TCP user timeout).
const SILENCE: Duration = Duration::from_secs(20);

/// How long an idle connection is kept for reuse. The time is short, because a server or a pooler may close connections
/// that are idle.
const IDLE: Duration = Duration::from_secs(5);

/// The address of a database, with the idle connections to this database. Neither `Debug` nor `Display` shows the
/// password.
#[derive(Clone)]
pub struct Address {
    /// The settings that all hosts of the address share.
    pub(crate) config: Config,
    /// The hosts in the order in which they are tried, each with its own password.
    hosts: Vec<Config>,
    pub(crate) trust: Trust,
    /// Time limit for an answer of the server.
    pub(crate) answer: Duration,
    /// Limit for the size of one statement's values, in bytes; see [`MOST`].
    pub(crate) most: usize,
    shown: String,
    idle: Arc<Mutex<Vec<Idle>>>,
}

/// An idle connection, with the time since when it has been idle.
type Idle = (Instant, Arc<Connection>);

impl Address {
    /// Parses `postgresql://…`, `postgres://…` or `host=… dbname=…`. Missing parts come from the variables `PGHOST`,
    /// `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE`, `PGSSLMODE` and `PGSSLROOTCERT`, whose values `env` returns. The
    /// user's password file (`PGPASSFILE`, `~/.pgpass`) may contain a password for each host. Parts that are still
    /// missing are libpq's defaults.
    ///
    /// The user's passwords are sent to the hosts in `text`, so `text` must come from a trusted source.
    ///
    /// # Errors
    /// If the text is not a valid address. The message never repeats the text, which may contain a password.
    pub fn parse(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Address, Fault> {
        let (plain, mut ours) = without_tls(text.trim());
        let mut config: Config = plain.parse().map_err(|error| wrong(&error))?;
        let given = |name: &str| env(name).filter(|value| !value.is_empty());
        if config.get_user().is_none_or(str::is_empty) {
            match given("PGUSER") {
                Some(user) => config.user(user),
                None => config.user(system_user(env)),
            };
        }
        if config.get_password().is_none()
            && let Some(password) = given("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            let user = config.get_user().unwrap_or_default().to_owned();
            config.dbname(given("PGDATABASE").unwrap_or(user));
        }
        if config.get_ports().is_empty()
            && let Some(port) = given("PGPORT").and_then(|port| port.parse().ok())
        {
            config.port(port);
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            let port = config.get_ports().first().copied().unwrap_or(PORT);
            config.host(given("PGHOST").unwrap_or_else(|| usual_host(port)));
        }
        if config.get_application_name().is_none() {
            config.application_name("prose");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(SILENCE);
        ours.mode = ours.mode.or_else(|| given("PGSSLMODE"));
        ours.root = ours.root.or_else(|| given("PGSSLROOTCERT"));
        let trust = ours.trust(&mut config, libpq_roots(env))?;
        let hosts = hosts::each(&config, &trust, env);
        let shown = shown(&config, &hosts);
        Ok(Address {
            config,
            hosts,
            trust,
            answer: ANSWER,
            most: MOST,
            shown,
            idle: Arc::default(),
        })
    }

    /// Returns the name of the database on the server.
    pub fn database(&self) -> Option<&str> {
        self.config.get_dbname()
    }

    /// Sets the time limit for connecting and for answers.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Address {
        self.config.connect_timeout(timeout);
        for host in &mut self.hosts {
            host.connect_timeout(timeout);
        }
        self.answer = timeout;
        self
    }

    /// Sets the limit for the values of one statement, in bytes.
    #[must_use]
    pub fn at_most(mut self, bytes: usize) -> Address {
        self.most = bytes;
        self
    }

    /// Connects to the first host that accepts the connection.
    ///
    /// # Errors
    /// The error of the last host.
    pub(crate) async fn connect(
        &self,
        tls: &MakeRustlsConnect,
        meter: &Arc<Meter>,
    ) -> Result<(Client, Driver, Peer), DialError> {
        let mut refused = None;
        for host in &self.hosts {
            match dial::dial(host, tls, meter).await {
                Ok(connected) => return Ok(connected),
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) => Err(error),
            // The address has no host, so this returns the error for a missing host.
            None => dial::dial(&self.config, tls, meter).await,
        }
    }

    /// Removes a usable connection from the idle ones and returns it; `None` if there is none.
    pub(crate) fn idle(&self) -> Option<Arc<Connection>> {
        let mut idle = self.idle.lock().ok()?;
        idle.retain(|(since, connection)| since.elapsed() < IDLE && !connection.is_closed());
        idle.pop().map(|(_, connection)| connection)
    }

    /// Adds a connection to the idle ones for its next use, unless it is closed.
    pub(crate) fn keep(&self, connection: Arc<Connection>) {
        if let Ok(mut idle) = self.idle.lock()
            && !connection.is_closed()
        {
            idle.push((Instant::now(), connection));
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

/// Returns an address with `***` in place of its password: `postgresql://user:***@host:5432/db` (postgres.md).
fn shown(config: &Config, hosts: &[Config]) -> String {
    let user = config.get_user().unwrap_or_default();
    let known = |host: &Config| host.get_password().is_some();
    let secret = if hosts.iter().any(known) { ":***" } else { "" };
    let places: Vec<String> = hosts.iter().map(hosts::place).collect();
    let database = config.get_dbname().unwrap_or_default();
    format!(
        "postgresql://{user}{secret}@{}/{database}",
        places.join(",")
    )
}

/// Returns the fault for an invalid address, with the library's error as the reason. That error may contain an unknown
/// key, but never a value such as a password.
fn wrong(error: &tokio_postgres::Error) -> Fault {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let cause = cause.unwrap_or_else(|| error.to_string());
    Fault::new(
        FaultKind::Damaged,
        format!("the address of the PostgreSQL database cannot be read: {cause}"),
    )
    .hint("write the address as `psql` takes it: postgresql://USER@HOST:5432/DATABASE")
}

fn system_user(env: &dyn Fn(&str) -> Option<String>) -> String {
    let named = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| env(name));
    named
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "postgres".to_owned())
}

/// Returns the host that libpq uses by default: the folder with PostgreSQL's socket, or else `localhost`.
fn usual_host(port: u16) -> String {
    let there = |folder: &&&str| {
        PathBuf::from(folder)
            .join(format!(".s.PGSQL.{port}"))
            .exists()
    };
    SOCKETS
        .iter()
        .find(there)
        .map_or_else(|| "localhost".to_owned(), |folder| (*folder).to_owned())
}

/// The TLS settings of an address. They are taken out of the address, because the PostgreSQL library does not accept
/// all of libpq's settings.
#[derive(Default)]
struct Tls {
    mode: Option<String>,
    root: Option<String>,
}

impl Tls {
    fn take(&mut self, key: &str, value: &str) -> bool {
        match key {
            "sslmode" => self.mode = Some(value.to_owned()),
            "sslrootcert" => self.root = Some(value.to_owned()),
            // Kerberos and compression are not supported, so these settings are ignored.
            "gssencmode" | "sslcompression" => {}
            _ => return false,
        }
        true
    }

    /// Sets the TLS mode of `config`, and returns how the server's certificate is verified. The rules are libpq's: for
    /// example, `require` verifies nothing unless the user has a file of certificate authorities.
    fn trust(self, config: &mut Config, usual: Option<PathBuf>) -> Result<Trust, Fault> {
        let wrong = |message: &str, hint: &str| {
            let message = format!("the address of the PostgreSQL database has {message}");
            Err(Fault::new(FaultKind::Damaged, message).hint(hint))
        };
        let system = self.root.as_deref() == Some("system");
        let file = self.root.map(PathBuf::from).filter(|_| !system);
        let own = file.or(usual.filter(|_| !system)).map(Authorities::File);
        let full = if system { "verify-full" } else { "prefer" };
        let (mode, trust) = match (self.mode.as_deref().unwrap_or(full), own) {
            ("disable", _) => (SslMode::Disable, Trust::Anyone),
            // The system's authorities sign certificates for everyone. Such a certificate proves something only if the
            // host name is checked too.
            ("allow" | "prefer" | "require" | "verify-ca", _) if system => {
                let hint = "write sslmode=verify-full";
                return wrong(
                    "`sslrootcert=system` together with an `sslmode` that does not check the host",
                    hint,
                );
            }
            ("allow" | "prefer", _) => (SslMode::Prefer, Trust::Anyone),
            ("require", None) => (SslMode::Require, Trust::Anyone),
            ("require" | "verify-ca", Some(by)) => {
                (SslMode::Require, Trust::Signed { by, host: false })
            }
            ("verify-ca" | "verify-full", own) => {
                let by = own.unwrap_or(Authorities::System);
                (SslMode::Require, Trust::Signed { by, host: true })
            }
            _ => {
                let hint = "give disable, allow, prefer, require, verify-ca or verify-full";
                return wrong("an unknown sslmode", hint);
            }
        };
        config.ssl_mode(mode);
        Ok(trust)
    }
}

/// Returns libpq's default file of certificate authorities, `~/.postgresql/root.crt`, if it exists.
fn libpq_roots(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let home = env("HOME").filter(|home| !home.is_empty())?;
    let path = PathBuf::from(home).join(".postgresql/root.crt");
    path.is_file().then_some(path)
}

/// Splits an address into its TLS settings and the text without these settings.
fn without_tls(text: &str) -> (String, Tls) {
    let mut tls = Tls::default();
    let is_url = ["postgresql://", "postgres://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    if !is_url {
        let words = text.split_whitespace().filter(|word| {
            let pair = word.split_once('=');
            !pair.is_some_and(|(key, value)| tls.take(key, value.trim_matches('\'')))
        });
        // A text without TLS words is returned unchanged: joining the words again could change blanks in quoted values.
        let rest: Vec<&str> = words.collect();
        let rest = rest.join(" ");
        let is_whole = tls.mode.is_none() && tls.root.is_none();
        return (if is_whole { text.to_owned() } else { rest }, tls);
    }
    let Some((front, query)) = text.split_once('?') else {
        return (text.to_owned(), tls);
    };
    let pairs = query.split('&').filter(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        !tls.take(key, &percent_decode_str(value).decode_utf8_lossy())
    });
    let rest: Vec<&str> = pairs.collect();
    let rest = if rest.is_empty() {
        front.to_owned()
    } else {
        format!("{front}?{}", rest.join("&"))
    };
    (rest, tls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, Fault> {
        let env = |name: &str| (name == "USER").then(|| "ann".to_owned());
        Address::parse(text, &env)
    }

    #[test]
    fn addresses_are_taken_as_psql_takes_them() {
        for (text, shown) in [
            (
                "postgresql://postgres@localhost:5433/prose",
                "postgresql://postgres@localhost:5433/prose",
            ),
            (
                "postgres://u:p%40ss@h/db?sslmode=require",
                "postgresql://u:***@h:5432/db",
            ),
            (
                "postgresql://u:s3cret@ep.example/neondb?sslmode=verify-full&channel_binding=require",
                "postgresql://u:***@ep.example:5432/neondb",
            ),
            (
                "postgresql://%2Fvar%2Fempty/db",
                "postgresql://ann@/var/empty:5432/db",
            ),
            (
                "postgresql:///db?host=/var/empty&port=6000",
                "postgresql://ann@/var/empty:6000/db",
            ),
            (
                "host=h user=u password=s3cret dbname=db sslmode=disable",
                "postgresql://u:***@h:5432/db",
            ),
            ("host=h", "postgresql://ann@h:5432/ann"),
            (
                "postgresql://u@one:6000,two:6001/db",
                "postgresql://u@one:6000,two:6001/db",
            ),
            (
                "host=one,two port=6000 user=u dbname=db",
                "postgresql://u@one:6000,two:6000/db",
            ),
        ] {
            let address = parse(text).unwrap();
            assert_eq!(address.to_string(), shown, "{text}");
            assert!(!format!("{address:?}").contains("s3cret"), "{address:?}");
        }
        assert!(
            parse("postgresql:///db")
                .unwrap()
                .to_string()
                .ends_with(":5432/db")
        );
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for text in [
            "postgresql://u:s3cret@h:port/db",
            "postgresql://u:s3cret@h/db?sslmode=maybe",
            "postgresql://u:s3cret@h/db?sslmode=require&sslrootcert=system",
            "postgresql://u:s3cret@h/db?nonsense=s3cret",
            "s3cret",
        ] {
            let fault = parse(text).unwrap_err();
            assert!(
                !format!("{fault} {} {fault:?}", fault.hint).contains("s3cret"),
                "{fault:?}"
            );
        }
    }
}
