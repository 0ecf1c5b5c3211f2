//! Servers that are none: floods, silence, garbage. A command ends by its own limits, holds little memory, and says what was wrong.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use prosescope_test_support::work::PATIENCE;

use crate::project::Project;

/// What a server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Takes the connection, and says nothing.
    Nothing,
    /// Says what is no message.
    Garbage,
    /// Sends parameters of the session before it is ready.
    ParametersFirst,
    /// Sends notices before it is ready.
    NoticesFirst,
    /// Is ready, and answers no question.
    Silent,
    /// Answers a question with parameters without end; so the others.
    Parameters,
    Notices,
    Notifications,
    Rows,
    WideRows,
    Completed,
    /// Declares a message of a gigabyte, and begins it.
    LongMessage,
    /// Answers with an error of 2 MB.
    LongError,
}

use Does::*;

const ALL: [Does; 13] = [
    Nothing,
    Garbage,
    ParametersFirst,
    NoticesFirst,
    Silent,
    Parameters,
    Notices,
    Notifications,
    Rows,
    WideRows,
    Completed,
    LongMessage,
    LongError,
];

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind][..], &len, body].concat()
}

/// Sends messages until nobody listens.
fn flood(client: &mut TcpStream, each: &dyn Fn(u32) -> Vec<u8>) -> std::io::Result<()> {
    let mut n = 0;
    loop {
        let mut many = Vec::new();
        while many.len() < 1 << 16 {
            many.extend(each(n));
            n += 1;
        }
        client.write_all(&many)?;
    }
}

fn notice(n: u32) -> Vec<u8> {
    message(b'N', format!("SNOTICE\0C00000\0Mnotice {n}\0\0").as_bytes())
}

fn parameter(n: u32) -> Vec<u8> {
    message(b'S', format!("p{n}\0v\0").as_bytes())
}

fn serve(mut client: TcpStream, does: Does) -> std::io::Result<()> {
    if does == Nothing {
        return hold(&mut client);
    }
    // What opens a connection, or asks for TLS first.
    let mut head = [0; 8];
    client.read_exact(&mut head)?;
    if head == [0, 0, 0, 8, 4, 210, 22, 47] {
        client.write_all(b"N")?;
        client.read_exact(&mut head)?;
    }
    let len = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
    client.read_exact(&mut vec![0; len - 8])?;
    if does == Garbage {
        return flood(&mut client, &|n| {
            n.wrapping_mul(2_654_435_761).to_be_bytes().to_vec()
        });
    }
    client.write_all(&message(b'R', &[0; 4]))?;
    match does {
        ParametersFirst => return flood(&mut client, &parameter),
        NoticesFirst => return flood(&mut client, &notice),
        _ => {}
    }
    client.write_all(&message(b'K', &[0; 8]))?;
    client.write_all(&message(b'Z', b"I"))?;
    if does == Silent {
        return hold(&mut client);
    }
    client.read_exact(&mut [0; 1])?;
    let row = |bytes: usize| {
        let len = u32::try_from(bytes).unwrap().to_be_bytes();
        message(b'D', &[&[0, 1][..], &len, &vec![b'x'; bytes]].concat())
    };
    // One column of texts.
    let described = [
        b"\0\x01c\0".as_slice(),
        &[0; 6],
        &[0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 1],
    ]
    .concat();
    match does {
        Parameters => flood(&mut client, &parameter),
        Notices => flood(&mut client, &notice),
        Notifications => flood(&mut client, &|n| {
            message(b'A', &[&n.to_be_bytes()[..], b"c\0p\0"].concat())
        }),
        Completed => flood(&mut client, &|_| message(b'C', b"SELECT 1\0")),
        LongError => {
            let text = "x".repeat(2_000_000);
            client.write_all(&message(
                b'E',
                format!("SERROR\0C42000\0M{text}\0\0").as_bytes(),
            ))?;
            client.write_all(&message(b'Z', b"I"))?;
            hold(&mut client)
        }
        LongMessage => {
            client.write_all(&[b'D', 0x3f, 0xff, 0xff, 0xff])?;
            flood(&mut client, &|_| vec![0; 4096])
        }
        _ => {
            // BEGIN, and what follows it in the same breath.
            client.write_all(&message(b'C', b"BEGIN\0"))?;
            client.write_all(&message(b'Z', b"T"))?;
            client.write_all(&message(b'1', b""))?;
            client.write_all(&message(b'2', b""))?;
            client.write_all(&message(b'T', &described))?;
            let bytes = if does == WideRows { 1 << 20 } else { 1 };
            flood(&mut client, &|_| row(bytes))
        }
    }
}

/// Reads until the client has gone.
fn hold(client: &mut TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    while client.read(&mut bytes)? > 0 {}
    Ok(())
}

fn server(does: Does) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || serve(client, does));
        }
    });
    port
}

/// Runs a program to its end; returns its exit code, what it said, and how much memory it held at most.
fn watched(command: &mut Command) -> (Option<i32>, String, u64) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reading = thread::spawn(move || {
        let mut said = Vec::new();
        let _ = out.read_to_end(&mut said);
        let _ = err.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let status = format!("/proc/{}/status", child.id());
    let (mut most, begun) = (0, Instant::now());
    let code = loop {
        let said = std::fs::read_to_string(&status).unwrap_or_default();
        let now = said.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = now.and_then(|now| now.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kilobytes.map_or(0, |n: u64| n * 1024));
        match child.try_wait().unwrap() {
            Some(done) => break done.code(),
            None if begun.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    (code, reading.join().unwrap(), most)
}

#[test]
fn a_hostile_server_is_left_soon_and_costs_little_memory() {
    let asked: Vec<_> = ALL
        .into_iter()
        .map(|does| {
            thread::spawn(move || {
                let url = format!(
                    "postgresql://me@127.0.0.1:{}/x?sslmode=disable",
                    server(does)
                );
                let project = Project::new("session \"x\"\n", &url);
                let commands: [(&[&str], i32); 4] = [
                    (&["show", "postgres:latest"], 6),
                    (&["runs"], 0),
                    (&["put", "x", "--run", "postgres:20260101-000000-nobody"], 6),
                    (&["init", "p.prose", "--state", "postgres"], 6),
                ];
                // Those that are silent are waited for: once.
                let commands = match does {
                    Nothing | Silent => &commands[..2],
                    _ => &commands[..],
                };
                for (args, wanted) in commands {
                    let mut command = project.command(args);
                    // Its limits are those of the real clock.
                    command.env_remove("LD_PRELOAD").env_remove("FAKETIME");
                    let (code, said, memory) = watched(&mut command);
                    let what = format!("{does:?}: {args:?}: {said:.2000}");
                    assert_eq!(code, Some(*wanted), "{what}");
                    assert!(memory < 256 << 20, "{memory} bytes: {what}");
                    assert!(said.len() < 8000, "{} bytes: {what}", said.len());
                }
            })
        })
        .collect();
    for thread in asked {
        thread.join().unwrap();
    }
}
