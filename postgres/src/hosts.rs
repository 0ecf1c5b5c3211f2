//! Splits an address into its hosts: each is tried with its own port and its own password, as in `psql`.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

use crate::passfile;
use crate::tls::Trust;

/// The default port.
pub(crate) const PORT: u16 = 5432;

/// Returns the settings of each host, in the order in which the hosts are tried. A host without a password gets the
/// password that the user's password file has for this host and port, never the password of another host.
pub(crate) fn each(
    all: &Config,
    trust: &Trust,
    env: &dyn Fn(&str) -> Option<String>,
) -> Vec<Config> {
    let count = all.get_hosts().len().max(all.get_hostaddrs().len());
    let fits = |len: usize| len <= 1 || len == count;
    let whole = [all.get_hosts().len(), all.get_hostaddrs().len()];
    if !fits(all.get_ports().len()) || whole.iter().any(|len| *len != 0 && *len != count) {
        // The address is not valid. `dial` rejects it when connecting.
        return vec![all.clone()];
    }
    let mut each: Vec<Config> = (0..count).map(|n| one(all, n)).collect();
    for config in &mut each {
        if config.get_password().is_none()
            && let Some(password) = kept(config, trust, env)
        {
            config.password(password);
        }
    }
    if all.get_load_balance_hosts() == LoadBalanceHosts::Random {
        let chance = RandomState::new();
        each.sort_by_cached_key(|config| chance.hash_one(place(config)));
    }
    each
}

/// Returns a host as a shown address contains it: `host:port`, or `host(address):port` if the host has a `hostaddr`.
pub(crate) fn place(config: &Config) -> String {
    let host = config.get_hosts().first().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let address = config.get_hostaddrs().first();
    let name = match (host, address) {
        (Some(host), Some(address)) => format!("{host}({address})"),
        (Some(host), None) => host,
        (None, address) => address.map_or_else(String::new, ToString::to_string),
    };
    format!("{name}:{}", port(config))
}

fn port(config: &Config) -> u16 {
    config.get_ports().first().copied().unwrap_or(PORT)
}

/// Returns the password in the user's password file for the only host of these settings.
fn kept(config: &Config, trust: &Trust, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let host = match (config.get_hosts().first(), config.get_hostaddrs().first()) {
        // A server at an address counts as the named host only if its certificate is checked for the name.
        (Some(Host::Tcp(_)), Some(address)) if !trust.checks_host() => address.to_string(),
        (Some(Host::Tcp(name)), _) => name.clone(),
        #[cfg(unix)]
        (Some(Host::Unix(path)), _) => of_socket(path),
        (None, address) => address?.to_string(),
    };
    passfile::password(
        env,
        [
            &host,
            &port(config).to_string(),
            config.get_dbname().unwrap_or_default(),
            config.get_user().unwrap_or_default(),
        ],
    )
}

/// Returns the host name that a password file contains for a socket: `localhost` for the usual folders, else the
/// folder.
#[cfg(unix)]
fn of_socket(path: &Path) -> String {
    if SOCKETS.iter().any(|usual| path == Path::new(usual)) {
        "localhost".to_owned()
    } else {
        path.display().to_string()
    }
}

/// Folders of PostgreSQL's sockets: those of Debian's packages, and that of the original sources.
pub(crate) const SOCKETS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// Returns the settings with only the `n`th host.
fn one(all: &Config, n: usize) -> Config {
    let mut one = Config::new();
    if let Some(host) = all.get_hosts().get(n) {
        match host {
            Host::Tcp(name) => one.host(name),
            #[cfg(unix)]
            Host::Unix(path) => one.host_path(path),
        };
    }
    if let Some(address) = all.get_hostaddrs().get(n) {
        one.hostaddr(*address);
    }
    let port = all.get_ports().get(n).or(all.get_ports().first());
    one.port(port.copied().unwrap_or(PORT));
    if let Some(user) = all.get_user() {
        one.user(user);
    }
    if let Some(password) = all.get_password() {
        one.password(password);
    }
    if let Some(database) = all.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = all.get_options() {
        one.options(options);
    }
    if let Some(name) = all.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = all.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = all.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = all.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = all.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(all.get_keepalives())
        .keepalives_idle(all.get_keepalives_idle())
        .ssl_mode(all.get_ssl_mode())
        .ssl_negotiation(all.get_ssl_negotiation())
        .channel_binding(all.get_channel_binding())
        .target_session_attrs(all.get_target_session_attrs());
    one
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::tls::Authorities;

    /// A password for one host is never sent to another host.
    #[test]
    fn each_host_gets_the_password_of_its_own_line() {
        let file = std::env::temp_dir().join(format!("prosescope-pgpass-{}", std::process::id()));
        let lines = "db.example:5432:*:ann:of-db\nother:6000:*:ann:of-other\n10.0.0.1:*:*:*:of-address\nlocalhost:*:*:*:of-socket\n";
        std::fs::write(&file, lines).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let env = |name: &str| (name == "PGPASSFILE").then(|| file.display().to_string());
        let full = Trust::Signed {
            by: Authorities::System,
            host: true,
        };
        let chain = Trust::Signed {
            by: Authorities::System,
            host: false,
        };
        for (address, trust, expected) in [
            ("host=db.example user=ann", &Trust::Anyone, vec!["of-db"]),
            (
                "host=db.example,evil,other port=5432,5432,6000 user=ann",
                &Trust::Anyone,
                vec!["of-db", "", "of-other"],
            ),
            (
                "host=db.example,other user=ann port=6000",
                &Trust::Anyone,
                vec!["", "of-other"],
            ),
            (
                "host=db.example,evil user=ann password=own",
                &Trust::Anyone,
                vec!["own", "own"],
            ),
            // Without a checked certificate, the host's name does not prove which server listens at the address.
            (
                "host=db.example hostaddr=10.9.9.9 user=ann",
                &Trust::Anyone,
                vec![""],
            ),
            (
                "host=db.example hostaddr=10.9.9.9 user=ann",
                &chain,
                vec![""],
            ),
            (
                "host=db.example hostaddr=10.9.9.9 user=ann",
                &full,
                vec!["of-db"],
            ),
            (
                "host=x hostaddr=10.0.0.1 user=ann",
                &Trust::Anyone,
                vec!["of-address"],
            ),
            (
                "hostaddr=10.0.0.1 user=ann",
                &Trust::Anyone,
                vec!["of-address"],
            ),
            ("host=/tmp user=ann", &Trust::Anyone, vec!["of-socket"]),
            ("host=/tmp/of-a-project user=ann", &Trust::Anyone, vec![""]),
        ] {
            let all: Config = address.parse().unwrap();
            let password = |config: &Config| {
                let bytes = config.get_password().unwrap_or_default();
                String::from_utf8_lossy(bytes).into_owned()
            };
            let found: Vec<String> = each(&all, trust, &env).iter().map(password).collect();
            assert_eq!(found, expected, "{address} {trust:?}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}
