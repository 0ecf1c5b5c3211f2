use super::close::{Close, How};
use super::insist::{Insist, Insisted};
use super::instance::{depth, meta, newest, open_parent, running, shown};
use super::item::{self, Wanted, Where};
use super::meta::Keys;
use super::next::next_step;
use super::open_executions::OpenExecutions;
use super::order::Turn;
use super::parallel::Join;
use super::place::{at_line, parent_of};
use super::rounds::{BeginLoop, ExitLoop, Iterate, rounds_left};
use super::source::{Command, Found, Source, StatementRef};
use super::steps::Steps;
use super::task::task_of;
use super::{At, Change, ExecutionBegun, ExecutionRow, Facts, Plan, Record, RunChange, WriteError};
use crate::judgement::{Bar, WAITS, Why};
use crate::model::{Execution, Meta, Status};
use crate::trace::{Shape, frame_block, shape};

/// The command `exec begin`, which begins a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Begin {
    /// The statement to begin.
    pub statement: StatementRef,
    /// The row id of the execution that the statement runs in (a branch, a loop, a frame). By default, the id is chosen
    /// from the open executions.
    pub parent: Option<i64>,
    /// The name of the item or branch that the statement runs in. If no item has this name yet, a new item begins with
    /// the statement.
    pub item: Option<String>,
    /// The block that the statement calls, if the statement's text does not contain the name as `do name(…)` does.
    pub block: Option<String>,
    /// The overrides that the caller gave (`--force`, `--override`).
    pub insist: Insist,
}

impl Record for Begin {
    type Done = ExecutionBegun;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<ExecutionBegun>, WriteError> {
        let wanted = Wanted::new(&self.statement, self.parent, &self.item, self.insist);
        match item::find(facts, wanted)? {
            Where::New {
                parallel,
                name,
                alone: true,
            } => item::begins(parallel, name, self.insist).plan(facts, at),
            place => {
                let begins = match &place {
                    Where::New { name, .. } => Some(name.clone()),
                    _ => None,
                };
                let mut plan = item::enter(facts, at, wanted, place, |facts, parent| {
                    self.plan_in(facts, at, parent)
                })?;
                if let (Some(name), Some(item)) = (begins, plan.done.parent) {
                    plan.done.notes.push(format!(
                        "item {name} is execution {item}: when its statements are done, end the execution with `prosescope exec complete {item}`"
                    ));
                }
                Ok(plan)
            }
        }
    }
}

impl Begin {
    fn plan_in(
        &self,
        facts: &Facts<'_>,
        at: &At,
        parent: Option<i64>,
    ) -> Result<Plan<ExecutionBegun>, WriteError> {
        let entry = Entry::open(
            facts,
            &self.statement,
            None,
            parent,
            self.insist,
            Command::Exec,
        )?;
        let pipes = entry.source.has_items(&entry.found)
            && crate::trace::may_hold_branches(&entry.found.text);
        let parallel_id = match pipes {
            true => Some(format!("p{}", facts.next_execution()?).into()),
            false => None,
        };
        let meta = Meta {
            block: self.block.as_deref().map(Into::into),
            parallel_id,
            ..Meta::default()
        };
        let row = entry.row(facts, Status::Executing, meta)?;
        let command = match shape(&row) {
            Shape::Parallel => Some("prosescope parallel run"),
            Shape::Loop => Some("prosescope loop begin"),
            Shape::Gate => Some("prosescope gate create"),
            Shape::Frame | Shape::Statement => None,
        };
        if let Some(command) = command {
            return Err(WriteError::wrong(
                format!(
                    "`prosescope exec` does not record this statement: {}",
                    shown(&row.text)
                ),
                format!("use `{command}`"),
            ));
        }
        not_twice(facts, &row)?;
        entry.begin(facts, at, row, Keys::default())
    }
}

/// The command `exec run`, which first begins or ends constructs around a statement as requested, and then begins the
/// statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The statement to begin, and where the statement runs.
    pub begin: Begin,
    /// The line of the loop or call that contains the statement. This loop or call begins first.
    pub within: Option<u32>,
    /// Whether to end the open round of the enclosing loop first.
    pub round: bool,
    /// Whether to end the open statements that precede the statement in its sequence: a `parallel` is joined, a loop
    /// ends with its round, calls and other blocks are completed.
    pub close: bool,
}

impl Record for Run {
    type Done = ExecutionBegun;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<ExecutionBegun>, WriteError> {
        let mut all = Steps::new(facts);
        let mut begin = self.begin.clone();
        if self.round {
            let insist = begin.insist;
            all.plan(&Iterate { id: None, insist }, at)?;
        }
        let mut notes = Vec::new();
        if self.close {
            let first = match self.within {
                Some(line) => StatementRef::line(line),
                None => begin.statement.clone(),
            };
            notes = close_before(&mut all, at, &first, &begin)?;
        }
        if let Some(line) = self.within {
            let source = Source::of(all.facts());
            let statement = StatementRef::line(line);
            let found = source.find(&statement)?;
            holds(&source, found.statement, &begin.statement, line)?;
            let is_loop = source.statement(&found).is_some_and(|s| s.kind.is_loop());
            let (parent, insist) = (begin.parent, begin.insist);
            let outer = match is_loop {
                true => all.plan(
                    &BeginLoop {
                        statement,
                        parent,
                        insist,
                        ..BeginLoop::default()
                    },
                    at,
                ),
                false => all.plan(
                    &Begin {
                        statement,
                        parent,
                        insist,
                        ..Begin::default()
                    },
                    at,
                ),
            };
            begin.parent = Some(outer?.id);
        }
        let mut begun = all.plan(&begin, at)?;
        begun.notes.splice(..0, notes);
        Ok(all.done(begun))
    }
}

/// Ends the open statements before `statement` in its sequence, the innermost first, and returns notes on them. An open
/// statement without a body is not ended, because its value has not been written.
fn close_before(
    all: &mut Steps<'_, '_>,
    at: &At,
    statement: &StatementRef,
    begin: &Begin,
) -> Result<Vec<String>, WriteError> {
    let insist = begin.insist;
    let mut notes = Vec::new();
    loop {
        let facts = all.facts();
        let source = Source::of(facts);
        let found = source.find(statement)?;
        let open_executions = OpenExecutions::of(facts);
        let parent = parent_of(facts, &source, &open_executions, &found, begin.parent)?;
        let Some(mut open) = open_executions.before(&source, &found, parent) else {
            return Ok(notes);
        };
        while let Some(inner) = open_executions.inside(open.id).last() {
            open = inner;
        }
        let has_body = source.of_row(open).is_none_or(|at| {
            let listing = source.listing;
            listing.is_some_and(|listing| listing.children(at).next().is_some())
        });
        let id = Some(open.id);
        let ended = match shape(open) {
            Shape::Parallel => {
                let parallel = id;
                all.plan(&Join { parallel, insist }, at)?.parallel
            }
            Shape::Loop => {
                let exit = ExitLoop {
                    id,
                    round: true,
                    insist,
                    ..ExitLoop::default()
                };
                all.plan(&exit, at)?.of
            }
            Shape::Frame => all.plan(&completed(open.id, insist), at)?,
            Shape::Statement if has_body => all.plan(&completed(open.id, insist), at)?,
            Shape::Statement | Shape::Gate => {
                open_executions.in_turn(&source, &found, parent)?;
                return Ok(notes);
            }
        };
        notes.extend(ended.notes);
    }
}

fn completed(id: i64, insist: Insist) -> Close {
    Close {
        insist,
        ..Close::new(id, How::Completed { binding: None })
    }
}

/// Refuses `--in LINE` if the line is neither a loop around the statement nor a call of the statement's block.
fn holds(
    source: &Source<'_>,
    outer: Option<u32>,
    statement: &StatementRef,
    line: u32,
) -> Result<(), WriteError> {
    let inner = source.find(statement)?.statement;
    let (Some(outer), Some(inner), Some(listing)) = (outer, inner, source.listing) else {
        return Ok(());
    };
    let Some(own) = listing.get(outer) else {
        return Ok(());
    };
    let block = own
        .target
        .as_deref()
        .and_then(|name| listing.block_named(name));
    // The command that begins `own` refuses a statement of another kind, with a clearer message.
    if !matches!(Command::of(own), Command::Exec | Command::Loop) {
        return Ok(());
    }
    let right = match own.kind.is_loop() {
        true => listing.contains(outer, inner),
        false => block.is_some_and(|block| listing.contains(block, inner)),
    };
    if right {
        return Ok(());
    }
    Err(WriteError::wrong(
        format!(
            "`--in {line}` names neither a loop around the statement nor a call of the statement's block: {}",
            shown(&own.text)
        ),
        "omit `--in`: the statement then runs in the open execution",
    ))
}

/// A statement that may begin: it was looked up in the program, its parent is known, and no open statement blocks it.
pub(super) struct Entry<'s> {
    pub(super) run: String,
    pub(super) source: Source<'s>,
    pub(super) found: Found,
    pub(super) parent: Option<i64>,
    pub(super) insisted: Insisted,
    /// Notes for the caller, such as a warning that the statement is out of order.
    pub(super) notes: Vec<String>,
}

impl<'s> Entry<'s> {
    /// Finds a statement and the execution in which it runs, and checks that the statement may begin now. If the caller
    /// gave no statement, `word` is recorded as the statement's text.
    pub(super) fn open(
        facts: &'s Facts<'_>,
        statement: &StatementRef,
        word: Option<&str>,
        parent: Option<i64>,
        insist: Insist,
        command: Command,
    ) -> Result<Entry<'s>, WriteError> {
        let run = running(facts)?;
        open_parent(facts, parent)?;
        let source = Source::of(facts);
        let found = match word {
            Some(word) if *statement == StatementRef::default() => Found {
                text: word.to_owned(),
                line: None,
                statement: None,
            },
            _ => source.find(statement)?,
        };
        source.of_kind(&found, command)?;
        let open_executions = OpenExecutions::of(facts);
        let mut insisted = Insisted::new(insist);
        let fits = parent_of(facts, &source, &open_executions, &found, parent);
        let parent = insisted.sequence(fits)?.unwrap_or(parent);
        insisted.sequence(open_executions.past_gates(parent))?;
        insisted.sequence(open_executions.in_turn(&source, &found, parent))?;
        insisted.sequence(rounds_left(facts, &source, parent))?;
        let turn = Turn {
            facts,
            source,
            found: &found,
            parent,
        };
        insisted.sequence(turn.other_way())?;
        if command != Command::Gate {
            insisted.sequence(not_barred(facts, parent, &found, None))?;
        }
        let notes = turn.notes()?;
        Ok(Entry {
            notes,
            run,
            source,
            found,
            parent,
            insisted,
        })
    }

    /// Returns the row that opens the statement.
    pub(super) fn row(
        &self,
        facts: &Facts<'_>,
        status: Status,
        meta: Meta,
    ) -> Result<Execution, WriteError> {
        Ok(Execution {
            id: facts.next_execution()?,
            index: self.found.index(),
            text: self.found.text.as_str().into(),
            status,
            parent: self.parent,
            started: None,
            completed: None,
            error: None,
            meta: Some(meta.into()),
        })
    }

    /// Returns the plan that writes `row`. The row's metadata gets `keys` and the keys that identify the instance.
    pub(super) fn begin(
        mut self,
        facts: &Facts<'_>,
        at: &At,
        mut row: Execution,
        keys: Keys,
    ) -> Result<Plan<ExecutionBegun>, WriteError> {
        self.insisted
            .sequence(not_too_deep(facts, self.parent, &row))?;
        let (block, depth) = name_frame(facts, &mut row)?.unzip();
        let meta = meta(&row);
        let keys = keys.and(Keys::line(&self.source, &self.found));
        let keys = self.insisted.keys(Keys::naming(&meta).and(keys));
        let task = task_of(facts, &self.source, &self.found, &row)?;
        let name = meta.branch.or(meta.loop_id).or(meta.parallel_id);
        let next = next_step(&self.source, &self.found, row.id);
        Ok(Plan {
            changes: vec![opening(facts, at, &row, keys), touch(facts, at)],
            done: ExecutionBegun {
                run: self.run,
                id: row.id,
                line: self.found.index(),
                statement: self.found.text,
                parent: self.parent,
                name: name.map(|name| name.to_string()),
                block,
                depth,
                task,
                next,
                notes: self.notes,
            },
        })
    }
}

/// Refuses a statement that the program bars: after a gate that was rejected, timed out or never asked, or after its call
/// had returned.
pub(super) fn not_barred(
    facts: &Facts<'_>,
    parent: Option<i64>,
    found: &Found,
    asks: Option<&str>,
) -> Result<(), WriteError> {
    match facts.bar(parent, found.statement, asks) {
        // Another rule refuses what follows a gate that waits.
        None => Ok(()),
        Some(Bar::Gate(bar)) if bar.why == Why::Pending => Ok(()),
        Some(bar) => Err(barred(&bar, &format!("{} cannot begin", at_line(found)))),
    }
}

/// Refuses a call of a block that is called more often inside of itself than the program allows.
fn not_too_deep(facts: &Facts<'_>, parent: Option<i64>, row: &Execution) -> Result<(), WriteError> {
    let bar = frame_block(row).and_then(|block| facts.bar_of_call(parent, block));
    match bar {
        Some(bar) => Err(barred(
            &bar,
            &format!("`{}` cannot begin", shown(&row.text)),
        )),
        None => Ok(()),
    }
}

/// Returns the refusal of what is barred; `what` says so, such as `line 5 cannot begin`.
pub(super) fn barred(bar: &Bar, what: &str) -> WriteError {
    let (rule, why, hint) = match bar {
        Bar::Gate(bar) => {
            let line = bar.line;
            let at = line.map_or(String::new(), |line| format!(" (line {line})"));
            let gate = format!("gate {}{at}", bar.gate);
            match bar.why {
                Why::NeverAsked => {
                    let line = line.map_or(String::new(), |line| format!(" --line {line}"));
                    (
                        "gate-not-asked",
                        format!("{gate} comes first, and was never asked"),
                        format!("first ask at the gate: `prosescope gate create{line}`"),
                    )
                }
                Why::Pending => (
                    WAITS,
                    format!("{gate} waits for a decision"),
                    format!(
                        "a person decides: `prosescope gate wait {}` waits",
                        bar.gate
                    ),
                ),
                Why::Gone => (
                    "gate-gone",
                    format!("{gate} was asked, but its record is gone"),
                    "find out what became of the gate: `prosescope check` shows what is missing"
                        .to_owned(),
                ),
                Why::Rejected => (
                    "gate-rejected",
                    format!("{gate} was rejected, and nothing takes the rejection"),
                    AFTER.to_owned(),
                ),
                Why::TimedOut => (
                    "gate-timed-out",
                    format!("{gate} timed out, which counts as a rejection, and nothing takes it"),
                    AFTER.to_owned(),
                ),
            }
        }
        Bar::Returned { line } => (
            "call-returned",
            format!("the call around it returned at line {line}"),
            AFTER.to_owned(),
        ),
        Bar::Failed { id, line } => {
            let line = line.map_or("a statement before".to_owned(), |line| {
                format!("line {line}")
            });
            let hint = id.map_or(AFTER.to_owned(), |id| {
                format!("`prosescope exec retry {id}` begins another attempt; `prosescope next` names what else may come")
            });
            (
                "after-failure",
                format!("{line} failed, and nothing handled the failure"),
                hint,
            )
        }
        Bar::TooDeep { block, max } => (
            "call-too-deep",
            format!("the program allows {max} calls of block {block} inside of each other"),
            AFTER.to_owned(),
        ),
    };
    WriteError::refused(rule, format!("{what}: {why}"), hint)
}

/// What to do when what was tried is barred for good.
const AFTER: &str = "`prosescope next` names what may come now";

/// Adds the name of the called block and the call's depth in frames, from 1, to the metadata of a call's row. Returns
/// both; `None` for a row that is not a call.
fn name_frame(facts: &Facts<'_>, row: &mut Execution) -> Result<Option<(String, i64)>, WriteError> {
    let Some(block) = frame_block(row).map(str::to_owned) else {
        return Ok(None);
    };
    let deep = depth(facts, row.parent)?.saturating_add(1);
    let mut own = meta(row);
    own.block = Some(block.as_str().into());
    own.depth = Some(deep);
    row.meta = Some(own.into());
    Ok(Some((block, deep)))
}

/// Refuses a statement that is already open in the same parent, because the rows of both executions would look alike.
pub(super) fn not_twice(facts: &Facts<'_>, row: &Execution) -> Result<(), WriteError> {
    let newest = newest(facts, row, i64::MIN).and_then(|row| facts.instance(row.id));
    let is_open = |row: &Execution| facts.open().any(|open| open.id == row.id);
    match newest.map(|newest| newest.first).filter(is_open) {
        None => Ok(()),
        Some(open) => Err(WriteError::refused(
            "execution-open",
            format!(
                "execution {} of this statement is still open: {}",
                open.id,
                shown(&row.text)
            ),
            "first complete, fail or skip that execution; concurrent statements belong in branches of a parallel",
        )),
    }
}

/// Returns the change that writes the opening row of an instance.
pub(super) fn opening(facts: &Facts<'_>, at: &At, row: &Execution, keys: Keys) -> Change {
    Change::Execution(ExecutionRow {
        id: row.id,
        index: row.index,
        text: row.text.to_string(),
        status: row.status.word().to_owned(),
        started: Some(at.text(facts.style())),
        parent: row.parent,
        metadata: keys.done(),
        ..ExecutionRow::default()
    })
}

/// Returns the change that sets the run's `updated_at` to the present time (errata X15).
pub(super) fn touch(facts: &Facts<'_>, at: &At) -> Change {
    Change::Run(RunChange {
        status: None,
        updated: at.text(facts.style()),
    })
}
