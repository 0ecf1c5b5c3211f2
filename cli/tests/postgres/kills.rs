//! Tests with killed writers, and with a server that stops at once while commands write (errata H2). Every
//! acknowledged change is recorded, nothing is recorded twice, and an interrupted command can be repeated.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use prosescope_test_support::cluster::Cluster;

use crate::PROGRAM;
use crate::project::Project;

/// Returns the number of repetitions: few, or many in `cargo xtask soak`.
pub(crate) fn times(few: usize, many: usize) -> usize {
    match std::env::var_os("PROSE_SOAK") {
        Some(_) => many,
        None => few,
    }
}

/// Waits for a random time of at most `most` milliseconds.
pub(crate) fn moment(most: u64) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let chance = u64::from(now.unwrap().subsec_nanos()) / 97;
    thread::sleep(Duration::from_micros(chance % (most * 1000)));
}

/// Starts a command that reads this text from a file as its standard input.
fn started(project: &Project, args: &[&str], input: &str) -> Child {
    let mut command = project.command(args);
    let stdin = match input {
        "" => Stdio::null(),
        text => {
            let name = text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            let path = project.path().join(name);
            std::fs::write(&path, text).unwrap();
            Stdio::from(std::fs::File::open(path).unwrap())
        }
    };
    command
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Kills a command after at most `most` milliseconds. Returns whether the command had already succeeded.
fn killed(mut child: Child, most: u64) -> bool {
    moment(most);
    let _ = child.kill();
    child.wait().unwrap().success()
}

#[test]
fn writers_that_are_killed_under_a_server_that_stops_lose_nothing_acknowledged() {
    let Some(cluster) = Cluster::start(&["fsync=on"]) else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    let (over, cut) = (AtomicBool::new(false), AtomicUsize::new(0));
    let told: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (project, run, over, cut) = (&project, &run, &over, &cut);
                scope.spawn(move || {
                    let go_on = (0..).take_while(|_| !over.load(Ordering::Relaxed));
                    let each = go_on.filter_map(|n| {
                        let name = format!("w{writer}_{n}");
                        let put = ["put", &name, "--run", run];
                        let add = ["agent", "segment", "add", "captain", "--run", run];
                        let args: &[&str] = if n % 3 == 0 { &add } else { &put };
                        let done = killed(started(project, args, &name), 300);
                        cut.fetch_add(usize::from(!done), Ordering::Relaxed);
                        done.then_some(name)
                    });
                    each.collect::<Vec<_>>()
                })
            })
            .collect();
        for _ in 0..times(1, 20) {
            thread::sleep(Duration::from_secs(1));
            cluster.crash();
        }
        thread::sleep(Duration::from_secs(1));
        while cut.load(Ordering::Relaxed) < times(1, 1000) {
            thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Ordering::Relaxed);
        let told = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap());
        told.collect()
    });
    let rows = |sql: &str| {
        let said = cluster.psql(&url, sql).unwrap();
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let put = rows("SELECT value FROM openprose.bindings WHERE name = value");
    let added = rows("SELECT summary FROM openprose.agent_segments ORDER BY segment_number");
    let there = [put, added].concat();
    let lost: Vec<&String> = told.iter().filter(|name| !there.contains(name)).collect();
    assert!(lost.is_empty() && !told.is_empty(), "{lost:?} of {told:?}");
    println!(
        "{} killed, or refused while the server was away; {} acknowledged, {} recorded",
        cut.load(Ordering::Relaxed),
        told.len(),
        there.len()
    );
    // No row is recorded twice, and no segment number is missing.
    let twice = "SELECT (SELECT count(*) FROM openprose.x_binding_history),
                        (SELECT count(*) - count(DISTINCT summary) FROM openprose.agent_segments),
                        (SELECT count(*) - coalesce(max(segment_number), 0) FROM openprose.agent_segments),
                        (SELECT count(*) FROM openprose.bindings WHERE name <> value)";
    assert_eq!(rows(twice), ["0|0|0|0"]);
    // No lock or unfinished transaction is left: the next command can write.
    project.prose(0, &["put", "last", "--run", &run], "last");
    project.prose(0, &["check", &run], "");
}

#[test]
fn a_finish_or_a_push_that_was_killed_is_whole_once_it_is_repeated() {
    let Some(cluster) = Cluster::start(&["fsync=on"]) else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("session \"x\"\n", &url);
    let repeated = |args: &[&str]| {
        let out = project.give(args, b"");
        assert!(matches!(out.status.code(), Some(0 | 4)), "{out:?}");
    };
    for _ in 0..times(3, 100) {
        let run = project.init("postgres");
        let finish = ["finish", "--run", &run];
        killed(started(&project, &finish, ""), 80);
        repeated(&finish);
        let id = run.trim_start_matches("postgres:");
        let sql = format!("SELECT status FROM openprose.run WHERE id = '{id}'");
        assert_eq!(cluster.psql(&url, &sql).unwrap(), "completed");
    }

    let run = project.init("sqlite");
    for n in 0..20 {
        let name = format!("v{n}");
        project.prose(0, &["put", &name, "--run", &run], &"v".repeat(n * 10_000));
    }
    let whole = "SELECT (SELECT count(*) FROM openprose.run WHERE id = '{RUN}'),
                        (SELECT count(*) FROM openprose.bindings WHERE run_id = '{RUN}'),
                        (SELECT count(DISTINCT path) FROM openprose.x_attachments WHERE run_id = '{RUN}')"
        .replace("{RUN}", &run);
    let there = || cluster.psql(&url, &whole).unwrap();
    for n in 0..times(6, 100) {
        let push = started(&project, &["convert", &run, "--to", "postgres"], "");
        let done = match n % 6 {
            5 => {
                moment(150);
                cluster.crash();
                push.wait_with_output().unwrap().status.success()
            }
            _ => killed(push, 150),
        };
        let found = there();
        assert!(
            found == "1|20|9" || (found == "0|0|0" && !done),
            "{found}, acknowledged: {done}"
        );
        // The push is repeated, whether or not the killed push was committed.
        project.prose(0, &["convert", &run, "--to", "postgres"], "");
        assert_eq!(there(), "1|20|9");
        let remove = format!("DELETE FROM openprose.run WHERE id = '{run}'");
        cluster.psql(&url, &remove).unwrap();
    }
}
