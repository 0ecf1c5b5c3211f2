//! Tests that damaged runs do no harm: opens every case natively, from disk and from memory, and builds every page. No
//! case may panic, abort, hang, or take more time or memory than allowed.
//!
//! The cases run in child processes of this test program, so that the test can name a case that crashes its process
//! and continue with the others. `PROSE_DAMAGE=name` runs the cases whose names contain this text, in this process,
//! and prints their time, memory and issues.

mod child;
mod growth;
mod memory;
mod place;

use std::collections::VecDeque;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use child::Report;
use prosescope_test_support::work::{PATIENCE, exceeds};

/// The most processor time that an optimised build may take to open a case and build all its pages.
const MOST_TIME: Duration = Duration::from_secs(2);

/// The factor on [`MOST_TIME`] for the build of `cargo xtask test`, which is slightly optimised and has additional
/// checks: the slowest case takes 4.3 s there, alone on an idle machine with two cores, and 5.5 s on CI's. An environment
/// variable identifies this build.
const CHECKED: u32 = 4;

/// The factor on [`MOST_TIME`] for an unoptimised build of the core.
const UNOPTIMISED: u32 = 5;

/// The most memory that a case may take, in Rust and SQLite together, in bytes.
const MOST_MEMORY: usize = 256 << 20;

/// The number of cases in one child process.
const BATCH: usize = 100;

/// The environment variable with the cases that a child process runs: `from..to`.
const CASES: &str = "PROSE_DAMAGE_CASES";

/// The environment variable that selects the cases whose names contain its value.
const NAMED: &str = "PROSE_DAMAGE";

/// Returns whether a case took longer than [`MOST_TIME`] for this build.
fn too_slow(report: &Report) -> bool {
    let factor = match env::var_os("PROSE_TESTS_REQUIRE_ALL") {
        Some(_) => CHECKED,
        None => UNOPTIMISED,
    };
    exceeds(Duration::from_millis(report.millis), MOST_TIME * factor)
}

#[test]
fn every_case_is_borne() {
    if let Ok(named) = env::var(NAMED) {
        return child::show(&named);
    }
    let _alone = growth::ALONE.lock();
    let total = prosescope_damage::count();
    let batches: VecDeque<(usize, usize)> = (0..total)
        .step_by(BATCH)
        .map(|from| (from, (from + BATCH).min(total)))
        .collect();
    let batches = Mutex::new(batches);
    let reports = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some((from, to)) = batches.lock().unwrap().pop_front() else {
                        break;
                    };
                    let done = run(from, to);
                    reports.lock().unwrap().extend(done);
                }
            });
        }
    });
    let mut reports = reports.into_inner().unwrap();
    assert_eq!(reports.len(), total, "every case has a report");
    for report in &mut reports {
        alone(report);
    }
    judge(reports);
}

/// Reruns a case that took too long, while no other case runs. Two cases that share a core each take up to twice their
/// time.
fn alone(report: &mut Report) {
    for _ in 0..3 {
        if report.trouble.is_some() || !too_slow(report) {
            return;
        }
        let again = run(report.case, report.case + 1).pop();
        if let Some(again) = again.filter(|again| again.millis < report.millis) {
            *report = again;
        }
    }
}

/// Runs the cases of a child process, and prints a report for each. Does nothing in the parent process.
#[test]
fn child() {
    let Ok(cases) = env::var(CASES) else { return };
    let (from, to) = cases.split_once("..").unwrap();
    child::run(from.parse().unwrap(), to.parse().unwrap());
}

/// Runs cases in child processes. After a child that crashes or hangs, a new child continues with the next case.
fn run(from: usize, to: usize) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut next = from;
    while next < to {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture", "--test-threads=1"])
            .env(CASES, format!("{next}..{to}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = lines(&mut child);
        loop {
            // A case without a report after this time hangs.
            match lines.recv_timeout(PATIENCE) {
                Ok(Line::Report(report)) => {
                    next += 1;
                    reports.push(*report);
                }
                Ok(Line::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    reports.push(Report::died(
                        next,
                        &format!("hung for {} s", PATIENCE.as_secs()),
                    ));
                    next += 1;
                    break;
                }
            }
        }
        let status = child.wait().unwrap();
        if !status.success()
            && reports
                .last()
                .is_none_or(|r| r.case + 1 == next && r.trouble.is_none())
        {
            if next >= to {
                break;
            }
            reports.push(Report::died(next, &format!("the process ended: {status}")));
            next += 1;
        }
    }
    reports
}

enum Line {
    Report(Box<Report>),
    End,
}

/// Receives a child's reports as they are printed.
fn lines(child: &mut Child) -> Receiver<Line> {
    let (sender, receiver) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if let Some(report) = Report::read(&line)
                && sender.send(Line::Report(Box::new(report))).is_err()
            {
                return;
            }
        }
        let _ = sender.send(Line::End);
    });
    // Panic messages are read and dropped, so that they do not fill the pipe. The reports contain the messages, too.
    let errors = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || errors.lines().map_while(Result::ok).for_each(drop));
    receiver
}

/// Prints the most expensive cases, and fails with all errors.
fn judge(mut reports: Vec<Report>) {
    let mut say = std::io::stderr();
    let shown = reports.iter().filter(|r| r.opened > 0).count();
    let _ = writeln!(
        say,
        "{} cases: {shown} shown, {} refused",
        reports.len(),
        reports.len() - shown
    );
    reports.sort_by_key(|r| std::cmp::Reverse(r.millis));
    let _ = writeln!(say, "the slowest:");
    for report in reports.iter().take(10) {
        let _ = writeln!(say, "  {report}");
    }
    reports.sort_by_key(|r| std::cmp::Reverse(r.bytes));
    let _ = writeln!(say, "the largest:");
    for report in reports.iter().take(10) {
        let _ = writeln!(say, "  {report}");
    }
    reports.sort_by_key(|r| r.case);
    let wrong: Vec<String> = reports
        .iter()
        .filter_map(|report| {
            let trouble = match &report.trouble {
                Some(trouble) => trouble.clone(),
                None if too_slow(report) => "too slow".to_owned(),
                None if report.bytes > MOST_MEMORY => "too large".to_owned(),
                None => return None,
            };
            Some(format!("{report}: {trouble}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        reports.len(),
        wrong.join("\n")
    );
}
