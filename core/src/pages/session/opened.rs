//! Defines an opened run as plain data, without access to values.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::pages::{NodeIndex, check_agents, check_ahead};
use crate::model::issue::Issue;
use crate::model::{GateStatus, Run, RunStatus, Text};
use crate::pages::check::issues::{Findings, RunUnderCheck, find_issues};
use crate::pages::view::{BindingRef, Counts};
use crate::program::Listing;
use crate::trace::judgement;
use crate::trace::scope;
use crate::trace::{Node, NodeId, NodeStatus, Trace};

/// An opened run as plain data. A large value is not kept, only the place where it is stored.
pub struct Opened {
    /// The label of the source.
    pub(super) label: String,
    pub(super) place: String,
    /// The time of opening, in milliseconds since 1970 UTC; `None` if the caller gave no time.
    pub(super) now: Option<i64>,
    pub(super) called: Option<String>,
    /// The run folder's path inside the source, ending in `/`, or empty.
    pub(super) root: String,
    pub(super) run: Run,
    pub(super) listing: Option<Listing>,
    pub(super) trace: Trace,
    pub(super) index: NodeIndex,
    pub(super) other_runs: Vec<String>,
    /// How many earlier values the store keeps for a name and frame.
    pub(super) earlier: BTreeMap<(Text, Option<i64>), u32>,
    /// The issues at the time of opening, once they were found.
    pub(super) found: OnceLock<Vec<Issue>>,
}

impl Opened {
    /// Returns the decoded run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the trace of the run's executions.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns a node of the trace.
    pub(super) fn node(&self, node: NodeId) -> Option<&Node> {
        self.trace.node(node)
    }

    /// Returns the parsed program, if its source is available.
    pub fn listing(&self) -> Option<&Listing> {
        self.listing.as_ref()
    }

    /// Returns the place inside the source that was opened.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the name that commands take for the run: the name of its folder among a project's runs, or else its id.
    /// The folder's name is preferred, because a copied folder contains the id of the original run.
    pub fn name(&self) -> String {
        if let Some(called) = &self.called {
            return called.clone();
        }
        let path = format!("{}/{}", self.label, self.root);
        let mut parts = path.trim_end_matches('/').rsplit(['/', '\\']);
        match (parts.next(), parts.next()) {
            (Some(name), Some("runs")) => name.to_owned(),
            _ => self.run.id.to_string(),
        }
    }

    /// Returns the name that commands take for a run, given the run's id; `None` is the opened run. In a database of
    /// several runs, a row may belong to another run, whose name is its id.
    pub(super) fn named(&self, run: Option<&str>) -> String {
        match (&self.called, run) {
            (Some(called), None) => called.clone(),
            (Some(called), Some(run)) if *run == *self.run.id => called.clone(),
            (_, run) => run.unwrap_or(&self.run.id).to_owned(),
        }
    }

    /// Returns the issues of decoding the run, and then the issues of building its trace.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.run.issues.iter().chain(&self.trace.issues)
    }

    /// Returns the issues at the time of opening. The line of a list, the overview and the page of issues all count
    /// these, so they are found once: the statements ahead take long in a large run.
    pub(super) fn found(&self) -> &[Issue] {
        self.found.get_or_init(|| self.found_at(self.now))
    }

    /// Returns the issues of reading the run and those of a check that reads no more data.
    pub(super) fn found_at(&self, now: Option<i64>) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self.issues().cloned().collect();
        issues.extend(find_issues(RunUnderCheck {
            run: &self.run,
            trace: &self.trace,
            listing: self.listing.as_ref(),
            now,
        }));
        let mut findings = Findings::default();
        check_agents(self, &mut findings);
        check_ahead(self, &mut findings);
        issues.extend(findings.finish());
        issues
    }

    /// Returns what the run first did against its program, in words: `went on past the rejected gate deploy`.
    pub(super) fn against(&self) -> Option<String> {
        judgement::first_against(&self.run, &self.trace, self.listing.as_ref())
    }

    /// Counts the issues that the page of issues lists, by severity.
    pub fn issue_counts(&self) -> Counts {
        Counts::of(self.found())
    }

    /// Returns whether the run's only position was inferred from earlier statements, because no row records the
    /// position.
    pub(super) fn is_inferred(&self) -> bool {
        let [position] = self.trace.positions.as_slice() else {
            return false;
        };
        let node = self.trace.node(*position);
        node.is_some_and(|node| node.inferred && node.status == NodeStatus::Pending)
    }

    /// Returns whether the run was interrupted or became silent. Then nothing is running, even if rows record a running
    /// statement.
    pub(super) fn is_at_rest(&self) -> bool {
        let verdict = &self.trace.verdict;
        verdict.stale || verdict.status == RunStatus::Interrupted.word()
    }

    /// Returns the run's most likely status, `unknown` without any record.
    pub(super) fn status(&self) -> &str {
        self.trace.verdict.word()
    }

    /// Returns a binding as other pages name it; `None` if the run has no such binding.
    pub(super) fn binding_ref(&self, binding: u32) -> Option<BindingRef> {
        let at = self.run.bindings.get(binding as usize)?;
        Some(BindingRef {
            binding,
            name: at.name.to_string(),
            execution_id: at.execution_id,
            overwritten: false,
            inferred: false,
        })
    }

    /// Counts the gates that wait for a decision.
    pub fn pending_gates(&self) -> u32 {
        let gates = self.run.gates.iter();
        let pending = gates.filter(|gate| gate.status == GateStatus::Pending);
        pending.count() as u32
    }

    /// Returns the node that a row of the store belongs to.
    pub fn node_of_row(&self, row: i64) -> Option<NodeId> {
        self.trace.of_row(row)
    }

    /// Returns the node of an execution that the user names by its number. `next` also prints numbers of executions
    /// that have no row yet, because the run was recorded by hand.
    pub fn node_numbered(&self, number: i64) -> Option<NodeId> {
        let to_be = || {
            let program = self.listing.as_ref();
            crate::record::node_numbered(&self.run, &self.trace, program, number)
        };
        self.node_of_row(number).or_else(to_be)
    }

    /// Returns whether names can be resolved from this id: an execution has the id, or a binding records the id as its
    /// frame.
    pub fn has_frame(&self, id: i64) -> bool {
        let mut bindings = self.run.bindings.iter();
        self.node_of_row(id).is_some() || bindings.any(|b| b.execution_id == Some(id))
    }

    /// Returns the index of the binding that a name means in a frame, without the reasons.
    pub fn winner(&self, name: &str, from: Option<i64>) -> Option<u32> {
        scope::winner(&self.run, &self.trace, name, from).and_then(|at| u32::try_from(at).ok())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::Opened;
    use crate::pages::session::{Options, Session, pages};
    use crate::read::sqlite::MemorySource;

    #[test]
    fn the_overview_and_the_page_of_issues_find_the_issues_once() {
        let file = ("program.prose".to_owned(), b"session \"A\"\n".to_vec());
        let source = Rc::new(MemorySource::new("a drop", [file]));
        let session = Session::open(source, "", &Options::default()).unwrap();
        assert!(session.found.get().is_none());
        let counts = pages::overview(&session, None).issues;
        let first = session.found.get().unwrap().as_ptr();
        assert_eq!(pages::issues_page(&session).counts, counts);
        assert!(counts.total() > 0 && session.found().as_ptr() == first);
    }

    #[test]
    fn an_opened_run_may_go_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<Opened>();
    }
}
