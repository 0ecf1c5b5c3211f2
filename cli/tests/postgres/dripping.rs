//! Servers that answer slowly, or answer everybody but the one who waits: a question has a limit, however it is not answered.
//!
//! What is counted is what the server did in the meantime, as it sends twice a second: a machine that is busy makes it fewer.

use std::thread;

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::faulty::{Answer, Fault};

use crate::hostile::{Place, watched};
use crate::project::{cluster, text};

/// A question that drips is left within 15 s: what is sent in that time, and a few more that nobody reads.
const DRIPS: usize = 2 * 15 + 6;

/// Commands, each with the beginning of a question of it whose answer drips: rows that are held, handed on one by one, or looked
/// at behind what was written.
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
    // The last ones read the run's tables.
    for (at, sql) in all.filter(|(_, sql)| sql.starts_with(beginning)).rev() {
        place.wire.arm(Some(Fault {
            question: at + 1,
            answer: Answer::Drip,
            for_good: false,
        }));
        let (code, said, memory) = watched(&mut place.command(line));
        place.wire.disarm();
        let dripped = place.wire.dripped();
        // An answer without a row came whole.
        if dripped == 0 {
            continue;
        }
        tried += 1;
        let what = format!("{line}: {sql:.200}: {code:?}, {dripped} times: {said:.600}");
        assert!(dripped <= DRIPS, "{what}");
        assert!(memory < 256 << 20, "{memory} bytes: {what}");
        match code {
            // A list may go without what could not be read; what was not recorded is recorded when it is begun anew.
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

/// A writer whose statement hangs looks whether the server answers another connection. One that does is not waited for as long as
/// it does, but a little longer than for a lock: then the command is begun anew, or says that nothing was recorded.
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
        answer: Answer::Silence,
        for_good: false,
    }));
    let (code, said, memory) = watched(&mut place.command(line));
    assert!(place.wire.disarm() > 0);
    assert!(memory < 256 << 20, "{memory} bytes: {said}");
    assert!(matches!(code, Some(0 | 6)), "{code:?}: {said}");
    // It looks every 4 s, for 12 s, and connects once more.
    let more = connections() - before;
    assert!((1..=5).contains(&more), "{more} connections more: {said}");
}
