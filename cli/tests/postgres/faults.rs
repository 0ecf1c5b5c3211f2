//! Tests in which the server answers one query of each command with an error, once or always. The exit code of a
//! command that writes agrees with the records, a refused command can be repeated, and unreadable data is never
//! reported as empty.
//!
//! CI runs a sample. With `PROSE_SWEEP`, each query of each command fails in each way.

use std::fs;
use std::process::Output;
use std::thread;

use prosescope_test_support::clock;
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::faulty::{Answer, Fault, Faulty};
use prosescope_test_support::run::fed;

use crate::project::{Project, cluster, text};

const PROGRAM: &str = r#"use "https://p.prose.md/a/b" as r

agent writer:
  model: opus
  persist: true

session "Outline"

approve publish:
  prompt: "Publish it?"
  timeout: 30m

output report = session: writer
  prompt: "Report"
"#;

/// The simulated times. The run is recorded at `THEN`, and most commands are tested at `NOW`. Commands such as
/// `gates expire` are tested a day later, at `LATER`.
const THEN: &str = "2026-01-15T14:30:00Z";
const NOW: &str = "2026-01-15T14:40:00Z";
const LATER: &str = "2026-01-16T18:00:00Z";

/// Commands that record the run before the test: standard input, and the words of the command.
const BEFORE: &[(&str, &str)] = &[
    ("", "init p.prose --id r0 --state postgres"),
    ("v", "put v --run postgres:r0"),
    ("", "finish failed --run postgres:r0 --force"),
    ("", "init p.prose --id r1 --state postgres"),
    ("a draft", "put draft --run postgres:r1"),
    ("LARGE", "put big --run postgres:r1"),
    ("", "begin 7 --run postgres:r1"),
    ("", "gate create publish --run postgres:r1 --line 9 --force"),
    ("memory", "agent memory set writer --run postgres:r1"),
    (
        "kept",
        "agent memory set kept --scope project --run postgres:r1",
    ),
    (
        "first",
        "agent segment add writer --run postgres:r1 --prompt p",
    ),
    ("", "init p.prose --id f1 --state sqlite"),
    ("v", "put v --run f1"),
    ("LARGE", "put big --run f1"),
    ("", "finish failed --run f1 --force"),
    ("", "workflow setup --apply --state postgres"),
    ("", "workflow start --input x --state postgres"),
    (
        "",
        "workflow events append latest --text one --state postgres",
    ),
    (
        "",
        "workflow events append latest --text two --run latest --state postgres",
    ),
];

/// Commands that record: standard input, time, and the words of the command. `{E}` stands for an open execution of
/// `r1`.
const WRITERS: &[(&str, &str, &str)] = &[
    ("", NOW, "init p.prose --id r2 --state postgres"),
    ("a value", NOW, "put new --run postgres:r1"),
    ("another draft", NOW, "put draft --run postgres:r1"),
    ("LARGE", NOW, "put fresh --run postgres:r1"),
    ("LARGE", NOW, "put big --run postgres:r1"),
    ("small again", NOW, "put big --run postgres:r1"),
    ("", NOW, "begin 13 --force --run postgres:r1"),
    ("", NOW, "end {E} --run postgres:r1"),
    ("", NOW, "fail {E} no --run postgres:r1"),
    (
        "",
        NOW,
        "gate create extra --run postgres:r1 --prompt More? --force",
    ),
    ("", NOW, "gate show postgres:r1 publish"),
    ("", NOW, "approve postgres:r1 publish --comment yes"),
    ("", NOW, "reject postgres:r1 publish --reason no"),
    ("", LATER, "gates expire"),
    ("more", NOW, "agent memory set writer --run postgres:r1"),
    (
        "more",
        NOW,
        "agent memory set kept --scope project --run postgres:r1",
    ),
    (
        "5",
        NOW,
        "agent segment add writer --run postgres:r1 --prompt p",
    ),
    (
        "",
        NOW,
        "agent delete kept --scope project --postgres --yes",
    ),
    ("", NOW, "begin 1 --run postgres:r1"),
    ("", NOW, "finish failed --run postgres:r1 --force"),
    ("", LATER, "clean postgres:r0 --yes --force"),
    ("", NOW, "convert f1 --to postgres"),
    ("", NOW, "convert postgres:r1 --to sqlite"),
    ("", NOW, "workflow setup --apply --state postgres"),
    (
        "",
        NOW,
        "workflow start --parallel --input y --state postgres",
    ),
    (
        "",
        NOW,
        "workflow ask latest --question why --state postgres",
    ),
    (
        "",
        NOW,
        "workflow finish latest --output {\"a\":1} --message done --state postgres",
    ),
    ("", NOW, "workflow fail latest --error no --state postgres"),
    ("", NOW, "workflow pause latest --state postgres"),
    ("", NOW, "workflow cancel latest --state postgres"),
    (
        "",
        NOW,
        "workflow heartbeat latest --owner me --state postgres",
    ),
    (
        "",
        NOW,
        "workflow events append latest --text three --state postgres",
    ),
    ("", NOW, "workflow events prune latest --state postgres"),
];

/// Commands that read. The flag is true if a command may print a part of its answer, with an error about the missing
/// part.
const READERS: &[(&str, bool)] = &[
    ("show postgres:r1", true),
    ("show postgres:latest", true),
    ("trace postgres:r1", false),
    ("state postgres:r1", false),
    ("bindings postgres:r1", false),
    ("get draft --run postgres:r1", false),
    ("get big --run postgres:r1", false),
    ("gates postgres:r1", false),
    ("gates", true),
    ("gate show postgres:r1 publish --no-log", false),
    ("audit postgres:r1", false),
    ("audit --all", true),
    ("audit verify postgres:r1", false),
    ("agents postgres:r1", false),
    ("agent memory get writer --run postgres:r1", false),
    (
        "agent memory get kept --scope project --run postgres:r1",
        false,
    ),
    ("agent segment get writer --run postgres:r1", false),
    ("agent delete kept --scope project --postgres", false),
    ("brief {E} --run postgres:r1", false),
    ("resume postgres:r1 --prompt", false),
    ("search draft --run postgres:r1", true),
    ("check postgres:r1", true),
    ("check --all", true),
    ("runs", true),
    ("runs --status running", true),
    ("clean --status failed", true),
    ("postgres status", true),
    ("workflow list --state postgres", false),
    ("workflow list --stuck 5m --state postgres", false),
    ("workflow show latest --state postgres", false),
    ("workflow events tail latest --state postgres", false),
];

/// PostgreSQL's error codes: disk full, statement cancelled, serialization failure, missing right, read-only server,
/// failed connection, internal error.
const CODES: [&str; 7] = [
    "53100", "57014", "40001", "42501", "25006", "08006", "XX000",
];

/// Returns the faults to try on one query. `turn` is a counter that chooses one of the error codes.
fn faults_of(question: usize, turn: usize) -> Vec<Fault> {
    let code = CODES[turn % CODES.len()];
    let next = CODES[(turn + 3) % CODES.len()];
    let fault = |answer, for_good| Fault {
        question,
        only: "",
        answer,
        for_good,
    };
    vec![
        fault(Answer::Error(code), false),
        fault(Answer::Error(next), true),
        fault(Answer::Midway(code), false),
        fault(Answer::Midway("57014"), true),
        fault(Answer::Ended("57P01"), false),
        fault(Answer::EndedAfter("57P01"), false),
        fault(Answer::EndedAfter("57P01"), true),
        fault(Answer::Garbage, false),
        fault(Answer::Torn, false),
        fault(Answer::Torn, true),
    ]
}

/// Decides whether a command behaved correctly under a fault.
type Judge<'a> = &'a dyn Fn(&Tried<'_>) -> Result<Verdict, String>;

struct Tried<'a> {
    place: &'a Place<'a>,
    args: &'a [String],
    input: &'a str,
    at: &'a str,
    before: &'a str,
    after: &'a str,
    plain: &'a Output,
    out: &'a Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The command failed, and the records are unchanged.
    Kept,
    /// The command did the same as without the fault.
    Done,
}

#[derive(Default)]
struct Counts {
    kept: usize,
    done: usize,
    odd: Vec<String>,
}

/// A project whose connection to the database goes through a proxy that makes queries fail.
struct Place<'c> {
    cluster: &'c Cluster,
    url: String,
    wire: Faulty,
    project: Project,
    /// The number of an open execution of `r1`.
    open: String,
}

/// SQL functions that restore all rows, and that return the rows as text for a comparison. The text leaves out ids
/// from sequences, times of the server, and ids of workflows, because these differ between two tries.
const FUNCTIONS: &str = r#"
    CREATE SCHEMA saved;
    CREATE FUNCTION saved.tables() RETURNS SETOF pg_class LANGUAGE sql AS $$
        SELECT * FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('openprose'::regnamespace, 'public'::regnamespace) ORDER BY relname $$;
    DO $$ DECLARE t pg_class; BEGIN
        FOR t IN SELECT * FROM saved.tables() LOOP
            EXECUTE format('CREATE TABLE saved.%I AS TABLE %s', t.relname, t.oid::regclass);
        END LOOP;
        CREATE TABLE saved.sequences AS SELECT schemaname, sequencename, last_value FROM pg_sequences;
    END $$;
    CREATE FUNCTION saved.restore() RETURNS void LANGUAGE plpgsql AS $$ DECLARE t pg_class; BEGIN
        FOR t IN SELECT * FROM saved.tables() LOOP
            EXECUTE format('DELETE FROM %s', t.oid::regclass);
            EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM saved.%I', t.oid::regclass, t.relname);
        END LOOP;
        PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, last_value)
        FROM saved.sequences WHERE last_value IS NOT NULL;
    END $$;
    CREATE FUNCTION saved.plain(of jsonb) RETURNS text LANGUAGE sql AS $$
        SELECT jsonb_object_agg(key, CASE WHEN length(value::text) > 1000 THEN to_jsonb(md5(value::text)) ELSE value END)::text FROM jsonb_each(of)
        WHERE key NOT IN ('at', 'x_writer', 'x_changed', 'x_seq')
          AND NOT (jsonb_typeof(value) = 'number' AND key IN ('id', 'execution_id', 'parent_id', 'x_parent_execution_id')) $$;
    CREATE FUNCTION saved.facts() RETURNS text LANGUAGE plpgsql AS $$ DECLARE t pg_class; found text; facts text := ''; BEGIN
        FOR t IN SELECT * FROM saved.tables() WHERE relname <> 'x_commands' LOOP
            EXECUTE format('SELECT string_agg(row, E''\n'' ORDER BY row COLLATE "C") FROM (SELECT saved.plain(to_jsonb(t)) AS row FROM %s AS t) AS plain', t.oid::regclass) INTO found;
            facts := facts || E'\n' || t.relname || E'\n' || coalesce(found, '');
        END LOOP;
        -- The seal of a gate names its execution, and so do those that follow.
        facts := regexp_replace(facts, '\m[0-9a-f]{64}\M', 'HASH', 'g');
        RETURN regexp_replace(facts, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'UUID', 'g');
    END $$;"#;

impl<'c> Place<'c> {
    fn new(cluster: &'c Cluster) -> Place<'c> {
        let wire = Faulty::to(cluster.port());
        let url = cluster.database();
        let through = url.replace(
            &format!(":{}/", cluster.port()),
            &format!(":{}/", wire.port()),
        );
        let project = Project::new(PROGRAM, &format!("{through}?sslmode=disable"));
        let mut place = Place {
            cluster,
            url,
            wire,
            project,
            open: String::new(),
        };
        for (input, line) in BEFORE {
            let said = place.done(line, input);
            if line.starts_with("begin") {
                place.open = said.lines().next().unwrap_or_default().trim().to_owned();
            }
        }
        place.sql(FUNCTIONS);
        place
    }

    fn done(&self, line: &str, input: &str) -> String {
        let out = self.give(&self.args(line), input, THEN);
        let said = text(&out.stdout) + &text(&out.stderr);
        assert!(out.status.success(), "{line}: {said}");
        said
    }

    fn args(&self, line: &str) -> Vec<String> {
        let line = line.replace("{E}", &self.open);
        line.split(' ').map(str::to_owned).collect()
    }

    fn give(&self, args: &[String], input: &str, at: &str) -> Output {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = self.project.command(&args);
        let large = "large ".repeat(20_000);
        let input = if input == "LARGE" { &large } else { input };
        fed(command.envs(clock::at(at)), input.as_bytes())
    }

    fn sql(&self, sql: &str) -> String {
        let plain = format!(
            "SET session_replication_role = replica; SET client_min_messages = error; {sql}"
        );
        self.cluster.psql(&self.url, &plain).unwrap()
    }

    /// Restores all rows and files to their state before the test.
    fn restore(&self) {
        self.sql("SELECT saved.restore()");
        let runs = self.project.path().join(".prose/runs");
        for entry in fs::read_dir(runs).unwrap().flatten() {
            if entry.file_name() != "f1" {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
    }

    /// Returns all rows as text, and the names and lengths of the files of runs.
    fn facts(&self) -> String {
        let mut files = Vec::new();
        let mut folders = vec![self.project.path().join(".prose/runs")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push(format!(
                        "{} {}",
                        entry.path().display(),
                        entry.metadata().unwrap().len()
                    ));
                }
            }
        }
        files.sort();
        // The numbers of executions are left out, because a sequence does not reuse a number after a rollback.
        let facts = self.sql("SELECT saved.facts()");
        let mut parts = facts.split(NUMBERED);
        let first = parts.next().unwrap_or_default().to_owned();
        let facts = parts.fold(first, |all, part| {
            all + NUMBERED + "N" + part.trim_start_matches(|sign: char| sign.is_ascii_digit())
        });
        format!("{facts}\n{}", files.join("\n"))
    }

    /// Tries the faults of a command: all of them with `PROSE_SWEEP`, else a few.
    fn each(
        &self,
        n: usize,
        (line, input, at): (&str, &str, &str),
        judge: Judge<'_>,
        counts: &mut Counts,
    ) {
        let args = self.args(line);
        self.restore();
        let before = self.facts();
        self.wire.arm(None);
        let plain = self.give(&args, input, at);
        let asked = self.wire.asked();
        let said = format!("{}{}", text(&plain.stdout), text(&plain.stderr));
        assert!(plain.status.success(), "{line}: {said}");
        let after = self.facts();
        let faults = (1..=asked.len()).flat_map(|question| faults_of(question, n + question));
        let mut faults: Vec<Fault> = faults.collect();
        if !is_whole() {
            // Without `PROSE_SWEEP`, a few faults are tried on each command. `n` varies the query and the fault
            // between commands.
            let step = (faults.len() / 2).max(1);
            faults = faults
                .into_iter()
                .skip(n * 7 % step)
                .step_by(step)
                .take(TAKEN)
                .collect();
        }
        let mut changed = true;
        for fault in faults {
            if std::mem::replace(&mut changed, before != after) {
                self.restore();
            }
            self.wire.arm(Some(fault));
            let out = self.give(&args, input, at);
            let struck = self.wire.disarm();
            if struck == 0 {
                continue;
            }
            let tried = Tried {
                place: self,
                args: &args,
                input,
                at,
                before: &before,
                after: &after,
                plain: &plain,
                out: &out,
            };
            match judge(&tried) {
                Ok(Verdict::Kept) => counts.kept += 1,
                Ok(Verdict::Done) => counts.done += 1,
                Err(why) => {
                    let question = asked.get(fault.question - 1).map_or("", String::as_str);
                    let question: String =
                        question.split_whitespace().collect::<Vec<_>>().join(" ");
                    let odd = format!(
                        "{line}: {fault:?} of {}: {question:.120}: {why}\n    {:?} {:.600} {:.600}",
                        asked.len(),
                        out.status.code(),
                        text(&out.stdout),
                        text(&out.stderr)
                    );
                    println!("{odd}");
                    counts.odd.push(odd);
                }
            }
        }
    }
}

/// Number of faults that are tried on each command without `PROSE_SWEEP`.
const TAKEN: usize = 1;

fn is_whole() -> bool {
    std::env::var_os("PROSE_SWEEP").is_some()
}

/// The key before the number of an execution in the metadata of the audit log, as SQL prints it.
const NUMBERED: &str = "\\\"execution_id\\\":";

/// Judges a command that records. The records must be as before or as intended, as the exit code reports.
fn recorded(tried: &Tried<'_>) -> Result<Verdict, String> {
    let said = text(&tried.out.stderr);
    let now = tried.place.facts();
    let failed = matches!(tried.out.status.code(), Some(5 | 6));
    match tried.out.status.code() {
        Some(0) if now == tried.after => Ok(Verdict::Done),
        // Code 7: the records are complete, but a later step failed, such as printing or confirming.
        Some(7) if now == tried.after => Ok(Verdict::Done),
        // `gate show` printed the gate, with a note that the view was not recorded.
        Some(0) if now == tried.before && said.contains("not record that you viewed the gate") => {
            Ok(Verdict::Kept)
        }
        // The time-outs of one run are recorded, and another run could not be read.
        Some(5 | 6) if now == tried.after && said.contains("skipped: ") => Ok(Verdict::Done),
        // The command cannot find out whether its change was recorded, and prints where to look.
        Some(5 | 6) if now == tried.after && said.contains("not known whether") => {
            Ok(Verdict::Done)
        }
        Some(5 | 6) if now == tried.before => {
            if !names_something(&said) || !said.contains('→') {
                return Err("does not say what failed, or what to do".to_owned());
            }
            let again = tried.place.give(tried.args, tried.input, tried.at);
            let now = tried.place.facts();
            if again.status.success() && now == tried.after {
                Ok(Verdict::Kept)
            } else {
                Err(format!(
                    "the next one fails: {} {}",
                    text(&again.stderr),
                    differs(&now, tried.after)
                ))
            }
        }
        Some(0) if now == tried.before => Err("done, and not there".to_owned()),
        _ if failed && now == tried.after => Err("failed, and there".to_owned()),
        Some(0 | 5 | 6) => Err(format!(
            "neither as it was nor as it is to be: {} / {}",
            differs(&now, tried.before),
            differs(&now, tried.after)
        )),
        _ => Err("an exit code that says something else".to_owned()),
    }
}

/// Judges a command that reads. The command must print the same answer as without the fault, or an error about the
/// unread part.
fn answered(tried: &Tried<'_>, partly: bool) -> Result<Verdict, String> {
    let said = text(&tried.out.stderr);
    // The sizes of the tables in the output of `postgres` change by themselves.
    let told = |out: &Output| match tried.args[0].as_str() {
        "postgres" => without_sizes(&text(&out.stdout)),
        _ => text(&out.stdout),
    };
    let same = told(tried.out) == told(tried.plain);
    match tried.out.status.code() {
        // Code 1 means that the run has issues of severity error; the answer itself is complete.
        Some(0 | 1) if same => Ok(Verdict::Done),
        Some(5 | 6) if names_something(&said) && said.contains('→') => Ok(Verdict::Kept),
        Some(5 | 6) => Err("does not say what failed, or what to do".to_owned()),
        Some(0 | 1) if partly && names_cause(&format!("{}{said}", text(&tried.out.stdout))) => {
            Ok(Verdict::Kept)
        }
        Some(0 | 1) => {
            let (plain, now) = (text(&tried.plain.stdout), text(&tried.out.stdout));
            Err(format!("less than there is: {}", differs(&now, &plain)))
        }
        _ => Err("an exit code that says something else".to_owned()),
    }
}

/// Returns a text without its numbers of bytes and the words after them.
fn without_sizes(said: &str) -> String {
    let lines = said.lines().map(|line| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let unit = words
            .iter()
            .position(|word| ["B", "KB", "MB"].contains(&word.trim_end_matches(',')));
        if let Some(unit) = unit.filter(|unit| *unit > 0) {
            words.drain(unit - 1..=unit);
        }
        words.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn names_something(said: &str) -> bool {
    ["127.0.0.1", "postgres:r", ".prose"]
        .iter()
        .any(|name| said.contains(name))
}

fn names_cause(said: &str) -> bool {
    [
        "the test ",
        "cannot be",
        "not be read",
        "could not",
        "ISSUES",
        "cannot connect",
        "connection",
    ]
    .iter()
    .any(|cause| said.contains(cause))
}

/// Returns the parts of two texts around their first difference.
fn differs(now: &str, then: &str) -> String {
    let both = now.bytes().zip(then.bytes());
    let at = both.take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        let bytes = text.as_bytes();
        let part = &bytes[at.saturating_sub(80).min(bytes.len())..(at + 120).min(bytes.len())];
        String::from_utf8_lossy(part).into_owned()
    };
    if now == then {
        "the same".to_owned()
    } else {
        format!("…{}… instead of …{}…", part(now), part(then))
    }
}

/// Tries all commands. With `PROSE_SWEEP`, several run at once, because they mostly wait.
fn sweep(
    commands: &[(&'static str, &'static str, &'static str)],
    judge: &(dyn Fn(usize, &Tried<'_>) -> Result<Verdict, String> + Sync),
) {
    let Some(cluster) = cluster() else {
        return;
    };
    let only = std::env::var("PROSE_SWEEP_ONLY").unwrap_or_default();
    let many = if is_whole() { 6 } else { 1 };
    let all: Vec<Counts> = thread::scope(|scope| {
        let workers: Vec<_> = (0..many)
            .map(|worker| {
                let only = &only;
                scope.spawn(move || {
                    let place = Place::new(cluster);
                    let mut counts = Counts::default();
                    for (n, (line, input, at)) in commands.iter().enumerate() {
                        if n % many == worker && line.contains(only.as_str()) {
                            let judge = |tried: &Tried<'_>| judge(n, tried);
                            place.each(n, (line, input, at), &judge, &mut counts);
                        }
                    }
                    counts
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let mut counts = Counts::default();
    for each in all {
        counts.kept += each.kept;
        counts.done += each.done;
        counts.odd.extend(each.odd);
    }
    let Counts { kept, done, odd } = counts;
    println!("{kept} kept, {done} done, {} odd", odd.len());
    assert!(
        odd.is_empty(),
        "{} odd, {kept} kept, {done} done:\n{}",
        odd.len(),
        odd.join("\n")
    );
    assert!(
        kept + done > 0 || !only.is_empty(),
        "{kept} kept, {done} done"
    );
}

#[test]
fn a_recording_command_says_truly_whether_it_recorded_when_the_server_fails() {
    let commands: Vec<_> = WRITERS
        .iter()
        .map(|(input, at, line)| (*line, *input, *at))
        .collect();
    sweep(&commands, &|_, tried| recorded(tried));
}

#[test]
fn what_a_failing_server_did_not_answer_is_never_said_to_be_none() {
    let commands: Vec<_> = READERS.iter().map(|(line, _)| (*line, "", NOW)).collect();
    sweep(&commands, &|n, tried| answered(tried, READERS[n].1));
}
