//! Finds the execution in which a statement runs: the innermost enclosing construct that has an open execution.

use super::instance::{meta, no_execution, shown};
use super::open_executions::OpenExecutions;
use super::source::{LineLookup, ProgramSource};
use super::{Facts, WriteError};
use crate::model::Execution;
use crate::program::{Statement, StatementKind as Kind};
use crate::trace::{RowShape, frame_block, shape};

/// Returns the execution that a statement runs in: the given execution, else the only suitable execution.
///
/// # Errors
/// A refusal if the enclosing construct has not begun, if several executions are suitable, or if the given execution
/// does not belong to an enclosing construct.
pub(super) fn parent_of(
    facts: &Facts<'_>,
    source: &ProgramSource<'_>,
    open_executions: &OpenExecutions,
    found: &LineLookup,
    given: Option<i64>,
) -> Result<Option<i64>, WriteError> {
    match given {
        Some(id) => {
            let row = facts.execution(id).ok_or_else(|| no_execution(id))?;
            fits(facts, source, open_executions, found, row)?;
            Ok(Some(id))
        }
        None => taken(source, open_executions, found),
    }
}

/// Returns the statements that enclose a statement, innermost first. The list ends with the declaration of the
/// enclosing block, if there is one.
pub(super) fn around(source: &ProgramSource<'_>, statement: u32) -> Vec<u32> {
    let enclosing = source.listing.iter().flat_map(|l| l.enclosing(statement));
    let mut found = Vec::new();
    for at in enclosing {
        found.push(at);
        if source.kind(at) == Some(Kind::Block) {
            break;
        }
    }
    found
}

/// Returns the innermost enclosing construct that needs an execution, and the statement directly inside it. The latter
/// is the given statement or a statement around it.
pub(super) fn holder(source: &ProgramSource<'_>, statement: u32) -> (Option<u32>, u32) {
    let mut inner = statement;
    for at in around(source, statement) {
        if source.kind(at).is_some_and(holds) {
            return (Some(at), inner);
        }
        inner = at;
    }
    (None, statement)
}

/// Returns whether the statements in a construct need an open execution of the construct. A `try:` or an `if` may be
/// recorded, but need not be.
fn holds(kind: Kind) -> bool {
    kind.is_loop() || matches!(kind, Kind::Parallel | Kind::Pipe | Kind::Block)
}

fn taken(
    source: &ProgramSource<'_>,
    open_executions: &OpenExecutions,
    found: &LineLookup,
) -> Result<Option<i64>, WriteError> {
    let Some(statement) = found.statement else {
        return Ok(None);
    };
    let mut inner = statement;
    for outer in around(source, statement) {
        let Some(own) = source.get(outer) else { break };
        let fit = fitting(source, open_executions, outer, inner);
        if is_branch(source, outer, inner) && inner == statement {
            return Err(a_branch(source, open_executions, found, outer, statement));
        }
        if let Some(parent) = only(open_executions, &fit, found)? {
            return Ok(Some(parent));
        }
        if holds(own.kind) {
            return Err(not_begun(source, open_executions, found, outer, inner));
        }
        inner = outer;
    }
    Ok(None)
}

/// Returns the open executions in which a statement may run. All of them belong to the innermost enclosing construct
/// that has open executions.
pub(super) fn candidates<'r>(
    source: &ProgramSource<'_>,
    open_executions: &'r OpenExecutions,
    found: &LineLookup,
) -> Vec<&'r Execution> {
    let mut inner = found.statement;
    let outers = inner.map_or_else(Vec::new, |at| around(source, at));
    for outer in outers {
        let fit = inner.map_or_else(Vec::new, |inner| {
            fitting(source, open_executions, outer, inner)
        });
        if !fit.is_empty() {
            return fit;
        }
        inner = Some(outer);
    }
    Vec::new()
}

/// Returns the open executions of the construct `outer` in which `inner`, a statement directly inside `outer`, may run.
fn fitting<'r>(
    source: &ProgramSource<'_>,
    open_executions: &'r OpenExecutions,
    outer: u32,
    inner: u32,
) -> Vec<&'r Execution> {
    let holds_branches = matches!(source.kind(outer), Some(Kind::Parallel | Kind::Pipe));
    // Branches of two parallel blocks may have the same name and, if one block is a branch of the other, the same line.
    // Therefore the parent of a branch is compared, too.
    let is_elsewhere = |row: &Execution| {
        let above = open_executions.above(row).next();
        let parallel = above.filter(|above| shape(above) == RowShape::Parallel);
        let parallel = parallel.and_then(|above| source.of_row(above));
        let own = holds_branches && meta(row).branch.is_some();
        own && parallel.is_some_and(|parallel| parallel != outer)
    };
    let fits = |row: &&Execution| is_of(source, row, outer, inner) && !is_elsewhere(row);
    open_executions.rows().filter(fits).collect()
}

/// Returns whether a statement directly in a parallel block is itself a branch, rather than a statement inside a
/// branch.
fn is_branch(source: &ProgramSource<'_>, parallel: u32, statement: u32) -> bool {
    let listing = source.listing;
    source.kind(parallel) == Some(Kind::Parallel)
        && listing.is_some_and(|l| !l.has_items(parallel) && l.stands_alone(statement))
}

/// Returns whether a row is an execution of `outer` in which `inner`, a statement directly inside `outer`, may run.
fn is_of(source: &ProgramSource<'_>, row: &Execution, outer: u32, inner: u32) -> bool {
    let Some(own) = source.get(outer) else {
        return false;
    };
    match own.kind {
        Kind::Block => frame_block(row).is_some_and(|block| own.name.as_deref() == Some(block)),
        // A deeper statement of a branch runs in the branch, and a `catch` runs in the branch of its `try`. A pipe that
        // was recorded without items directly contains its statements.
        Kind::Parallel | Kind::Pipe => {
            let own_row = own.kind == Kind::Pipe && meta(row).parallel_id.is_none();
            if own_row && source.of_row(row) == Some(outer) {
                return true;
            }
            let Some(branch) = meta(row).branch else {
                return false;
            };
            let leader = source.listing;
            let leader = leader.map_or(inner, |listing| listing.leader(inner));
            let stands_at = |at: u32| {
                let line = source.get(at).map(|s| i64::from(s.line));
                row.index == line
            };
            match source.branches(outer).iter().find(|(_, at)| *at == leader) {
                // Branches of other parallel blocks may have the same name. The row of a branch has its own line, or
                // the line of its block.
                Some((name, _)) => {
                    let line = row.index.and_then(|line| u32::try_from(line).ok());
                    let known = line.and_then(|line| source.at_line(line)).is_some();
                    **name == *branch && (!known || stands_at(leader) || stands_at(outer))
                }
                // The branches of `parallel for` are known only at run time.
                None => stands_at(outer) || stands_at(inner),
            }
        }
        _ => shape(row) != RowShape::Frame && source.of_row(row) == Some(outer),
    }
}

/// Returns the only execution among `fit` in which a statement can begin now. Of several executions, those with an open
/// child do not count.
fn only(
    open_executions: &OpenExecutions,
    fit: &[&Execution],
    found: &LineLookup,
) -> Result<Option<i64>, WriteError> {
    let free: Vec<&&Execution> = fit
        .iter()
        .filter(|row| fit.len() == 1 || open_executions.inside(row.id).next().is_none())
        .collect();
    match (fit, free.as_slice()) {
        ([], _) => Ok(None),
        (_, [one]) => Ok(Some(one.id)),
        // In a recursion, each candidate waits for the call inside it. A `catch` belongs to the innermost candidate.
        (_, []) if let Some(one) = open_executions.innermost(fit) => Ok(Some(one.id)),
        _ => {
            let candidate = |row: &&Execution| {
                let branch = meta(row).branch;
                let branch = branch.map_or(String::new(), |name| format!("branch {name}, "));
                format!("--parent {} ({branch}{})", row.id, shown(&row.text))
            };
            let candidates: Vec<String> = fit.iter().map(candidate).collect();
            let (at, many, candidates) = (at_line(found), fit.len(), candidates.join("; "));
            Err(WriteError::refused(
                "parent-ambiguous",
                format!("{at} may run in any of {many} executions: {candidates}"),
                "choose one of these executions with `--parent ID`",
            ))
        }
    }
}

pub(super) fn at_line(found: &LineLookup) -> String {
    found
        .line
        .map_or_else(|| "the statement".to_owned(), |line| format!("line {line}"))
}

fn a_branch(
    source: &ProgramSource<'_>,
    open_executions: &OpenExecutions,
    found: &LineLookup,
    parallel: u32,
    statement: u32,
) -> WriteError {
    let line = source.get(parallel).map_or(0, |s| s.line);
    let mut listed = source.branches(parallel).into_iter();
    let own = listed.find(|(_, at)| *at == statement);
    let name = own.map_or("NAME".to_owned(), |(name, _)| name);
    let is_parallel =
        |row: &&Execution| shape(row) == RowShape::Parallel && source.of_row(row) == Some(parallel);
    let open = open_executions.rows().find(is_parallel).map(|row| row.id);
    let begun = open.and_then(|open| {
        let own = |row: &&Execution| meta(row).branch.as_deref() == Some(&*name);
        Some(open_executions.inside(open).find(own)?.id)
    });
    let next = match (open, begun) {
        (_, Some(id)) => format!(
            "the branch has begun, as execution {id}: `prosescope brief {id}` shows its task"
        ),
        (Some(_), None) => format!(
            "branch {name} has ended: `prosescope retry ID` begins another attempt if it failed; `prosescope next` names what may come"
        ),
        (None, None) => format!("`prosescope begin {line}` begins all of its branches"),
    };
    let at = at_line(found);
    let message = format!("{at} is a branch of the parallel of line {line}");
    WriteError::refused("is-a-branch", message, next)
}

fn not_begun(
    source: &ProgramSource<'_>,
    open_executions: &OpenExecutions,
    found: &LineLookup,
    outer: u32,
    inner: u32,
) -> WriteError {
    let Some(own) = source.get(outer) else {
        return WriteError::not_found("the program has no such statement", "");
    };
    let line = own.line;
    let place = shown_place(own);
    let has_items = source.listing.is_some_and(|l| l.has_items(outer));
    let begins = format!("begin {place} with `prosescope begin {line}`");
    let (what, next) = match own.kind {
        Kind::Block => {
            let calls = source.listing.iter().flat_map(|l| &l.statements);
            let call = calls
                .filter(|s| s.kind == Kind::Do && s.target.is_some() && s.target == own.name)
                .find(|s| s.line < own.line || s.line > own.end);
            let next = match call.map(|call| call.line) {
                Some(line) => format!("call the block with `prosescope begin {line}`"),
                None => "call the block: `prosescope begin` with the line of a `do`".to_owned(),
            };
            (format!("{place}, which is not called"), next)
        }
        Kind::Parallel if !has_items => {
            let branch = source.get(inner).map_or(line, |s| s.line);
            let of_it = |row: &Execution| source.of_row(row) == Some(outer);
            let (is, next) = if open_executions.rows().any(of_it) {
                (
                    "which is not open",
                    "`prosescope next` names what may come now".to_owned(),
                )
            } else {
                ("which has not begun", begins)
            };
            (format!("a branch (line {branch}) of {place}, {is}"), next)
        }
        _ => (format!("{place}, which has not begun"), begins),
    };
    let message = format!("{} lies in {what}", at_line(found));
    WriteError::refused("not-begun", message, next)
}

/// Returns the name of a construct for messages, such as `the loop of line 3`.
fn shown_place(statement: &Statement) -> String {
    let line = statement.line;
    match statement.kind {
        Kind::Block => {
            let name = statement.name.as_deref().unwrap_or_default();
            format!("block {name} (line {line})")
        }
        Kind::Parallel => format!("the parallel of line {line}"),
        Kind::Pipe => format!("the pipe of line {line}"),
        _ => format!("the loop of line {line}"),
    }
}

/// Refuses a parent that does not belong to an enclosing construct.
fn fits(
    facts: &Facts<'_>,
    source: &ProgramSource<'_>,
    open_executions: &OpenExecutions,
    found: &LineLookup,
    given: &Execution,
) -> Result<(), WriteError> {
    let Some(statement) = found.statement else {
        return Ok(());
    };
    let enclosing = around(source, statement);
    let (outer, inner) = holder(source, statement);
    let is_items = |at: &u32| source.listing.is_some_and(|l| l.has_items(*at));
    if let Some(parallel) = outer.filter(|at| is_branch(source, *at, inner))
        && inner == statement
    {
        return Err(a_branch(
            source,
            open_executions,
            found,
            parallel,
            statement,
        ));
    }
    let Some(ran_in) = container(facts, source, given) else {
        return Ok(());
    };
    // A plain statement can only contain the statements that the program has inside it, such as those of a `try:`.
    let is_plain = shape(given) == RowShape::Statement && meta(given).branch.is_none();
    let elsewhere = is_plain
        && source
            .of_row(given)
            .is_some_and(|at| !enclosing.contains(&at));
    let right = match (outer, ran_in) {
        _ if elsewhere => false,
        (None, Container::Root) => true,
        (Some(outer), Container::Branch(at, row)) if outer == at && is_items(&outer) => {
            meta(row).branch.is_some()
        }
        (Some(outer), Container::Branch(at, row)) => {
            outer == at && is_of(source, row, outer, inner)
        }
        (Some(outer), Container::Statement(at)) => {
            outer == at && source.kind(outer) != Some(Kind::Parallel)
        }
        (Some(outer), Container::Block(block)) => {
            let own = source.get(outer).filter(|s| s.kind == Kind::Block);
            own.is_some_and(|s| s.name.as_ref() == Some(&block))
        }
        _ => false,
    };
    if right {
        return Ok(());
    }
    let lies = outer.and_then(|at| source.get(at));
    let lies = lies.map_or("the program's top".to_owned(), shown_place);
    let (at, id, text) = (at_line(found), given.id, shown(&given.text));
    Err(WriteError::refused(
        "parent-differs",
        format!("{at} does not run in execution {id} ({text}): {at} lies in {lies}"),
        "leave --parent out: the parent is then chosen from the open executions",
    ))
}

enum Container<'f> {
    Root,
    /// A branch: the statement of its parallel block, and the branch's row.
    Branch(u32, &'f Execution),
    Statement(u32),
    Block(String),
}

/// Returns the construct of an execution, or of the nearest execution above it that has a construct. Returns `None` if
/// no row shows a construct.
fn container<'f>(
    facts: &'f Facts<'_>,
    source: &ProgramSource<'_>,
    from: &'f Execution,
) -> Option<Container<'f>> {
    let mut at = from;
    let mut seen = std::collections::BTreeSet::new();
    while seen.insert(at.id) {
        if meta(at).branch.is_some() && frame_block(at).is_none() {
            // The parent of a branch is its parallel block.
            let parallel = source.of_row(facts.execution(at.parent?)?)?;
            return Some(Container::Branch(parallel, at));
        }
        match shape(at) {
            RowShape::Frame => return Some(Container::Block(frame_block(at)?.to_owned())),
            RowShape::Loop | RowShape::Parallel => {
                return source.of_row(at).map(Container::Statement);
            }
            RowShape::Statement | RowShape::Gate => {}
        }
        let Some(parent) = at.parent else {
            return Some(Container::Root);
        };
        at = facts.execution(parent)?;
    }
    None
}
