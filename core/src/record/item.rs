//! Finds the item of a `parallel for` or a pipe in which a statement runs. The body runs once for each item. A branch
//! represents the item, and begins with the first statement that runs in the item.

use super::insist::Insist;
use super::instance::{Instance, begun_after, meta};
use super::open_executions::OpenExecutions;
use super::parallel;
use super::place::{at_line, holder};
use super::source::{LineLookup, ProgramSource, StatementRef};
use super::steps::Steps;
use super::{At, CommandPlan, Facts, StatementPlace, WriteError};
use crate::model::Execution;

/// A statement, and the place where the caller wants it to run.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedPlace<'a> {
    pub(super) statement: &'a StatementRef,
    pub(super) parent: Option<i64>,
    /// The name of the item or branch that the statement runs in.
    pub(super) item: Option<&'a str>,
    pub(super) insist: Insist,
}

impl<'a> WantedPlace<'a> {
    pub(super) fn new(
        statement: &'a StatementRef,
        parent: Option<i64>,
        item: &'a Option<String>,
        insist: Insist,
    ) -> WantedPlace<'a> {
        WantedPlace {
            statement,
            parent,
            item: item.as_deref(),
            insist,
        }
    }
}

/// The place where a statement begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Where {
    /// The statement runs outside of items, or in the given parent.
    Elsewhere,
    /// The statement runs in this open execution: an item, or a construct inside an item.
    In(i64),
    /// The statement runs in a new item that begins with this statement. `alone` is true if the item consists of this
    /// statement only.
    New {
        parallel: i64,
        name: String,
        alone: bool,
    },
}

/// Plans a command inside an item. If the item has not begun, the plan first begins it.
pub(super) fn inside<D>(
    facts: &Facts<'_>,
    at: &At,
    wanted: WantedPlace<'_>,
    plan: impl FnOnce(&Facts<'_>, Option<i64>) -> Result<CommandPlan<D>, WriteError>,
) -> Result<CommandPlan<D>, WriteError> {
    enter(facts, at, wanted, find(facts, wanted)?, plan)
}

/// Plans a command like [`inside`], for a place that was already found.
pub(super) fn enter<D>(
    facts: &Facts<'_>,
    at: &At,
    wanted: WantedPlace<'_>,
    place: Where,
    plan: impl FnOnce(&Facts<'_>, Option<i64>) -> Result<CommandPlan<D>, WriteError>,
) -> Result<CommandPlan<D>, WriteError> {
    match place {
        Where::Elsewhere => plan(facts, wanted.parent),
        Where::In(id) => plan(facts, Some(id)),
        Where::New { parallel, name, .. } => {
            let mut all = Steps::new(facts);
            let item = all.plan(&parallel::begins(parallel, name, wanted.insist), at)?;
            let done = all.then(|facts| plan(facts, Some(item.id)))?;
            Ok(all.done(done))
        }
    }
}

/// Finds the item for a statement: the item that the caller named, else the only open item in which the statement has
/// not begun, else a new item.
pub(super) fn find(facts: &Facts<'_>, wanted: WantedPlace<'_>) -> Result<Where, WriteError> {
    if *wanted.statement == StatementRef::default() {
        return Ok(Where::Elsewhere);
    }
    let source = ProgramSource::of(facts);
    let found = source.find(wanted.statement)?;
    let (Some(statement), Some(listing)) = (found.statement, source.listing) else {
        return outside_the_program(facts, &source, &found, wanted);
    };
    let (holder, inner) = holder(&source, statement);
    let open_executions = OpenExecutions::of(facts);
    let Some(holder) = holder.filter(|at| listing.has_items(*at)) else {
        let new = match holder.filter(|_| inner == statement) {
            Some(holder) => new_branch(facts, &open_executions, wanted, holder, statement)?,
            None => None,
        };
        return match new {
            Some(new) => Ok(new),
            None => named_branch(&source, &open_executions, &found, wanted),
        };
    };
    let open: Vec<&Execution> = open_executions
        .rows()
        .filter(|row| is_parallel(row) && source.of_row(row) == Some(holder))
        .filter(|row| wanted.parent.is_none_or(|parent| parent == row.id))
        .collect();
    // If the open parallel blocks are nested, as in a recursion, the innermost block counts. Otherwise the caller has
    // to name the parent, and a later error lists the blocks.
    let Some(parallel) = open_executions.innermost(&open) else {
        return Ok(Where::Elsewhere);
    };
    let items: Vec<&Execution> = open_executions
        .inside(parallel.id)
        .filter(|row| meta(row).branch.is_some())
        .collect();
    let alone = listing.only_work(holder) == Some(statement);
    let new = |name: String| Where::New {
        parallel: parallel.id,
        name,
        alone,
    };
    if let Some(name) = wanted.item {
        let is_named = |row: &&&Execution| meta(row).branch.as_deref() == Some(name);
        let named = items.iter().find(is_named);
        return Ok(named.map_or_else(
            || new(name.to_owned()),
            |item| {
                // A statement at a deeper level runs in a construct that is open inside the item.
                let deeper = super::place::candidates(&source, &open_executions, &found);
                let own =
                    |row: &&Execution| row.id == item.id || open_executions.lies_in(row, item.id);
                let deeper: Vec<&Execution> = deeper.into_iter().filter(own).collect();
                Where::In(
                    open_executions
                        .innermost(&deeper)
                        .map_or(item.id, |row| row.id),
                )
            },
        ));
    }
    // A deeper statement, such as an option in its choice, runs in a construct that is open inside its item.
    let deeper = super::place::candidates(&source, &open_executions, &found);
    if inner != statement
        && deeper
            .iter()
            .any(|row| row.id != parallel.id && meta(row).branch.is_none())
    {
        return Ok(Where::Elsewhere);
    }
    let mut free: Vec<&&Execution> = Vec::new();
    // A handler begins while its `try` is open.
    let own = listing.leader(statement);
    let tried = |row: &Execution| source.of_row(row).map(|at| listing.leader(at)) == Some(own);
    for item in items.iter().filter(|_| !alone) {
        if open_executions.inside(item.id).all(tried) && !begun_in(facts, item.id, &found)? {
            free.push(item);
        }
    }
    match free.as_slice() {
        [one] => Ok(Where::In(one.id)),
        [] if listing.children(holder).next() == Some(listing.leader(inner)) => {
            Ok(new(next_name(facts, parallel)?))
        }
        several => Err(no_single_item(&found, parallel, several)),
    }
}

/// Finds the item for a statement that the program does not have, in the parallel block that the caller named.
fn outside_the_program(
    facts: &Facts<'_>,
    source: &ProgramSource<'_>,
    found: &LineLookup,
    wanted: WantedPlace<'_>,
) -> Result<Where, WriteError> {
    let parallel = wanted
        .parent
        .and_then(|id| facts.execution(id))
        .filter(|row| is_parallel(row));
    match (wanted.item, parallel) {
        (None, _) => Ok(Where::Elsewhere),
        (Some(name), Some(parallel)) => {
            let (own, at) = source.listed(found);
            let is_loop = own.get(at).is_some_and(|own| own.kind.is_loop());
            Ok(Where::New {
                parallel: parallel.id,
                name: name.to_owned(),
                alone: own.stands_alone(at) && !is_loop,
            })
        }
        (Some(_), None) => Err(WriteError::wrong(
            "the program has no such statement, so --item also needs the parallel",
            "name the open parallel with `--parent ID`",
        )),
    }
}

/// Refuses a statement that has begun in every open item, or may run in several.
fn no_single_item(found: &LineLookup, parallel: &Execution, free: &[&&Execution]) -> WriteError {
    if free.is_empty() {
        return WriteError::refused(
            "item-unknown",
            format!(
                "{} has begun in every open item of execution {}",
                at_line(found),
                parallel.id
            ),
            "name the item with `--item NAME`, or begin another item with the first statement of the body",
        );
    }
    let names: Vec<String> = free
        .iter()
        .map(|row| format!("--item {}", meta(row).branch.unwrap_or_else(|| "".into())))
        .collect();
    WriteError::refused(
        "item-ambiguous",
        format!(
            "{} may run in any of {} items: {}",
            at_line(found),
            names.len(),
            names.join(", ")
        ),
        "choose one of these items with `--item NAME`",
    )
}

/// Returns the branch that begins with a statement: the first statement of a branch that its open parallel block has
/// not begun. `None` if there is no such block, or several.
fn new_branch(
    facts: &Facts<'_>,
    open_executions: &OpenExecutions,
    wanted: WantedPlace<'_>,
    parallel: u32,
    statement: u32,
) -> Result<Option<Where>, WriteError> {
    let source = ProgramSource::of(facts);
    let listed = source.branches(parallel);
    if !listed.iter().any(|(_, at)| *at == statement) {
        return Ok(None);
    }
    let mut free = Vec::new();
    for row in open_executions.rows() {
        let is_it = is_parallel(row) && source.of_row(row) == Some(parallel);
        if !is_it || wanted.parent.is_some_and(|parent| parent != row.id) {
            continue;
        }
        let instance = Instance::of(facts, row.id)?;
        let named = parallel::named_as(&instance.meta().branches, listed.clone());
        let Some((name, _)) = named.into_iter().find(|(_, at)| *at == statement) else {
            continue;
        };
        let begun = parallel::branches_of(facts, &instance);
        let has_begun = begun.iter().any(|(begun, _)| **begun == *name);
        if !has_begun && wanted.item.is_none_or(|item| item == name) {
            free.push((row, name));
        }
    }
    let rows: Vec<&Execution> = free.iter().map(|(row, _)| *row).collect();
    let inner = open_executions.innermost(&rows);
    let name = free
        .into_iter()
        .find(|(row, _)| inner.is_some_and(|inner| inner.id == row.id));
    let alone = source
        .listing
        .is_some_and(|listing| listing.stands_alone(statement));
    Ok(name.map(|(row, name)| Where::New {
        parallel: row.id,
        name,
        alone,
    }))
}

/// Returns the open execution that contains the statement, in the branch or item that the caller named.
fn named_branch(
    source: &ProgramSource<'_>,
    open_executions: &OpenExecutions,
    found: &LineLookup,
    wanted: WantedPlace<'_>,
) -> Result<Where, WriteError> {
    let Some(name) = wanted.item else {
        return Ok(Where::Elsewhere);
    };
    let candidates = super::place::candidates(source, open_executions, found);
    let in_branch = |row: &&&Execution| {
        let own = meta(row).branch.as_deref() == Some(name);
        own || open_executions
            .above(row)
            .any(|above| meta(above).branch.as_deref() == Some(name))
    };
    let fit: Vec<&Execution> = candidates.iter().filter(in_branch).copied().collect();
    match (fit.as_slice(), open_executions.innermost(&fit)) {
        (_, Some(one)) => Ok(Where::In(one.id)),
        ([], _) => Err(WriteError::not_found(
            format!("no open branch or item {name} contains {}", at_line(found)),
            "leave --item out, or name an open branch or item: `prosescope resume` lists the open ones",
        )),
        _ => Ok(Where::Elsewhere),
    }
}

/// Returns whether a row is a parallel block or a pipe, whose branches or items run concurrently.
pub(super) fn is_parallel(row: &Execution) -> bool {
    let own = meta(row);
    own.parallel_id.is_some() && own.branch.is_none()
}

/// Returns whether a statement has begun in an item.
fn begun_in(facts: &Facts<'_>, item: i64, found: &LineLookup) -> Result<bool, WriteError> {
    let place = StatementPlace {
        parent: Some(item),
        index: found.index(),
        text: &found.text,
    };
    // Executions of an earlier attempt of the item do not count.
    let since = begun_after(facts, Some(item))?;
    Ok(facts.back(&place, since).next().is_some())
}

/// Returns the name of the next item: the first name in the block's list `branches` that has not begun, else the next
/// free number.
fn next_name(facts: &Facts<'_>, parallel: &Execution) -> Result<String, WriteError> {
    let instance = Instance::of(facts, parallel.id)?;
    let begun = parallel::branches_of(facts, &instance);
    let mut names: Vec<&str> = begun.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.dedup();
    let announced = instance.meta().branches;
    let next = announced.iter().find(|name| !names.contains(&&***name));
    if let Some(next) = next {
        return Ok(next.to_string());
    }
    let taken = |number: &usize| names.binary_search(&number.to_string().as_str()).is_ok();
    let next = (names.len() + 1..).find(|number| !taken(number));
    Ok(next.unwrap_or(names.len() + 1).to_string())
}
