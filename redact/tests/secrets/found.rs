//! The planted list, bare and in the places where people write secrets.

use prosescope_redact::{Names, Rules, replace};

use crate::planted::{self, Kind};

#[test]
fn at_least_a_hundred_kinds_each_with_its_source_and_another_secret_by_seed() {
    let mut names: Vec<_> = planted::kinds().map(|kind| kind.0).collect();
    assert!(names.len() >= 100, "{} kinds", names.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names.len(),
        planted::kinds().count(),
        "two kinds have one name"
    );
    for kind in planted::kinds() {
        assert!(!kind.1.is_empty(), "{} has no source", kind.0);
        let (one, other) = (planted::plant(kind, 1), planted::plant(kind, 2));
        assert!(
            one.text.contains(&one.secret) && one.secret != other.secret,
            "{}",
            kind.0
        );
    }
}

/// Where a planted text stands.
const PLACES: [(&str, &str); 7] = [
    ("", ""),
    ("The agent used ", " to log in.\n"),
    ("first line\n", "\nlast line\n"),
    ("| name | ", " |\n"),
    ("    \"", "\",\n"),
    ("`", "`"),
    ("> ", "\r\n> next"),
];

fn missed(kind: &Kind) -> Vec<String> {
    let rules = Rules::new();
    let mut missed = Vec::new();
    for seed in 0..4 {
        let planted = planted::plant(kind, seed);
        for (before, behind) in PLACES {
            let text = format!("{before}{}{behind}", planted.text);
            let redacted = replace(&text, &rules.scan(&text, &mut Names::new()));
            // The last line of a block is the same in each; what counts is what is secret of it.
            let left = planted
                .secret
                .lines()
                .max_by_key(|line| line.len())
                .unwrap_or_default();
            if redacted.contains(left) {
                missed.push(format!(
                    "{} (seed {seed}, {before:?}): {redacted:?}",
                    kind.0
                ));
            }
        }
    }
    missed
}

#[test]
fn of_the_planted_kinds_at_least_98_in_100_are_found() {
    let (mut all, mut found, mut report) = (0, 0, Vec::new());
    for kind in planted::kinds() {
        let missed = missed(kind);
        all += 1;
        found += usize::from(missed.is_empty());
        report.extend(missed.into_iter().take(1));
    }
    eprintln!("{found} of {all} kinds\n{}", report.join("\n"));
    assert!(
        found * 100 >= all * 98,
        "{found} of {all} kinds\n{}",
        report.join("\n")
    );
}
