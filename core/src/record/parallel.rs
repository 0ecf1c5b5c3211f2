use std::collections::BTreeMap;

use super::end::EndingExecution;
use super::entry::{BeginnableStatement, not_twice};
use super::insist::{ForcedRules, Insist};
use super::instance::{self, Instance, frame_of, shown};
use super::meta::MetaKeys;
use super::source::{LineLookup, ProgramSource, StatementRef};
use super::steps::Steps;
use super::{
    At, BranchStatus, CommandPlan, ExecutionBegun, Facts, ParallelJoined, Record, WriteError, names,
};
use crate::model::{Execution, Meta, Status, Text};
use crate::program::{Statement, StatementKind, allows_failure};
use crate::trace::RowShape;

/// Returns the plan that begins a parallel block without its branches; `own` is its statement.
pub(super) fn begin_parallel(
    facts: &Facts<'_>,
    at: &At,
    entry: BeginnableStatement<'_>,
    own: &Statement,
) -> Result<CommandPlan<ExecutionBegun>, WriteError> {
    let branches = entry.source.branches_of(&entry.found);
    let branches: Vec<String> = branches.into_iter().map(|(name, _)| name).collect();
    let strategy = own.strategy().unwrap_or("all");
    let count = own.number("count").map(i64::from);
    let id = facts.next_execution()?;
    let naming = Meta {
        parallel_id: Some(format!("p{id}").into()),
        ..Meta::default()
    };
    let row = entry.row(facts, Status::Executing, naming)?;
    let keys = MetaKeys::default()
        .list("branches", &branches)
        .text("strategy", Some(strategy))
        .number("count", count.filter(|_| strategy == "any"));
    not_twice(facts, &row)?;
    entry.begin(facts, at, row, keys)
}

/// Begins all branches of a parallel block that has just begun.
pub(super) fn begin_branches(
    all: &mut Steps<'_, '_>,
    at: &At,
    parallel: i64,
    insist: Insist,
) -> Result<Vec<ExecutionBegun>, WriteError> {
    let row = all.facts().execution(parallel);
    let names = row.map_or_else(Vec::new, |row| instance::meta(row).branches);
    let begin = |name: Text| all.plan(&begins(parallel, name.to_string(), insist), at);
    names.into_iter().map(begin).collect()
}

/// Returns the program's branches by the names that a parallel block announces: whoever recorded the block may have
/// given other names, which then stand for the branches by their places.
pub(super) fn named_as(announced: &[Text], listed: Vec<(String, u32)>) -> Vec<(String, u32)> {
    if announced.len() != listed.len() {
        return listed;
    }
    let own = |(name, at): (&Text, &(String, u32))| {
        let same = listed.iter().find(|(listed, _)| **listed == **name);
        (name.to_string(), same.unwrap_or(at).1)
    };
    announced.iter().zip(&listed).map(own).collect()
}

/// Begins a branch. The branch ends like any other execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Branch {
    /// The execution id of the parallel block.
    pub(super) parallel: i64,
    /// The name of the branch.
    pub(super) name: String,
    /// The branch's statement; by default the statement that the program has under the branch's name, else the text
    /// `parallel:name`, as in OpenProse.
    pub(super) statement: Option<StatementRef>,
    /// Whether the branch may begin although a rule or the program is against it.
    pub(super) insist: Insist,
}

/// Returns the command that begins an item.
pub(super) fn begins(parallel: i64, name: String, insist: Insist) -> Branch {
    Branch {
        parallel,
        name,
        statement: None,
        insist,
    }
}

impl Record for Branch {
    type Done = ExecutionBegun;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<ExecutionBegun>, WriteError> {
        names::plain("branch", &self.name)?;
        let mut open =
            EndingExecution::open(facts, Some(self.parallel), RowShape::Parallel, self.insist)?;
        open.past_gates()?;
        let EndingExecution {
            run,
            instance: parallel,
            mut insisted,
            ..
        } = open;
        let id = parallel.first.id;
        let source = ProgramSource::of(facts);
        let own = parallel.meta();
        if !own.branches.is_empty() && !own.branches.iter().any(|b| **b == *self.name) {
            return Err(WriteError::refused(
                "branch-unknown",
                format!(
                    "parallel {id} has no branch {}: its branches are {}",
                    self.name,
                    own.branches.join(", ")
                ),
                "name one of these branches",
            ));
        }
        let begun = branches_of(facts, &parallel);
        if let Some((_, status)) = begun.iter().rfind(|(name, _)| **name == *self.name) {
            return Err(WriteError::refused(
                "branch-begun",
                format!(
                    "branch {} of parallel {id} is {} already",
                    self.name,
                    status.word()
                ),
                "to begin another attempt of a failed branch, use `prosescope retry ID`",
            ));
        }
        let found = self.found(&source, &parallel, &own.branches, &mut insisted)?;
        let meta = Meta {
            parallel_id: own.parallel_id,
            branch: Some(self.name.as_str().into()),
            ..Meta::default()
        };
        let entry = BeginnableStatement {
            run,
            parent: Some(id),
            source,
            found,
            insisted,
            notes: Vec::new(),
        };
        let row = entry.row(facts, Status::Executing, meta)?;
        entry.begin(facts, at, row, MetaKeys::default())
    }
}

impl Branch {
    /// Returns the branch's statement: the given statement, else the program's. A statement with a command of its own
    /// (a loop, a gate) begins inside the branch. The branch then has no statement.
    fn found(
        &self,
        source: &ProgramSource<'_>,
        parallel: &Instance,
        announced: &[Text],
        insisted: &mut ForcedRules,
    ) -> Result<LineLookup, WriteError> {
        let statement = source.of_row(&parallel.first);
        let listing = source.listing;
        let items = statement
            .zip(listing)
            .filter(|(at, listing)| listing.has_items(*at));
        let listed = statement.map_or_else(Vec::new, |at| source.branches(at));
        let listed = named_as(announced, listed);
        let own = listed.iter().find(|(name, _)| *name == self.name);
        if !listed.is_empty() && own.is_none() {
            let says: Vec<String> = listed.iter().map(|(name, _)| name.clone()).collect();
            insisted.contradict(
                "branch",
                parallel.line(),
                says.into(),
                self.name.as_str().into(),
            )?;
        }
        if let Some(named) = &self.statement {
            return source.find(named);
        }
        let own = match items {
            Some((around, listing)) => listing.only_work(around),
            None => own.map(|(_, at)| *at),
        };
        let statement = own.and_then(|at| source.get(at).map(|statement| (at, statement)));
        if let Some((at, statement)) = statement
            && listing.is_some_and(|listing| listing.stands_alone(at))
        {
            return Ok(LineLookup {
                text: statement.text.clone(),
                line: Some(statement.line),
                statement: Some(at),
            });
        }
        // The statements of a branch with a body run inside the branch. An item has the line of its parallel block or
        // pipe.
        let line = statement.filter(|_| items.is_none()).map(|(_, s)| s.line);
        Ok(LineLookup {
            text: crate::trace::branch_text(&parallel.first, &self.name),
            line: line.or(parallel.line()),
            statement: None,
        })
    }
}

/// Returns the plan that joins the branches of a parallel block, which ends with it.
pub(super) fn join(
    facts: &Facts<'_>,
    at: &At,
    id: i64,
    insist: Insist,
) -> Result<CommandPlan<ParallelJoined>, WriteError> {
    let mut open = EndingExecution::open(facts, Some(id), RowShape::Parallel, insist)?;
    let branches = statuses(facts, &open.instance);
    let joins = may_join(&open.instance, &branches, &ProgramSource::of(facts));
    open.insisted.sequence(joins)?;
    let missing = not_begun(facts, &open.instance, &branches)?;
    open.insisted
        .sequence(items_begun(&open.instance, &missing.unwrap_or_default()))?;
    open.not_barred(facts)?;
    Ok(CommandPlan {
        changes: open.changes(facts, at, "joined", None, MetaKeys::default())?,
        done: ParallelJoined {
            parallel: open.ended(facts, "joined"),
            branches: branches
                .into_iter()
                .map(|(branch, status)| BranchStatus {
                    branch: branch.to_string(),
                    status: status.word().to_owned(),
                })
                .collect(),
        },
    })
}

/// Refuses to join a parallel block while it waits for branches, or if it needs a branch that failed. The strategy
/// decides how many branches it needs. The block's own row does not count as a branch (errata X3).
pub(super) fn may_join(
    parallel: &Instance,
    branches: &[(Text, Status)],
    source: &ProgramSource<'_>,
) -> Result<(), WriteError> {
    let open: Vec<&str> = branches
        .iter()
        .filter(|(_, status)| !status.is_terminal())
        .map(|(name, _)| &**name)
        .collect();
    let statement = source.of_row(&parallel.first).and_then(|at| source.get(at));
    let failed = branches
        .iter()
        .find(|(_, status)| *status == Status::Failed);
    let own = parallel.meta();
    let recorded = own.strategy.as_deref();
    if let Some((name, _)) = failed.filter(|_| allows_failure(recorded, statement).is_none()) {
        return Err(WriteError::refused(
            "branch-failed",
            format!(
                "branch {name} failed, but parallel {} needs all of its branches",
                parallel.first.id
            ),
            format!(
                "`prosescope retry ID` begins another attempt of the branch, `prosescope fail {} TEXT` records that the parallel failed",
                parallel.first.id
            ),
        ));
    }
    if open.is_empty() {
        return Ok(());
    }
    let needed = match recorded.or_else(|| statement?.strategy()) {
        Some("first") => 1,
        Some("any") => {
            let says = statement.and_then(|s| s.number("count")).map(i64::from);
            let count = own.count.or(says).unwrap_or(1).max(1);
            usize::try_from(count).unwrap_or(usize::MAX)
        }
        _ => usize::MAX,
    };
    let done = branches
        .iter()
        .filter(|(_, status)| *status == Status::Completed)
        .count();
    if done >= needed {
        return Ok(());
    }
    Err(WriteError::refused(
        "branches-open",
        format!(
            "parallel {} waits for {}",
            parallel.first.id,
            match needed {
                usize::MAX => open.join(", "),
                needed => format!("{} more of {}", needed - done, open.join(", ")),
            }
        ),
        "first end, fail or skip these branches",
    ))
}

/// An item of a list for which no branch has begun: its number, from 1, and its text, if it is one.
pub(super) type MissingItem = (usize, Option<String>);

/// Returns the items for which no branch of a `parallel for` has begun; `None` if no short value records its list. If
/// branches do not have the names of the items, they are only counted.
pub(super) fn not_begun(
    facts: &Facts<'_>,
    parallel: &Instance,
    branches: &[(Text, Status)],
) -> Result<Option<Vec<MissingItem>>, WriteError> {
    let source = ProgramSource::of(facts);
    let construct = source.of_row(&parallel.first).and_then(|at| source.get(at));
    let Some(construct) = construct.filter(|own| own.kind == StatementKind::Parallel) else {
        return Ok(None);
    };
    let frame = frame_of(facts, parallel.first.parent)?.map(|row| row.id);
    let Some(items) = facts.items(construct, frame)? else {
        return Ok(None);
    };
    let begun: Vec<&str> = branches
        .iter()
        .filter(|(_, status)| *status != Status::Pending)
        .map(|(name, _)| &**name)
        .collect();
    let left = items.len().saturating_sub(begun.len());
    let has_begun =
        |item: &Option<String>| item.as_deref().is_some_and(|item| begun.contains(&item));
    let numbered = (1..).zip(items).filter(|(_, item)| !has_begun(item));
    Ok(Some(numbered.take(left).collect()))
}

/// Refuses to join a `parallel for` while no branch has begun for some of its items.
fn items_begun(parallel: &Instance, missing: &[MissingItem]) -> Result<(), WriteError> {
    let Some((nth, item)) = missing.first() else {
        return Ok(());
    };
    let item = item.as_deref().map_or_else(|| format!("item {nth}"), shown);
    Err(WriteError::refused(
        "items-left",
        format!(
            "parallel {} has no branch for {} of the items of its list, the first is {item}",
            parallel.first.id,
            missing.len()
        ),
        "begin a branch for each item: `prosescope begin N --item NAME` with the first line inside",
    ))
}

/// Returns each branch with its newest status. A branch in the block's list `branches` that has not begun is pending.
pub(super) fn statuses(facts: &Facts<'_>, parallel: &Instance) -> Vec<(Text, Status)> {
    let announced = parallel.meta().branches.into_iter();
    let announced = announced.map(|name| (name, Status::Pending));
    let mut all: Vec<(Text, Status)> = Vec::new();
    // A parallel may have ten thousand items, so a map finds each item by its name.
    let mut places: BTreeMap<Text, usize> = BTreeMap::new();
    for (name, now) in announced.chain(branches_of(facts, parallel)) {
        let place = *places.entry(name.clone()).or_insert(all.len());
        match all.get_mut(place) {
            Some((_, status)) => *status = now,
            None => all.push((name, now)),
        }
    }
    all
}

/// Returns each branch that began, with its status.
pub(super) fn branches_of(facts: &Facts<'_>, parallel: &Instance) -> Vec<(Text, Status)> {
    branches_begun(facts, parallel)
        .map(|(name, row)| (name, row.status.clone()))
        .collect()
}

/// Returns the branches that began in the present attempt of a parallel block, each with its last row.
pub(super) fn branches_begun<'f>(
    facts: &'f Facts<'_>,
    parallel: &Instance,
) -> impl Iterator<Item = (Text, &'f Execution)> {
    // Branches of an earlier attempt do not count, because a new attempt begins all branches again.
    let since = match parallel.last.status {
        Status::Retry => parallel.last.id,
        _ => parallel.first.id,
    };
    let begun = facts.inside(Some(parallel.first.id));
    begun.filter_map(move |node| {
        // A branch that began again may continue the rows of the earlier attempt.
        let last = facts.row_at(node.last_row).filter(|row| row.id > since)?;
        Some((instance::meta(last).branch?, last))
    })
}
