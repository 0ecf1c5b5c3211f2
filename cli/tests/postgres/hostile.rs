//! Tests with fake servers that flood, are silent, or send garbage. A command ends by its own time limits, uses
//! little memory, and reports the error.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::faulty::{Answer, Fault, Faulty};
use prosescope_test_support::work::PATIENCE;

use crate::project::{Project, cluster, text};

/// Defines the enum of what a fake server does, and a list of all its values.
macro_rules! all {
    ($($(#[$doc:meta])* $does:ident,)*) => {
        /// What a fake server does with a client.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Does {
            $($(#[$doc])* $does,)*
        }

        use Does::*;

        const ALL: &[Does] = &[$($does,)*];
    };
}

all! {
    /// Accepts the connection, and sends nothing.
    Nothing,
    /// Sends bytes that are not a message.
    Garbage,
    /// Sends parameters of the session before it is ready.
    ParametersFirst,
    /// Sends notices before it is ready.
    NoticesFirst,
    /// Becomes ready, and answers no query.
    Silent,
    /// Answers a query with endless messages about parameters. `Notices` to `Completed` send endless messages of
    /// another kind.
    Parameters,
    Notices,
    Notifications,
    Rows,
    WideRows,
    Completed,
    /// Announces a message of one gigabyte, and sends bytes without end.
    LongMessage,
    /// Answers a query with an error message of 2 MB.
    LongError,
    /// Begins a message, and sends the rest of it byte by byte, two bytes per second.
    Drips,
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind][..], &len, body].concat()
}

/// Sends messages until the client closes the connection.
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
    // The first message of the client starts the session, or asks for TLS, which is refused.
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
    // The description of a row with one column of type text.
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
        Drips => {
            client.write_all(&[b'N', 0, 1, 0, 0])?;
            loop {
                client.write_all(b"x")?;
                thread::sleep(Duration::from_millis(500));
            }
        }
        LongMessage => {
            client.write_all(&[b'D', 0x3f, 0xff, 0xff, 0xff])?;
            flood(&mut client, &|_| vec![0; 4096])
        }
        _ => {
            // The client sends BEGIN and its query together, so the server answers both at once.
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

/// Reads and discards bytes until the client closes the connection.
fn hold(client: &mut TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    while client.read(&mut bytes)? > 0 {}
    Ok(())
}

/// Starts a fake server. Returns its port, and the number of connections that it has accepted.
fn server(does: Does) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections: Arc<AtomicUsize> = Arc::default();
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || serve(client, does));
        }
    });
    (port, connections)
}

/// Runs a program. Returns its exit code, its output, and its maximum memory.
pub(crate) fn watched(command: &mut Command) -> (Option<i32>, String, u64) {
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
        .iter()
        .map(|does| {
            thread::spawn(move || {
                let does = *does;
                let (port, connections) = server(does);
                let url = format!("postgresql://me@127.0.0.1:{port}/x?sslmode=disable");
                let project = Project::new("session \"x\"\n", &url);
                let commands: [(&[&str], i32); 4] = [
                    (&["show", "postgres:latest"], 6),
                    (&["runs"], 0),
                    (&["put", "x", "--run", "postgres:20260101-000000-nobody"], 6),
                    (&["init", "p.prose", "--state", "postgres"], 6),
                ];
                // A silent server makes each command wait for its full time limit, so only two commands are tried.
                let commands = match does {
                    Nothing | Silent | Drips => &commands[..2],
                    _ => &commands[..],
                };
                for (args, wanted) in commands {
                    connections.store(0, Ordering::Relaxed);
                    let mut command = project.command(args);
                    // The time limits need the real clock, so the simulated clock is switched off.
                    command.env_remove("LD_PRELOAD").env_remove("FAKETIME");
                    let (code, said, memory) = watched(&mut command);
                    let what = format!("{does:?}: {args:?}: {said:.2000}");
                    assert_eq!(code, Some(*wanted), "{what}");
                    assert!(memory < 256 << 20, "{memory} bytes: {what}");
                    assert!(said.len() < 8000, "{} bytes: {what}", said.len());
                    // A command waits for a silent server once, and then opens another connection to cancel the query.
                    // postgres/src/server.rs asserts the limits of a wait. One connection of the previous command may
                    // be counted, too.
                    let connections = connections.load(Ordering::Relaxed);
                    assert!(connections <= 3, "{connections} connections: {what}");
                }
            })
        })
        .collect();
    for thread in asked {
        thread.join().unwrap();
    }
}

/// A project with a run and a workflow, whose connection to the database goes through a proxy that makes queries fail.
pub(crate) struct Place {
    pub(crate) wire: Faulty,
    project: Project,
    run: String,
}

impl Place {
    pub(crate) fn new(cluster: &Cluster) -> Place {
        let wire = Faulty::to(cluster.port());
        let through = cluster.database().replace(
            &format!(":{}/", cluster.port()),
            &format!(":{}/", wire.port()),
        );
        let through = format!("{through}?sslmode=disable");
        let project = Project::new(
            "approve deploy:\n  prompt: \"Ready?\"\n\nsession \"x\"\n",
            &through,
        );
        let run = project.init("postgres");
        project.prose(0, &["put", "a", "--run", &run], &"a value ".repeat(100));
        project.prose(0, &["gate", "create", "--line", "1", "--run", &run], "");
        for line in [
            "workflow setup --apply",
            "workflow start --input x",
            "workflow events append latest --text one",
        ] {
            let args: Vec<&str> = line.split(' ').chain(["--state", "postgres"]).collect();
            project.prose(0, &args, "");
        }
        let file = project.init("sqlite");
        project.prose(0, &["finish", "failed", "--run", &file], "");
        Place { wire, project, run }
    }

    fn args(&self, line: &str) -> Vec<String> {
        let line = line.replace("RUN", &self.run);
        line.split(' ').map(str::to_owned).collect()
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let args = self.args(line);
        let mut command = self
            .project
            .command(&args.iter().map(String::as_str).collect::<Vec<_>>());
        // The time limits need the real clock, so the simulated clock is switched off.
        command.env_remove("LD_PRELOAD").env_remove("FAKETIME");
        command
    }
}

/// Commands that write. In the tests, the server does not answer their COMMIT.
const COMMITS: &[&str] = &[
    "put x --run RUN",
    "init p.prose --state postgres --id 20260301-100000-silent",
    "workflow events append latest --text two --state postgres",
    "clean RUN --yes --force",
    "convert latest --to postgres",
];

/// After a COMMIT without an answer, the command asks on another connection whether its change was recorded. If that
/// connection gets no answer either, the error says that the result is unknown.
#[test]
fn what_became_of_a_commit_that_is_not_answered_is_asked_or_said_to_be_unknown() {
    let Some(cluster) = cluster() else {
        return;
    };
    let whole = std::env::var_os("PROSE_SWEEP").is_some();
    let commits = if whole { COMMITS } else { &COMMITS[..3] };
    let cases = commits.iter().flat_map(|line| {
        let answers = [Answer::Silence, Answer::SilenceAfter];
        answers
            .into_iter()
            .flat_map(move |answer| [false, true].map(|for_good| (*line, answer, for_good)))
    });
    thread::scope(|scope| {
        for (line, answer, for_good) in cases {
            scope.spawn(move || unanswered(cluster, line, answer, for_good));
        }
    });
}

fn unanswered(cluster: &Cluster, line: &str, answer: Answer, for_good: bool) {
    // A run of the command in another project shows which of its queries is the COMMIT.
    let other = Place::new(cluster);
    other.wire.arm(None);
    let out = other.command(line).output().unwrap();
    assert!(out.status.success(), "{line}: {}", text(&out.stderr));
    let asked = other.wire.asked();
    let commit = asked.iter().rposition(|sql| sql == "COMMIT").unwrap();
    let commits = asked.iter().filter(|sql| *sql == "COMMIT").count();
    let place = Place::new(cluster);
    place.wire.arm(Some(Fault {
        question: commits,
        only: "COMMIT",
        answer,
        for_good,
    }));
    let out = place.command(line).output().unwrap();
    let connections = place
        .wire
        .asked()
        .iter()
        .filter(|sql| *sql == "(start)")
        .count();
    assert!(place.wire.disarm() > 0, "{line}: no COMMIT");
    let said = text(&out.stderr);
    let what =
        format!("{line}: {answer:?}, for good: {for_good}: {connections} connections: {said}");
    match (answer, for_good) {
        // The COMMIT took effect, as the server confirms on the second connection.
        (Answer::SilenceAfter, false) => assert_eq!(out.status.code(), Some(0), "{what}"),
        // The COMMIT did not take effect, so most commands are repeated once.
        (_, false) if !line.starts_with("init") && !line.starts_with("convert") => {
            assert_eq!(out.status.code(), Some(0), "{what}");
        }
        (_, false) => {
            assert_eq!(out.status.code(), Some(6), "{what}");
            assert!(
                said.contains("was not written") && said.contains('→'),
                "{what}"
            );
            let again = place.command(line).output().unwrap();
            assert!(
                again.status.success(),
                "{what}: again: {}",
                text(&again.stderr)
            );
        }
        (_, true) => {
            assert_eq!(out.status.code(), Some(6), "{what}");
            // Removing twice has the same result as removing once, so `clean` may also advise to repeat the command.
            let may_repeat =
                line.starts_with("clean") && said.contains("run the same command again");
            assert!(
                said.contains("not known whether") && (said.contains("check with") || may_repeat),
                "{what}"
            );
        }
    }
    // At most three connections follow the COMMIT, so the command does not retry for ever.
    let first = asked
        .iter()
        .take(commit)
        .filter(|sql| *sql == "(start)")
        .count();
    assert!(connections <= first + 3, "{first} before: {what}");
}

/// Commands that read. In the test, one of their queries gets an endless answer.
const READERS: &[&str] = &[
    "show RUN",
    "get a --run RUN",
    "runs",
    "gates",
    "convert RUN --to sqlite",
    "search value --run RUN",
    "put x --run RUN",
    "workflow events tail latest --state postgres",
    "check RUN",
    "audit RUN",
    "workflow list --state postgres",
];

/// In the test, the server repeats the first row of an answer without end, in each query of a command in turn.
#[test]
fn rows_without_end_end_a_command_that_reads_them_one_by_one() {
    let Some(cluster) = cluster() else {
        return;
    };
    let whole = std::env::var_os("PROSE_SWEEP").is_some();
    let place = Place::new(cluster);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (n, line) in READERS.iter().enumerate() {
        place.wire.arm(None);
        let (code, plain, _) = watched(&mut place.command(line));
        assert_eq!(code, Some(0), "{line}: {plain}");
        let asked = place.wire.asked();
        let scans = asked
            .iter()
            .enumerate()
            .filter(|(_, sql)| sql.starts_with("SELECT"));
        let scans: Vec<_> = scans.collect();
        let (skip, step) = if whole {
            (0, 1)
        } else {
            (n * 5 % scans.len(), scans.len())
        };
        for (at, sql) in scans.into_iter().skip(skip).step_by(step) {
            let _ = std::fs::remove_dir_all(
                place
                    .project
                    .path()
                    .join(".prose/runs")
                    .join(place.run.trim_start_matches("postgres:")),
            );
            place.wire.arm(Some(Fault {
                question: at + 1,
                only: "",
                answer: Answer::Endless,
                for_good: false,
            }));
            let begun = Instant::now();
            let (code, said, memory) = watched(&mut place.command(line));
            place.wire.disarm();
            tried += 1;
            println!(
                "{line}: {}: {sql:.60}: {code:?} {} MB {:?}",
                at + 1,
                memory >> 20,
                begun.elapsed()
            );
            // The output is wrapped to lines, so line breaks are removed before a comparison.
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_named = words.contains("not an answer of a PostgreSQL server");
            // A list may leave out unread parts if it reports that. The list of runs does so in the column ISSUES.
            let is_said = match code {
                Some(0 | 1) => said == plain || is_named || said.contains("  ISSUES"),
                Some(5 | 6) => is_named,
                _ => false,
            };
            if !is_said || memory >= 256 << 20 {
                wrong.push(format!(
                    "{line}: {sql:.200}: {code:?}, {} MB: {said:.600}",
                    memory >> 20
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(tried > 5);
}
