//! Tests of connections that are cut at COMMIT: a recorded command is not recorded again, and an unrecorded one is
//! retried.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use prosescope_core::record::record;
use prosescope_postgres::PostgresStore;

use super::writing::{PROGRAM, at, put};
use super::{RUN, address, run};

/// The way in which a proxy cuts a connection that sends COMMIT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Whether the proxy passes the COMMIT on to the server.
    pub(crate) forwards: bool,
    /// Whether the proxy keeps the connection open and sends no answer.
    pub(crate) silent: bool,
}

/// A proxy to the server that cuts the next COMMIT once it is armed.
pub(crate) struct Way {
    pub(crate) port: u16,
    pub(crate) armed: Arc<AtomicBool>,
}

impl Way {
    pub(crate) fn to(server: u16, cut: Cut) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        let arm = Arc::clone(&armed);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, arm) = (client.unwrap(), Arc::clone(&arm));
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                thread::spawn(move || pass(client, server, &arm, cut));
            }
        });
        Way { port, armed }
    }
}

fn pass(mut client: TcpStream, mut server: TcpStream, armed: &AtomicBool, cut: Cut) {
    let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let muted = Arc::new(AtomicBool::new(false));
    let mute = Arc::clone(&muted);
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = answers.read(&mut bytes) {
            if !mute.load(Ordering::SeqCst) && back.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        // Compares the whole statement, because BEGIN contains READ COMMITTED.
        let is_commit = bytes[..read].windows(7).any(|word| word == b"COMMIT\0");
        if is_commit && armed.swap(false, Ordering::SeqCst) {
            muted.store(true, Ordering::SeqCst);
            if !cut.silent {
                // The proxy closes the client's connection before the server can answer.
                client.shutdown(Shutdown::Both).unwrap();
            }
            if cut.forwards {
                server.write_all(&bytes[..read]).unwrap();
                thread::sleep(Duration::from_millis(50));
            }
            if cut.silent {
                // The proxy keeps reading until the client closes the connection.
                continue;
            }
            break;
        }
        if server.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

#[test]
fn a_connection_that_is_cut_at_commit_records_once() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let both = [true, false];
    let cuts = both.map(|silent| both.map(|forwards| Cut { forwards, silent }));
    for (n, cut) in cuts.into_iter().flatten().enumerate() {
        let way = Way::to(cluster.port(), cut);
        let own = format!("127.0.0.1:{}", cluster.port());
        let through = url.replace(&own, &format!("127.0.0.1:{}", way.port));
        let through = address(&through).within(Duration::from_secs(2));
        let mut store = PostgresStore::open(&through, RUN).unwrap();
        let name = format!("cut_{n}");
        record(&mut store, &put(&name, "1"), &at()).unwrap();
        way.armed.store(true, Ordering::SeqCst);
        record(&mut store, &put(&name, "2"), &at()).unwrap();
        assert!(!way.armed.load(Ordering::SeqCst), "nothing was cut");
        let said = |sql: String| cluster.psql(&url, &sql).unwrap();
        assert_eq!(
            said(format!(
                "SELECT value FROM openprose.bindings WHERE name = '{name}'"
            )),
            "2",
            "{cut:?}"
        );
        // If the command were recorded twice, the history would contain a second earlier value.
        let history = format!(
            "SELECT string_agg(value, ' ') FROM openprose.x_binding_history WHERE name = '{name}'"
        );
        assert_eq!(said(history), "1", "{cut:?}");
    }
}
