//! Runs `prosescope workflow serve` as a process, and checks how it ends after a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use prosescope_test_support::work::PATIENCE;

/// A running server.
struct Process {
    child: Child,
    address: SocketAddr,
    /// The output of the server after its first line.
    said: JoinHandle<String>,
}

/// Starts `serve`, and waits for its first line.
fn started(mut serve: Command) -> Process {
    let mut child = serve.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut first = String::new();
    lines.read_line(&mut first).expect("a line");
    let address = first.trim_end().rsplit_once("http://").map(|(_, at)| at);
    let address = address.and_then(|at| at.parse().ok());
    Process {
        child,
        address: address.unwrap_or_else(|| panic!("no address: {first}")),
        said: thread::spawn(move || {
            let mut said = String::new();
            let _ = lines.read_to_string(&mut said);
            said
        }),
    }
}

/// Sends a request, and waits for the head of the answer. Returns the connection.
fn asked(address: SocketAddr, request: &str, headers: &str, status: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"
    )
    .expect("it reads");
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a head");
    assert!(line.contains(status), "{request}: {line}");
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).expect("a head");
    }
    reader
}

/// Starts `serve` several times, with and without open streams, and stops it with each signal. Checks that the server
/// sends the streams their cursors, and then ends with code 0 and without a panic.
pub(crate) fn serve_ends_well(serve: impl Fn() -> Command, of: &str) {
    for signal in ["TERM", "INT", "TERM", "INT"] {
        for streams in [0, 3] {
            let mut process = started(serve());
            let stream = format!("GET /workflows/{of}/events/stream");
            let mut open: Vec<_> = (0..streams)
                .map(|_| asked(process.address, &stream, "", "200"))
                .collect();
            // These requests open connections to the store, which then stay open for later requests.
            for _ in 0..3 {
                asked(
                    process.address,
                    "GET /health",
                    "Connection: close\r\n",
                    "200",
                );
            }
            let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
            let socket = format!("GET /workflows/{of}/events/ws");
            let mut socket = (streams > 0).then(|| asked(process.address, &socket, upgrade, "101"));
            let id = process.child.id().to_string();
            let told = Command::new("kill")
                .args([&format!("-{signal}"), &id])
                .status();
            assert!(told.expect("kill runs").success());
            let ended = process.child.wait().expect("it ends");
            let said = process.said.join().expect("what it said");
            let about = format!("{signal}, {streams} streams: {ended:?}: {said}");
            assert_eq!(ended.code(), Some(0), "{about}");
            assert!(
                said.ends_with("stopped\n") && !said.contains("panic"),
                "{about}"
            );
            for stream in &mut open {
                let mut rest = String::new();
                let _ = stream.read_to_string(&mut rest);
                assert!(rest.contains("stopping"), "{about}: {rest}");
            }
            if let Some(socket) = &mut socket {
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest);
                let rest = String::from_utf8_lossy(&rest);
                assert!(rest.contains("stopping"), "{about}: {rest}");
            }
        }
    }
}

/// Checks that a signal directly after the first line of output stops the server.
pub(crate) fn serve_can_be_stopped_at_once(serve: impl Fn() -> Command) {
    for _ in 0..5 {
        let mut process = started(serve());
        let id = process.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        assert!(told.expect("kill runs").success());
        let ended = process.child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(0), "{ended:?}");
    }
}
