use super::entry::{BeginnableStatement, not_twice};
use super::insist::Insist;
use super::item::{self, WantedPlace, Where};
use super::meta::MetaKeys;
use super::parallel::{self, Branch, begin_branches, begin_parallel};
use super::rounds::begin_loop;
use super::source::{ProgramSource, RecordingCommand, StatementRef};
use super::steps::Steps;
use super::{
    AddImport, At, CommandPlan, CreateGate, ExecutionBegun, Facts, GateOpened, ImportRegistered,
    ParallelRunning, Record, WriteError,
};
use crate::model::{Meta, Status};
use crate::program;
use crate::trace::{RowShape, shape};
use serde::{Deserialize, Serialize};

/// The command `begin`, which begins the statement at a line of the program, whatever it is: a session, a call, a loop,
/// a parallel block with its branches, a gate, an import.
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
    /// The text and the file name of the imported program, which the run keeps.
    pub program: Option<(String, String)>,
    /// Whether the statement may begin out of order (`--force`).
    pub insist: Insist,
}

/// What began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Begun {
    /// A parallel block with all of its branches.
    Parallel(ParallelRunning),
    /// A statement, a call, a loop, a branch, or a parallel block whose branches are not known in advance.
    Execution(ExecutionBegun),
    /// A gate.
    Gate(GateOpened),
    /// An import, which is registered and has no execution.
    Import(ImportRegistered),
}

impl Begun {
    /// Returns the id of the execution that began; `None` for an import.
    pub fn id(&self) -> Option<i64> {
        match self {
            Begun::Parallel(running) => Some(running.parallel.id),
            Begun::Execution(begun) => Some(begun.id),
            Begun::Gate(gate) => Some(gate.execution_id),
            Begun::Import(_) => None,
        }
    }

    /// Returns the notes for the caller.
    pub fn notes(&self) -> &[String] {
        match self {
            Begun::Parallel(running) => &running.parallel.notes,
            Begun::Execution(begun) => &begun.notes,
            Begun::Gate(gate) => &gate.notes,
            Begun::Import(_) => &[],
        }
    }
}

impl Record for Begin {
    type Done = Begun;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<Begun>, WriteError> {
        let source = ProgramSource::of(facts);
        let found = source.find(&self.statement)?;
        let (listing, index) = source.listed(&found);
        let own = listing.get(index);
        let name = own.and_then(|own| own.name.clone());
        let command = own.map_or(RecordingCommand::Exec, RecordingCommand::of);
        if self.program.is_some() && command != RecordingCommand::Import {
            return Err(WriteError::wrong(
                "--program is for a `use`, and this statement is none",
                "leave --program out",
            ));
        }
        match command {
            RecordingCommand::Gate if found.statement.is_none() => {
                let name = name.unwrap_or_else(|| "ID".to_owned());
                Err(WriteError::wrong(
                    "the program has no such gate",
                    format!("give its terms: `prosescope gate create {name} --prompt TEXT`"),
                ))
            }
            RecordingCommand::Import if self.parent.is_some() || self.item.is_some() => {
                Err(WriteError::wrong(
                    "an import belongs to the whole run",
                    "leave --parent and --item out",
                ))
            }
            RecordingCommand::Gate if name.is_some() => {
                let gate = CreateGate {
                    id: name,
                    line: found.line,
                    parent: self.parent,
                    item: self.item.clone(),
                    insist: self.insist,
                    ..CreateGate::default()
                };
                Ok(gate.plan(facts, at)?.map(Begun::Gate))
            }
            RecordingCommand::Import => {
                // A given text counts, even if the program has a similar `use`.
                let given = self.statement.text.as_deref().map(program::scan);
                let own = given.as_ref().map_or(own, |given| given.get(0));
                let name = own.and_then(|own| own.name.clone());
                let (program, file) = self.program.clone().unzip();
                let import = AddImport {
                    alias: name.unwrap_or_default(),
                    source_url: own.and_then(|own| own.target.clone()),
                    program,
                    name: file,
                    ..AddImport::default()
                };
                Ok(import.plan(facts, at)?.map(Begun::Import))
            }
            // The branches begin in the same transaction, so that each subagent gets its task at once.
            RecordingCommand::Parallel if !source.branches_of(&found).is_empty() => {
                let mut all = Steps::new(facts);
                let parallel = all.then(|facts| self.execution(facts, at, false))?;
                let branches = begin_branches(&mut all, at, parallel.id, self.insist)?;
                let running = ParallelRunning { parallel, branches };
                Ok(all.done(Begun::Parallel(running)))
            }
            _ => Ok(self.execution(facts, at, false)?.map(Begun::Execution)),
        }
    }
}

impl Begin {
    /// Returns the command that begins a statement of the program.
    pub fn line(line: u32) -> Begin {
        Begin {
            statement: StatementRef::line(line),
            ..Begin::default()
        }
    }

    /// Plans the begin of one execution. `skips` is true if the command only records that it is skipped.
    pub(super) fn execution(
        &self,
        facts: &Facts<'_>,
        at: &At,
        skips: bool,
    ) -> Result<CommandPlan<ExecutionBegun>, WriteError> {
        let wanted = WantedPlace::new(&self.statement, self.parent, &self.item, self.insist);
        match item::find(facts, wanted)? {
            Where::New {
                parallel,
                name,
                alone: true,
            } => {
                let of_program = ProgramSource::of(facts)
                    .find(&self.statement)?
                    .statement
                    .is_some();
                let statement = (!of_program).then(|| self.statement.clone());
                let branch = Branch {
                    statement,
                    ..parallel::begins(parallel, name, self.insist)
                };
                branch.plan(facts, at)
            }
            place => {
                let begins = match &place {
                    Where::New { name, .. } => Some(name.clone()),
                    _ => None,
                };
                let mut plan = item::enter(facts, at, wanted, place, |facts, parent| {
                    self.plan_in(facts, at, parent, skips)
                })?;
                if let (Some(name), Some(item)) = (begins, plan.done.parent) {
                    plan.done.notes.push(format!(
                        "{name} is execution {item}: when its statements are done, end it with `prosescope end {item}`"
                    ));
                }
                Ok(plan)
            }
        }
    }

    fn plan_in(
        &self,
        facts: &Facts<'_>,
        at: &At,
        parent: Option<i64>,
        skips: bool,
    ) -> Result<CommandPlan<ExecutionBegun>, WriteError> {
        let source = ProgramSource::of(facts);
        let found = source.find(&self.statement)?;
        let (listing, index) = source.listed(&found);
        let own = listing.get(index);
        let command = own.map_or(RecordingCommand::Exec, RecordingCommand::of);
        if let Some(own) = own
            && (command == RecordingCommand::Declares
                || command == RecordingCommand::Input && !skips)
        {
            return Err(command.not_begun(own));
        }
        let entry = BeginnableStatement::open(facts, found, parent, self.insist, None)?;
        match (command, own) {
            (RecordingCommand::Loop, Some(own)) => begin_loop(facts, at, entry, own),
            (RecordingCommand::Parallel, Some(own)) => begin_parallel(facts, at, entry, own),
            _ => {
                let pipes = entry.source.has_items(&entry.found)
                    && crate::trace::may_hold_branches(&entry.found.text);
                let id = facts.next_execution()?;
                let meta = Meta {
                    parallel_id: pipes.then(|| format!("p{id}").into()),
                    ..Meta::default()
                };
                let row = entry.row(facts, Status::Executing, meta)?;
                // A row of this text would be read as a gate that nobody asked for.
                if shape(&row) == RowShape::Gate {
                    return Err(WriteError::wrong(
                        "the gate has no name, and a decision needs one",
                        "name the gate: `prosescope gate create NAME`, with --line or --prompt",
                    ));
                }
                not_twice(facts, &row)?;
                entry.begin(facts, at, row, MetaKeys::default())
            }
        }
    }
}
