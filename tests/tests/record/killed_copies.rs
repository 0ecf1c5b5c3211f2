//! Tests that creating or copying a run is atomic even if the command is killed: the new run is either complete or does
//! not exist, and no command takes the remains for a run (errata H2).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prosescope_test_support::kills::Kills;

use crate::project::{FORMS, Project, many};

/// Returns the names of the listed runs.
fn listed(project: &Project) -> Vec<String> {
    let list = project.json(&["runs"]);
    let runs = list["runs"].as_array().expect("runs").iter();
    let folder = |run: &serde_json::Value| {
        let place = run["place"].as_str().expect("a place");
        place.rsplit('/').next().expect("a name").to_owned()
    };
    let mut names: Vec<String> = runs.map(folder).collect();
    names.sort();
    names
}

#[track_caller]
fn assert_no_error(project: &Project, run: &str) {
    let check = project.json(&["check", run, "--severity", "error"]);
    assert_eq!(check["runs"][0]["issues"], serde_json::json!([]), "{check}");
}

#[test]
fn a_run_that_is_opened_is_there_whole_or_not_at_all() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let mut there = Vec::new();
    for form in FORMS {
        let (mut kills, first) = Kills::learn(|| project.init(form));
        there.push(first);
        let mut killed = 0;
        for n in 0..many(25, 500) {
            let id = format!("{form}-{n}");
            let args = ["init", "p.prose", "--id", &id, "--state", form];
            let said = kills.kill(&mut project.command(&args), b"");
            if project.run_dir(&id).exists() {
                assert_no_error(&project, &id);
                project.begin(&["1", "--run", &id]);
            } else {
                assert_eq!(said, "", "{form}: it was acknowledged");
                killed += 1;
                // The killed command must not block the next command.
                project.line(&args);
            }
            if n % 25 == 24 {
                there.push(id);
                there.sort();
                assert_eq!(listed(&project), there, "{form}, {n}");
            } else {
                fs::remove_dir_all(project.run_dir(&id)).expect("removed");
            }
        }
        println!("{form}: {killed} of the kills came before the run was there");
        assert!(killed > 0, "{form}");
    }
    nothing_is_left(&project, &there);
}

/// Asserts that `clean` removes the remains of killed commands and nothing else.
#[track_caller]
fn nothing_is_left(project: &Project, there: &[String]) {
    project.expect(
        0,
        &["clean", "--older-than", "30d", "--force", "--yes"],
        b"",
    );
    let runs = project.path().join(".prose/runs");
    let entries = fs::read_dir(runs).expect("listed").flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, there);
}

/// Returns all files below a folder, with their bytes.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).expect("read"));
        }
    }
    files
}

#[test]
fn a_copy_is_there_whole_or_not_at_all_and_takes_no_others_place() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let mut there = Vec::new();
    for (form, other) in [FORMS, [FORMS[1], FORMS[0]]].map(|[a, b]| (a, b)) {
        let run = project.init(form);
        there.push(run.clone());
        for n in 0..8 {
            let value = format!("{n} ").repeat(10_000 + n * 8_000);
            project.put(&run, &format!("n{n}"), value.as_bytes());
        }
        let execution = project.begin(&["1", "--run", &run]);
        project.line(&["end", &execution, "--run", &run]);
        let last = project.get(&run, "n7");
        let repaired = ["check", &run, "--fix", "--out"].map(str::to_owned);
        let converted = ["convert", &run, "--to", other, "--out"].map(str::to_owned);
        for (what, args) in [("fixed", &repaired[..]), ("converted", &converted)] {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let good = format!("good-{what}-{form}");
            let out = |name: &str| format!(".prose/runs/{name}");
            let to_good = out(&good);
            let again = [&args[..], &[&to_good]].concat();
            let (mut kills, _) = Kills::learn(|| project.line(&again));
            // A refused command takes another time than a copy, so its duration is learned separately.
            let (mut others, _) = Kills::learn(|| project.give(&again, b""));
            let before = files(&project.run_dir(&good));
            let mut killed = 0;
            for n in 0..many(12, 250) {
                let name = format!("{what}-{form}-{n}");
                let to = out(&name);
                let copying = [&args[..], &[&to]].concat();
                let said = kills.kill(&mut project.command(&copying), b"");
                if project.run_dir(&name).exists() {
                    assert_no_error(&project, &name);
                    assert!(project.get(&name, "n7") == last, "{name}");
                    fs::remove_dir_all(project.run_dir(&name)).expect("removed");
                } else {
                    assert_eq!(said, "", "{name} was acknowledged");
                    killed += 1;
                }
                // A command that would replace a complete run must not change the run, whenever the command is killed.
                others.kill(&mut project.command(&again), b"");
            }
            assert!(files(&project.run_dir(&good)) == before, "{what}, {form}");
            println!("{form}, {what}: {killed} of the kills came before the copy was there");
            assert!(killed > 0, "{what}, {form}");
            there.push(good);
        }
        assert_eq!(project.get(&run, "n7"), last);
        there.sort();
        assert_eq!(listed(&project), there, "{form}");
    }
    nothing_is_left(&project, &there);
}
