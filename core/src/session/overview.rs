use std::collections::BTreeMap;

use super::index::short;
use super::{Session, story};
use crate::model::{Dialect, FolderForm, Form, GateStatus, Run};
use crate::time::human_duration;
use crate::trace::{NodeKind, Verdict};
use crate::view::{Failure, Overview, StatusCount};

/// How many links a list on the first page holds.
const LINKS: usize = 20;
/// How many facts of a record are shown, and how much of each.
const FACTS: usize = 50;
const FACT: usize = 200;

impl Session {
    /// What happened, where it stopped and why.
    pub fn overview(&self, now: Option<i64>) -> Overview {
        let (run, trace) = (&self.run, &self.trace);
        let verdict = &trace.verdict;
        let mut view = Overview {
            run: run.id.to_string(),
            program: run.program.path.as_deref().map(str::to_owned),
            form: form_words(&run.form),
            label: self.source.label(),
            status: self.status().to_owned(),
            status_source: verdict.source.clone(),
            status_reason: verdict.reason.clone(),
            claims: verdict.claims.clone(),
            started: run.started.clone(),
            last_sign: verdict.last_sign.clone(),
            last_sign_from: verdict.last_sign_from.clone(),
            stale: verdict.stale,
            duration_ms: super::summary::took(run, verdict),
            bindings: run.bindings.len() as u32,
            bindings_bytes: run.bindings.iter().filter_map(|b| b.value.len()).sum(),
            attachments: run
                .bindings
                .iter()
                .filter(|b| b.attachment.is_some())
                .count() as u32,
            agents: run.agents.len() as u32,
            gates: run.gates.len() as u32,
            imports: run.imports.len() as u32,
            trace_nodes: trace.nodes.len() as u32,
            tables: run.tables.len() as u32,
            files: run.files.len() as u32,
            issues: self.issue_counts(),
            env: run
                .env
                .iter()
                .map(|(k, v)| (k.to_string(), v.to_string()))
                .collect(),
            facts: facts(run),
            other_runs: self.other_runs.clone(),
            statements_in_program: self.runnable_statements(),
            ..Overview::default()
        };
        view.duration = view.duration_ms.map(human_duration);
        view.last_sign_ago = match (
            now,
            view.last_sign.as_ref().and_then(crate::time::Stamp::millis),
        ) {
            (Some(now), Some(at)) if now >= at => Some(format!("{} ago", human_duration(now - at))),
            _ => None,
        };
        view.times_recorded = run
            .executions
            .iter()
            .any(|e| e.started.is_some() || e.completed.is_some());
        self.count_nodes(&mut view);
        view.positions = trace
            .positions
            .iter()
            .take(LINKS)
            .filter_map(|&n| self.node_ref(n as u32))
            .collect();
        view.failure = trace.first_cause.and_then(|cause| {
            Some(Failure {
                cause: self.node_ref(cause as u32)?,
                error: trace
                    .nodes
                    .get(cause)
                    .and_then(|n| self.error_of(n))
                    .map(str::to_owned),
                because_of: trace
                    .because_of
                    .iter()
                    .take(LINKS)
                    .filter_map(|&n| self.node_ref(n as u32))
                    .collect(),
            })
        });
        view.pending_gates = self.gate_views(now, |gate| gate.status == GateStatus::Pending);
        view.missing = self.missing_words();
        view.headline = story::headline(&view);
        view.story = story::sentences(&view);
        view
    }

    /// What is believed of its status, `unknown` where nothing says.
    pub(super) fn status(&self) -> &str {
        status_word(&self.trace.verdict)
    }

    fn count_nodes(&self, view: &mut Overview) {
        let mut by_status: BTreeMap<&str, u32> = BTreeMap::new();
        for node in &self.trace.nodes {
            if matches!(node.kind, NodeKind::Round { .. }) {
                continue;
            }
            let word = self.status_word(node);
            *by_status.entry(word).or_default() += 1;
            view.statements += 1;
            view.statements_done +=
                u32::from(matches!(word, "completed" | "approved" | "recovered"));
            view.retried += u32::from(node.attempts > 1);
            view.recovered += u32::from(node.recovered);
        }
        view.by_status = by_status
            .into_iter()
            .map(|(status, count)| StatusCount {
                status: status.to_owned(),
                count,
            })
            .collect();
        view.by_status
            .sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.status.cmp(&b.status)));
    }

    /// A database without a run row: what was found instead.
    fn missing_words(&self) -> Option<String> {
        if self.run.form == Form::Agents
            || self.run.status.is_some()
            || !matches!(self.run.form, Form::Sqlite { .. })
        {
            return None;
        }
        Some(format!(
            "no run row: found {} execution rows, {} bindings, {} gates",
            self.run.executions.len(),
            self.run.bindings.len(),
            self.run.gates.len()
        ))
    }
}

/// What is believed of a run's status, `unknown` where nothing says.
pub(super) fn status_word(verdict: &Verdict) -> &str {
    match verdict.status.as_str() {
        "" => "unknown",
        word => word,
    }
}

/// What the run's own records say that no other field holds.
fn facts(run: &Run) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |key: &str, value: &str| facts.push((key.to_owned(), short(value, FACT)));
    if let Some(log) = &run.log {
        if let Some(root) = &log.root {
            add("root", root);
        }
        if !log.upstream.is_empty() {
            add("upstream", &log.upstream.join(", "));
        }
    }
    if let Some(file) = &run.state_file {
        for (key, value) in file.extra.iter().take(FACTS) {
            add(key, value);
        }
    }
    if let (Some(mode), Form::Folder { .. }) = (&run.state_mode, &run.form) {
        add("state backend", mode);
    }
    for (key, value) in run
        .facts
        .iter()
        .filter(|(key, _)| **key != *"state_backend")
        .take(FACTS)
    {
        add(key, value);
    }
    facts
}

/// `SQLite, append-only`; `folder, state.md`.
pub(super) fn form_words(form: &Form) -> String {
    match form {
        Form::Sqlite { dialect } => match dialect {
            Dialect::AppendOnly => "SQLite, append-only",
            Dialect::InPlace => "SQLite, in place",
            Dialect::Mixed => "SQLite, both dialects",
            Dialect::Undecided => "SQLite",
        },
        Form::Folder { form } => match form {
            FolderForm::StateMd => "folder, state.md",
            FolderForm::CompactLog => "folder, compact log",
            FolderForm::VmLog => "folder, vm.log.md",
            FolderForm::Receipts => "folder, receipts",
            FolderForm::Foreign => "folder, unknown state file",
            FolderForm::Bare => "folder, no state file",
        },
        Form::Agents => "agents",
        Form::Unknown => "unknown",
    }
    .to_owned()
}
