//! A proxy to a PostgreSQL server that makes one question of a client fail, or this question and all later ones.
//!
//! A question is a simple query, or an extended query up to its Sync. The first question of a connection is its
//! startup. The proxy replaces a failing question by a question that raises the error, so that the server itself keeps
//! the protocol and its transaction consistent.

use std::collections::VecDeque;
use std::io::{self, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use crate::wire::{message, opened};

/// What happens to a question, and how it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The question fails with this SQLSTATE, and is not executed.
    Error(&'static str),
    /// The question is executed, and fails with this SQLSTATE after its first row. So its transaction fails, too.
    Midway(&'static str),
    /// The session ends with this SQLSTATE before the question is executed.
    Ended(&'static str),
    /// The session ends with this SQLSTATE after the question is executed.
    EndedAfter(&'static str),
    /// The question and all later ones do not reach the server.
    Silence,
    /// The question is executed, but its answer and all later ones do not reach the client.
    SilenceAfter,
    /// The question is executed, and its answer begins with bytes that are not a message.
    Garbage,
    /// The question is executed, and the rows of its answer have no columns.
    Torn,
    /// The question is executed, and the first row of its answer is repeated without end.
    Endless,
    /// The question is executed, and the first row of its answer is repeated without end, twice per second.
    Drip,
}

/// A fault: which question fails, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The number of the question, from 1, counted over all connections since the proxy was armed.
    pub question: usize,
    /// The text of the questions that are counted; empty: all. Without it, a late question of an earlier command, which
    /// a busy machine sends after the proxy was armed, would shift the number.
    pub only: &'static str,
    /// The answer to the question.
    pub answer: Answer,
    /// Whether all later questions get the same answer.
    pub for_good: bool,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    /// The questions since the proxy was armed.
    asked: Vec<String>,
    /// How many of them the fault counts.
    counted: usize,
    /// How many questions have failed.
    struck: usize,
    /// Whether a row was repeated without end.
    was_endless: bool,
    /// How many times the row of a slowly repeated answer was sent ([`Answer::Drip`]).
    dripped: usize,
}

impl State {
    /// Counts a question. Returns how it fails, or `None` if it is passed on.
    fn ask(&mut self, question: String) -> Option<Answer> {
        let counts = self
            .fault
            .is_some_and(|fault| fault.only.is_empty() || fault.only == question);
        self.counted += usize::from(counts);
        self.asked.push(question);
        let fault = self.fault?;
        let is_it = counts && self.counted == fault.question;
        let fails = is_it || fault.for_good && self.struck > 0;
        self.struck += usize::from(fails);
        fails.then_some(fault.answer)
    }
}

/// A proxy to a server.
#[derive(Debug)]
pub struct Faulty {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Faulty {
    /// Opens a proxy to the server at this port of 127.0.0.1.
    ///
    /// # Panics
    /// If loopback has no free port.
    pub fn to(server: u16) -> Faulty {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let port = opened(server, move |client, server| pass(client, server, &shared));
        Faulty { port, state }
    }

    /// Returns the proxy's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Counts questions from now on, and makes the question of this fault fail.
    pub fn arm(&self, fault: Option<Fault>) {
        *locked(&self.state) = State {
            fault,
            ..State::default()
        };
    }

    /// Passes all further questions on. Returns how many questions have failed since the proxy was armed.
    pub fn disarm(&self) -> usize {
        let mut state = locked(&self.state);
        state.fault = None;
        state.struck
    }

    /// Returns whether a row was repeated without end since the proxy was armed. An answer without rows has nothing to
    /// repeat.
    pub fn was_endless(&self) -> bool {
        locked(&self.state).was_endless
    }

    /// Returns how many times [`Answer::Drip`] sent its row since the proxy was armed. An answer without rows has
    /// nothing to repeat.
    pub fn dripped(&self) -> usize {
        locked(&self.state).dripped
    }

    /// Returns the texts of the questions since the proxy was armed.
    pub fn asked(&self) -> Vec<String> {
        locked(&self.state).asked.clone()
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("no holder of the lock panics")
}

/// How much of the server's answer the proxy passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passed {
    Whole,
    /// The messages before the second row are passed on, and the end of the answer is not.
    FirstRow,
    /// No message is passed on, and then the session ends with this SQLSTATE.
    Ended(&'static str),
    Nothing,
    Garbage,
    Torn,
    Endless,
    Drip,
}

fn pass(mut client: TcpStream, mut server: TcpStream, state: &Arc<Mutex<State>>) -> io::Result<()> {
    let answers: Arc<Mutex<VecDeque<Passed>>> = Arc::default();
    let (from, to, due) = (server.try_clone()?, client.try_clone()?, answers.clone());
    let shared = Arc::clone(state);
    let answering = thread::spawn(move || {
        let back = to.try_clone();
        let _ = answer(from, to, &due, &shared);
        let _ = back.map(|back| back.shutdown(Shutdown::Both));
    });
    let mut reader = BufReader::new(client.try_clone()?);
    let mut question = Vec::new();
    let mut is_silent = false;
    let mut first = true;
    while let Ok(bytes) = message(&mut reader, first) {
        let kind = if first { 0 } else { bytes[0] };
        // The first message may be a request to cancel another connection's question.
        let is_cancel = first && bytes.get(4..8) == Some(&[4, 210, 22, 46]);
        first = false;
        question.extend(bytes);
        if is_cancel || matches!(kind, b'p' | b'X') {
            server.write_all(&std::mem::take(&mut question))?;
            continue;
        }
        if !matches!(kind, 0 | b'Q' | b'S') {
            continue;
        }
        let question = std::mem::take(&mut question);
        let text = shown(&question, kind == 0);
        let fails = locked(state).ask(text.clone());
        if is_silent {
            continue;
        }
        let (send, due): (Vec<u8>, &[Passed]) = match fails {
            None => (question, &[Passed::Whole]),
            Some(Answer::Silence) => {
                is_silent = true;
                continue;
            }
            Some(Answer::SilenceAfter) => (question, &[Passed::Nothing]),
            Some(Answer::Ended(code) | Answer::Error(code)) if kind == 0 => {
                end(&mut client, code)?;
                break;
            }
            Some(Answer::Ended(code)) => {
                // The failing question waits until earlier questions are answered.
                while !locked(&answers).is_empty() && !answering.is_finished() {
                    thread::sleep(Duration::from_millis(1));
                }
                end(&mut client, code)?;
                break;
            }
            Some(Answer::Error(code)) => (raise(code, &text), &[Passed::Whole]),
            // A COMMIT is either executed or not, so it cannot fail after its execution.
            Some(Answer::Midway(code))
                if text.contains("COMMIT") && !text.contains("READ COMM") =>
            {
                (raise(code, &text), &[Passed::Whole])
            }
            Some(Answer::Midway(code)) if kind != 0 => {
                let both = [question, raise(code, "")].concat();
                (both, &[Passed::FirstRow, Passed::Whole])
            }
            Some(Answer::EndedAfter(code) | Answer::Midway(code)) => {
                (question, &[Passed::Ended(code)])
            }
            Some(Answer::Garbage) => (question, &[Passed::Garbage]),
            Some(Answer::Torn) => (question, &[Passed::Torn]),
            Some(Answer::Endless) => (question, &[Passed::Endless]),
            Some(Answer::Drip) => (question, &[Passed::Drip]),
        };
        locked(&answers).extend(due);
        server.write_all(&send)?;
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = answering.join();
    Ok(())
}

/// Passes the server's answers on to the client, except where a fault changes them.
fn answer(
    server: TcpStream,
    mut client: TcpStream,
    due: &Mutex<VecDeque<Passed>>,
    state: &Mutex<State>,
) -> io::Result<()> {
    let mut server = BufReader::new(server);
    let mut is_silent = false;
    let mut rows = 0;
    loop {
        let mut bytes = message(&mut server, false)?;
        let kind = bytes[0];
        let is_end = kind == b'Z';
        let now = {
            let mut due = locked(due);
            let now = due.front().copied().unwrap_or(Passed::Whole);
            if is_end {
                due.pop_front();
            }
            now
        };
        rows += usize::from(kind == b'D');
        let passes = match now {
            Passed::Whole => true,
            Passed::FirstRow => !is_end && kind != b'C' && (kind != b'D' || rows == 1),
            Passed::Nothing => {
                is_silent = true;
                false
            }
            Passed::Ended(code) if is_end => return end(&mut client, code),
            Passed::Ended(_) => false,
            Passed::Garbage => {
                client.write_all(&[b'~', 0, 0, 0, 8, 1, 2, 3, 4])?;
                true
            }
            Passed::Torn => {
                if kind == b'D' {
                    bytes = vec![b'D', 0, 0, 0, 6, 0, 0];
                }
                true
            }
            Passed::Endless if kind == b'D' => loop {
                locked(state).was_endless = true;
                client.write_all(&bytes.repeat(1 + 65_536 / bytes.len()))?;
            },
            Passed::Drip if kind == b'D' => loop {
                locked(state).dripped += 1;
                client.write_all(&bytes)?;
                thread::sleep(Duration::from_millis(500));
            },
            Passed::Endless | Passed::Drip => true,
        };
        if passes && !is_silent {
            client.write_all(&bytes)?;
        }
        if is_end {
            rows = 0;
        }
    }
}

/// Ends the client's session as a server does, with this SQLSTATE.
fn end(client: &mut TcpStream, code: &str) -> io::Result<()> {
    let said = format!("SFATAL\0VFATAL\0C{code}\0Mthe test ends the session\0\0");
    let mut bytes = vec![b'E'];
    bytes.extend((said.len() as u32 + 4).to_be_bytes());
    bytes.extend(said.bytes());
    client.write_all(&bytes)?;
    client.shutdown(Shutdown::Both)
}

/// Returns a question that fails with this SQLSTATE. If it replaces a COMMIT, it also ends the transaction.
fn raise(code: &str, instead_of: &str) -> Vec<u8> {
    let before = match instead_of {
        "COMMIT" | "END" => "ROLLBACK; ",
        _ => "",
    };
    let sql = format!(
        "{before}DO $$ BEGIN RAISE EXCEPTION 'the test lets it fail' USING ERRCODE = '{code}'; END $$\0"
    );
    let mut bytes = vec![b'Q'];
    bytes.extend((sql.len() as u32 + 4).to_be_bytes());
    bytes.extend(sql.bytes());
    bytes
}

/// Returns the SQL of a question: the SQL of its first Parse message, or of its simple query.
fn shown(question: &[u8], is_start: bool) -> String {
    if is_start {
        return "(start)".to_owned();
    }
    let text = match question.first() {
        // The name of the prepared statement precedes the SQL. Prosescope's statements have an empty name.
        Some(b'P') => question.get(6..).unwrap_or_default(),
        _ => question.get(5..).unwrap_or_default(),
    };
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
