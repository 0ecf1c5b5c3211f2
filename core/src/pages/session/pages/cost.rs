//! Sums up what a run cost.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::{ReportedCost, Run};
use crate::pages::view::{CostView, TokenCount};

/// The largest number of nodes and of models that are listed.
const LISTED: usize = 1_000;

/// Returns the tokens of a run; `None` if no record has any.
pub(in crate::pages::session) fn cost(run: &Run) -> Option<CostView> {
    let (mut total, mut nodes, mut models) = (
        TokenCount::default(),
        BTreeMap::<&str, TokenCount>::new(),
        BTreeMap::<&str, TokenCount>::new(),
    );
    for cost in &run.costs {
        let at = run
            .executions
            .binary_search_by_key(&cost.execution, |row| row.id);
        let row = at.ok().and_then(|at| run.executions.get(at));
        add(&mut total, cost);
        add(models.entry(&cost.model).or_default(), cost);
        add(
            nodes.entry(row.map_or("", |row| &row.text)).or_default(),
            cost,
        );
    }
    (total.executions > 0).then(|| CostView {
        source: "reported".to_owned(),
        unknown: (run.executions.len() as u32).saturating_sub(total.executions),
        total,
        by_node: listed(nodes),
        by_model: listed(models),
    })
}

fn add(to: &mut TokenCount, cost: &ReportedCost) {
    to.executions += 1;
    to.fresh = to.fresh.saturating_add(cost.fresh);
    to.reused = to.reused.saturating_add(cost.reused);
}

fn listed(of: BTreeMap<&str, TokenCount>) -> Vec<TokenCount> {
    let mut list: Vec<TokenCount> = of
        .into_iter()
        .map(|(name, count)| TokenCount {
            name: name.to_owned(),
            ..count
        })
        .collect();
    list.sort_by_key(|count| Reverse((count.fresh, count.reused)));
    list.truncate(LISTED);
    list
}
