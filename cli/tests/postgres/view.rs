//! Tests of `view` for a run in PostgreSQL: it serves a temporary copy, which is removed at the end.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use prosescope_test_support::work::PATIENCE;

use crate::commands::{PROGRAM, record};
use crate::project::{Project, cluster};

/// Sends a question to the desk of a page. Returns the answer.
fn asked(address: &str, question: &str) -> String {
    let rest = address.trim().strip_prefix("http://").expect("an address");
    let (host, base) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let len = question.len();
    let head = format!(
        "POST /{base}desk/1 HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\nContent-Length: {len}\r\n\r\n{question}"
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("an answer");
    said
}

#[test]
fn a_run_in_postgresql_is_viewed_in_a_copy_that_does_not_stay() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let run = project.init("postgres");
    record(&project, &run);
    let id = run.trim_start_matches("postgres:");
    let room = project.path().join("room");
    fs::create_dir(&room).expect("a folder");
    let left = || fs::read_dir(&room).expect("it is there").count();
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let mut command = project.command(&["view", &run]);
        command.env("TMPDIR", &room);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().expect("it starts");
        let mut address = String::new();
        let out = server.stdout.take().expect("a pipe");
        BufReader::new(out)
            .read_line(&mut address)
            .expect("an address");
        let opened = asked(&address, "\"open_served\"");
        assert!(opened.contains(id) && opened.contains(&run), "{opened}");
        assert!(left() > 0, "the copy lies in the folder for such files");
        rustix::process::kill_process(rustix::process::Pid::from_child(&server), signal)
            .expect("it is there");
        let mut said = String::new();
        let mut err = server.stderr.take().expect("a pipe");
        err.read_to_string(&mut said).expect("text");
        server.wait().expect("it ends");
        assert!(said.contains("shows a copy"), "{said}");
        assert_eq!(left(), 0, "{said}");
    }
    // `view` serves a copy, so a decision on its page would not reach the run. The command is refused.
    let decides = ["view", &run, "--allow-decisions", "--as", "raymond"];
    let said = project.prose(2, &decides, "");
    assert!(said.contains(&format!("prosescope gates {run}")), "{said}");
}
