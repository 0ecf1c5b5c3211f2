//! Orders execution rows by id, and collects the trace's issues up to a limit per rule.

use std::collections::BTreeMap;

use crate::model::issue::{Issue, Severity};
use crate::model::{Execution, Meta, Run, visit};

/// The value of a missing index.
pub(super) const NONE: u32 = u32::MAX;

/// The execution rows of a run in order of id. Rows that the store returns in another order are sorted.
pub(super) struct OrderedRows<'a> {
    list: &'a [Execution],
    order: Option<Vec<u32>>,
}

impl<'a> OrderedRows<'a> {
    pub(super) fn new(list: &'a [Execution]) -> OrderedRows<'a> {
        let sorted = list.windows(2).all(|w| match w {
            [a, b] => a.id <= b.id,
            _ => true,
        });
        // Rows that only record that the run was reopened become remarks instead of nodes.
        let marks = list.iter().any(|row| reopened(row).is_some());
        let order = (!sorted || marks).then(|| {
            let all = (0..).zip(list);
            let all = all.filter(|(_, row)| reopened(row).is_none());
            let mut order: Vec<u32> = all.map(|(at, _)| at).collect();
            order.sort_by_key(|at| list.get(*at as usize).map(|row| row.id));
            order
        });
        OrderedRows { list, order }
    }

    pub(super) fn len(&self) -> u32 {
        self.order.as_ref().map_or(self.list.len(), Vec::len) as u32
    }

    /// Returns the index in [`crate::model::Run::executions`] of the row at a position.
    pub(super) fn place(&self, pos: u32) -> u32 {
        match &self.order {
            Some(order) => order.get(pos as usize).copied().unwrap_or(NONE),
            None => pos,
        }
    }

    pub(super) fn get(&self, pos: u32) -> Option<&'a Execution> {
        self.list.get(self.place(pos) as usize)
    }

    pub(super) fn id(&self, pos: u32) -> i64 {
        self.get(pos).map_or(0, |row| row.id)
    }

    pub(super) fn meta(&self, pos: u32) -> Option<&'a Meta> {
        self.get(pos)?.meta.as_deref()
    }

    /// Returns the position of the first row with this id.
    pub(super) fn find(&self, id: i64) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let mid = low + (high - low) / 2;
            if self.id(mid) < id {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        (low < self.len() && self.id(low) == id).then_some(low)
    }
}

/// Returns the run's earlier final status if the row only records that the run was reopened.
pub(super) fn reopened(row: &Execution) -> Option<&str> {
    row.meta.as_deref()?.reopened.as_deref()
}

/// The issues found while folding a run. After [`Ledger::CAP`] issues of one rule, the rest are only counted, because
/// so many issues of one rule usually have one cause. Every node still shows its own state.
#[derive(Default)]
pub(crate) struct Ledger {
    list: Vec<Issue>,
    counts: BTreeMap<&'static str, (Severity, u32)>,
}

impl Ledger {
    const CAP: u32 = 1_000;

    /// Adds an issue of a rule; composes its text only if the limit of the rule is not reached.
    pub(crate) fn note(
        &mut self,
        severity: Severity,
        rule: &'static str,
        make: impl FnOnce() -> Issue,
    ) {
        let (_, count) = self.counts.entry(rule).or_insert((severity, 0));
        *count = count.saturating_add(1);
        if *count <= Ledger::CAP {
            let mut issue = make();
            issue.rule = rule.to_owned();
            issue.severity = severity;
            self.list.push(issue);
        }
    }

    /// Returns all issues, with one summary line for each rule that exceeded its limit.
    pub(crate) fn finish(mut self) -> Vec<Issue> {
        for (rule, (severity, count)) in self.counts {
            if count > Ledger::CAP {
                let more = count - Ledger::CAP;
                self.list.push(
                    Issue::new(severity, rule, format!("and {more} more of the same"))
                        .hint("Each row still shows its own state."),
                );
            }
        }
        self.list
    }
}

/// Returns an issue located at a row of `execution`; [`Ledger::note`] sets rule and severity.
pub(super) fn at(row: i64, message: String, hint: &str) -> Issue {
    Issue::noted("", message)
        .hint(hint)
        .at_row("execution", row)
}

/// The gates that the table `gates` assigns to execution rows. The key is the row's id and the gate's id without its
/// visit number (`deploy` for `deploy#2`); the value is the gate's full id.
pub(super) type ByRow<'a> = BTreeMap<(i64, &'a str), &'a str>;

/// Returns the gates by the execution row to which the column `gates.execution_id` refers.
pub(super) fn by_row(run: &Run) -> ByRow<'_> {
    run.gates
        .iter()
        .filter_map(|gate| Some(((gate.execution_id?, visit(&gate.id).0), &*gate.id)))
        .collect()
}
