//! Tests of followers with many concurrent writers, Prosescope's and those of other programs: a follower gets each
//! event once, in order, and misses none.
//!
//! With `PROSE_SOAK=1`, ten writers append 100,000 events to one workflow, a hundred writers append 100,000 events to a
//! hundred workflows at full speed, and a hundred writers with pauses append 30,000; the test prints the rates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use prosescope_postgres::{Address, Listener, PostgresTables};
use prosescope_workflow::{Append, Horizon, NewEvent, events, events_until, record};

use super::workflows::{Session, conformance};
use crate::{address, database};

const FOLLOWERS: usize = 3;

/// The amount of concurrent work in one test.
#[derive(Clone, Copy)]
struct Load {
    workflows: u32,
    writers: u32,
    /// The number of events that each writer appends.
    each: u32,
    /// How long a writer pauses after each event.
    pause: Duration,
    /// The number of programs that take no lock and leave transactions open.
    foreign: u32,
    /// The number of transactions of each program that takes no lock.
    held: u32,
}

/// The numbers of events that simple followers missed. Such followers do not wait for open transactions.
#[derive(Default)]
struct Missed {
    plain: usize,
    xmin: usize,
}

fn workflow_of(n: u32) -> String {
    conformance::id(2 * (1 + n))
}

/// Returns an event whose text contains its time: nanoseconds since the start.
fn note(who: &str, begun: Instant) -> NewEvent {
    NewEvent {
        text: format!("{who} {}", begun.elapsed().as_nanos()),
        ..NewEvent::default()
    }
}

/// Executes a load and checks Prosescope's followers; returns the numbers of events that simple followers missed.
fn run(load: Load) -> Option<Missed> {
    let (_, url) = database()?;
    let at = address(&url);
    let mut store = PostgresTables::set_up(&at).unwrap();
    for n in 0..load.workflows {
        record(
            &mut store,
            &conformance::start(1 + n),
            None,
            conformance::NOW,
        )
        .unwrap();
    }
    let begun = Instant::now();
    let over = AtomicBool::new(false);
    let acknowledged = AtomicUsize::new(0);
    let mut missed = Missed::default();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..load.writers)
            .map(|writer| {
                let (url, acknowledged) = (&url, &acknowledged);
                scope.spawn(move || {
                    let mut store = PostgresTables::open(&address(url)).unwrap();
                    for n in 0..load.each {
                        let append = Append {
                            workflow: workflow_of(writer % load.workflows),
                            notes: vec![note(&format!("ours {writer} {n}"), begun)],
                        };
                        record(&mut store, &append, None, conformance::NOW).unwrap();
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(load.pause);
                    }
                })
            })
            .collect();
        let foreign: Vec<_> = (0..load.foreign)
            .map(|program| {
                let url = &url;
                scope.spawn(move || hold_open(url, program, load, begun))
            })
            .collect();
        let followers: Vec<_> = (0..FOLLOWERS)
            .map(|_| scope.spawn(|| follow(&at, load.workflows, begun, &over)))
            .collect();
        let simple: Vec<_> = [PLAIN, XMIN]
            .into_iter()
            .map(|cursor| scope.spawn(|| follow_simply(&url, cursor, &over)))
            .collect();
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
        let took = begun.elapsed();
        foreign
            .into_iter()
            .for_each(|program| program.join().unwrap());
        over.store(true, Ordering::SeqCst);
        let all = all_events(&url);
        assert_eq!(
            acknowledged.load(Ordering::Relaxed) as u32,
            load.writers * load.each
        );
        let ours = all.values().filter(|text| text.starts_with("ours")).count();
        assert_eq!(ours as u32, load.writers * load.each);
        assert!(
            load.foreign == 0 || all.len() > ours,
            "foreign programs wrote nothing"
        );
        let mut lags = Vec::new();
        for follower in followers {
            let (got, mut lag) = follower.join().unwrap();
            let count = got.len();
            let ids: BTreeSet<i64> = got.iter().map(|(id, _)| *id).collect();
            let missed: Vec<_> = all.iter().filter(|(id, _)| !ids.contains(id)).collect();
            assert!(missed.is_empty(), "missed of {}: {missed:?}", all.len());
            // All received events are counted, because a map would hide duplicates.
            assert_eq!(count, all.len(), "twice");
            let got: BTreeMap<i64, String> = got.into_iter().collect();
            assert!(got == all, "a follower got other events than there are");
            lags.append(&mut lag);
        }
        let simple = simple.into_iter().map(|simple| simple.join().unwrap());
        let lost: Vec<usize> = simple
            .map(|got| all.keys().filter(|id| !got.contains(id)).count())
            .collect();
        missed = Missed {
            plain: lost[0],
            xmin: lost[1],
        };
        lags.sort_unstable();
        let at = |part: usize| {
            lags.get(lags.len() * part / 100)
                .copied()
                .unwrap_or_default()
        };
        println!(
            "{} writers on {} workflows, each with pauses of {:?}, {} foreign programs: {} events in {:.1} s ({:.0}/s of ours); lag p50 {:?}, p99 {:?}; missed by a plain cursor {}, by xmin {}",
            load.writers,
            load.workflows,
            load.pause,
            load.foreign,
            all.len(),
            took.as_secs_f64(),
            f64::from(load.writers * load.each) / took.as_secs_f64(),
            Duration::from_nanos(at(50)),
            Duration::from_nanos(at(99)),
            missed.plain,
            missed.xmin,
        );
    });
    Some(missed)
}

/// Runs a program without locks: it inserts, continues with other work, and commits or rolls back.
fn hold_open(url: &str, program: u32, load: Load, begun: Instant) {
    let mut session = Session::open(url);
    let mut chance = u64::from(program) + 1;
    let mut next = |below: u64| {
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % below
    };
    for n in 0..load.held {
        let rows: Vec<String> = (0..1 + next(3))
            .map(|row| {
                let of = workflow_of(next(u64::from(load.workflows)) as u32);
                let at = begun.elapsed().as_nanos();
                format!("INSERT INTO workflow_events (workflow_id, kind, text) VALUES ('{of}', 'progress', 'foreign {program} {n} {row} {at}')")
            })
            .collect();
        // Some transactions get their own id early and the ids of their events late, so that the two orders differ.
        if next(2) == 0 {
            session.run("BEGIN; SELECT pg_current_xact_id()").unwrap();
            thread::sleep(Duration::from_millis(next(10)));
            session.run(&rows.join("; ")).unwrap();
        } else {
            session.run(&format!("BEGIN; {}", rows.join("; "))).unwrap();
        }
        thread::sleep(Duration::from_millis(next(20)));
        let end = if next(4) == 0 { "ROLLBACK" } else { "COMMIT" };
        session.run(end).unwrap();
    }
}

/// Records the events that Prosescope's follower gets, with their delays, until all writers have ended and no event
/// follows.
fn follow(
    at: &Address,
    workflows: u32,
    begun: Instant,
    over: &AtomicBool,
) -> (Vec<(i64, String)>, Vec<u64>) {
    let store = PostgresTables::open(at).unwrap();
    let mut listener = Listener::open(at).unwrap();
    let mut horizon = Horizon::default();
    // With many workflows, one statement reads the events of all workflows, as the workflow server does.
    let of = (workflows == 1).then(|| workflow_of(0));
    let (mut got, mut lags) = (Vec::new(), Vec::new());
    let (mut cursor, mut settled, mut quiet) = (0, 0, 0);
    loop {
        let is_over = over.load(Ordering::SeqCst);
        let before = std::mem::replace(&mut settled, horizon.advance(&store).unwrap());
        if before < settled {
            loop {
                let page = events_until(&store, of.as_deref(), cursor, settled, 1000).unwrap();
                for event in page.events {
                    assert!(event.id > cursor, "in order, and never again");
                    cursor = event.id;
                    let sent = event
                        .text
                        .rsplit(' ')
                        .next()
                        .and_then(|at| at.parse::<u64>().ok());
                    if event.text.starts_with("ours") {
                        let now = u64::try_from(begun.elapsed().as_nanos()).unwrap();
                        lags.extend(sent.map(|sent| now.saturating_sub(sent)));
                    }
                    got.push((event.id, event.text));
                }
                if !page.more {
                    break;
                }
            }
        }
        // Checks twice, because the first check may end a wait that began before the last event.
        let is_quiet = is_over && horizon.waits().is_empty() && before == settled;
        quiet = if is_quiet { quiet + 1 } else { 0 };
        if quiet == 2 {
            return (got, lags);
        }
        if horizon.waits().is_empty() && before == settled {
            listener.wait(Duration::from_millis(50));
        }
    }
}

/// Selects the events after the cursor, without regard to open transactions.
const PLAIN: &str = "SELECT id FROM workflow_events WHERE id > $CURSOR ORDER BY id";

/// Selects the events after the cursor, if their transactions are older than every open one.
const XMIN: &str = "SELECT id FROM workflow_events WHERE id > $CURSOR
    AND (xmin::text::bigint) < (pg_snapshot_xmin(pg_current_snapshot())::text::bigint) ORDER BY id";

fn follow_simply(url: &str, sql: &str, over: &AtomicBool) -> BTreeSet<i64> {
    let mut session = Session::open(url);
    let mut got = BTreeSet::new();
    loop {
        let is_over = over.load(Ordering::SeqCst);
        let cursor = got.last().copied().unwrap_or(0);
        let ids = session
            .run(&sql.replace("$CURSOR", &cursor.to_string()))
            .unwrap();
        got.extend(ids.lines().map(|id| id.parse::<i64>().unwrap()));
        if is_over {
            return got;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn all_events(url: &str) -> BTreeMap<i64, String> {
    let (cluster, _) = database().unwrap();
    let all = cluster.psql(url, "SELECT id, text FROM workflow_events ORDER BY id");
    let all = all.unwrap();
    let row = |line: &str| {
        let (id, text) = line.split_once('|').unwrap();
        (id.parse().unwrap(), text.to_owned())
    };
    all.lines().map(row).collect()
}

#[test]
fn followers_of_many_writers_miss_nothing() {
    let load = Load {
        workflows: 2,
        writers: 10,
        each: 100,
        pause: Duration::ZERO,
        foreign: 4,
        held: 25,
    };
    run(load);
}

#[test]
fn a_hundred_thousand_events_reach_every_follower_once() {
    if std::env::var_os("PROSE_SOAK").is_none() {
        return;
    }
    let one = Load {
        workflows: 1,
        writers: 10,
        each: 10_000,
        pause: Duration::ZERO,
        foreign: 8,
        held: 800,
    };
    let many = Load {
        workflows: 100,
        writers: 100,
        each: 1_000,
        ..one
    };
    // These writers pause, which leaves processor time for the follower; with hundreds of writers at full speed, the
    // follower would be late.
    let paced = Load {
        each: 300,
        pause: Duration::from_millis(150),
        held: 400,
        ..many
    };
    for load in [one, many, paced] {
        let Some(missed) = run(load) else { return };
        assert!(missed.plain > 0, "a plain cursor missed nothing");
        assert!(
            missed.xmin > 0,
            "a cursor behind the oldest transaction missed nothing"
        );
    }
}

#[test]
fn an_event_wakes_who_listens_once_it_is_committed() {
    let Some((_, url)) = database() else { return };
    let at = address(&url);
    let mut store = PostgresTables::set_up(&at).unwrap();
    record(&mut store, &conformance::start(1), None, conformance::NOW).unwrap();
    let mut listener = Listener::open(&at).unwrap();
    let mut theirs = Session::open(&url);
    let insert = format!(
        "BEGIN; INSERT INTO workflow_events (workflow_id, kind, text) VALUES ('{}', 'progress', 'x')",
        workflow_of(0)
    );
    theirs.run(&insert).unwrap();
    let begun = Instant::now();
    assert!(listener.wait(Duration::from_millis(100)));
    assert!(begun.elapsed() >= Duration::from_millis(100), "not yet");
    theirs.run("COMMIT").unwrap();
    // The call returns when a notification arrives; without one, it would wait for an hour.
    assert!(listener.wait(Duration::from_secs(3600)));
    let pid = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    theirs.run(pid).unwrap();
    assert!(!listener.wait(Duration::from_secs(3600)), "it is gone");
}

/// Shows why waiting for the oldest open transaction is not enough: a later transaction can get an earlier id.
#[test]
fn the_oldest_transaction_says_nothing_about_ids() {
    // The test uses its own server, because a transaction of another test, in another database, could be the oldest.
    let Some(cluster) = prosescope_test_support::cluster::Cluster::start(&[]) else {
        return;
    };
    let url = cluster.database();
    let at = address(&url);
    let mut store = PostgresTables::set_up(&at).unwrap();
    record(&mut store, &conformance::start(1), None, conformance::NOW).unwrap();
    let insert = |text: &str| {
        format!(
            "INSERT INTO workflow_events (workflow_id, kind, text) VALUES ('{}', 'progress', '{text}') RETURNING id",
            workflow_of(0)
        )
    };
    let [mut older, mut newer, mut reader] = [(); 3].map(|()| Session::at(&cluster, &url));
    older.run("BEGIN; SELECT pg_current_xact_id()").unwrap();
    let first = newer.run(&format!("BEGIN; {}", insert("newer"))).unwrap();
    let second = older.run(&insert("older")).unwrap();
    older.run("COMMIT").unwrap();
    let simple = |session: &mut Session, sql: &str, cursor: &str| {
        session.run(&sql.replace("$CURSOR", cursor)).unwrap()
    };
    let store = PostgresTables::open(&at).unwrap();
    let mut horizon = Horizon::default();
    assert_eq!(horizon.advance(&store).unwrap(), 0, "held back");
    // Both cursors pass the second event and never see the first.
    for sql in [PLAIN, XMIN] {
        assert_eq!(simple(&mut reader, sql, "0"), second);
    }
    newer.run("COMMIT").unwrap();
    for sql in [PLAIN, XMIN] {
        assert_eq!(simple(&mut reader, sql, &second), "");
        assert_eq!(simple(&mut reader, sql, "0"), format!("{first}\n{second}"));
    }
    horizon.advance(&store).unwrap();
    let page = events(&store, &horizon, &workflow_of(0), 0, 10).unwrap();
    let texts: Vec<&str> = page
        .events
        .iter()
        .map(|event| event.text.as_str())
        .collect();
    assert_eq!(texts, ["newer", "older"]);
}

/// A prepared transaction outlives its session, and has another name after a restart of the server.
#[test]
fn a_prepared_transaction_is_waited_for() {
    let Some(cluster) =
        prosescope_test_support::cluster::Cluster::start(&["max_prepared_transactions=2"])
    else {
        return;
    };
    let url = cluster.database();
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut store, &conformance::start(1), None, conformance::NOW).unwrap();
    let of = workflow_of(0);
    let insert = format!(
        "INSERT INTO workflow_events (workflow_id, kind, text) VALUES ('{of}', 'progress', 'x')"
    );
    // A transaction with a notification cannot be prepared.
    cluster
        .psql(
            &url,
            "ALTER TABLE workflow_events DISABLE TRIGGER x_workflow_notify",
        )
        .unwrap();
    let mut theirs = Session::at(&cluster, &url);
    theirs.run(&format!("BEGIN; {insert}")).unwrap();
    let mut horizon = Horizon::default();
    assert_eq!(horizon.advance(&store).unwrap(), 0);
    theirs.run("PREPARE TRANSACTION 'theirs'").unwrap();
    assert_eq!(horizon.advance(&store).unwrap(), 0, "it is still open");
    drop(theirs);
    cluster.crash();
    assert_eq!(horizon.advance(&store).unwrap(), 0, "it is still open");
    cluster.psql(&url, "COMMIT PREPARED 'theirs'").unwrap();
    assert_eq!(horizon.advance(&store).unwrap(), 1);
    assert_eq!(conformance::read(&store, &of, 0).len(), 1);
}
