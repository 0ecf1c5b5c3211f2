//! Tests of killed writers: acknowledged commands exist, no file is torn, and the next writer continues.
//!
//! The test starts its own binary as the writer (`PROSE_CRASH_DIR`) and kills this process; `cargo xtask soak` repeats
//! the test more often.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::sleep;
use std::time::Duration;

use prosescope_core::model::issue::Severity;
use prosescope_core::pages::session::ValueOf;
use prosescope_core::record::At;
use prosescope_test_support::work::PATIENCE;

use crate::{BEGUN, FORMS, Form, PROGRAM, Recorded, make, open, script, session, told};

/// Records commands until the process is killed, and prints each command that the store acknowledged.
fn writer(dir: &Path, form: Form) {
    let mut store = open(form, dir);
    let mut out = std::io::stdout();
    let mut id = 0;
    for n in 1.. {
        let at = At {
            now: BEGUN + n * 1000,
            os_user: None,
            client: "test".to_owned(),
        };
        let mut run = |line: &str| script::run(store.as_mut(), line, &at).unwrap();
        // The result of `begin` contains the id that the store assigned.
        let begun = run("begin 26");
        let digits = begun.split_once(" id: ").map_or("", |(_, id)| id);
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        id = digits.parse::<i64>().unwrap_or(id);
        writeln!(out, "begun {id}").unwrap();
        run(&format!("put x: value {n}"));
        writeln!(out, "put {n}").unwrap();
        run(&format!("put large_{n} large: "));
        run(&format!("memory captain: memory {n}"));
        writeln!(out, "memory {n}").unwrap();
        run(&format!("end {id}"));
        writeln!(out, "completed {id}").unwrap();
    }
}

#[test]
fn what_was_acknowledged_survives_a_killed_writer() {
    if let (Ok(dir), Ok(form)) = (env::var("PROSE_CRASH_DIR"), env::var("PROSE_CRASH_FORM")) {
        let form = FORMS
            .into_iter()
            .find(|f| format!("{f:?}") == form)
            .unwrap();
        writer(Path::new(&dir), form);
        return;
    }
    let rounds: u64 = match env::var_os("PROSE_SOAK") {
        Some(_) => 250,
        None => 6,
    };
    for form in FORMS {
        let aside = tempfile::tempdir().unwrap();
        let dir = aside.path().join("runs").join(crate::RUN);
        make(form, &dir, PROGRAM);
        for round in 0..rounds {
            killed(&dir, form, round);
        }
    }
}

/// Temporary files of a killed writer are not part of the run: readers report them, and the next writer removes them.
#[test]
fn what_a_killed_writer_left_is_named_and_goes_with_the_next() {
    for form in FORMS {
        let mut run = Recorded::new(form, PROGRAM);
        run.step("put first large: ").unwrap();
        let left = [
            ".tmp-file",
            ".tmp-attachment",
            ".tmp-state.md-00c0ffee00c0ffee",
            "attachments/.new-x7Gh2",
        ];
        for path in left {
            fs::write(run.dir.join(path), "half of").unwrap();
        }
        let read = session(&run.dir);
        let issues = read.run().issues.iter();
        let mut named: Vec<String> = issues
            .filter(|issue| issue.rule == "writer-leftover")
            .filter_map(|issue| issue.location.file.as_deref().map(str::to_owned))
            .collect();
        named.sort();
        let mut expected = left;
        expected.sort_unstable();
        assert_eq!(named, expected, "{form:?}");
        run.step("put second large: ").unwrap();
        let rest = told::walk(&run.dir);
        let rest: Vec<&String> = rest
            .iter()
            .filter(|path| path.contains(".tmp-") || path.contains(".new-"))
            .collect();
        assert!(rest.is_empty(), "{form:?}: {rest:?}");
    }
}

fn is_acknowledgement(line: &str) -> bool {
    let words = ["begun ", "put ", "memory ", "completed "];
    words.iter().any(|word| line.starts_with(word))
}

fn killed(dir: &Path, form: Form, round: u64) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "crash::what_was_acknowledged_survives_a_killed_writer",
            "--exact",
            "--nocapture",
        ])
        .env("PROSE_CRASH_DIR", dir)
        .env("PROSE_CRASH_FORM", format!("{form:?}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = child.stdout.take().unwrap();
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(Result::ok);
        lines
            .take_while(|line| sender.send(line.clone()).is_ok())
            .count()
    });
    // The writer is killed at different moments: after some acknowledgements, and a little later.
    let mut said: Vec<String> = Vec::new();
    let least = 1 + round as usize * 5 % 13;
    while said.iter().filter(|line| is_acknowledgement(line)).count() < least {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => said.push(line),
            Err(error) => {
                let _ = child.kill();
                panic!("{form:?} {round}: the writer stopped writing: {error}");
            }
        }
    }
    sleep(Duration::from_millis(round * 7 % 23));
    child.kill().unwrap();
    child.wait().unwrap();
    said.extend(lines);
    let last = |word: &str| -> Option<i64> {
        let of = |line: &String| line.strip_prefix(word)?.trim().parse().ok();
        said.iter().rev().find_map(of)
    };

    let read = session(dir);
    let (run, trace) = (read.run(), read.trace());
    let torn: Vec<_> = run
        .issues
        .iter()
        .filter(|i| i.severity != Severity::Note && i.rule != "binding-not-indexed")
        .filter(|i| i.rule != "malformed-json" || !i.message.contains("cut off"))
        // A reader reports that a writer was killed.
        .filter(|i| !["state-file-behind", "hot-journal"].contains(&&*i.rule))
        .collect();
    assert!(torn.is_empty(), "{form:?} {round}: {torn:?}");
    for (word, status) in [("begun", None), ("completed", Some("completed"))] {
        let Some(id) = last(word) else { continue };
        let node = trace.nodes.iter().find(|node| node.id == Some(id));
        let node = node.unwrap_or_else(|| panic!("{form:?} {round}: no execution {id}"));
        assert!(
            status.is_none_or(|status| node.status.word() == status),
            "{node:?}"
        );
    }
    let value = |of: ValueOf| {
        let bytes = read.value_part(&of, 0, 1 << 20).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    if let Some(n) = last("put") {
        let at = run.bindings.iter().position(|b| &*b.name == "x").unwrap();
        let value = value(ValueOf::Binding(at as u32));
        let wrote: i64 = value.strip_prefix("value ").unwrap().parse().unwrap();
        assert!(
            wrote == n || wrote == n + 1,
            "{form:?} {round}: {value}, {n}"
        );
    }
    if let Some(n) = last("memory") {
        let value = value(ValueOf::Memory(0));
        let wrote: i64 = value.strip_prefix("memory ").unwrap().parse().unwrap();
        assert!(
            wrote == n || wrote == n + 1,
            "{form:?} {round}: {value}, {n}"
        );
    }
    // The value of each attachment is complete.
    for (at, binding) in (0..).zip(&run.bindings) {
        if binding.name.starts_with("large") {
            assert!(
                value(ValueOf::Binding(at)).len() > 100_000,
                "{form:?} {round}"
            );
        }
    }

    // The next writer continues: it closes the open executions, and the folder's state file is rendered again.
    let mut store = open(form, dir);
    let at = At {
        now: BEGUN + 1_000_000_000,
        os_user: None,
        client: "test".to_owned(),
    };
    for at_node in &trace.positions {
        if let Some(id) = trace.nodes.get(*at_node).and_then(|node| node.id) {
            script::run(store.as_mut(), &format!("end {id} force"), &at).unwrap();
        }
    }
    script::run(store.as_mut(), "begin 10", &at).unwrap_or_default();
    let now = session(dir);
    if form == Form::Folder {
        told::agrees(&now, "begin");
        assert!(fs::symlink_metadata(dir.join("x_journal.json")).is_err());
    }
    // Ends the execution that was begun above, so that the next round can begin another one.
    for at_node in &now.trace().positions {
        if let Some(id) = now.trace().nodes.get(*at_node).and_then(|node| node.id) {
            script::run(store.as_mut(), &format!("end {id} force"), &at).unwrap();
        }
    }
}
