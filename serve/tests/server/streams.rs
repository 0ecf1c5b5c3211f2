//! Tests of live events: each arrives once and in order.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use prosescope_serve::Limits;
use prosescope_workflow::{Append, NewEvent, record};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use super::{Site, TOKEN, access, bearer};

/// A reader of server-sent events after a cursor, as `(event, id, data)`.
struct Sse(BufReader<TcpStream>);

impl Sse {
    fn open(site: &Site, of: &str, after: i64) -> Option<Sse> {
        let mut stream = TcpStream::connect(site.address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .ok()?;
        let path = format!("/workflows/{of}/events/stream");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nLast-Event-ID: {after}\r\n\r\n",
            site.address,
            bearer()
        )
        .ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        assert!(line.contains("200"), "{line}");
        Some(Sse(reader))
    }

    fn next(&mut self) -> Option<(String, Value)> {
        let (mut event, mut data) = ("message".to_owned(), None);
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            let line = line.trim_end();
            if let Some(name) = line.strip_prefix("event: ") {
                name.clone_into(&mut event);
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str(text).ok();
            } else if line.is_empty()
                && let Some(data) = data.take()
            {
                return Some((event, data));
            }
        }
    }
}

type Socket = WebSocket<TcpStream>;

fn ws(site: &Site, of: &str, after: i64) -> Option<Socket> {
    let stream = TcpStream::connect(site.address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .ok()?;
    let url = format!(
        "ws://{}/workflows/{of}/events/ws?after={after}",
        site.address
    );
    let mut request = url.into_client_request().unwrap();
    // Browsers send the token like this, because they cannot set other headers.
    let protocols = format!("prose, bearer.{TOKEN}");
    request
        .headers_mut()
        .insert("Sec-WebSocket-Protocol", protocols.parse().unwrap());
    tungstenite::client(request, stream)
        .ok()
        .map(|(socket, _)| socket)
}

fn next(socket: &mut Socket) -> Option<Value> {
    loop {
        match socket.read().ok()? {
            Message::Text(text) => return serde_json::from_str(&text).ok(),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

/// Follows a stream until `wanted` events have arrived; returns their ids. Reconnects after every `at_once` events, and
/// whenever the connection is lost.
fn follow(site: &Site, of: &str, wanted: usize, over_ws: bool, at_once: usize) -> Vec<i64> {
    let mut ids: Vec<i64> = Vec::new();
    while ids.len() < wanted {
        let after = ids.last().copied().unwrap_or(0);
        let mut take = at_once;
        if over_ws {
            let Some(mut socket) = ws(site, of, after) else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            while take > 0 && ids.len() < wanted {
                let Some(event) = next(&mut socket) else {
                    break;
                };
                ids.extend(event["id"].as_i64());
                take -= 1;
            }
        } else {
            let Some(mut stream) = Sse::open(site, of, after) else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            while take > 0 && ids.len() < wanted {
                let Some((event, data)) = stream.next() else {
                    break;
                };
                if event == "message" {
                    ids.extend(data["id"].as_i64());
                    take -= 1;
                }
            }
        }
    }
    ids
}

#[test]
fn followers_get_every_event_once_and_in_order_also_when_they_connect_again() {
    let site = Site::new();
    let (of, _) = site.begin();
    let (other, _) = site.begin();
    let wanted = 4 * 60;
    let read: Vec<Vec<i64>> = thread::scope(|scope| {
        let (site, of, other) = (&site, of.as_str(), other.as_str());
        let followers: Vec<_> = (0..6)
            .map(|n| {
                let at_once = if n < 2 { usize::MAX } else { 37 };
                scope.spawn(move || follow(site, of, wanted, n % 2 == 0, at_once))
            })
            .collect();
        for writer in 0..4 {
            scope.spawn(move || {
                for n in 0..60 {
                    let done = site.post(
                        &format!("/workflow/events/{of}"),
                        &json!({"text": format!("{writer}:{n}")}),
                    );
                    assert_eq!(done.status, 200);
                    site.post(
                        &format!("/workflow/events/{other}"),
                        &json!({"text": "of another workflow"}),
                    );
                }
            });
        }
        followers
            .into_iter()
            .map(|follower| follower.join().unwrap())
            .collect()
    });
    let all = super::conformance::read(&site.store(), &of, 0);
    let all: Vec<i64> = all.iter().map(|event| event.id).collect();
    assert_eq!(all.len(), wanted);
    for ids in read {
        assert_eq!(ids, all);
    }
}

#[test]
fn a_stop_under_load_loses_nothing_acknowledged_and_followers_go_on() {
    let mut site = Site::new();
    let (of, _) = site.begin();
    let address = site.address;
    let over = AtomicBool::new(false);
    let folder = site.file();
    let (acknowledged, read) = thread::scope(|scope| {
        let (of, over) = (of.as_str(), &over);
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                scope.spawn(move || {
                    let mut acknowledged = Vec::new();
                    let mut n = 0;
                    while !over.load(Ordering::Relaxed) {
                        n += 1;
                        let body = json!({"text": format!("{writer}:{n}")}).to_string();
                        let Ok(mut stream) = TcpStream::connect(address) else {
                            thread::sleep(Duration::from_millis(5));
                            continue;
                        };
                        let _ = write!(
                            stream,
                            "POST /workflow/events/{of} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                            bearer(),
                            body.len()
                        );
                        let reply = super::Reply::read(stream);
                        if reply.status == 200 {
                            acknowledged.push(reply.json()["ids"][0].as_i64().unwrap());
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        let follower = scope.spawn(move || {
            let mut ids: Vec<i64> = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let after = ids.last().copied().unwrap_or(0);
                let Ok(stream) = TcpStream::connect(address) else {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                };
                stream
                    .set_read_timeout(Some(Duration::from_millis(500)))
                    .unwrap();
                let url = format!(
                    "ws://{address}/workflows/{of}/events/ws?after={after}&access_token={TOKEN}"
                );
                let Ok((mut socket, _)) = tungstenite::client(url, stream) else {
                    continue;
                };
                while let Some(event) = next(&mut socket) {
                    match event["type"].as_str() {
                        // The last message of a stream contains the cursor that the client has reached.
                        Some("closed") => assert_eq!(
                            event["cursor"].as_i64(),
                            ids.last().copied().or(Some(after))
                        ),
                        _ => ids.extend(event["id"].as_i64()),
                    }
                }
            }
            ids
        });
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(300));
            site.stop();
            site.start(access(), Limits::default());
        }
        thread::sleep(Duration::from_millis(300));
        over.store(true, Ordering::Relaxed);
        let acknowledged: Vec<i64> = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect();
        (acknowledged, follower.join().unwrap())
    });
    let store = prosescope_store::WorkflowStore::open(&folder).unwrap();
    let all: Vec<i64> = super::conformance::read(&store, &of, 0)
        .iter()
        .map(|event| event.id)
        .collect();
    assert!(acknowledged.len() > 20);
    assert!(
        acknowledged.iter().all(|id| all.binary_search(id).is_ok()),
        "an acknowledged event is lost"
    );
    assert!(read.len() > 10);
    assert_eq!(read, all[..read.len()], "none missed, none twice, in order");
}

#[test]
fn a_client_that_is_too_slow_is_dropped_and_goes_on_with_its_cursor() {
    let limits = Limits {
        write: Duration::from_secs(2),
        ..Limits::default()
    };
    let site = Site::with(access(), limits);
    let (of, _) = site.begin();
    // This client reads nothing while events arrive.
    let mut slow = Sse::open(&site, &of, 0).unwrap();
    let mut quick = ws(&site, &of, 0).unwrap();
    let mut store = site.store();
    let text = "x".repeat(20_000);
    let many = 60;
    let per = 60;
    for _ in 0..many {
        let notes = (0..per).map(|_| NewEvent {
            text: text.clone(),
            ..NewEvent::default()
        });
        let append = Append {
            workflow: of.clone(),
            notes: notes.collect(),
        };
        record(&mut store, &append, None, super::conformance::NOW).unwrap();
        for _ in 0..per {
            assert!(
                next(&mut quick).is_some(),
                "another client is served meanwhile"
            );
        }
    }
    thread::sleep(Duration::from_secs(3));
    let mut ids = Vec::new();
    while let Some((event, data)) = slow.next() {
        if event == "message" {
            ids.extend(data["id"].as_i64());
        }
    }
    assert!(ids.len() < many * per, "it was dropped after {}", ids.len());
    let after = ids.last().copied().unwrap_or(0);
    ids.extend(follow_from(&site, &of, after, many * per - ids.len()));
    assert_eq!(ids, (1..=3600).collect::<Vec<i64>>());
}

fn follow_from(site: &Site, of: &str, after: i64, wanted: usize) -> Vec<i64> {
    let mut socket = ws(site, of, after).unwrap();
    (0..wanted)
        .map(|_| next(&mut socket).unwrap()["id"].as_i64().unwrap())
        .collect()
}
