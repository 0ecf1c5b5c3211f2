//! Tests with servers that answer one query very slowly or not at all. Every query has a time limit, so each command
//! ends.
//!
//! The tests do not measure time, because commands take longer on a busy machine. Instead, they count the pieces that
//! the server sends, at most two per second. On a busy machine, the server sends fewer pieces.

use std::thread;

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::faulty::{Answer, Fault};

use crate::hostile::{Place, watched};
use crate::project::{cluster, text};

/// Maximum number of pieces of an answer that the server sends before the command gives up: two per second for 15 s,
/// and a few that are sent but not read any more.
const DRIPS: usize = 2 * 15 + 6;

/// Commands, each with the first words of the query that is answered slowly. The commands read rows all at once, read
/// them one by one, or read after writing.
const DRIPPING: &[(&str, &str)] = &[
    ("show RUN", "SELECT"),
    ("get a --run RUN", "SELECT"),
    ("search value --run RUN", "SELECT"),
    ("put x --run RUN", "SELECT gen_random_uuid"),
    ("gates", "SELECT"),
];

#[test]
fn a_server_that_drips_is_left_as_one_that_is_silent_is() {
    let Some(cluster) = cluster() else {
        return;
    };
    let whole = std::env::var_os("PROSE_SWEEP").is_some();
    thread::scope(|scope| {
        for (line, beginning) in DRIPPING {
            scope.spawn(move || drips(cluster, line, beginning, whole));
        }
    });
}

fn drips(cluster: &Cluster, line: &str, beginning: &str, whole: bool) {
    let place = Place::new(cluster);
    place.wire.arm(None);
    let (code, plain, _) = watched(&mut place.command(line));
    assert_eq!(code, Some(0), "{line}: {plain}");
    let asked = place.wire.asked();
    let all = asked.iter().enumerate();
    let mut tried = 0;
    // The search begins with the last queries of the command, because these read the tables of the run.
    for (at, sql) in all.filter(|(_, sql)| sql.starts_with(beginning)).rev() {
        place.wire.arm(Some(Fault {
            question: at + 1,
            only: "",
            answer: Answer::Drip,
            for_good: false,
        }));
        let (code, said, memory) = watched(&mut place.command(line));
        place.wire.disarm();
        let dripped = place.wire.dripped();
        // An answer without rows is sent at once, so another query is tried.
        if dripped == 0 {
            continue;
        }
        tried += 1;
        let what = format!("{line}: {sql:.200}: {code:?}, {dripped} times: {said:.600}");
        assert!(dripped <= DRIPS, "{what}");
        assert!(memory < 256 << 20, "{memory} bytes: {what}");
        match code {
            // A list may leave out unread parts, and a writing command may record with a second attempt.
            Some(0 | 1) => {}
            code => {
                assert!(matches!(code, Some(5 | 6)), "{what}");
                assert!(
                    said.contains("does not answer") && said.contains('→'),
                    "{what}"
                );
            }
        }
        if !whole {
            break;
        }
    }
    assert!(tried > 0, "{line}: {asked:?}");
}

/// If a writer gets no answer to a statement, it checks on another connection whether the server answers. If the
/// server does, the writer waits only a little longer than for a lock. Then the writer repeats the command, or
/// reports that nothing was recorded.
#[test]
fn a_server_that_answers_all_but_one_question_is_left_all_the_same() {
    let Some(cluster) = cluster() else {
        return;
    };
    let place = Place::new(cluster);
    let line = "put x --run RUN";
    let connections = || {
        let asked = place.wire.asked();
        asked.iter().filter(|sql| *sql == "(start)").count()
    };
    place.wire.arm(None);
    let out = place.command(line).output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    let (before, asked) = (connections(), place.wire.asked());
    let written = asked.iter().position(|sql| sql.starts_with("INSERT"));
    place.wire.arm(Some(Fault {
        question: written.unwrap() + 1,
        only: "",
        answer: Answer::Silence,
        for_good: false,
    }));
    let (code, said, memory) = watched(&mut place.command(line));
    assert!(place.wire.disarm() > 0);
    assert!(memory < 256 << 20, "{memory} bytes: {said}");
    assert!(matches!(code, Some(0 | 6)), "{code:?}: {said}");
    // The writer checks every 4 s, for 12 s, and then connects once more.
    let more = connections() - before;
    assert!((1..=5).contains(&more), "{more} connections more: {said}");
}
