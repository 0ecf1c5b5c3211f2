//! Starts a PostgreSQL server for tests. The server listens on loopback, and its temporary folder is removed with it.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::needs;

/// A running PostgreSQL server.
#[derive(Debug)]
pub struct Cluster {
    bin: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    /// A process that stops the server and removes the folder when the process's input ends. The input also ends after
    /// a panic, an abort or a kill of the test.
    guard: Child,
    input: Option<ChildStdin>,
}

impl Cluster {
    /// Returns the server that all tests of this test program share; `None` if PostgreSQL is missing.
    pub fn shared() -> Option<&'static Cluster> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(|| Cluster::start(&[])).as_ref()
    }

    /// Starts a separate server with these settings (`name=value`).
    ///
    /// # Panics
    /// If PostgreSQL is installed but does not start.
    pub fn start(settings: &[&str]) -> Option<Cluster> {
        let bin = needs::postgres()?;
        let made = Command::new("mktemp")
            .args(["-d", "-t", "prose-pg.XXXXXX"])
            .output();
        let folder = String::from_utf8(made.expect("mktemp runs").stdout).expect("a path is text");
        let folder = PathBuf::from(folder.trim());
        let user = Unprivileged::find(&folder);
        let data = folder.join("data");
        let mut init = user.command(&bin.join("initdb"));
        init.args([
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
        ]);
        done(init.arg(&data));
        let guard_script = r#"cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate stop >/dev/null 2>&1; rm -rf "$2""#;
        let mut guard = user
            .command(Path::new("sh"))
            .args(["-c", guard_script, "sh"])
            .args([&bin, &folder])
            .stdin(Stdio::piped())
            .spawn()
            .expect("sh runs");
        let mut cluster = Cluster {
            input: guard.stdin.take(),
            bin,
            port: 0,
            settings: settings
                .iter()
                .map(|setting| (*setting).to_owned())
                .collect(),
            folder,
            guard,
        };
        // Another program may take a port that was free a moment ago, so the start is tried again with another port.
        for _ in 0..5 {
            cluster.port = free_port();
            if cluster.up() {
                return Some(cluster);
            }
        }
        let log = std::fs::read_to_string(cluster.folder.join("log")).unwrap_or_default();
        panic!("PostgreSQL does not start: {log}");
    }

    fn up(&self) -> bool {
        let mut options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c shared_buffers=16MB -c max_connections=200 -c fsync=off",
            self.port,
            self.folder.display()
        );
        for setting in &self.settings {
            options.push_str(&format!(" -c {setting}"));
        }
        let mut start = self.command("pg_ctl");
        start.arg("-D").arg(self.folder.join("data"));
        start
            .arg("-l")
            .arg(self.folder.join("log"))
            .args(["-w", "-o", &options, "start"]);
        start
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Returns a command for a program of PostgreSQL (`psql`, `pg_ctl`), run as the server's user.
    pub fn command(&self, program: &str) -> Command {
        Unprivileged::find(&self.folder).command(&self.bin.join(program))
    }

    /// Stops the server at once, as a power failure would, and starts it again.
    ///
    /// # Panics
    /// If the server does not start again.
    pub fn crash(&self) {
        self.stop();
        assert!(self.up(), "the server comes back");
    }

    /// Stops the server at once.
    pub fn stop(&self) {
        let mut stop = self.command("pg_ctl");
        done(
            stop.arg("-D")
                .arg(self.folder.join("data"))
                .args(["-m", "immediate", "-w", "stop"]),
        );
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the server's folder, which contains its socket, data and log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates an empty database with a new name; returns its URL.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn database(&self) -> String {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("test{}", MADE.fetch_add(1, Ordering::Relaxed));
        let maintenance = self.url("postgres");
        let mut create = self.command("psql");
        done(create.args([
            &maintenance,
            "-X",
            "-q",
            "-c",
            &format!("CREATE DATABASE {name}"),
        ]));
        self.url(&name)
    }

    /// Returns the URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs SQL through `psql`, as a person would; returns its output.
    ///
    /// # Errors
    /// The text on standard error if a statement fails.
    ///
    /// # Panics
    /// If `psql` cannot be run.
    pub fn psql(&self, url: &str, sql: &str) -> Result<String, String> {
        let mut psql = self.command("psql");
        psql.args([
            url,
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-f",
            "-",
        ]);
        psql.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut running = psql.spawn().expect("psql runs");
        let mut input = running.stdin.take().expect("it has an input");
        let sql = sql.to_owned();
        // `psql` may print more than a pipe holds before it has read all its input, so another thread writes the input.
        let writing = thread::spawn(move || input.write_all(sql.as_bytes()));
        let done = running.wait_with_output().expect("psql ends");
        let _ = writing.join();
        if done.status.success() {
            Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into_owned())
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.guard.wait();
    }
}

/// The user and group for PostgreSQL's programs, which refuse to run as root: the user that Debian's package creates,
/// or `nobody`. `None` if the tests do not run as root.
struct Unprivileged(Option<(u32, u32)>);

impl Unprivileged {
    fn find(folder: &Path) -> Unprivileged {
        #[cfg(unix)]
        if rustix::process::geteuid().is_root() {
            let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
            let ids = ["postgres", "nobody"].iter().find_map(|name| {
                let line = users
                    .lines()
                    .find_map(|line| line.strip_prefix(&format!("{name}:")))?;
                let mut fields = line.split(':').skip(1);
                Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
            });
            if let Some((user, group)) = ids {
                let _ = std::os::unix::fs::chown(folder, Some(user), Some(group));
            }
            return Unprivileged(ids);
        }
        let _ = folder;
        Unprivileged(None)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).current_dir("/");
        #[cfg(unix)]
        if let Some((user, group)) = self.0 {
            std::os::unix::process::CommandExt::uid(&mut command, user);
            std::os::unix::process::CommandExt::gid(&mut command, group);
        }
        command
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
    listener.local_addr().expect("it has an address").port()
}

fn done(command: &mut Command) {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}
