//! Tests of gates that are approved, rejected and expired at the same time (errata H3). Each gate gets one decision
//! and one row in the audit log.

use std::process::{Command, Output, Stdio};

use prosescope_test_support::clock;

use crate::kills::{moment, times};
use crate::project::{Project, cluster, text};

const PROGRAM: &str = "approve go:\n  prompt: \"Go?\"\n  timeout: 1h\n";

fn started(mut command: Command) -> std::process::Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_gate_that_is_raced_for_is_decided_once() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    let rounds = times(8, 1_000);
    let mut won = [0; 3];
    for n in 0..rounds {
        let gate = format!("go{n}");
        let create = [
            "gate",
            "create",
            &gate,
            "--prompt",
            "Go?",
            "--timeout",
            "1h",
            "--on-reject",
            "continue",
            "--run",
            &run,
        ];
        project.prose(0, &create, "");
        // Approval and rejection run before the deadline; the clock of `gates expire` is past the deadline.
        let mut expire = project.command(&["gates", "expire"]);
        expire.envs(clock::at("2099-01-01T00:00:00Z"));
        let mut all = vec![
            project.command(&["approve", &run, &gate, "--as", "ann"]),
            project.command(&["reject", &run, &gate, "--reason", "no", "--as", "bob"]),
            expire,
        ];
        // Each of the three commands is started first in a third of the races.
        all.rotate_left(n % 3);
        let each = all.into_iter().map(|command| {
            let child = started(command);
            // `gates expire` reads all runs, so it is slow. When it is started first, it gets a longer head start.
            moment(if n % 3 == 2 { 300 } else { 30 });
            child
        });
        let running: Vec<_> = each.collect();
        let mut done: Vec<Output> = running
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .collect();
        done.rotate_right(n % 3);
        let [approved, rejected, expired] = &done[..] else {
            panic!("three commands")
        };
        let wins = [
            approved.status.code() == Some(0),
            rejected.status.code() == Some(0),
            text(&expired.stdout).contains(&gate),
        ];
        assert_eq!(wins.iter().filter(|won| **won).count(), 1, "{done:?}");
        for loser in [approved, rejected] {
            assert!(matches!(loser.status.code(), Some(0 | 4)), "{loser:?}");
        }
        assert_eq!(expired.status.code(), Some(0), "{expired:?}");
        for (count, won) in won.iter_mut().zip(wins) {
            *count += u32::from(won);
        }
        let sql = format!(
            "SELECT g.status, (SELECT count(*) FROM openprose.gate_audit_log AS log
                               WHERE log.gate_id = g.id AND event_type <> 'created')
             FROM openprose.gates AS g WHERE id = '{gate}'"
        );
        let status = ["approved", "rejected", "timeout"];
        let winner = wins.iter().position(|won| *won).unwrap();
        assert_eq!(
            cluster.psql(&url, &sql).unwrap(),
            format!("{}|1", status[winner])
        );
    }
    project.prose(0, &["audit", "verify", &run], "");
    project.prose(0, &["check", &run], "");
    let [approved, rejected, expired] = won;
    println!("{rounds} gates: {approved} approved, {rejected} rejected, {expired} expired");
}
