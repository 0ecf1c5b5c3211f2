//! Tests of races between `approve`, `reject` and `gates expire` in separate processes: exactly one of them decides
//! the gate (errata H3).

use std::process::{Child, Output, Stdio};

use prosescope_test_support::{clock, needs};

use serde_json::Value;

use crate::{FORMS, Form, Project};

const NOON: &str = "2026-01-25 12:00:00";
/// A time after the deadline, for the process that expires the gates.
const LATE: &str = "2026-01-25 13:00:01";
/// Maximum number of gates in one run.
const MOST: usize = 100;

/// Returns the number of races in each form: few, or very many in `cargo xtask soak`. `PROSE_RACES` overrides the
/// number.
fn races() -> usize {
    let set = std::env::var("PROSE_RACES").ok();
    let usual = match std::env::var_os("PROSE_SOAK") {
        Some(_) => 1000,
        None => 40,
    };
    set.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn of_approve_reject_and_expire_at_once_exactly_one_wins() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let mut wins = [0; 3];
        let mut left = races();
        while left > 0 {
            let of_run = left.min(MOST);
            in_one_run(form, of_run, &mut wins);
            left -= of_run;
        }
        println!(
            "{}: approve, reject, expire won {wins:?} of {} races",
            form.word(),
            races()
        );
    }
}

fn in_one_run(form: Form, races: usize, wins: &mut [usize; 3]) {
    let mut project = Project::new(form);
    // The run begins at the same simulated time as its gates. Otherwise `check` would report a start after the last
    // row, or a run that was silent for a day.
    let (id, _) = project.expect_at(NOON, 0, &["init", "p.prose", "--state", form.word()]);
    project.run = id.trim().to_owned();
    let run = project.run.clone();
    let mut decided = Vec::new();
    for race in 0..races {
        let gate = format!("g{race}");
        create_at_once(&project, &gate);
        let runners: [(&str, &[&str]); 3] = [
            (NOON, &["approve", &run, &gate, "--as", "ann"]),
            (
                NOON,
                &["reject", &run, &gate, "--reason", "no", "--as", "bob"],
            ),
            (LATE, &["gates", "expire", &run]),
        ];
        // Each of the three commands is started first in a third of the races.
        let order: Vec<usize> = (0..3).map(|n| (n + race) % 3).collect();
        let begun = order.iter().map(|n| runners[*n]);
        let ended = at_once(&project, begun);
        let mut winners = Vec::new();
        for (n, out) in order.into_iter().zip(ended) {
            let won = match (n, out.status.code()) {
                (2, Some(0)) => {
                    let list: Value = serde_json::from_slice(&out.stdout).expect("JSON");
                    !list.as_array().expect("a list").is_empty()
                }
                (_, Some(0)) => true,
                (0 | 1, Some(4)) => false,
                _ => panic!("{:?}: {out:?}", runners[n].1),
            };
            if won {
                winners.push(n);
            }
        }
        assert_eq!(winners.len(), 1, "{form:?}, race {race}: {winners:?}");
        wins[winners[0]] += 1;
        let (word, by) = [
            ("approved", "ann"),
            ("rejected", "bob"),
            ("timeout", "system"),
        ][winners[0]];
        decided.push((gate, word, by));
    }

    let audit = project.json(0, &["audit", &run]);
    assert_eq!(audit["chain"], "consistent");
    let rows = audit["rows"].as_array().expect("rows");
    let gates = project.json(0, &["gates", &run]);
    let gates = gates.as_array().expect("gates");
    assert_eq!((gates.len(), rows.len()), (races, 2 * races));
    for (id, word, by) in &decided {
        let gate = gates.iter().find(|gate| gate["id"] == **id);
        let gate = gate.expect("it is there");
        assert_eq!(
            (&gate["status"], &gate["resolved_by"]),
            (&(*word).into(), &(*by).into())
        );
        let events: Vec<[&Value; 2]> = rows
            .iter()
            .filter(|row| row["gate"] == **id)
            .map(|row| [&row["event"], &row["principal"]])
            .collect();
        assert_eq!(
            events,
            [["created", "system"], [word, by]],
            "{id}: one resolving row"
        );
    }
    // A losing command leaves no records: each gate has exactly one statement, and that statement has ended.
    let trace = project.json(0, &["trace", &run]);
    let nodes = trace["rows"].as_array().expect("rows");
    assert_eq!(nodes.len(), races);
    let check = ["check", &run, "--severity", "warning", "--json"];
    let (check, _) = project.expect_at(LATE, 0, &check);
    let check: Value = serde_json::from_str(&check).expect("JSON");
    assert_eq!(check["runs"][0]["issues"], serde_json::json!([]), "{check}");
}

/// Lets two processes create the same gate at once. Checks that one succeeds, and that the other gets an error.
fn create_at_once(project: &Project, gate: &str) {
    let words = [
        "--prompt",
        "Go?",
        "--timeout",
        "1h",
        "--on-reject",
        "continue",
    ];
    let args = [&["gate", "create", gate, "--run", &project.run][..], &words].concat();
    let ended = at_once(project, [(NOON, &args[..]), (NOON, &args)].into_iter());
    let mut codes: Vec<_> = ended.iter().map(|out| out.status.code()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(4)], "{gate}: {ended:?}");
}

/// Starts all commands, each with its own clock, and waits for them.
fn at_once<'a>(
    project: &Project,
    commands: impl Iterator<Item = (&'a str, &'a [&'a str])>,
) -> Vec<Output> {
    let start = |(now, args): (&str, &[&str])| -> Child {
        let mut command = project.command(args);
        command.envs(clock::at(now)).arg("--json");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("prosescope runs")
    };
    let begun: Vec<Child> = commands.map(start).collect();
    let ended = begun.into_iter().map(Child::wait_with_output);
    ended.map(|out| out.expect("it ends")).collect()
}
