//! Tests of edits of the audit log or of a gate by other programs, in a database and in a folder. `audit verify` and
//! `check` report each edit. In a database, triggers usually abort such edits (errata G7). docs/reference/audit.md
//! lists the edits that no check notices.
//!
//! | file | contents |
//! |---|---|
//! | `gates.rs`, `log.rs` | the edits, and the expected issues |
//! | `decide.rs` | edits × each way to decide |
//! | `state.rs` | reading and writing gates and logs directly |
//! | `guards.rs` | files, lines and triggers |

mod decide;
mod gates;
mod guards;
mod log;
mod state;

use std::collections::BTreeSet;

use prosescope_test_support::needs;
use serde_json::{Value, json};

use crate::{FORMS, Form, Project};
use state::{State, unseal};

/// The check that notices an edit.
#[derive(Debug, Clone, Copy)]
enum Found {
    /// `audit verify` and `check` report this rule, without a noted head.
    Alone(&'static str),
    /// `audit verify` reports this rule if it gets a head that was noted before the edit. The second text is the name
    /// under which docs/reference/audit.md lists the edit as unnoticed without a head.
    WithHead(&'static str, &'static str),
    /// No check notices the edit. The text is the name under which docs/reference/audit.md lists it.
    Never(&'static str),
}

/// An edit: its name, the function that makes it, and the check that notices it.
type Tampering = (&'static str, fn(&mut State), Found);

/// Returns a project whose run has four gates (`a` approved, `b` rejected, `c` pending, `d` timed out), and the head of
/// its log.
fn logged(form: Form) -> Option<(Project, String)> {
    if form == Form::Sqlite && needs::sqlite3().is_none() {
        return None;
    }
    needs::faketime()?;
    let project = Project::new(form);
    let run = project.run.clone();
    let at = |minute: u32| format!("2026-01-25 12:{minute:02}:00");
    for (gate, timeout) in [("a", "4h"), ("b", "4h"), ("c", "4h"), ("d", "30m")] {
        let create = [
            "gate",
            "create",
            gate,
            "--run",
            &run,
            "--prompt",
            "Go?",
            "--allow",
            "raymond,lee",
            "--timeout",
            timeout,
            "--on-reject",
            "throw \"no\"",
            "--force",
        ];
        project.expect_at(&at(0), 0, &create);
    }
    let approve = [
        "approve",
        &run,
        "a",
        "--as",
        "raymond",
        "--for",
        "lee",
        "--comment",
        "LGTM",
    ];
    project.expect_at(&at(10), 0, &approve);
    project.expect_at(
        &at(11),
        0,
        &["reject", &run, "b", "--reason", "no", "--as", "lee"],
    );
    project.expect_at(&at(40), 0, &["gates", "expire", &run]);
    project.expect_at(&at(41), 0, &["gate", "show", &run, "a"]);
    let verified = project.json(0, &["audit", "verify", &run]);
    assert_eq!(
        (&verified["chain"], &verified["rows"]),
        (&json!("consistent"), &json!(8))
    );
    let head = &verified["head"];
    let head = format!(
        "{}:{}",
        head["count"],
        head["hash"].as_str().expect("a hash")
    );
    Some((project, head))
}

/// Returns the rules of the errors that `audit verify` finds, and the rules of the errors that `check` finds.
#[track_caller]
fn found(project: &Project, head: Option<&str>) -> (BTreeSet<String>, BTreeSet<String>) {
    let run = &project.run;
    let mut verify = vec!["audit", "verify", run];
    verify.extend(head.map(|_| "--expect-head"));
    verify.extend(head);
    let look = |args: &[&str], issues: fn(Value) -> Value| {
        let args = [args, &["--json"]].concat();
        let out = project.command(&args).output().expect("prosescope runs");
        let said = serde_json::from_slice(&out.stdout).expect("JSON");
        let said = issues(said);
        let all = said.as_array().expect("issues").iter();
        // Only errors count for the exit code. A decision without a sealed row may come from OpenProse's own UPDATE, so
        // it is a warning.
        let errors = all
            .clone()
            .filter(|issue| issue["severity"] == "error")
            .count();
        assert_eq!(
            out.status.code(),
            Some(i32::from(errors > 0)),
            "{args:?}: {said}"
        );
        all.filter(|issue| {
            issue["severity"] == "error" || issue["rule"] == "gate-decision-unsealed"
        })
        .map(|issue| issue["rule"].as_str().expect("a rule").to_owned())
        .collect()
    };
    let verified = look(&verify, |mut said| said["issues"].take());
    let checked = look(&["check", run], |mut said| said["runs"][0]["issues"].take());
    (verified, checked)
}

#[test]
fn every_change_is_named_or_listed_as_what_cannot_be_noticed() {
    let mut listed: BTreeSet<(String, bool)> = BTreeSet::new();
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let original = project.files();
        let sealed = State::read(&project);
        let mut unsealed = sealed.clone();
        unsealed.log.iter_mut().for_each(unseal);
        // Reading the state and writing it back unchanged causes no finding.
        sealed.write(&project);
        assert_eq!(found(&project, Some(&head)), Default::default(), "{form:?}");
        let tables = [
            (&sealed, gates::TABLE),
            (&sealed, log::TABLE),
            (&unsealed, log::UNSEALED_LOG),
        ];
        let all = tables
            .iter()
            .flat_map(|(state, table)| table.iter().map(move |one| (*state, one)));
        for (state, (what, tampering, by)) in all {
            Project::restore(&original, &project.folder());
            let mut state = state.clone();
            tampering(&mut state);
            state.write(&project);
            let what = format!("{form:?}, {what}, {by:?}");
            let (verified, checked) = found(&project, None);
            match by {
                Found::Alone(rule) => {
                    assert!(verified.contains(*rule), "{what}: {verified:?}");
                    assert!(checked.contains(*rule), "{what}: {checked:?}");
                }
                Found::WithHead(rule, name) => {
                    assert_eq!((verified, checked), Default::default(), "{what}");
                    let (verified, _) = found(&project, Some(&head));
                    assert!(verified.contains(*rule), "{what}: {verified:?}");
                    listed.insert(((*name).to_owned(), true));
                }
                Found::Never(name) => {
                    let head = Some(&*head).filter(|_| *name != "no-seals");
                    let (with, _) = found(&project, head);
                    assert_eq!((verified, with), Default::default(), "{what}");
                    if *name != "no-seals" {
                        listed.insert(((*name).to_owned(), false));
                    }
                }
            }
        }
    }
    if !listed.is_empty() {
        assert_eq!(listed, documented());
    }
}

/// Returns the names in the table of unnoticed edits in docs/reference/audit.md. The flag is true if a noted head
/// reveals the edit.
fn documented() -> BTreeSet<(String, bool)> {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/reference/audit.md"
    ));
    let page = page.expect("docs/reference/audit.md");
    let (_, table) = page
        .split_once("## What cannot be noticed")
        .expect("the table");
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells[0].strip_prefix('`')?.strip_suffix('`')?;
        Some((name.to_owned(), *cells.last()? == "yes"))
    });
    rows.collect()
}

/// If the end of a log is cut off and new decisions are added, the log has another head than before.
#[test]
fn a_log_that_was_cut_and_went_on_has_another_head() {
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let mut state = State::read(&project);
        state.log.pop();
        state.write(&project);
        let run = &project.run;
        project.expect(0, &["gate", "show", run, "b"]);
        assert_eq!(found(&project, None), Default::default(), "{form:?}");
        let noted = ["audit", "verify", run, "--expect-head", &head];
        let found = project.json(1, &noted);
        assert!(
            found["issues"].to_string().contains("audit-head-differs"),
            "{form:?}: {found}"
        );
        assert_eq!(found["expected"]["found"], false);
    }
}

/// A row that another tool adds is marked as unsealed. The next row of `prosescope` continues the chain of sealed
/// rows.
#[test]
fn a_row_that_somebody_adds_is_unsealed() {
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let mut state = State::read(&project);
        let more = log::unsealed(&state, 9, "b", "viewed");
        state.log.push(more);
        state.write(&project);
        let run = &project.run;
        for rows in [9, 10] {
            let found = project.json(0, &["audit", "verify", run, "--expect-head", &head]);
            assert_eq!(found["chain"], "partly sealed", "{form:?}: {found}");
            assert_eq!(found["rows"], rows);
            project.expect(0, &["gate", "show", run, "b"]);
        }
    }
}

/// After an edit of a gate, the first line of `audit verify` reports the edit, and does not contain "consistent".
#[test]
fn a_gate_that_was_changed_is_the_first_thing_that_verify_says() {
    for form in FORMS {
        let Some((project, _)) = logged(form) else {
            continue;
        };
        let mut state = State::read(&project);
        state.gate("a")["resolved_by"] = "mallory".into();
        state.write(&project);
        let (said, _) = project.expect(1, &["audit", "verify", &project.run]);
        let first = "contradicted  The log agrees with its chain, but gate a has `resolved_by` “mallory”, but the sealed row \
                     records “raymond” (row 5 of the log).";
        assert_eq!(said.lines().next(), Some(first), "{form:?}");
    }
}
