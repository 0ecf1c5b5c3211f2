//! Checks a run for `prosescope check`: finds all of its issues, including those that only a complete reading finds.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{issue_view, place_words};
use super::imports::{ImportCalls, imports, is_unused, nested};
use crate::model::issue::Issue;
use crate::model::{Binding, FileInfo, RunStatus, ValueAt};
use crate::pages::check::issues::{Findings, in_program};
use crate::pages::check::source;
use crate::pages::resume::{self, Need, ResumeFacts};
use crate::pages::session::summary::summary;
use crate::pages::session::values::inside;
use crate::pages::session::{Opened, Session};
use crate::pages::view::{CheckedRun, Counts, IssueView, NeedState};
use crate::program::{Listing, StatementKind, scan};
use crate::read::gate::audit::{self, Finding};

/// Finds all issues of a run. Some of them take too long for other pages, because they require reading the whole
/// database.
pub fn check(session: &Session, now: Option<i64>) -> Vec<Issue> {
    let mut issues = session.found_at(now);
    let log = audit::verify(&session.run.audit, None).findings;
    let notes = log.iter().filter(|f| !f.is_error());
    issues.extend(notes.map(Finding::issue));
    let mut findings = Findings::default();
    check_attachments(session, &mut findings);
    check_imports(session, &mut findings);
    check_database(session, &mut findings);
    issues.extend(findings.finish());
    issues
}

/// Builds the run's part of a [`crate::pages::view::CheckReport`]: the issues, errors first, then by rule. `folder` is
/// the path of the run's folder, in the caller's notation for paths.
pub fn check_page(session: &Session, now: Option<i64>, folder: &str) -> CheckedRun {
    let summary = summary(session);
    let issues = check(session, now);
    let counts = Counts::of(&issues);
    let issues = issues.into_iter().map(|i| issue_view(session, i));
    let mut checked = CheckedRun {
        run: summary.id,
        program: summary.program,
        status: summary.status,
        folder: folder.to_owned(),
        store: main_file(session),
        counts,
        issues: issues.collect(),
        error: None,
    };
    checked.sort();
    checked
}

/// Checks a program that is not a run: `name` is its file in `folder`.
pub fn check_program(name: &str, folder: &str, text: &str) -> CheckedRun {
    let issues = source(&scan(text)).into_iter();
    let issues: Vec<Issue> = issues.map(|issue| issue.at_file(name)).collect();
    let counts = Counts::of(&issues);
    let views = issues.into_iter().map(|issue| IssueView {
        node: None,
        binding: None,
        place: place_words(&issue.location),
        issue,
    });
    let mut checked = CheckedRun {
        program: Some(name.to_owned()),
        folder: folder.to_owned(),
        store: name.to_owned(),
        counts,
        issues: views.collect(),
        ..CheckedRun::default()
    };
    checked.sort();
    checked
}

/// Returns the file to which issues without a file refer: the database, or else the state file.
fn main_file(session: &Session) -> String {
    if let Some(db) = &session.values.db {
        return db.name.to_string();
    }
    let state = |f: &&FileInfo| f.role.as_deref() == Some("state file");
    let file = session.run.files.iter().find(state);
    file.map_or_else(|| "state.md".to_owned(), |f| f.path.clone())
}

/// Reports attachments that are missing, outside of the run, or shared by two bindings (errata B8).
fn check_attachments(session: &Session, findings: &mut Findings) {
    let _snapshot = session.snapshot();
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for short in &session.run.bindings {
        let binding = session.values.binding_tail(short);
        let Some(path) = binding.attachment.as_deref().filter(|p| !p.is_empty()) else {
            continue;
        };
        let at = |issue: Issue| located(issue, &binding, &session.root);
        let Some(clean) = inside(path) else {
            findings.add(at(Issue::warning(
                "unsafe-path",
                format!(
                    "{} names the attachment {path}, which is outside of the run",
                    binding.name
                ),
            )
            .hint(
                "The attachment was not read, because the path leads out of the run.",
            )));
            continue;
        };
        if session.values.attachment(path).is_none() && !session.values.source.is_loose() {
            let (whether, hint) = if session.values.source.is_shared() {
                (
                    "is not on this machine",
                    "The row contains at most a summary of the value. Next: look in the run's folder on the machine that wrote the value.",
                )
            } else {
                (
                    "is not there",
                    "The row contains at most a summary of the value. Next: restore the attachment from a copy; otherwise, the value is lost.",
                )
            };
            let message = format!(
                "{} names the attachment {path}, which {whether}",
                binding.name
            );
            findings.add(at(Issue::error("attachment-missing", message).hint(hint)));
        }
        if binding.superseded {
            continue;
        }
        let name = match binding.execution_id {
            Some(id) => format!("{} of execution {id}", binding.name),
            None => binding.name.to_string(),
        };
        if let Some(other) = owners.insert(clean, name.clone()) {
            findings.add(at(Issue::warning(
                "attachment-shared",
                format!("{name} and {other} name the same attachment, {path}"),
            )
            .hint(
                "The value that was written later has overwritten the other value.",
            )));
        }
    }
}

/// Reports imports without a result, with a run that cannot be opened, or with an unfinished run.
fn check_imports(session: &Session, findings: &mut Findings) {
    let completed = session.trace.verdict.status == RunStatus::Completed.word();
    let view = imports(session);
    let calls = ImportCalls::of(session);
    for import in &view.imports {
        let alias = &import.alias;
        let at = |issue: Issue| match import.place.as_deref() {
            Some(place) => issue.at_file(place.strip_prefix(&session.root).unwrap_or(place)),
            None => issue.at_table("imports"),
        };
        if let Some(note) = &import.note {
            findings.add(at(Issue::warning(
                "import-cycle",
                format!("import {alias}: {note}"),
            )
            .hint("Imports that are nested deeper are not checked.")));
            continue;
        }
        let inner = import.place.as_deref().map(|place| nested(session, place));
        let ended = import.nested_status.as_deref() == Some(RunStatus::Completed.word());
        match (inner, &import.nested_status) {
            (Some(None), None) => {
                findings.add(at(Issue::error(
                    "import-unreadable",
                    format!("the run of import {alias} exists, but cannot be opened"),
                )
                .hint("Open the import's run separately to see the reason.")));
            }
            (Some(Some(inner)), Some(status)) if completed && !ended && !is_unused(&inner) => {
                findings.add(at(Issue::warning(
                    "import-unfinished",
                    format!("the run is completed, but the run of import {alias} is {status}"),
                )
                .hint(
                    "The values of the import may be partial, or the final status of its run was never written.",
                )));
            }
            _ if completed
                && !ended
                && import.bindings.is_empty()
                && calls.ended(alias)
                && !calls.gave_a_value(alias) =>
            {
                findings.add(at(without_result(alias)));
            }
            _ => {}
        }
    }
    let Some(listing) = session.listing.as_ref().filter(|_| completed) else {
        return;
    };
    let aliases: BTreeSet<&str> = view.imports.iter().map(|i| &*i.alias).collect();
    let names = session.run.bindings.iter().map(|b| &*b.name);
    let names: BTreeSet<&str> = names.collect();
    for statement in &listing.statements {
        let Some(alias) = statement.name.as_deref() else {
            continue;
        };
        let prefix = format!("{alias}.");
        let mut from = names.range(&*prefix..);
        let known =
            aliases.contains(alias) || from.next().is_some_and(|name| name.starts_with(&prefix));
        if statement.kind == StatementKind::Use && !known && calls.ended(alias) {
            let issue = without_result(alias);
            findings.add(in_program(&session.run, issue, statement.line));
        }
    }
}

/// Reports names and agents' memories that are missing although the remaining statements need them.
pub(in crate::pages::session) fn check_ahead(opened: &Opened, findings: &mut Findings) {
    let Some(listing) = opened.listing.as_ref() else {
        return;
    };
    let plan = resume::plan(ResumeFacts {
        run: &opened.run,
        trace: &opened.trace,
        listing: Some(listing),
    });
    let nowhere = |n: &&Need| n.sure && n.from.state == NeedState::Nowhere;
    for need in plan.needs.iter().filter(nowhere) {
        let line = need.lines.first().copied().unwrap_or_default();
        let hint = match need.from.line {
            Some(binder) => format!("Line {binder} should have given the name a value."),
            None => "No statement of the program gives the name a value.".to_owned(),
        };
        let message = format!(
            "line {line} still has to run and uses {}, but no binding has that name",
            need.name
        );
        findings.add(in_program(
            &opened.run,
            Issue::warning("unresolved-name", message).hint(hint),
            line,
        ));
    }
    for memory in &plan.memories {
        // An agent without an earlier session has no memory to miss.
        if memory.state == NeedState::Nowhere && has_spoken(opened, listing, &memory.agent) {
            let line = memory.lines.first().copied().unwrap_or_default();
            let message = format!(
                "line {line} still has to run and resumes agent {}, which has no memory",
                memory.agent
            );
            findings.add(in_program(
                &opened.run,
                Issue::warning("agent-without-memory", message)
                    .hint("The agent would continue without its earlier sessions."),
                line,
            ));
        }
    }
}

/// Returns whether a session of the agent ran in this run.
fn has_spoken(opened: &Opened, listing: &Listing, agent: &str) -> bool {
    let of_agent = |line: u32| {
        let statement = listing.statement_at(line).and_then(|at| listing.get(at));
        statement.is_some_and(|s| s.target.as_deref() == Some(agent))
    };
    let mut ran = opened.trace.nodes.iter().filter(|node| !node.derived);
    ran.any(|node| node.line.is_some_and(of_agent))
}

/// Reports the defects that a check of the whole store finds.
fn check_database(session: &Session, findings: &mut Findings) {
    let store = session.values.db.iter();
    for issue in store.flat_map(|db| db.db.check_database(&db.name)) {
        findings.add(issue);
    }
}

fn without_result(alias: &str) -> Issue {
    Issue::warning(
        "import-without-result",
        format!("the program imports {alias}, but neither its run nor a value of it is recorded"),
    )
    .hint("The import was never called, or its run was not kept.")
}

/// Adds to an issue the row or the file that contains the path of the binding's attachment.
fn located(issue: Issue, binding: &Binding, root: &str) -> Issue {
    match &binding.value {
        ValueAt::Row { rowid, .. } => issue
            .at_row("bindings", *rowid)
            .at_column("attachment_path"),
        ValueAt::File { path, .. } => issue.at_file(path.strip_prefix(root).unwrap_or(path)),
        ValueAt::Missing => issue,
    }
}
