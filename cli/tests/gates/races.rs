//! Approve, reject and expire at once, each a process of its own: one of them wins (reliability.md, "What must hold" 3).

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::Project;

const NOON: &str = "2026-01-25 12:00:00";
/// Past the deadline: the clock of whoever expires the gates goes ahead.
const LATE: &str = "2026-01-25 13:00:01";

/// How many races: few, or those of reliability.md (`cargo xtask soak`); `PROSE_RACES` says another number.
fn races() -> usize {
    let set = std::env::var("PROSE_RACES").ok();
    let usual = match std::env::var_os("PROSE_SOAK") {
        Some(_) => 1000,
        None => 60,
    };
    set.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn start(project: &Project, now: &str, args: &[&str]) -> Child {
    let mut command = project.command(args);
    command.env("PROSE_NOW", now).arg("--json");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("prose runs")
}

#[test]
fn of_approve_reject_and_expire_at_once_exactly_one_wins() {
    let project = Project::new();
    let run = project.run.clone();
    let mut wins = [0; 3];
    let mut decided = Vec::new();
    for race in 0..races() {
        let gate = format!("g{race}");
        let create = [
            "gate",
            "create",
            &gate,
            "--run",
            &run,
            "--prompt",
            "Go?",
            "--timeout",
            "1h",
        ];
        project.expect_at(NOON, 0, &create);
        let runners: [(&str, &[&str]); 3] = [
            (NOON, &["approve", &run, &gate, "--as", "ann"]),
            (
                NOON,
                &["reject", &run, &gate, "--reason", "no", "--as", "bob"],
            ),
            (LATE, &["gates", "expire", &run]),
        ];
        // Each of them is the first to start in a third of the races.
        let order: Vec<usize> = (0..3).map(|n| (n + race) % 3).collect();
        let begun: Vec<(usize, Child)> = order
            .iter()
            .map(|n| (*n, start(&project, runners[*n].0, runners[*n].1)))
            .collect();
        let mut winners = Vec::new();
        for (n, child) in begun {
            let out = child.wait_with_output().expect("it ends");
            let said = String::from_utf8_lossy(&out.stdout).into_owned();
            let won = match (n, out.status.code()) {
                (2, Some(0)) => {
                    let list: Value = serde_json::from_str(&said).expect("JSON");
                    !list.as_array().expect("a list").is_empty()
                }
                (_, Some(0)) => true,
                (0 | 1, Some(4)) => false,
                (_, code) => panic!(
                    "{:?} ended with {code:?}: {}",
                    runners[n].1,
                    String::from_utf8_lossy(&out.stderr)
                ),
            };
            if won {
                winners.push(n);
            }
        }
        assert_eq!(winners.len(), 1, "race {race}: {winners:?}");
        wins[winners[0]] += 1;
        decided.push((gate, ["approved", "rejected", "timeout"][winners[0]]));
    }
    println!("approve, reject, expire won {wins:?} of {} races", races());

    let audit = project.json(0, &["audit", &run]);
    assert_eq!(audit["chain"], "consistent");
    let rows = audit["rows"].as_array().expect("rows");
    let gates = project.json(0, &["gates", &run]);
    let gates = gates.as_array().expect("gates");
    assert_eq!((gates.len(), rows.len()), (races(), 2 * races()));
    for (id, word) in decided {
        let gate = gates.iter().find(|gate| gate["id"] == *id);
        assert_eq!(gate.expect("it is there")["status"], word, "{id}");
        let events: Vec<&Value> = rows
            .iter()
            .filter(|row| row["gate"] == *id)
            .map(|row| &row["event"])
            .collect();
        assert_eq!(events, ["created", word], "{id}: one resolving row");
    }
}
