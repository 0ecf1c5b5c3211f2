//! Runs the sweep: records each program with an interpreter in several ways (form, failure), on two threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use prosescope_test_support::chance::number;
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::needs;

use crate::driver::{Form, Stop, Vm};
use crate::plan::{After, Fail, Mishaps};
use crate::programs::{Program, below, made};
use crate::report::{Ended, table};
use crate::{by_next, compare, naive};
use prosescope_test_support::random::Chance;

/// The number of generated programs: in plain `cargo test`, and in the whole sweep.
const MADE: (u64, u64) = (40, 300);

/// The interpreter that records a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The interpreter that knows the indentation of lines and `help vm`.
    Reading,
    /// The interpreter that follows `next`.
    Next,
}

/// How many ways of recording are tried for each program: combinations of a form and a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ways {
    /// Each interpreter records in one form, with or without a failure.
    One,
    /// Each interpreter records in one form without a failure, and in the other with or without one.
    Two,
    /// Each interpreter records in both forms, without a failure and with each kind of failure.
    All,
}

/// One recording of a program.
#[derive(Debug, Clone, Copy)]
struct Task {
    program: usize,
    by: By,
    form: Form,
    fail: Option<After>,
    /// Whether gates are rejected at random.
    reject: bool,
    seed: u64,
}

#[test]
fn next_alone_carries_every_program_to_its_end() {
    sweep(By::Next);
}

#[test]
fn indentation_and_help_vm_carry_every_program_to_its_end() {
    sweep(By::Reading);
}

fn sweep(by: By) {
    let Some(prose) = needs::prose() else { return };
    let seed = number("PROSE_SEED").unwrap_or(1);
    let ways = match std::env::var("PROSE_SWEEP").as_deref() {
        Err(_) => Ways::One,
        Ok("once") => Ways::Two,
        Ok(_) => Ways::All,
    };
    let whole = ways != Ways::One;
    let count = number("PROSE_CASES").unwrap_or(if whole { MADE.1 } else { MADE.0 });
    let mut programs = below(&needs::fixtures("programs"));
    programs.extend(made(seed, count));
    if whole && let Some(corpus) = needs::shared("corpus/programs") {
        programs.extend(below(&corpus));
    }
    if let Ok(only) = std::env::var("PROSE_SWEEP_ONLY") {
        programs.retain(|program| program.name.contains(&only));
    }
    let tasks = tasks(by, &programs, seed, ways);
    let all = run(&programs, &tasks, &prose);
    println!("seed {seed}\n{}", table(&all));
    let left = all.iter().filter(|one| !one.stops.is_empty()).count();
    assert!(left * 100 <= all.len(), "{left} of {} are left", all.len());
}

fn tasks(by: By, programs: &[Program], seed: u64, ways: Ways) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (program, Program { name, .. }) in programs.iter().enumerate() {
        // The seed depends on the program's name, so that an error recurs when only that program is run.
        let own = name.bytes().fold(seed, |own, byte| {
            own.wrapping_mul(31).wrapping_add(byte.into())
        });
        let mut add = |form, fail| {
            tasks.push(Task {
                program,
                by,
                form,
                fail,
                // A rejection may end the run before the failure is taken up again.
                reject: fail != Some(After::Outwards) && own % 2 == 0,
                seed: own,
            });
        };
        let forms = [Form::Sqlite, Form::Folder, Form::Postgres];
        let fails = [None, Some(After::Retry), Some(After::Outwards)];
        match ways {
            Ways::All => {
                for form in forms {
                    for fail in fails {
                        add(form, fail);
                    }
                }
            }
            Ways::Two => {
                add(forms[program % 2], None);
                add(forms[(program + 1) % 2], fails[program % 3]);
            }
            // The two interpreters record a program in different forms. Any six consecutive programs combine each form
            // with each kind of failure.
            Ways::One => {
                let turn = program + usize::from(by == By::Next);
                add(forms[turn % 2], fails[turn / 2 % 3]);
            }
        }
        if program % 6 == 0 && ways != Ways::All {
            add(Form::Postgres, fails[program / 6 % 3]);
        }
    }
    tasks
}

fn run(programs: &[Program], tasks: &[Task], prose: &std::path::Path) -> Vec<Ended> {
    let server = if tasks.iter().any(|task| task.form == Form::Postgres) {
        Cluster::shared()
    } else {
        None
    };
    let (at, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(task) = tasks.get(at.fetch_add(1, Ordering::Relaxed)) {
                    let Some(program) = programs.get(task.program) else {
                        break;
                    };
                    let server = server.filter(|_| task.form == Form::Postgres);
                    if task.form == Form::Postgres && server.is_none() {
                        continue;
                    }
                    let ended = record(program, *task, prose, server);
                    all.lock().expect("no thread panics").push(ended);
                }
            });
        }
    });
    let mut all = all.into_inner().expect("no thread panics");
    all.sort_by(|a, b| (&a.program, &a.way).cmp(&(&b.program, &b.way)));
    all
}

fn record(
    program: &Program,
    task: Task,
    prose: &std::path::Path,
    server: Option<&'static Cluster>,
) -> Ended {
    let rejects = if task.reject { ", rejections" } else { "" };
    let fails = match task.fail {
        None => "",
        Some(After::Retry) => ", a failure, retried",
        Some(After::Outwards) => ", a failure, outwards",
    };
    let mut commands = 0;
    let stops =
        carried(program, task, prose, server, &mut commands).unwrap_or_else(|stop| vec![stop]);
    Ended {
        program: program.name.clone(),
        way: format!(
            "{}, {}{fails}{rejects}",
            match task.by {
                By::Reading => "help vm",
                By::Next => "next",
            },
            task.form.word()
        ),
        stops,
        commands,
    }
}

fn carried(
    program: &Program,
    task: Task,
    prose: &std::path::Path,
    server: Option<&'static Cluster>,
    commands: &mut usize,
) -> Result<Vec<Stop>, Stop> {
    // One database serves all programs, because each database takes several megabytes.
    static DATABASE: OnceLock<String> = OnceLock::new();
    let url = server.map(|server| DATABASE.get_or_init(|| server.database()).clone());
    let mut chance = Chance::new(task.seed ^ 0x5eed);
    let fail = task.fail.map(|after| Fail {
        nth: 1 + chance.below(6),
        after,
    });
    let mishaps = Mishaps {
        fail,
        reject: task.reject,
    };
    let mut vm = Vm::begin(prose, &program.text, task.form, url.as_deref())?;
    let done = match task.by {
        By::Next => by_next::interpret(&mut vm, task.seed, mishaps),
        By::Reading => naive::interpret(&mut vm, &program.text, task.seed, mishaps),
    };
    let result = done.map(|()| compare::compare(&mut vm));
    *commands = vm.commands;
    let whole = result.as_ref().is_ok_and(Vec::is_empty);
    if !whole && std::env::var_os("PROSE_SWEEP_KEEP").is_some() {
        println!("{}, {:?}: {}", program.name, task.form, vm.keep());
    }
    result
}
