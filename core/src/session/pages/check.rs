use std::collections::{BTreeMap, BTreeSet};

use super::agents::check_agents;
use super::files::issue_view;
use super::imports::{Calls, imports, is_unused, nested};
use crate::check::look::{Findings, in_program};
use crate::gate::audit::{self, Finding};
use crate::issue::Issue;
use crate::model::{Binding, FileInfo, RunStatus, ValueAt};
use crate::program::{Listing, StatementKind};
use crate::resume::{self, Facts, Need};
use crate::session::summary::summary;
use crate::session::values::inside;
use crate::session::{Opened, Session};
use crate::view::{CheckedRun, Counts, NeedState};

/// Everything that is odd in the run: the issues of reading it, and what is only looked for when somebody asks.
/// Reads what a list never reads, the whole database included.
pub fn check(session: &Session, now: Option<i64>) -> Vec<Issue> {
    let mut issues = session.found(now);
    let log = audit::verify(&session.run.audit, None).findings;
    let notes = log.iter().filter(|f| !f.is_error());
    issues.extend(notes.map(Finding::issue));
    let mut findings = Findings::default();
    check_attachments(session, &mut findings);
    check_imports(session, &mut findings);
    check_agents(session, &mut findings);
    check_ahead(session, &mut findings);
    check_database(session, &mut findings);
    issues.extend(findings.finish());
    issues
}

/// The run's part of a [`crate::view::CheckReport`]: its issues, errors first, then by rule. `folder` is where its
/// files lie, as the shell would write it.
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

/// What an issue without a file speaks of: the database, else the state file.
fn main_file(session: &Session) -> String {
    if let Some(db) = &session.values.db {
        return db.name.to_string();
    }
    let state = |f: &&FileInfo| f.role.as_deref() == Some("state file");
    let file = session.run.files.iter().find(state);
    file.map_or_else(|| "state.md".to_owned(), |f| f.path.clone())
}

/// Attachments that are not there, lead out of the run, or belong to two bindings (errata B8).
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
                format!("{} names the attachment {path}", binding.name),
            )
            .hint("The path leads out of the run, so it was not read.")));
            continue;
        };
        if session.values.attachment(path).is_none() && !session.values.source.is_loose() {
            let (whether, hint) = match session.values.source.is_shared() {
                true => (
                    "is not on this machine",
                    "The row holds a summary at most. Next: look in the run's folder on the machine that wrote the value.",
                ),
                false => (
                    "is not there",
                    "The row holds a summary at most: the value itself is lost.",
                ),
            };
            let message = format!("{} names {path}, which {whether}", binding.name);
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
                format!("{name} and {other} name one attachment, {path}"),
            )
            .hint("The one that was written later has overwritten the other.")));
        }
    }
}

/// Imports that left nothing, cannot be opened, or did not end.
fn check_imports(session: &Session, findings: &mut Findings) {
    let completed = session.trace.verdict.status == RunStatus::Completed.word();
    let view = imports(session);
    let calls = Calls::of(session);
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
            .hint("What lies deeper is not looked at.")));
            continue;
        }
        let inner = import.place.as_deref().map(|place| nested(session, place));
        let ended = import.nested_status.as_deref() == Some(RunStatus::Completed.word());
        match (inner, &import.nested_status) {
            (Some(None), None) => {
                findings.add(at(Issue::error(
                    "import-unreadable",
                    format!("the run of import {alias} is there, but cannot be opened"),
                )
                .hint("Open it by itself to see why.")));
            }
            (Some(Some(inner)), Some(status)) if completed && !ended && !is_unused(&inner) => {
                findings.add(at(Issue::warning(
                    "import-unfinished",
                    format!("the run is completed, but that of import {alias} is {status}"),
                )
                .hint("Its values may be partial, or its last word was never written.")));
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

/// What the statements ahead need and nothing has.
fn check_ahead(opened: &Opened, findings: &mut Findings) {
    let Some(listing) = opened.listing.as_ref() else {
        return;
    };
    let plan = resume::plan(Facts {
        run: &opened.run,
        trace: &opened.trace,
        listing: Some(listing),
    });
    let nowhere = |n: &&Need| n.sure && n.from.state == NeedState::Nowhere;
    for need in plan.needs.iter().filter(nowhere) {
        let line = need.lines.first().copied().unwrap_or_default();
        let hint = match need.from.line {
            Some(binder) => format!("Line {binder} should have bound it."),
            None => "No statement of the program binds it.".to_owned(),
        };
        let message = format!(
            "line {line} is ahead and uses {}, which no binding has",
            need.name
        );
        findings.add(in_program(
            &opened.run,
            Issue::warning("unresolved-name", message).hint(hint),
            line,
        ));
    }
    for memory in &plan.memories {
        // An agent that has said nothing yet has no memory to lose.
        if memory.state == NeedState::Nowhere && has_spoken(opened, listing, &memory.agent) {
            let line = memory.lines.first().copied().unwrap_or_default();
            let message = format!(
                "line {line} is ahead and resumes agent {}, which has no memory",
                memory.agent
            );
            findings.add(in_program(
                &opened.run,
                Issue::warning("agent-without-memory", message)
                    .hint("It would begin without knowing what was said before."),
                line,
            ));
        }
    }
}

/// Whether a session of the agent ran in this run.
fn has_spoken(opened: &Opened, listing: &Listing, agent: &str) -> bool {
    let of_agent = |line: u32| {
        let statement = listing.statement_at(line).and_then(|at| listing.get(at));
        statement.is_some_and(|s| s.target.as_deref() == Some(agent))
    };
    let mut ran = opened.trace.nodes.iter().filter(|node| !node.derived);
    ran.any(|node| node.line.is_some_and(of_agent))
}

/// The store's own look at itself.
fn check_database(session: &Session, findings: &mut Findings) {
    let store = session.values.db.iter();
    for issue in store.flat_map(|db| db.db.look_through(&db.name)) {
        findings.add(issue);
    }
}

fn without_result(alias: &str) -> Issue {
    Issue::warning(
        "import-without-result",
        format!("the program imports {alias}, and it left neither a run nor a value"),
    )
    .hint("It was never called, or its run was not handed over.")
}

/// Where a binding's attachment is named.
fn located(issue: Issue, binding: &Binding, root: &str) -> Issue {
    match &binding.value {
        ValueAt::Row { rowid, .. } => issue
            .at_row("bindings", *rowid)
            .at_column("attachment_path"),
        ValueAt::File { path, .. } => issue.at_file(path.strip_prefix(root).unwrap_or(path)),
        ValueAt::Missing => issue,
    }
}
