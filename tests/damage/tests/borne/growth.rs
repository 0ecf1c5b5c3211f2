//! Tests that time and memory grow at most linearly with the number of rows of each kind: opens runs of n and of 4n
//! rows, and builds every page of all rows.
//!
//! `PROSE_SWEEP=1` uses ten times as many rows, which also reveals quadratic growth with a small factor.

use std::collections::BTreeSet;
use std::env;
use std::rc::Rc;
use std::sync::Mutex;
use std::time::Duration;

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::Source;
use prosescope_core::pages::session::pages::{self, AuditFilter};
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::read::sqlite::MemorySource;
use prosescope_test_support::work::spent;
use rusqlite::Connection;
use serde::Serialize;

use crate::memory::Peak;

/// The time at which pages are built: 2026-01-25 14:00:00 UTC, in milliseconds since 1970.
const NOW: i64 = 1_769_349_600_000;

/// The largest allowed ratio between the costs of 4n and n rows.
const MOST: f64 = 4.6;

/// The time and the memory in bytes ([`MEMORY`]) by which a cost may exceed the ratio. They cover the cost of a run
/// without rows, and the error of measurement.
const TIME: Duration = Duration::from_millis(150);
const MEMORY: usize = 2 << 20;

/// A lock that lets one measurement run at a time, and none beside the damaged cases: memory is counted for the whole
/// process, and beside those cases a linear cost took six times as long for four times the rows on CI.
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

/// Returns the number of rows of the smaller run.
fn rows() -> usize {
    match env::var_os("PROSE_SWEEP") {
        Some(_) => 10_000,
        None => 1_000,
    }
}

const A: &str = "session \"A\"\n";
const TIMES: &str = "'2026-01-15 10:00:00'";

/// Kinds of rows in a database: name, a fixed part of the program, its repeated part, and SQL statements. The table `N`
/// in the statements contains the numbers from 1 on.
const TABLES: &[(&str, &str, &str, &[&str])] = &[
    ("gates without executions", A, "", &["INSERT INTO gates (id, run_id, prompt) SELECT 'g' || i, 'r', 'Go?' FROM N"]),
    ("gates that were decided", A, "", &[
        "INSERT INTO gates (id, run_id, status, resolved_by, resolved_at) SELECT 'g' || i, 'r', 'approved', 'user', TIME FROM N"]),
    ("visits of one gate", A, "", &["INSERT INTO gates (id, run_id) SELECT 'g#' || (i + 1), 'r' FROM N"]),
    ("gates of the program", "", "gate g#:\n  prompt: \"Go?\"\n", &[
        "INSERT INTO execution (id, statement_index, status, started_at, statement_text, metadata)
           SELECT i, 2 * i - 1, 'waiting', TIME, 'gate g' || i || ':', json_object('gate_id', 'g' || i) FROM N",
        "INSERT INTO gates (id, run_id, execution_id) SELECT 'g' || i, 'r', i FROM N"]),
    ("gates of the program without executions", "", "gate g#:\n  prompt: \"Go?\"\n", &[
        "INSERT INTO gates (id, run_id) SELECT 'g' || i, 'r' FROM N"]),
    ("audit rows of one gate", A, "", &[
        "INSERT INTO gates (id, run_id) VALUES ('g', 'r')",
        "INSERT INTO gate_audit_log (gate_id, run_id, event_type) SELECT 'g', 'r', 'viewed' FROM N"]),
    ("audit rows of many gates", A, "", &[
        "INSERT INTO gates (id, run_id, status) SELECT 'g' || i, 'r', 'timeout' FROM N",
        "INSERT INTO gate_audit_log (gate_id, run_id, event_type) SELECT 'g' || i, 'r', 'timeout' FROM N"]),
    ("executions of one statement", A, "", &[
        "INSERT INTO execution (statement_index, status, started_at, completed_at, statement_text) SELECT 1, 'completed', TIME, TIME, 'session \"A\"' FROM N"]),
    ("executions that failed", A, "", &[
        "INSERT INTO execution (statement_index, status, error_message, statement_text) SELECT 1, 'failed', 'no', 'session \"A\"' FROM N"]),
    ("executions without lines", "", "session \"A\"\n", &[
        "INSERT INTO execution (status, statement_text) SELECT 'completed', 'session \"A\"' FROM N"]),
    ("a statement, an execution and a binding each", "", "let b# = session \"A\"\n", &[
        "INSERT INTO execution (id, statement_index, status, started_at, completed_at, statement_text)
           SELECT i, i, 'completed', TIME, TIME, 'let b' || i || ' = session \"A\"' FROM N",
        "INSERT INTO bindings (name, kind, value) SELECT 'b' || i, 'let', 'v' FROM N"]),
    ("values without names", A, "", &[
        "INSERT INTO execution (statement_index, status, statement_text) SELECT 1, 'completed', 'session \"A\"' FROM N",
        "INSERT INTO bindings (name, kind, value, source_statement, created_at, updated_at) SELECT 'anon_' || i, 'let', 'v', 'session \"A\"', NULL, NULL FROM N"]),
    ("values without names, with times", A, "", &[
        "INSERT INTO execution (statement_index, status, started_at, completed_at, statement_text)
           SELECT 1, 'completed', datetime('2026-01-15', '+' || i || ' minutes'), datetime('2026-01-15', '+' || i || ' minutes'), 'session \"A\"' FROM N",
        "INSERT INTO bindings (name, kind, value, source_statement, updated_at)
           SELECT 'anon_' || i, 'let', 'v', 'session \"A\"', datetime('2026-01-15', '+' || i || ' minutes') FROM N"]),
    ("bindings", A, "", &["INSERT INTO bindings (name, kind, value) SELECT 'b' || i, 'let', 'v' FROM N"]),
    ("outputs of a completed run", "", "output b# = session \"A\"\n", &[
        "UPDATE run SET status = 'completed'",
        "INSERT INTO bindings (name, kind, value) SELECT 'c' || i, 'output', 'v' FROM N"]),
    ("bindings with attachments", A, "", &[
        "INSERT INTO bindings (name, kind, value, attachment_path) SELECT 'b' || i, 'let', 'v', 'attachments/' || i FROM N"]),
    ("bindings of one name", A, "", &[
        "DROP INDEX idx_bindings_scope",
        "INSERT INTO bindings (name, kind, value) SELECT 'b', 'let', 'v' FROM N"]),
    ("frames with a binding each", "block p(x):\n  let y = session \"A\"\ndo p(1)\n", "", &[
        "INSERT INTO execution (id, statement_index, status, statement_text, metadata)
           SELECT 2 * i, 3, 'completed', 'do p(1)', '{\"block\": \"p\", \"depth\": 1}' FROM N",
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text)
           SELECT 2 * i + 1, 2 * i, 2, 'completed', 'let y = session \"A\"' FROM N",
        "INSERT INTO bindings (name, execution_id, kind, value) SELECT 'y', 2 * i, 'let', 'v' FROM N"]),
    ("earlier values", A, "", &[
        "INSERT INTO bindings (name, kind, value) VALUES ('b', 'let', 'v')",
        "INSERT INTO x_binding_history (name, kind, value) SELECT 'b', 'let', 'v' FROM N"]),
    ("agents", A, "", &["INSERT INTO agents (name, scope, memory) SELECT 'a' || i, 'execution', 'm' FROM N"]),
    ("segments of one agent", A, "", &[
        "INSERT INTO agents (name, memory) VALUES ('a', 'm')",
        "INSERT INTO agent_segments (agent_name, segment_number, summary) SELECT 'a', i, 's' FROM N"]),
    ("imports", "", "use \"x/i#\" as i#\n", &[
        "UPDATE run SET status = 'completed'",
        "INSERT INTO imports (alias, source_url) SELECT 'i' || i, 'x' FROM N"]),
    ("imports with a binding and a call each", "", "use \"x/i#\" as i#\nlet v# = i#(x)\n", &[
        "UPDATE run SET status = 'completed'",
        "INSERT INTO imports (alias, source_url) SELECT 'i' || i, 'x' FROM N",
        "INSERT INTO bindings (name, kind, value) SELECT 'b' || i || '.x', 'let', 'v' FROM N"]),
    ("gates in the branches of a parallel", "parallel:\n", "  gate g#:\n    prompt: \"Go?\"\n", &[
        "INSERT INTO execution (id, statement_index, status, statement_text, metadata) VALUES (1, 1, 'executing', 'parallel:', '{\"parallel_id\": \"p\"}')",
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text, metadata)
           SELECT i + 1, 1, 2 * i, 'waiting', 'gate g' || i || ':', json_object('gate_id', 'g' || i, 'parallel_id', 'p', 'branch', i - 1) FROM N",
        "INSERT INTO gates (id, run_id, execution_id) SELECT 'g' || i, 'r', i + 1 FROM N"]),
    ("calls of a block each that have not ended", "", "block p#(x):\n  session \"A\"\nparallel:\n  do p#(1)\n", &[
        "INSERT INTO execution (id, statement_index, status, statement_text, metadata)
           SELECT 2 * i - 1, 4 * i - 1, 'executing', 'parallel:', json_object('parallel_id', 'p' || i) FROM N",
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text, metadata)
           SELECT 2 * i, 2 * i - 1, 4 * i, 'executing', 'do p' || i || '(1)', json_object('block', 'p' || i, 'parallel_id', 'p' || i) FROM N"]),
    ("open branches beside bindings of frames", "parallel:\n", "  b# = session \"A\"\n", &[
        "INSERT INTO execution (id, statement_index, status, statement_text, metadata) VALUES (1, 1, 'executing', 'parallel:', '{\"parallel_id\": \"p\"}')",
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text, metadata)
           SELECT 2 * i, 1, i + 1, 'executing', 'b' || i || ' = session \"A\"', json_object('parallel_id', 'p', 'branch', 'b' || i) FROM N",
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text)
           SELECT 2 * i + 1, 2 * i, i + 1, 'executing', 'session \"A\"' FROM N",
        "INSERT INTO bindings (name, execution_id, kind, value) SELECT 'v', 9000000 + i, 'let', 'x' FROM N"]),
    ("agents of the program that are resumed", "", "agent a#:\n  persist: \"m/#\"\nresume: a#\n", &[
        "INSERT INTO agents (name, scope, memory) SELECT 'a' || i, 'execution', 'm' FROM N"]),
    ("imports of one name", A, "", &[
        "DROP TABLE imports",
        "CREATE TABLE imports (alias TEXT, source_url TEXT, fetched_at TEXT, inputs_schema TEXT, outputs_schema TEXT)",
        "INSERT INTO imports (alias, source_url) SELECT 'i', 'x' FROM N",
        "INSERT INTO bindings (name, kind, value) SELECT 'i.b' || i, 'let', 'v' FROM N"]),
    ("statements in other words", "", "session \"Draft number # now: these words stand there each time and once more again until their long line ends\"\n", &[
        "INSERT INTO execution (status, statement_text)
           SELECT 'completed', 'session drafting number ' || i || ' now: these words stand there each time and once more again until their long line ends' FROM N"]),
    ("a chain of parents", A, "", &[
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text) SELECT i, nullif(i - 1, 0), 1, 'executing', 'session \"A\"' FROM N"]),
    ("a recursion", "block p(x):\n  do p(x)\ndo p(1)\n", "", &[
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text, metadata)
           SELECT i, nullif(i - 1, 0), iif(i = 1, 3, 2), 'executing', 'do p(x)', json_object('block', 'p', 'depth', i) FROM N"]),
    ("rounds of a loop", "loop (max: 9):\n  session \"A\"\n", "", &[
        "INSERT INTO execution (id, statement_index, status, statement_text, metadata)
           SELECT i, 1, iif(i = 1, 'started', 'iteration'), 'loop (max: 9):', json_object('loop_id', 'l', 'iteration', i - 1) FROM N"]),
    ("branches of a parallel", "parallel:\n", "  b# = session \"A\"\n", &[
        "INSERT INTO execution (id, statement_index, status, statement_text, metadata)
           SELECT 1, 1, 'executing', 'parallel:', json_object('parallel_id', 'p', 'branches', (SELECT json_group_array('b' || i) FROM N))",
        "INSERT INTO execution (id, parent_id, statement_index, status, statement_text, metadata)
           SELECT i + 1, 1, i + 1, 'completed', 'b' || i || ' = session \"A\"', json_object('parallel_id', 'p', 'branch', 'b' || i) FROM N"]),
    ("attempts", "session \"A\"\n  retry: 3\n", "", &[
        "INSERT INTO execution (statement_index, status, statement_text, metadata)
           SELECT 1, iif(i % 2, 'failed', 'retry'), 'session \"A\"', json_object('attempt', i / 2) FROM N"]),
    ("keys of metadata", A, "", &[
        "INSERT INTO execution (statement_index, status, statement_text, metadata)
           SELECT 1, 'executing', 'session \"A\"', (SELECT json_group_object('k' || i, i) FROM N)"]),
    ("lines of a program", "", "# a line\n", &[]),
    ("statements of a program", "", "session \"A\"\n", &[]),
];

fn database(rows: usize, (once, repeated): (&str, &str), statements: &[&str]) -> Rc<dyn Source> {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute(
        "INSERT INTO run (id, started_at, program_source) VALUES ('r', '2026-01-15 10:00:00', ?1)",
        [program(once, repeated, rows)],
    )
    .unwrap();
    conn.execute_batch(&format!(
        "CREATE TEMP TABLE N AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n"
    ))
    .unwrap();
    for sql in statements {
        conn.execute_batch(&sql.replace("TIME", TIMES)).unwrap();
    }
    let bytes = conn.serialize("main").unwrap().to_vec();
    Rc::new(MemorySource::new("run", [("state.db".to_owned(), bytes)]))
}

fn program(once: &str, repeated: &str, rows: usize) -> String {
    let mut program = once.to_owned();
    if !repeated.is_empty() {
        program.extend((1..=rows).map(|n| repeated.replace('#', &n.to_string())));
    }
    program
}

const STATE: &str = "# Execution State\n\nrun: r\nprogram: program.prose\nstarted: 2026-01-15T10:00:00Z\n\n\
    ## Execution Trace\n\n```prose\nTRACE```\n";
const GATE: &str = r#"{"id":"g","run_id":"r","prompt":"Go?","allow":["user"],"status":"pending"}"#;

/// Kinds of entries in a folder: name, the path of one or more files, a fixed beginning, and a repeated part. A number
/// replaces `#`. A path with `#` means one file for each number.
const FILES: &[(&str, &str, &str, &str)] = &[
    (
        "lines of gates/audit.jsonl",
        "gates/audit.jsonl",
        "",
        "{\"id\":#,\"gate_id\":\"g\",\"run_id\":\"r\",\"event_type\":\"viewed\"}\n",
    ),
    (
        "lines of x_events.jsonl",
        "x_events.jsonl",
        "",
        "{\"id\":#,\"statement_index\":1,\"status\":\"completed\",\"statement_text\":\"session \\\"A\\\"\"}\n",
    ),
    (
        "lines of x_imports.jsonl",
        "x_imports.jsonl",
        "",
        "{\"alias\":\"i#\",\"source_url\":\"x\"}\n",
    ),
    (
        "lines of program.prose",
        "program.prose",
        "",
        "session \"A\"\n",
    ),
    (
        "lines that state.md does not know",
        "state.md",
        STATE,
        "a line\n",
    ),
    (
        "one line of state.md",
        "state.md",
        STATE,
        "some words of it ",
    ),
    (
        "binding files",
        "bindings/b#.md",
        "",
        "# b#\n\nkind: let\n\n---\n\nv\n",
    ),
    (
        "gate files",
        "gates/g#.pending.json",
        "",
        "{\"id\":\"g#\",\"run_id\":\"r\",\"status\":\"pending\"}",
    ),
    (
        "agents' folders",
        "agents/a#/memory.md",
        "",
        "# Agent Memory: a#\n\nm\n",
    ),
    ("segment files", "agents/a/a-#.md", "", "# Segment #\n\nx\n"),
    ("other files", "attachments/f#.txt", "", "x"),
];

fn folder(rows: usize, (path, before, repeated): (&str, &str, &str)) -> Rc<dyn Source> {
    let mut files = vec![
        ("program.prose".to_owned(), A.to_owned()),
        ("state.md".to_owned(), STATE.replace("TRACE", A)),
        ("gates/g.pending.json".to_owned(), GATE.to_owned()),
    ];
    files.retain(|(known, _)| known != path);
    if path.contains('#') {
        let each = (1..=rows).map(|n| n.to_string());
        files.extend(each.map(|n| (path.replace('#', &n), repeated.replace('#', &n))));
    } else {
        let before = before.replace("TRACE", A);
        files.push((path.to_owned(), program(&before, repeated, rows)));
    }
    let files = files.into_iter();
    let files = files.map(|(path, text)| (path, text.into_bytes()));
    Rc::new(MemorySource::new("run", files))
}

/// Builds all pages of a run as JSON, and discards them.
fn pages_of(source: &Rc<dyn Source>) {
    fn page(page: &impl Serialize) {
        serde_json::to_writer(std::io::sink(), page).unwrap();
    }
    let session = Session::open(Rc::clone(source), "", &Options::default()).unwrap();
    page(&pages::overview(&session, Some(NOW)));
    page(&pages::resume(&session, Some(NOW)));
    page(&pages::gates(&session, Some(NOW)));
    page(&pages::gate_waits(&session, &AuditFilter::default()));
    page(&pages::audit_check(&session, None));
    page(&pages::check_page(&session, Some(NOW), ""));
    page(&pages::trace_page(&session, &BTreeSet::new(), 0, u32::MAX));
    page(&pages::timeline(&session));
    page(&pages::bindings_page(&session, 0, u32::MAX));
    page(&pages::program_page(&session, 0, u32::MAX));
    page(&pages::agents(&session));
    page(&pages::imports(&session));
    page(&pages::state_page(&session, true));
}

/// Returns the processor time and the peak memory of building all pages: the least of several tries, because other
/// processes can only increase the time.
fn measured(source: &Rc<dyn Source>, tries: usize) -> (Duration, usize) {
    let tries = (0..tries).map(|_| {
        let peak = Peak::start();
        let ((), took) = spent(|| pages_of(source));
        (took, peak.bytes())
    });
    tries
        .reduce(|(took, bytes), (other, more)| (took.min(other), bytes.min(more)))
        .unwrap()
}

/// Returns an error if the time or the memory grew too fast from n to 4n rows.
fn grew(name: &str, make: &dyn Fn(usize) -> Rc<dyn Source>) -> Option<String> {
    let (few, many) = (make(rows()), make(4 * rows()));
    // The measurement is repeated with more tries only if the first result exceeded the limit.
    for tries in [1, 3] {
        let (time, bytes) = measured(&few, tries);
        let (more_time, more_bytes) = measured(&many, tries);
        let slow = more_time > time.mul_f64(MOST) + TIME;
        let large = more_bytes as f64 > bytes as f64 * MOST + MEMORY as f64;
        if env::var_os("PROSE_SWEEP").is_some() {
            println!(
                "{name}: {time:?} and {more_time:?}, {} and {} KB",
                bytes >> 10,
                more_bytes >> 10
            );
        }
        match (slow || large, tries) {
            (false, _) => return None,
            (true, 1) => {}
            (true, _) => {
                return Some(format!(
                    "{name}: {time:?} and {more_time:?}, {bytes} and {more_bytes} bytes for {} and {} rows",
                    rows(),
                    4 * rows()
                ));
            }
        }
    }
    None
}

#[test]
fn cost_grows_with_each_kind_of_row_in_a_database() {
    let _alone = ALONE.lock();
    let found = TABLES.iter().filter_map(|(name, once, repeated, sql)| {
        grew(name, &|rows| database(rows, (once, repeated), sql))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn cost_grows_with_each_kind_of_thing_in_a_folder() {
    let _alone = ALONE.lock();
    let found = FILES.iter().filter_map(|(name, path, before, repeated)| {
        grew(name, &|rows| folder(rows, (path, before, repeated)))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
