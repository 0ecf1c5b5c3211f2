//! Prints the facts of a run, without differences between the forms.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use prosescope_core::model::Gate;
use prosescope_core::model::issue::Severity;
use prosescope_core::pages::session::{Session, ValueOf, pages};
use prosescope_core::read::gate::audit::verify;

/// Returns the trace, the bindings with their values, the agents, the gates with their log, and the imports.
pub(crate) fn told(session: &Session) -> String {
    let (run, trace) = (session.run(), session.trace());
    let mut out = String::new();
    writeln!(
        out,
        "{} {} {:?}",
        run.id, trace.verdict.status, trace.positions
    )
    .unwrap();
    for node in &trace.nodes {
        let row = |at: Option<u32>| at.map(|at| &run.executions[at as usize]);
        let times = (
            row(node.first_row).and_then(|r| r.started.clone()),
            row(node.last_row).and_then(|r| r.completed.clone()),
        );
        writeln!(
            out,
            "{}{:?} {:?} {:?} {:?} x{} {:?} line {:?} {:?} {:?}",
            "  ".repeat(node.level as usize),
            node.id,
            node.kind,
            node.text,
            node.status,
            node.attempts,
            node.max,
            node.line,
            node.error(run),
            times,
        )
        .unwrap();
    }
    let mut bindings: Vec<String> = Vec::new();
    for (at, binding) in (0..).zip(&run.bindings) {
        let row = pages::binding_row(session, at).unwrap();
        let mut value = Vec::new();
        session
            .value_pieces(&ValueOf::Binding(at), &mut |piece| {
                value.extend_from_slice(piece);
                true
            })
            .unwrap();
        let text = String::from_utf8_lossy(&value);
        bindings.push(format!(
            "{} {:?} {:?} {:?} {} bytes {:?} {:?} earlier {} {:?} {:?}",
            binding.name,
            binding.execution_id,
            binding.kind.word(),
            row.source,
            value.len(),
            text.chars().take(60).collect::<String>(),
            row.attachment,
            row.earlier,
            row.created,
            row.updated,
        ));
    }
    bindings.sort();
    out.push_str(&bindings.join("\n"));
    out.push('\n');
    let mut agents: Vec<String> = Vec::new();
    for (at, agent) in (0..).zip(&run.agents) {
        let memory = session
            .value_part(&ValueOf::Memory(at), 0, 1 << 20)
            .unwrap();
        agents.push(format!(
            "{} {:?} {:?} {:?}",
            agent.name,
            agent.scope,
            String::from_utf8_lossy(&memory),
            agent.segments
        ));
    }
    agents.sort();
    out.push_str(&agents.join("\n"));
    out.push('\n');
    for gate in &run.gates {
        // Compares objects regardless of the order of keys; one form keeps an empty object, the other keeps none.
        let metadata: Option<BTreeMap<String, serde_json::Value>> = gate
            .metadata
            .as_deref()
            .map(|text| serde_json::from_str(text).unwrap());
        let metadata = metadata.filter(|keys| !keys.is_empty());
        let gate = Gate {
            metadata: metadata.map(|keys| format!("{keys:?}").into()),
            // A copy in PostgreSQL keeps the number that the execution had in the original.
            source_execution_id: None,
            ..gate.clone()
        };
        writeln!(out, "{gate:?}").unwrap();
    }
    let report = verify(&run.audit, None);
    writeln!(out, "log {:?}, {} rows sealed", report.state, report.sealed).unwrap();
    for event in &run.audit {
        writeln!(
            out,
            "{} {} {} {} {:?} {:?} {:?}",
            event.id,
            event.run_id,
            event.gate_id,
            event.kind.word(),
            event.principal,
            event.comment,
            event.timestamp,
        )
        .unwrap();
    }
    // A folder lists the imports by name.
    let mut imports: Vec<&str> = run.imports.iter().map(|i| &*i.alias).collect();
    imports.sort_unstable();
    writeln!(out, "imports {imports:?}").unwrap();
    out
}

/// Returns all files with their bytes, except the lock.
pub(crate) fn bytes(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in walk(dir) {
        if !entry.ends_with(".lock") {
            found.insert(entry.clone(), fs::read(dir.join(&entry)).unwrap());
        }
    }
    found
}

pub(crate) fn walk(dir: &Path) -> Vec<String> {
    let files = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter();
    files
        .map(Result::unwrap)
        .filter(|at| at.file_type().is_file())
        .map(|at| {
            at.path()
                .strip_prefix(dir)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

/// Checks that a folder's state.md equals the rendering of its rows, without issues. Its index may lack the latest
/// writes of subagents.
pub(crate) fn agrees(session: &Session, after: &str) {
    let odd: Vec<_> = session
        .run()
        .issues
        .iter()
        .chain(&session.trace().issues)
        .filter(|issue| issue.severity != Severity::Note)
        .filter(|issue| !["binding-not-indexed", "gate-without-execution"].contains(&&*issue.rule))
        // A run that was finished by force has unfinished statements.
        .filter(|issue| &*issue.rule != "abandoned" || after != "finish completed force")
        .collect();
    assert!(odd.is_empty(), "{after}: {odd:?}");
    let subagent = ["put", "anon", "memory", "segment"]
        .iter()
        .any(|word| after.trim().starts_with(word));
    if !subagent && !after.contains(" !") {
        let page = pages::state_page(session, false);
        assert_eq!(page.own.as_deref(), Some(page.rendered.as_str()), "{after}");
    }
}
