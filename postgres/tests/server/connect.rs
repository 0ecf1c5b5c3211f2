//! Tests of connections: poolers in transaction mode, TLS, passwords, sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::pages::summary;
use prosescope_core::pages::session::{Filter, ListOrder, Options, Session, list_page};
use prosescope_core::record::record;
use prosescope_postgres::{Address, PostgresSource, PostgresStore, find_run, init_postgres};
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::work::PATIENCE;

use super::writing::{PROGRAM, at, put};
use super::{RUN, address, database, run};

/// Starts a proxy to the server that records the client's messages.
fn listened(server: u16) -> (u16, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let said: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let keep = Arc::clone(&said);
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (mut answers, mut back) =
                (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut answers, &mut back));
            let keep = Arc::clone(&keep);
            thread::spawn(move || {
                let at = {
                    let mut all = keep.lock().unwrap();
                    all.push(Vec::new());
                    all.len() - 1
                };
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = client.read(&mut bytes) {
                    keep.lock().unwrap()[at].extend_from_slice(&bytes[..read]);
                    if server.write_all(&bytes[..read]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (port, said)
}

/// Returns the messages that a client sent over a connection, each with its kind and body.
fn messages(said: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let len = |at: usize| u32::from_be_bytes(said[at..at + 4].try_into().unwrap()) as usize;
    // The first message of a connection has no byte for its kind.
    let mut at = len(0);
    let mut messages = Vec::new();
    while at + 5 <= said.len() {
        let end = at + 1 + len(at + 1);
        messages.push((said[at], said[at + 5..end].to_vec()));
        at = end;
    }
    messages
}

/// A pooler gives each transaction another session, so no statement may be prepared, and no setting may outlive its
/// transaction.
#[test]
fn nothing_of_a_session_is_relied_on() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let (port, said) = listened(cluster.port());
    let through = url.replace(&cluster.port().to_string(), &port.to_string());
    let through = address(&format!("{through}?sslmode=disable"));
    init_postgres(&through, RUN, "p.prose", PROGRAM, "2026-01-16 14:30:52").unwrap();
    let mut store = PostgresStore::open(&through, RUN).unwrap();
    record(&mut store, &put("draft", "a value"), &at()).unwrap();
    drop(store);
    find_run(&through, None).unwrap();
    let source = PostgresSource::open(&through, RUN).unwrap();
    let place = PostgresSource::place(RUN);
    Session::open(std::rc::Rc::new(source), &place, &Options::default()).unwrap();
    let mut statements = 0;
    for connection in said.lock().unwrap().iter() {
        for (kind, body) in messages(connection) {
            let text = String::from_utf8_lossy(&body).to_uppercase();
            match kind {
                b'P' => assert_eq!(body[0], 0, "a statement has a name: {text}"),
                b'B' => assert_eq!(body[0], 0, "a portal has a name: {text}"),
                _ => {}
            }
            if matches!(kind, b'P' | b'Q') {
                statements += 1;
                for line in text.split(';').map(str::trim) {
                    let of_session = [
                        "SET SESSION",
                        "SET SEARCH",
                        "SET TIME",
                        "LISTEN",
                        "PREPARE",
                        "DISCARD",
                        "DECLARE",
                    ];
                    let found = of_session.iter().find(|word| line.starts_with(**word));
                    assert_eq!(found, None, "{line}");
                }
                assert!(!text.contains("PG_ADVISORY_LOCK("), "{text}");
            }
        }
    }
    assert!(statements > 20, "{statements}");
}

/// A list reads the rows of all unfinished runs in a fixed number of queries.
#[test]
fn a_list_by_status_asks_few_questions_of_many_runs() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let of = address(&url);
    let mut asked = Vec::new();
    let mut lines = Vec::new();
    for (from, to) in [(0, 20), (20, 400)] {
        let more = format!(
            "INSERT INTO openprose.run (id, program_path, program_source, started_at, updated_at, status)
             SELECT '20260117-143052-' || lpad(n::text, 6, '0'), 'p.prose', $$session \"x\"$$, '2026-01-17 14:30:52+00', '2026-01-17 14:30:52+00',
                    CASE n % 3 WHEN 0 THEN 'running' WHEN 1 THEN 'failed' ELSE 'completed' END
             FROM generate_series({from}, {to} - 1) AS n;
             INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, started_at, completed_at)
             SELECT '20260117-143052-' || lpad(n::text, 6, '0'), 1, $$session \"x\"$$, CASE n % 3 WHEN 1 THEN 'failed' ELSE 'completed' END,
                    '2026-01-17 14:30:52+00', '2026-01-17 14:31:52+00'::timestamptz + n * interval '1 second'
             FROM generate_series({from}, {to} - 1) AS n;
             INSERT INTO openprose.gates (id, run_id, status)
             SELECT 'g', '20260117-143052-' || lpad(n::text, 6, '0'), 'pending' FROM generate_series({from}, {to} - 1) AS n WHERE n % 9 = 0"
        );
        cluster.psql(&url, &more).unwrap();
        let (port, said) = listened(cluster.port());
        let through = url.replace(&cluster.port().to_string(), &port.to_string());
        let through = address(&format!("{through}?sslmode=disable"));
        let count = || {
            let mut statements = 0;
            for connection in said.lock().unwrap().iter_mut() {
                let kinds = messages(connection);
                statements += kinds
                    .iter()
                    .filter(|(kind, _)| matches!(kind, b'P' | b'Q'))
                    .count();
                // Removes the counted messages from the record. The first message stays, because `messages` expects it.
                connection
                    .truncate(u32::from_be_bytes(connection[..4].try_into().unwrap()) as usize);
            }
            statements
        };
        let status = |word: &str| Filter {
            status: vec![word.to_owned()],
            ..Filter::default()
        };
        let pending = Filter {
            pending: true,
            ..Filter::default()
        };
        let all = Filter::default();
        for (filter, order) in [
            (&status("failed"), ListOrder::Newest),
            (&status("running"), ListOrder::Newest),
            (&pending, ListOrder::Newest),
            (&all, ListOrder::Duration),
            (&all, ListOrder::Problems),
        ] {
            let source: std::rc::Rc<dyn Source> =
                std::rc::Rc::new(PostgresSource::all(&through).unwrap());
            let list = list_page(
                &source,
                &Options::default(),
                filter,
                order,
                usize::MAX,
                None,
            );
            let statements = count();
            assert!(
                statements <= 20,
                "{statements} statements: {filter:?}, {order:?}"
            );
            asked.push(statements);
            lines.push(list.runs.len());
            // Each run has the same status in the list as when it is opened.
            for line in list
                .runs
                .iter()
                .filter(|line| line.id.ends_with('1'))
                .take(3)
            {
                let source = PostgresSource::open(&of, &line.id).unwrap();
                let place = PostgresSource::place(&line.id);
                let opened =
                    Session::open(std::rc::Rc::new(source), &place, &Options::default()).unwrap();
                let opened = summary(&opened);
                assert_eq!(
                    (&line.status, line.pending_gates, line.duration_ms),
                    (&opened.status, opened.pending_gates, opened.duration_ms),
                    "{}",
                    line.id
                );
            }
        }
    }
    let (few, many) = asked.split_at(5);
    assert_eq!(few, many, "{lines:?}");
    assert!(
        lines[5] > 100 && lines[7] > 40 && lines[8] == 401,
        "{lines:?}"
    );
}

#[test]
fn a_socket_and_the_password_file_are_found_as_libpq_finds_them() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let name = url.rsplit('/').next().unwrap();
    let host = cluster.folder().display().to_string();
    let port = cluster.port();
    for text in [
        format!("postgresql:///{name}?host={host}&port={port}&user=postgres"),
        format!("host={host} port={port} dbname={name} user=postgres"),
    ] {
        let found = find_run(&address(&text), None).unwrap();
        assert_eq!(found, prosescope_postgres::Which::One(RUN.to_owned()));
    }

    let dir = std::env::temp_dir().join(format!("prose-pgpass-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("pgpass");
    std::fs::write(&file, format!("127.0.0.1:{port}:*:reader:right\\:one\n")).unwrap();
    cluster
        .psql(
            &url,
            "CREATE ROLE reader LOGIN SUPERUSER PASSWORD 'right:one'",
        )
        .unwrap();
    let folder = cluster.folder().display();
    let hba = format!(
        "\\! (echo 'host all reader 127.0.0.1/32 scram-sha-256'; cat {folder}/data/pg_hba.conf) > {folder}/hba && cat {folder}/hba > {folder}/data/pg_hba.conf\nSELECT pg_reload_conf();"
    );
    cluster.psql(&url, &hba).unwrap();
    let parse = |mode: u32| {
        #[cfg(unix)]
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
        let path = file.display().to_string();
        let env = move |name: &str| (name == "PGPASSFILE").then(|| path.clone());
        Address::parse(&url.replace("postgres@", "reader@"), &env).unwrap()
    };
    let own = parse(0o600);
    assert!(find_run(&own, None).is_ok());
    assert!(!format!("{own} {own:?}").contains("right"));
    // A password file that other users may read is ignored.
    let refused = find_run(&parse(0o644), None).unwrap_err();
    assert!(!refused.to_string().contains("right"), "{refused}");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn certificates_are_checked() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let dir = std::env::temp_dir().join(format!("prose-tls-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    // The server certificates are made with openssl, on which Debian's package of the server depends.
    let make = |name: &str, is_authority: &str| {
        let mut openssl = std::process::Command::new("openssl");
        openssl.args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ]);
        openssl.args([
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ]);
        let constraints = format!("basicConstraints=critical,CA:{is_authority}");
        openssl.args(["-addext", &constraints, "-keyout"]);
        let path = |end: &str| dir.join(format!("{name}.{end}"));
        openssl.arg(path("key")).arg("-out").arg(path("crt"));
        let made = openssl.stderr(std::process::Stdio::null()).status();
        made.is_ok_and(|made| made.success())
    };
    // The certificate must not sign others, which openssl allows by default.
    if !make("own", "FALSE") || !make("other", "TRUE") {
        println!("skipped: openssl is missing");
        return;
    }
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let folder = cluster.folder().display();
    let written = |name: &str, to: &str| {
        let lines = read(name).trim_end().replace('\n', "\\n");
        format!("\\! umask 077; printf '%b' '{lines}\\n' > {folder}/{to}\n")
    };
    let served = |name: &str| {
        let sql = format!(
            "{}{}ALTER SYSTEM SET ssl_cert_file = '{folder}/{name}.crt';
             ALTER SYSTEM SET ssl_key_file = '{folder}/{name}.key';
             ALTER SYSTEM SET ssl = on;
             SELECT pg_reload_conf();",
            written(&format!("{name}.crt"), &format!("{name}.crt")),
            written(&format!("{name}.key"), &format!("{name}.key")),
        );
        cluster.psql(&cluster.url("postgres"), &sql).unwrap();
    };
    served("own");
    let begun = std::time::Instant::now();
    while cluster.psql(&cluster.url("postgres"), "SHOW ssl").unwrap() != "on" {
        assert!(
            begun.elapsed() < PATIENCE,
            "the server takes no certificate"
        );
    }
    let [own, other] = ["own.crt", "other.crt"].map(|name| dir.join(name).display().to_string());
    let connect = |host: &str, query: &str| {
        let url = cluster.url("postgres").replace("127.0.0.1", host);
        find_run(&address(&format!("{url}?{query}")), None)
    };
    for (host, query, reaches) in [
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={own}"),
            true,
        ),
        ("127.0.0.1", "sslmode=prefer".to_owned(), true),
        ("127.0.0.1", "sslmode=require".to_owned(), true),
        // As in libpq, `require` means `verify-ca` if a file of authorities exists.
        (
            "localhost",
            format!("sslmode=require&sslrootcert={own}"),
            true,
        ),
        (
            "127.0.0.1",
            format!("sslmode=require&sslrootcert={other}"),
            false,
        ),
        (
            "localhost",
            format!("sslmode=verify-ca&sslrootcert={own}"),
            true,
        ),
        (
            "127.0.0.1",
            format!("sslmode=verify-ca&sslrootcert={other}"),
            false,
        ),
        // Without a file of authorities, the system's authorities are used, none of which signed this certificate.
        ("127.0.0.1", "sslmode=verify-ca".to_owned(), false),
        ("127.0.0.1", "sslmode=disable".to_owned(), true),
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={other}"),
            false,
        ),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={own}"),
            false,
        ),
        (
            "127.0.0.1",
            "sslmode=verify-full&sslrootcert=/no/such/file".to_owned(),
            false,
        ),
    ] {
        let done = connect(host, &query);
        assert_eq!(done.is_ok(), reaches, "{host} {query}: {done:?}");
        if let Err(fault) = done {
            assert!(fault.hint.contains("sslrootcert"), "{fault:?}");
        }
    }
    served("other");
    let verified = |host: &str, file: &str| {
        connect(host, &format!("sslmode=verify-full&sslrootcert={file}")).is_ok()
    };
    let begun = std::time::Instant::now();
    while !verified("127.0.0.1", &other) {
        assert!(begun.elapsed() < PATIENCE, "a named certificate is refused");
    }
    assert!(!verified("localhost", &other) && !verified("127.0.0.1", &own));
    std::fs::remove_dir_all(&dir).unwrap();
}
