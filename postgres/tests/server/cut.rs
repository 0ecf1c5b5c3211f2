//! Connections that are cut at COMMIT: what was recorded is not recorded twice, and what was not is.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use prosescope_core::write::record;

use super::run;
use super::writing::{PROGRAM, at, open, put};

/// A way to the server that is cut once it is armed and COMMIT comes by: after the server got it, or before.
struct Way {
    port: u16,
    armed: Arc<AtomicBool>,
}

impl Way {
    fn to(server: u16, forwards: bool) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        let arm = Arc::clone(&armed);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, arm) = (client.unwrap(), Arc::clone(&arm));
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                thread::spawn(move || pass(client, server, &arm, forwards));
            }
        });
        Way { port, armed }
    }
}

fn pass(mut client: TcpStream, mut server: TcpStream, armed: &AtomicBool, forwards: bool) {
    let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut answers, &mut back);
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        let is_commit = bytes[..read].windows(6).any(|word| word == b"COMMIT");
        if is_commit && armed.swap(false, Ordering::SeqCst) {
            // The client is gone before the server can answer it.
            client.shutdown(Shutdown::Both).unwrap();
            if forwards {
                server.write_all(&bytes[..read]).unwrap();
                thread::sleep(std::time::Duration::from_millis(50));
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
    for forwards in [true, false] {
        let way = Way::to(cluster.port(), forwards);
        let own = format!("127.0.0.1:{}", cluster.port());
        let cut = url.replace(&own, &format!("127.0.0.1:{}", way.port));
        let mut store = open(&cut);
        let name = format!("cut_{forwards}");
        record(&mut store, &put(&name, "1"), &at()).unwrap();
        way.armed.store(true, Ordering::SeqCst);
        record(&mut store, &put(&name, "2"), &at()).unwrap();
        assert!(!way.armed.load(Ordering::SeqCst), "nothing was cut");
        let said = |sql: String| cluster.psql(&url, &sql).unwrap();
        assert_eq!(
            said(format!(
                "SELECT value FROM openprose.bindings WHERE name = '{name}'"
            )),
            "2"
        );
        // Recorded twice, there would be another earlier value.
        let history = format!(
            "SELECT string_agg(value, ' ') FROM openprose.x_binding_history WHERE name = '{name}'"
        );
        assert_eq!(said(history), "1");
    }
}
