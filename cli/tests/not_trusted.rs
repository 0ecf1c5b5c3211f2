//! Tests that an address in the project's `.env` is untrusted. Commands send nothing to this address before the user
//! trusts the file, or after the file changed.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use prosescope_test_support::run::fed;

/// A password of the user. It must not reach an untrusted server, in whatever file or variable the user stores it.
const SECRET: &str = "hunter2";

/// A server that accepts no TLS, asks for a password in the clear, and keeps the bytes that it receives.
struct Asking {
    port: u16,
    received: Arc<Mutex<Vec<u8>>>,
}

impl Asking {
    fn new() -> Asking {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let received: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || {
                    // The server answers three messages: the request for TLS, the startup message, and the password.
                    for answer in [&b"N"[..], b"R\0\0\0\x08\0\0\0\x03", b""] {
                        let mut bytes = [0; 4096];
                        let len = client.read(&mut bytes).unwrap_or(0);
                        kept.lock().expect("kept").extend(&bytes[..len]);
                        let _ = client.write_all(answer);
                    }
                });
            }
        });
        Asking { port, received }
    }

    /// Returns the bytes received since the last call.
    fn received(&self) -> String {
        let bytes = std::mem::take(&mut *self.received.lock().expect("kept"));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A cloned project with a run in a folder. The project's `.env` contains the address of a server, and the user has
/// stored passwords for any server.
struct Cloned {
    dir: tempfile::TempDir,
}

impl Cloned {
    fn new() -> Cloned {
        let cloned = Cloned {
            dir: tempfile::tempdir().expect("a folder"),
        };
        let home = cloned.path("home");
        fs::create_dir(&home).expect("made");
        fs::create_dir(cloned.path("project")).expect("made");
        fs::write(cloned.path("project/p.prose"), "session \"x\"\n").expect("written");
        cloned.pgpass(&format!("*:*:*:*:{SECRET}\n"));
        let service = format!("[evil]\nhost=127.0.0.1\npassword={SECRET}\n");
        fs::write(home.join(".pg_service.conf"), service).expect("written");
        let out = cloned.give(&["init", "p.prose", "--id", "r1"]);
        assert!(out.status.success(), "{out:?}");
        cloned
    }

    fn path(&self, at: &str) -> PathBuf {
        self.dir.path().join(at)
    }

    fn pgpass(&self, lines: &str) {
        let file = self.path("home/.pgpass");
        fs::write(&file, lines).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("the user's");
        }
    }

    fn names(&self, settings: &str) {
        fs::write(self.path("project/.prose/.env"), settings).expect("written");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.path("project"))
            .env("HOME", self.path("home"))
            .env("PGPASSWORD", SECRET)
            .env("PGSERVICEFILE", self.path("home/.pg_service.conf"))
            .env("DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/app")
            .env_remove("XDG_STATE_HOME")
            .env_remove("OPENPROSE_POSTGRES_URL")
            .env_remove("OPENPROSE_POSTGRES_USER_URL")
            .env_remove("PROSE_RUN");
        command
    }

    fn give(&self, args: &[&str]) -> Output {
        fed(&mut self.command(args), b"a value")
    }

    /// Runs a command, and expects this exit code. Returns all output.
    #[track_caller]
    fn said(&self, code: i32, args: &[&str]) -> String {
        let out = self.give(args);
        let said = [&out.stdout[..], &out.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
        assert!(!said.contains(SECRET), "{args:?}: {said}");
        said
    }
}

/// Commands that read the database in addition to files. They succeed, with a note that the server was not contacted.
const BESIDE: &[&[&str]] = &[
    &["runs"],
    &["runs", "--status", "failed"],
    &["gates"],
    &["gates", "--all"],
    &["gates", "expire"],
    &["check", "--all"],
    &["audit", "--all"],
    &["search", "x", "--all"],
    &["doctor"],
];

/// Commands on runs in the database. They are refused, because the address is not trusted.
const NAMED: &[&[&str]] = &[
    &["show", "postgres:latest"],
    &["trace", "postgres:20260101-000000-aaaaaa"],
    &["get", "x", "--run", "postgres:latest"],
    &["gates", "postgres:latest"],
    &["audit", "verify", "postgres:latest"],
    &["check", "postgres:latest"],
    &["agents", "postgres:latest"],
    &["resume", "postgres:latest"],
    &["postgres", "status"],
    &["postgres", "setup", "--apply"],
    &["clean", "--postgres", "--older-than", "1d"],
    &["workflow", "list", "--state", "postgres"],
    &["workflow", "serve", "--state", "postgres"],
    &["init", "p.prose", "--state", "postgres"],
    &["convert", "r1", "--to", "postgres"],
    &[
        "convert",
        "postgres:latest",
        "--to",
        "sqlite",
        "--out",
        "copy",
    ],
    &["put", "x", "--run", "postgres:latest"],
    &["begin", "1", "--run", "postgres:20260101-000000-aaaaaa"],
    &["approve", "postgres:latest", "g", "--as", "me"],
    &["finish", "failed", "--run", "postgres:latest"],
    &["agent", "memory", "set", "a", "--run", "postgres:latest"],
    &[
        "agent",
        "delete",
        "a",
        "--scope",
        "user",
        "--postgres",
        "--yes",
    ],
];

/// Returns contents of a `.env` file, with the address of the server in different forms.
fn forms(port: u16) -> Vec<String> {
    let key = "OPENPROSE_POSTGRES_URL";
    vec![
        format!("{key}=postgresql://me@127.0.0.1:{port}/x\n"),
        format!("\u{feff}# ours\nexport {key}='postgres://me:own@127.0.0.1:{port}/x'\n"),
        format!("{key}=\"host=127.0.0.1 port={port} user=me dbname=x sslmode=disable\"\n"),
        format!("{key}=postgresql://me@127.0.0.1:1,127.0.0.1:{port}/x\n"),
        format!("{key}=host=db.example hostaddr=127.0.0.1 port={port} user=me dbname=x\n"),
        format!("{key}=postgresql:///x?host=127.0.0.1&port={port}\n"),
        format!("{key}=service=evil\n"),
    ]
}

#[test]
fn nothing_is_sent_to_a_server_that_only_a_file_of_the_project_names() {
    let server = Asking::new();
    let cloned = Cloned::new();
    for (n, form) in forms(server.port).iter().enumerate() {
        cloned.names(form);
        // All commands are tried with the first form, and one command of each kind with the others.
        let few = |all: &'static [&'static [&'static str]]| match n {
            0 => all,
            _ => &all[..1],
        };
        for args in few(BESIDE) {
            let said = cloned.said(0, args);
            let told = said.matches("postgres trust").count();
            assert_eq!(told, 1, "{form}{args:?}: {said}");
            assert!(*args != ["runs"] || said.contains("r1"), "{said}");
        }
        for args in few(NAMED) {
            let said = cloned.said(4, args);
            assert!(
                said.contains("postgres trust") && said.contains("OPENPROSE_POSTGRES_URL"),
                "{form}{args:?}: {said}"
            );
        }
        assert_eq!(server.received(), "", "{form}");
    }
    // A pipe in place of the `.env` file does not block the command.
    #[cfg(unix)]
    {
        let env = cloned.path("project/.prose/.env");
        fs::remove_file(&env).expect("removed");
        rustix::fs::mkfifoat(rustix::fs::CWD, &env, rustix::fs::Mode::RWXU).expect("a pipe");
        let said = cloned.said(0, &["runs"]);
        assert!(
            said.contains("it is not a file") && said.contains("r1"),
            "{said}"
        );
        let said = cloned.said(6, &["show", "postgres:latest"]);
        assert!(said.contains("it is not a file"), "{said}");
    }
}

#[test]
fn a_file_is_trusted_until_its_bytes_change() {
    let server = Asking::new();
    let cloned = Cloned::new();
    let [form, ..] = &forms(server.port)[..] else {
        panic!("forms")
    };
    cloned.names(form);
    let show: &[&str] = &["show", "postgres:latest"];
    let sends = || {
        let out = cloned.give(show);
        assert!(!out.status.success(), "{out:?}");
        server.received().contains(SECRET)
    };
    assert!(!sends());
    let said = cloned.said(0, &["postgres", "trust"]);
    let named = format!(
        "OPENPROSE_POSTGRES_URL=postgresql://me@127.0.0.1:{}/x",
        server.port
    );
    assert!(said.contains(&named), "{said}");
    assert!(sends());
    // One more space changes the file, so the user's trust does not cover it any more.
    cloned.names(&format!("{form} "));
    assert!(!sends());
    cloned.said(0, &["postgres", "trust"]);
    assert!(sends());
    cloned.names(form);
    assert!(!sends());
    cloned.said(0, &["postgres", "trust"]);
    assert!(sends());
    cloned.said(0, &["postgres", "trust", "--revoke"]);
    assert!(!sends());
    cloned.said(0, &["postgres", "trust", "--revoke"]);
    // The trust holds for one path: the same bytes in another project are not trusted.
    cloned.said(0, &["postgres", "trust"]);
    let moved = cloned.path("moved");
    fs::rename(cloned.path("project"), &moved).expect("moved");
    let out = fed(cloned.command(show).current_dir(&moved), b"");
    assert_eq!(out.status.code(), Some(4), "{out:?}");
    assert_eq!(server.received(), "");
    // A `.env` file without a PostgreSQL setting contains nothing to trust.
    fs::write(moved.join(".prose/.env"), "USER_ID=1\n").expect("written");
    let out = fed(
        cloned.command(&["postgres", "trust"]).current_dir(&moved),
        b"",
    );
    assert_eq!(out.status.code(), Some(3), "{out:?}");
}

/// The environment is trusted. So a server in an environment variable is contacted, whatever the project's `.env`
/// contains.
#[test]
fn an_address_of_the_environment_is_asked() {
    let (named, own) = (Asking::new(), Asking::new());
    let cloned = Cloned::new();
    cloned.names(&forms(named.port)[0]);
    let url = format!("postgresql://me@127.0.0.1:{}/x", own.port);
    for args in [&["runs"][..], &["show", "postgres:latest"]] {
        let mut command = cloned.command(args);
        fed(command.env("OPENPROSE_POSTGRES_URL", &url), b"");
        assert!(own.received().contains(SECRET), "{args:?}");
    }
    // Other settings in the project's `.env` stay untrusted, such as the database for the user's agents.
    cloned.names(&format!(
        "OPENPROSE_POSTGRES_USER_URL=postgresql://me@127.0.0.1:{}/x\n",
        named.port
    ));
    let mut command = cloned.command(&["agent", "delete", "a", "--scope", "user", "--postgres"]);
    let out = fed(command.env("OPENPROSE_POSTGRES_URL", &url), b"");
    assert_eq!(out.status.code(), Some(4), "{out:?}");
    assert_eq!(named.received(), "");
}

/// `.pgpass` holds a password for each host and port. A password of another host is not sent.
#[test]
fn a_password_goes_to_the_host_of_its_line_only() {
    let (first, second) = (Asking::new(), Asking::new());
    let cloned = Cloned::new();
    let (one, other) = (first.port, second.port);
    cloned.pgpass(&format!(
        "127.0.0.1:{one}:*:me:of-the-first\ndb.example:*:*:me:of-the-name\n"
    ));
    let ask = |url: &str| {
        let mut command = cloned.command(&["show", "postgres:latest"]);
        command
            .env("OPENPROSE_POSTGRES_URL", url)
            .env_remove("PGPASSWORD");
        let out = fed(&mut command, b"");
        assert!(!out.status.success(), "{url}: {out:?}");
        (first.received(), second.received())
    };
    let (to_first, to_second) = ask(&format!(
        "postgresql://me@127.0.0.1:{one},127.0.0.1:{other}/x"
    ));
    assert!(to_first.contains("of-the-first"), "{to_first}");
    // The second server was contacted, and received no password.
    assert!(to_second.contains("me"), "{to_second}");
    assert!(!to_second.contains("of-the"), "{to_second}");
    let (_, to_second) = ask(&format!(
        "host=db.example hostaddr=127.0.0.1 port={other} user=me dbname=x"
    ));
    assert!(
        to_second.contains("me") && !to_second.contains("of-the"),
        "{to_second}"
    );
}

#[test]
fn a_relative_state_folder_is_not_the_projects() {
    let cloned = Cloned::new();
    let server = Asking::new();
    cloned.names(&forms(server.port)[0]);
    let mut trust = cloned.command(&["postgres", "trust"]);
    let out = fed(trust.env("XDG_STATE_HOME", ".prose/state"), b"");
    assert!(out.status.success(), "{out:?}");
    assert!(!Path::new(&cloned.path("project/.prose/state")).exists());
    assert!(cloned.path("home/.local/state/prosescope/trusted").is_dir());
}
