//! A proxy to a PostgreSQL server that cuts a connection at a chosen message.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The moment at which the proxy cuts a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the server gets the message with this number, counted over all connections.
    Before(usize),
    /// After the server has received the message with this number, and before the client gets its answer.
    After(usize),
    /// Before the server gets a COMMIT.
    BeforeCommit,
    /// After the server has received a COMMIT, and before the client gets its answer.
    AfterCommit,
}

#[derive(Debug, Default)]
struct State {
    /// The moment at which a connection is cut; `None` after the cut.
    place: Option<Place>,
    /// How many messages the clients have sent since the proxy was armed.
    seen: usize,
}

/// A proxy to a server. It passes everything on until it is armed; then it cuts one connection, once.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Wire {
    /// Opens a proxy to the server at this port of 127.0.0.1.
    ///
    /// # Panics
    /// If loopback has no free port.
    pub fn to(server: u16) -> Wire {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let port = opened(server, move |client, server| pass(client, server, &shared));
        Wire { port, state }
    }

    /// Returns the proxy's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the first connection that reaches this moment.
    pub fn arm(&self, place: Place) {
        *self.lock() = State {
            place: Some(place),
            seen: 0,
        };
    }

    /// Stops cutting connections. Returns whether a connection was cut.
    pub fn disarm(&self) -> bool {
        self.lock().place.take().is_none()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the lock panics")
    }
}

/// Listens on a free port of 127.0.0.1 and passes each connection to the server at that port; returns the port.
pub(crate) fn opened(
    server: u16,
    pass: impl Fn(TcpStream, TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = listener.local_addr().expect("it has an address").port();
    let pass = Arc::new(pass);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let pass = Arc::clone(&pass);
            thread::spawn(move || {
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    let _ = client.set_nodelay(true);
                    let _ = server.set_nodelay(true);
                    let _ = pass(client, server);
                }
            });
        }
    });
    port
}

/// Reads one message of PostgreSQL's protocol. A client's first message has no kind, so its head is shorter.
pub(crate) fn message(from: &mut impl Read, first: bool) -> io::Result<Vec<u8>> {
    let head = if first { 4 } else { 5 };
    let mut bytes = vec![0; head];
    from.read_exact(&mut bytes)?;
    let len: [u8; 4] = bytes[head - 4..]
        .try_into()
        .expect("four bytes are an array");
    let body = (u32::from_be_bytes(len) as usize).saturating_sub(4);
    bytes.resize(head + body, 0);
    from.read_exact(&mut bytes[head..])?;
    Ok(bytes)
}

fn pass(mut client: TcpStream, mut server: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    let muted = Arc::new(AtomicBool::new(false));
    let mute = Arc::clone(&muted);
    let answering = thread::spawn(move || {
        let mut bytes = [0; 8192];
        while let Ok(read @ 1..) = answers.read(&mut bytes) {
            if !mute.load(Ordering::SeqCst) && back.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut first = true;
    while let Ok(bytes) = message(&mut client, first) {
        first = false;
        // The end of the statement is compared, because a BEGIN contains `READ COMMITTED`.
        let is_commit = bytes.ends_with(b"COMMIT\0") && bytes.first() == Some(&b'Q');
        let cut = {
            let mut state = state.lock().expect("no holder of the lock panics");
            state.seen += 1;
            let forwards = match state.place {
                Some(Place::Before(n)) if n == state.seen => Some(false),
                Some(Place::After(n)) if n == state.seen => Some(true),
                Some(Place::BeforeCommit) if is_commit => Some(false),
                Some(Place::AfterCommit) if is_commit => Some(true),
                _ => None,
            };
            if forwards.is_some() {
                state.place = None;
            }
            forwards
        };
        if cut.is_some() {
            muted.store(true, Ordering::SeqCst);
        }
        if cut != Some(false) {
            server.write_all(&bytes)?;
        }
        if cut.is_some() {
            // The pause gives the server time to execute the message before the connection is cut.
            if cut == Some(true) {
                thread::sleep(Duration::from_millis(20));
            }
            client.shutdown(Shutdown::Both)?;
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = answering.join();
    Ok(())
}
