//! Tests that a run keeps every acknowledged write when commands are killed while they record (errata H2).

use prosescope_test_support::kills::Kills;

use crate::project::{FORMS, Project, assert_whole, many};

#[test]
fn what_was_acknowledged_is_there_however_writers_are_killed() {
    let Some(project) = Project::new("let a = session \"Work\"\n") else {
        return;
    };
    for form in FORMS {
        let run = project.init(form);
        let mut acknowledged: Vec<(String, Vec<u8>)> = Vec::new();
        let (mut kills, ()) = Kills::learn(|| project.put(&run, "first", b"first"));
        for n in 0..many(25, 1_000) {
            // The few names are used again and again, so that some kills fall between a value and its history.
            let name = format!("n{}", n % 5);
            let value = format!("{n} ").repeat(1 + n * 397 % 40_000).into_bytes();
            let mut put = project.command(&["put", &name, "--run", &run]);
            if kills.kill(&mut put, &value).contains("Binding written") {
                acknowledged.retain(|(known, _)| *known != name);
                acknowledged.push((name, value));
            } else if let Some(at) = acknowledged.iter().position(|(known, _)| *known == name) {
                // After a kill, the binding has either the complete old value or the complete new value.
                let (_, old) = &acknowledged[at];
                let now = project.get(&run, &name);
                assert!(
                    now == *old || now == value,
                    "{form}: {name} is neither the old nor the new value: {} bytes",
                    now.len()
                );
                acknowledged[at].1 = now;
            }
        }
        for (name, value) in &acknowledged {
            assert!(
                project.get(&run, name) == *value,
                "{form}: {name} was acknowledged and is another now"
            );
        }
        assert_eq!(project.get(&run, "first"), b"first");
        assert!(
            !acknowledged.is_empty(),
            "{form}: every writer was killed before it wrote"
        );
        if form == "sqlite" {
            assert_whole(&project, &run);
        }
        // The killed writer must not block the next writer.
        project.put(&run, "last", b"last");
        let issues = project.json(&["check", &run, "--severity", "error"]);
        assert_eq!(
            issues["runs"][0]["issues"],
            serde_json::json!([]),
            "{form}: {issues}"
        );
    }
}

/// Checks that an execution exists if a killed command printed the execution's id.
#[test]
fn an_execution_whose_id_was_printed_is_there() {
    let Some(project) = Project::new("loop:\n  session \"Work\"\n") else {
        return;
    };
    for form in FORMS {
        let run = project.init(form);
        let id = project.begin(&["1", "--run", &run]);
        let round = ["round", &id, "--run", &run];
        let (mut kills, first) = Kills::learn(|| project.line(&round));
        let mut rounds = 0;
        assert!(first.ends_with('1'), "{form}: {first}");
        for _ in 0..many(20, 500) {
            let said = kills.kill(&mut project.command(&round), b"");
            // A kill may come between the commit and the output, so one more round than was printed may exist.
            if let Some(told) = said.split_whitespace().last() {
                let told: u32 = told.parse().expect("a number");
                assert!(told > rounds, "{form}: round {told} after {rounds}");
                rounds = told;
            }
        }
        let told = project.line(&round);
        let last: u32 = told
            .split_whitespace()
            .last()
            .expect("a number")
            .parse()
            .expect("a number");
        assert!(last > rounds, "{form}: {last} after {rounds}");
        let trace = project.json(&["trace", &run]);
        let rows = trace["rows"].as_array().expect("rows").len();
        assert_eq!(rows, 1 + last as usize, "{form}: the loop and its rounds");
    }
}
