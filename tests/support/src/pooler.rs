//! A stand-in for a PostgreSQL connection pooler in transaction mode: a client's transactions alternate between two
//! sessions of the server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Settings that an earlier client left in one of the sessions.
const LEFT: &str =
    "SET search_path = nowhere; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German, DMY';
    SET bytea_output = 'escape'; SET extra_float_digits = -5; SET synchronous_commit = off";

/// A running pooler.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    switches: Arc<AtomicUsize>,
}

impl Pooler {
    /// Starts a pooler for the server at this port of 127.0.0.1.
    ///
    /// # Panics
    /// If loopback has no free port.
    pub fn to(server: u16) -> Pooler {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let switches: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&switches);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                thread::spawn(move || serve(client, server, &count));
            }
        });
        Pooler { port, switches }
    }

    /// Returns the pooler's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns how many transactions began in a different session than the transaction before.
    pub fn switches(&self) -> usize {
        self.switches.load(Ordering::SeqCst)
    }
}

/// Reads one message of PostgreSQL's protocol; returns its kind and all its bytes. A client's first message has no
/// kind, so 0 is returned.
fn message(from: &mut TcpStream, first: bool) -> io::Result<(u8, Vec<u8>)> {
    let head = if first { 4 } else { 5 };
    let mut bytes = vec![0; head];
    from.read_exact(&mut bytes)?;
    let mut len = [0; 4];
    len.copy_from_slice(&bytes[head - 4..]);
    bytes.resize(head - 4 + u32::from_be_bytes(len) as usize, 0);
    from.read_exact(&mut bytes[head..])?;
    Ok((if first { 0 } else { bytes[0] }, bytes))
}

/// Passes answers on until the server waits for the client; returns the state of the transaction: `I`, `T` or `E`.
fn answers(server: &mut TcpStream, mut client: Option<&mut TcpStream>) -> io::Result<u8> {
    loop {
        let (kind, bytes) = message(server, false)?;
        if let Some(client) = client.as_deref_mut() {
            client.write_all(&bytes)?;
        }
        match kind {
            b'Z' => return Ok(bytes[5]),
            b'G' => return Ok(b'T'),
            _ => {}
        }
    }
}

fn serve(mut client: TcpStream, server: u16, switches: &AtomicUsize) -> io::Result<()> {
    client.set_nodelay(true)?;
    let (_, hello) = message(&mut client, true)?;
    let mut sessions = Vec::new();
    for n in 0..2 {
        let mut session = TcpStream::connect(("127.0.0.1", server))?;
        session.set_nodelay(true)?;
        session.write_all(&hello)?;
        if hello.get(4..8) == Some(&80_877_102_u32.to_be_bytes()) {
            // A request to cancel gets no answer.
            return Ok(());
        }
        answers(&mut session, (n == 0).then_some(&mut client))?;
        if n == 1 {
            let len = u32::try_from(LEFT.len() + 5).unwrap_or_default();
            session.write_all(&[b"Q", &len.to_be_bytes()[..], LEFT.as_bytes(), b"\0"].concat())?;
            answers(&mut session, None)?;
        }
        sessions.push(session);
    }
    let (mut at, mut state, mut group) = (0, b'I', Vec::new());
    while let Ok((kind, bytes)) = message(&mut client, false) {
        group.extend(bytes);
        if !matches!(kind, b'Q' | b'S') {
            continue;
        }
        if state == b'I' {
            at = 1 - at;
            switches.fetch_add(1, Ordering::SeqCst);
        }
        sessions[at].write_all(&group)?;
        group.clear();
        state = answers(&mut sessions[at], Some(&mut client))?;
    }
    for session in &sessions {
        let _ = session.shutdown(Shutdown::Both);
    }
    Ok(())
}
