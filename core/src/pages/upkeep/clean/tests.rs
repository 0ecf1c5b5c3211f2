use super::*;

const DAY: i64 = 86_400_000;
const NOW: i64 = 1_769_400_000_000;

fn entry(name: &str, status: &str, days: i64) -> RunsEntry {
    RunsEntry {
        name: name.to_owned(),
        bytes: 10,
        files: 1,
        newest: Some(NOW - days * DAY),
        run: Some(RunSummary {
            id: name.to_owned(),
            status: status.to_owned(),
            last_sign: Some(Stamp::At(NOW - days * DAY)),
            ..RunSummary::default()
        }),
        ..RunsEntry::default()
    }
}

fn entries() -> Vec<RunsEntry> {
    let mut gate = entry("gate", "running", 9);
    gate.run.as_mut().unwrap().pending_gates = 1;
    let mut broken = entry("broken", "", 99);
    broken.run.as_mut().unwrap().error = Some("no database".to_owned());
    let mut link = entry("link", "completed", 99);
    link.kind = EntryKind::Link;
    let mut trash = entry(".trash-old", "completed", 99);
    trash.run = None;
    let mut plain = entry("plain", "", 99);
    plain.run = None;
    vec![
        trash,
        broken,
        entry("done-new", "completed", 1),
        entry("done-old", "completed", 40),
        entry("failed-old", "failed", 40),
        gate,
        link,
        plain,
        entry("running-new", "running", 0),
        entry("running-old", "running", 40),
        entry("waiting-old", "waiting", 40),
    ]
}

#[test]
fn what_may_be_in_the_making_stays_for_an_hour() {
    let left = |hours: i64, force: bool| {
        let mut made = entry(".trash-new-a1", "", 0);
        made.run = None;
        made.newest = Some(NOW - hours * DAY / 24);
        let plan = plan(&ask(&[], &["completed"], None, force), &[made]).unwrap();
        (plan.leftovers.len(), plan.keep.len())
    };
    assert_eq!(left(0, false), (0, 1));
    assert_eq!(left(1, false), (1, 0));
    assert_eq!(left(0, true), (1, 0));
}

fn ask(runs: &[&str], status: &[&str], days: Option<i64>, force: bool) -> Request {
    Request {
        runs: runs.iter().map(|r| (*r).to_owned()).collect(),
        filter: Filter {
            status: status.iter().map(|s| (*s).to_owned()).collect(),
            quiet_since: days.map(|days| NOW - days * DAY),
            ..Filter::default()
        },
        force,
        now: NOW,
    }
}

fn names(runs: &[CleanRun]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    names.join(" ")
}

#[test]
fn names_ages_and_statuses_narrow_together_and_what_lives_stays() {
    for (request, removed, kept) in [
        (
            ask(&[], &["completed"], None, false),
            "done-new done-old",
            "",
        ),
        (
            ask(&[], &["completed", "failed"], Some(30), false),
            "done-old failed-old",
            "",
        ),
        (
            ask(&[], &[], Some(30), false),
            "done-old failed-old running-old",
            "broken waiting-old",
        ),
        (
            ask(&[], &["running", "waiting"], None, false),
            "running-old",
            "gate running-new waiting-old",
        ),
        (
            ask(&[], &["running", "waiting"], None, true),
            "gate running-new running-old waiting-old",
            "",
        ),
        (ask(&[], &["unreadable"], None, false), "broken", ""),
        (
            ask(&["broken", "done-o"], &[], None, false),
            "broken done-old",
            "",
        ),
        (
            ask(&["done-new", "link", "plain"], &["failed"], None, true),
            "",
            "done-new link plain",
        ),
    ] {
        let plan = plan(&request, &entries()).unwrap();
        assert_eq!(
            (names(&plan.remove).as_str(), names(&plan.keep).as_str()),
            (removed, kept),
            "{request:?}"
        );
        assert_eq!(plan.leftovers.len(), 1);
        assert_eq!(plan.bytes, 10 * (plan.remove.len() as u64 + 1));
    }
}

#[test]
fn the_date_of_a_file_makes_no_run_old_and_none_live() {
    // Each case: status, age of the newest record in days, age of the newest file in days, whether the run is removed,
    // why.
    for (status, recorded, changed, goes, why) in [
        ("running", Some(40), 40, true, "running, silent for 40d"),
        (
            "running",
            Some(40),
            0,
            false,
            "the run is running: its records are silent for 40d, but one of its files changed less than 1m ago, as in a copy; `--force` removes the run anyway",
        ),
        (
            "running",
            Some(0),
            40,
            false,
            "the run is running with a sign of life less than 1m ago; `--force` removes the run anyway",
        ),
        (
            "unknown",
            None,
            40,
            false,
            "the run is unknown and records no time; `--force` removes the run anyway",
        ),
        ("completed", Some(40), 0, true, "completed"),
        ("completed", None, 0, true, "completed"),
    ] {
        let mut run = entry("r", status, changed);
        let sign = recorded.map(|days| Stamp::At(NOW - days * DAY));
        run.run.as_mut().unwrap().last_sign = sign.clone();
        let plan = plan(&ask(&["r"], &[], None, false), &[run]).unwrap();
        let judged = if goes { &plan.remove } else { &plan.keep };
        assert_eq!(judged[0].why, why, "{status} {recorded:?} {changed}");
        assert_eq!(judged[0].last_sign, sign, "{status} {recorded:?} {changed}");
    }
}

#[test]
fn a_recorded_time_decides_how_old_a_run_is() {
    // Three runs: one of today with old file dates, an old one that was copied today, and an old one.
    for (recorded, changed, goes) in [(0, 40, false), (40, 0, true), (40, 40, true)] {
        let mut run = entry("r", "completed", changed);
        run.run.as_mut().unwrap().last_sign = Some(Stamp::At(NOW - recorded * DAY));
        let plan = plan(&ask(&[], &["completed"], Some(30), false), &[run]).unwrap();
        assert_eq!(plan.remove.len() == 1, goes, "{recorded} {changed}");
    }
}

#[test]
fn a_name_that_means_no_run_is_an_error_and_so_is_no_choice_at_all() {
    for (runs, expected) in [
        (&["nothing"][..], "there is no run nothing"),
        (&["done"], "done matches several runs: done-new, done-old"),
        (&["../x"], "is not a run's id"),
        (&[".trash-old"], "is not a run's id"),
        (&[], "no run was selected"),
    ] {
        let error = plan(&ask(runs, &[], None, false), &entries()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
