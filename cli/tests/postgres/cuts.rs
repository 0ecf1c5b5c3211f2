//! Tests that cut the connection in the middle of each command (errata H2). An acknowledged change is recorded. A
//! change that was not acknowledged is recorded once when the command is repeated.

use prosescope_test_support::clock;
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::wire::{Place, Wire};

use crate::commands::STEPS;
use crate::kills::times;
use crate::project::{Project, cluster, text};

/// Commands that run after [`STEPS`], and end the executions and gates that are still open.
const LAST: &[(&str, i32, &str, &str)] = &[
    ("", 0, "", "reject {run} publish --reason No --as raymond"),
    ("", 0, "", "gate create later --line 41 --run {run} --force"),
    ("", 0, "", "approve {run} later --comment fine"),
    ("", 0, "", "finish interrupted --run {run}"),
    ("", 0, "", "resume {run} --begin"),
    ("", 0, "report", "begin 45 --run {run} --force"),
    ("a report", 0, "", "put report --run {run} --into {report}"),
    ("", 0, "", "gate create later --line 41 --run {run} --force"),
    ("", 0, "", "gates expire"),
    ("", 0, "", "finish failed --run {run}"),
];

/// The SQL that returns everything recorded of a run, without ids and times.
const RECORDED: &str = "
    SELECT string_agg(of || ' ' || rows, E'\\n' ORDER BY of) FROM (
        SELECT 'run' AS of, string_agg(status, ' ') AS rows FROM openprose.run WHERE id = '{ID}'
        UNION ALL SELECT 'execution', string_agg(concat_ws(' ', statement_index, status, x_status, error_message), ', ' ORDER BY id)
            FROM openprose.execution WHERE run_id = '{ID}'
        UNION ALL SELECT 'bindings', string_agg(name || ' ' || kind || ' ' || value, ', ' ORDER BY x_seq)
            FROM openprose.bindings WHERE run_id = '{ID}'
        UNION ALL SELECT 'history', string_agg(name || ' ' || value, ', ' ORDER BY name, value)
            FROM openprose.x_binding_history WHERE run_id = '{ID}'
        UNION ALL SELECT 'agents', string_agg(name || ' ' || memory, ', ' ORDER BY name) FROM openprose.agents
        UNION ALL SELECT 'segments', string_agg(concat_ws(' ', agent_name, segment_number, summary), ', ' ORDER BY id)
            FROM openprose.agent_segments
        UNION ALL SELECT 'memories', count(*)::text FROM openprose.x_agent_memory_history
        UNION ALL SELECT 'events', string_agg(word, ' ' ORDER BY id) FROM openprose.x_events WHERE run_id = '{ID}'
        UNION ALL SELECT 'gates', string_agg(id || ' ' || status, ', ' ORDER BY id) FROM openprose.gates WHERE run_id = '{ID}'
        UNION ALL SELECT 'audit', string_agg(gate_id || ' ' || event_type, ', ' ORDER BY id)
            FROM openprose.gate_audit_log WHERE run_id = '{ID}'
        UNION ALL SELECT 'imports', count(*)::text FROM openprose.imports WHERE run_id = '{ID}'
    ) AS each";

/// Records all steps, each with its connection cut at the place `cut`. Returns the records after each step, the
/// number of cut commands, and the number of commands that failed and were repeated.
fn recorded(cluster: &Cluster, cut: Option<Place>) -> (Vec<String>, usize, usize) {
    let wire = Wire::to(cluster.port());
    let url = cluster.database();
    let through = url.replace(
        &format!(":{}/", cluster.port()),
        &format!(":{}/", wire.port()),
    );
    let project = Project::new(
        crate::commands::PROGRAM,
        &format!("{through}?sslmode=disable"),
    );
    let run = project.init("postgres");
    let id = run.trim_start_matches("postgres:");
    let look = || cluster.psql(&url, &RECORDED.replace("{ID}", id)).unwrap();
    let mut ids: Vec<(&str, String)> = vec![("run", run.clone())];
    let mut before = look();
    let (mut after, mut cuts, mut refused) = (Vec::new(), 0, 0);
    let steps = STEPS.iter().map(|step| (step, true));
    for ((input, code, name, command), adds_run) in
        steps.chain(LAST.iter().map(|step| (step, false)))
    {
        let mut line = (*command).to_owned();
        for (known, id) in &ids {
            line = line.replace(&format!("{{{known}}}"), id);
        }
        let mut args: Vec<&str> = line.split(' ').collect();
        match args[..] {
            ["gate", "show", gate] => args = vec!["gate", "show", &run, gate],
            _ if adds_run => args.extend(["--run", &run]),
            _ => {}
        }
        let give = || {
            let now = match args[..] {
                ["gates", "expire"] => "2099-01-01T00:00:00Z",
                _ => "2026-03-01T10:00:00Z",
            };
            let mut asked = project.command(&args);
            prosescope_test_support::run::fed(asked.envs(clock::at(now)), input.as_bytes())
        };
        if let Some(place) = cut {
            wire.arm(place);
        }
        let mut out = give();
        let was_cut = wire.disarm() && cut.is_some();
        cuts += usize::from(was_cut);
        if was_cut && out.status.code() == Some(6) {
            refused += 1;
            let said = text(&out.stderr);
            assert!(said.contains('→'), "{cut:?}, {line}: {said}");
            // A command that failed has recorded nothing, so it can be repeated.
            assert_eq!(before, look(), "{cut:?}, {line}: {said}");
            out = give();
        }
        let (said, error) = (text(&out.stdout), text(&out.stderr));
        let done = out.status.code();
        assert_eq!(done, Some(*code), "{cut:?}, {line}: {said}{error}");
        for (name, line) in name.split(' ').zip(said.lines()) {
            let id = line.split(' ').next().unwrap_or_default();
            ids.push((name, id.to_owned()));
        }
        before = look();
        after.push(before.clone());
    }
    project.prose(0, &["audit", "verify", &run], "");
    (after, cuts, refused)
}

#[test]
fn each_command_that_is_cut_is_recorded_once() {
    let Some(cluster) = cluster() else {
        return;
    };
    let (whole, ..) = recorded(cluster, None);
    let mut places = vec![Place::BeforeCommit, Place::AfterCommit];
    // Besides the COMMIT, a short test cuts only at message 14 of each command. A soak test cuts at every other
    // message.
    let all: Vec<usize> = (1..=times(0, 40)).step_by(2).collect();
    let each = if all.is_empty() { &[14][..] } else { &all };
    places.extend(each.iter().map(|n| Place::Before(*n)));
    if all.len() > 1 {
        places.extend(all.iter().step_by(2).map(|n| Place::After(*n)));
    }
    let (mut cuts, mut refused) = (0, 0);
    for place in places {
        let (after, cut, not_done) = recorded(cluster, Some(place));
        cuts += cut;
        refused += not_done;
        let steps = STEPS.iter().chain(LAST);
        for ((ours, theirs), step) in whole.iter().zip(&after).zip(steps) {
            assert_eq!(ours, theirs, "{place:?}: {}", step.3);
        }
        assert!(cut > 0, "{place:?}");
    }
    println!("{cuts} commands cut: {refused} ended with 6 and were repeated");
}

/// If the connection is lost while a run is created, pushed or removed, the run is either complete or does not exist.
#[test]
fn a_run_that_is_made_or_removed_over_a_cut_connection_is_whole() {
    let Some(cluster) = cluster() else {
        return;
    };
    let wire = Wire::to(cluster.port());
    let url = cluster.database();
    let through = url.replace(
        &format!(":{}/", cluster.port()),
        &format!(":{}/", wire.port()),
    );
    let project = Project::new("session \"x\"\n", &format!("{through}?sslmode=disable"));
    project.init("postgres");
    let count = |id: &str| {
        let sql = format!("SELECT (SELECT count(*) FROM openprose.run WHERE id = '{id}'),
            (SELECT count(*) FROM openprose.bindings WHERE run_id = '{id}'), (SELECT count(*) FROM openprose.run)");
        cluster.psql(&url, &sql).unwrap()
    };
    let file = project.init("sqlite");
    for n in 0..5 {
        project.prose(0, &["put", &format!("v{n}"), "--run", &file], "v");
    }
    project.prose(0, &["finish", "--run", &file], "");
    let most = times(12, 60);
    let step = times(4, 1);
    let mut places = vec![Place::BeforeCommit, Place::AfterCommit];
    places.extend((1..=most).step_by(step).map(Place::Before));
    places.extend((1..=most).step_by(step).map(Place::After));
    for (n, place) in places.into_iter().enumerate() {
        let id = format!("20260301-100000-cut{n:03}");
        let init = ["init", "p.prose", "--state", "postgres", "--id", &id];
        let there = format!("postgres:{id}");
        let steps: [(&[&str], &str, &str); 2] = [
            (&init, &there, "1|0|"),
            (
                &["convert", &file, "--to", "postgres"],
                &format!("postgres:{file}"),
                "1|5|",
            ),
        ];
        for (make, run, whole) in steps {
            let id = run.trim_start_matches("postgres:");
            let clean = ["clean", run, "--yes"];
            let finish = format!("UPDATE openprose.run SET status = 'completed' WHERE id = '{id}'");
            for (args, before, after) in [(make, "0|0|", whole), (&clean, whole, "0|0|")] {
                cluster.psql(&url, &finish).unwrap();
                wire.arm(place);
                let out = project.give(args, b"");
                let was_cut = wire.disarm();
                let said = text(&out.stderr);
                let expected =
                    |found: &str| format!("{found}{}", 1 + usize::from(found.starts_with('1')));
                match out.status.code() {
                    Some(0) => {}
                    Some(6) if was_cut => {
                        assert!(said.contains('→'), "{place:?}, {args:?}: {said}");
                        assert_eq!(count(id), expected(before), "{place:?}, {args:?}: {said}");
                        project.prose(0, args, "");
                    }
                    code => panic!("{place:?}, {args:?}: {code:?} {said}"),
                }
                assert_eq!(count(id), expected(after), "{place:?}, {args:?}: {said}");
            }
        }
    }
}
