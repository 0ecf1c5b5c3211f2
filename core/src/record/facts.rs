use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::instance::Instance;
use super::{Change, Fault, FaultKind, WriteError};
use crate::model::issue::{Issue, Severity};
use crate::model::schema::postgres_name;
use crate::model::text::short;
use crate::model::time::Stamp;
use crate::model::{
    AgentScope, AuditEvent, AuditKind, Binding, BindingKind, Dialect, Execution, Form, Gate,
    GateRecord, Run, RunStatus, Text,
};
use crate::program::{Expression, Listing, Statement, items};
use crate::read::decode::gates_json;
use crate::read::decode::rows::dialect_of;
use crate::read::gate::audit::Chain;
use crate::trace::judgement::{Bar, Bodies, Calls, Failures, Gates, Lack, Order};
use crate::trace::{self, Node, NodeId, Trace};

/// The form in which a store records executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A database in which each event is a new row (sqlite.md).
    AppendOnly,
    /// A database with one row for each execution, which is updated (sqlite-earlier.md). A run that began in this form
    /// keeps the form.
    InPlace,
    /// A run folder: events are lines of a log, everything else is in files (filesystem.md).
    Files,
}

impl Style {
    /// Returns the form in which the next row of a run is recorded: in a database, that of its newest rows.
    pub fn of(run: &Run) -> Style {
        let newest = run.executions.len().saturating_sub(200);
        let newest = run.executions.get(newest..).unwrap_or_default();
        match run.form {
            Form::Folder { .. } => Style::Files,
            Form::Postgres { .. } => Style::InPlace,
            _ if dialect_of(newest) == Dialect::InPlace => Style::InPlace,
            _ => Style::AppendOnly,
        }
    }
}

/// The questions that only the store of a run can answer. Everything else is in the run that the store read.
pub trait Shelf {
    /// Returns the id for the next execution row.
    ///
    /// # Errors
    /// A [`Fault`] if the store cannot be read; the same for all methods.
    fn next_execution(&self) -> Result<i64, Fault>;

    /// Returns the id for the next row of the audit log.
    fn next_audit(&self) -> Result<i64, Fault>;

    /// Returns a binding with the columns that the run was read without, because they come after a large value.
    fn whole(&self, binding: &Binding) -> Result<Binding, Fault>;

    /// Returns the value of a binding, if it is text of at most `most` bytes that is not in an attachment.
    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault>;

    /// Returns whether an attachment with this path (`attachments/…`) exists.
    fn attachment(&self, path: &str) -> Result<bool, Fault>;

    /// Returns the facts about the agent with this name in this store.
    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault>;

    /// Returns the id of another run in the same store that has a gate with this id.
    fn gate_elsewhere(&self, _id: &str) -> Result<Option<String>, Fault> {
        Ok(None)
    }
}

/// What a command knows: the run as every reader sees it, and the store that keeps it.
#[derive(Clone)]
pub struct Facts<'s> {
    shelf: &'s dyn Shelf,
    style: Style,
    run: Cow<'s, Run>,
    listing: Option<&'s Listing>,
    places: OnceCell<Places>,
    /// The trace that was built when the run was read; `None` if the run has changed since.
    read: Option<&'s Trace>,
    /// The trace of the changed run; empty until a command needs it.
    trace: OnceCell<Rc<Trace>>,
    /// The id of the last execution that the command planned, but that the store does not have yet.
    planned: Option<i64>,
}

/// The longest list, in bytes, whose items a command looks at.
const LONGEST_LIST: usize = 64 * 1024;

/// A [`StatementPlace`]: the parent, the line and, without a line, the text.
type StatementKey = (Option<i64>, Option<i64>, Option<Text>);

/// The rows of a run by place, as positions in [`Run::executions`].
type Places = BTreeMap<StatementKey, Vec<usize>>;

fn places_of(rows: &[Execution]) -> Places {
    let mut places = Places::new();
    for (at, row) in rows.iter().enumerate() {
        let text = row.index.is_none().then(|| row.text.clone());
        let place = (row.parent, row.index, text);
        places.entry(place).or_default().push(at);
    }
    places
}

impl<'s> Facts<'s> {
    /// Returns the facts of a run that its store has read and keeps unchanged meanwhile.
    ///
    /// # Errors
    /// A [`Fault`] if a part of the run that a command depends on was not read as a whole.
    pub fn of(
        shelf: &'s dyn Shelf,
        style: Style,
        run: Cow<'s, Run>,
        listing: Option<&'s Listing>,
        trace: Option<&'s Trace>,
    ) -> Result<Facts<'s>, Fault> {
        if let Some(issue) = run.issues.iter().find(|issue| is_gap(issue)) {
            let message = format!("{}: nothing was recorded", issue.message);
            let kind = if FAILED.contains(&issue.rule.as_str()) {
                FaultKind::Io
            } else {
                FaultKind::Damaged
            };
            return Err(Fault::new(kind, message).hint(&*issue.hint));
        }
        Ok(Facts {
            shelf,
            style,
            places: OnceCell::new(),
            run,
            listing,
            read: trace,
            trace: OnceCell::new(),
            planned: None,
        })
    }

    /// Refuses a folder of a form that is only read.
    pub(super) fn takes_records(&self) -> Result<(), WriteError> {
        if !self.run.form.is_only_read() {
            return Ok(());
        }
        Err(WriteError::refused(
            "state-file-of-others",
            format!(
                "run {} is of a form that `prosescope` reads, but does not record in ({})",
                self.run.id,
                self.run.form.words()
            ),
            "continue the run with the program that began it, or record a new run: `prosescope init PROGRAM`",
        ))
    }

    /// Returns the trace of the run, with the changes that were planned so far.
    pub(super) fn trace(&self) -> &Trace {
        let fold = || Rc::new(trace::fold(&self.run, self.listing, None));
        self.read.unwrap_or_else(|| self.trace.get_or_init(fold))
    }

    /// Returns what bars a statement which would begin now: in the execution `parent`, as the statement with this index
    /// in the program.
    pub(super) fn bar(
        &self,
        parent: Option<i64>,
        statement: Option<u32>,
        asks: Option<&str>,
    ) -> Option<Bar> {
        let trace = self.trace();
        let parent = self.part(parent);
        let gate = Gates::of(&self.run, trace, self.listing).bar(parent, statement, asks);
        let returned = || Calls::of(&self.run, trace, self.listing?).returned(parent, statement);
        let failed = || Failures::of(&self.run, trace, self.listing).bar(parent, statement);
        let returned = || returned().map(|line| Bar::Returned { line });
        gate.map(Bar::Gate).or_else(failed).or_else(returned)
    }

    /// Returns the line of the statement with which the call around the execution `parent` has returned.
    pub(super) fn returned(&self, parent: Option<i64>) -> Option<u32> {
        let trace = self.trace();
        let parent = parent.and_then(|id| trace.of_row(id));
        Calls::of(&self.run, trace, self.listing?).returned(parent, None)
    }

    /// Returns the lines of statements that have to run before `statement` in the execution `parent`, but are not
    /// recorded.
    pub(super) fn passed_over(&self, parent: Option<i64>, statement: u32) -> Vec<u32> {
        let trace = self.trace();
        let order = self.listing.and_then(|program| Order::of(trace, program));
        let parent = self.part(parent);
        order.map_or_else(Vec::new, |order| {
            order.before(&self.run, trace, parent, statement)
        })
    }

    /// Returns the line of the `try` of a `catch` that begins in the execution `parent` although nothing in it failed.
    pub(super) fn nothing_failed(&self, parent: Option<i64>, catch: u32) -> Option<u32> {
        let (trace, parent) = (self.trace(), self.part(parent));
        let end = match parent {
            Some(parent) => trace.end(parent),
            None => NodeId::new(u32::try_from(trace.nodes.len()).ok()?),
        };
        let bodies = Bodies::of(&self.run, trace, self.listing?)?;
        bodies.nothing_failed(parent, catch, end)
    }

    /// Returns what an execution lacks that ends successfully.
    pub(super) fn lack_of_end(&self, id: i64) -> Option<Lack> {
        let trace = self.trace();
        let bodies = Bodies::of(&self.run, trace, self.listing?)?;
        bodies.of_end(trace.of_row(id)?)
    }

    /// Returns what bars a call of `block` in the execution `parent`.
    pub(super) fn bar_of_call(&self, parent: Option<i64>, block: &str) -> Option<Bar> {
        let trace = self.trace();
        let parent = parent.and_then(|id| trace.of_row(id));
        Calls::of(&self.run, trace, self.listing?).too_deep(parent, block)
    }

    /// Returns what bars the successful end of an execution; `None` if the execution is the run.
    pub(super) fn bar_of_end(&self, id: Option<i64>) -> Option<Bar> {
        let trace = self.trace();
        let at = match id {
            Some(id) => Some(trace.of_row(id)?),
            None => None,
        };
        let gate = Gates::of(&self.run, trace, self.listing).bar_of_end(at);
        let failed = || Failures::of(&self.run, trace, self.listing).bar_of_end(at);
        gate.map(Bar::Gate).or_else(failed)
    }

    /// Returns the form in which the store records executions.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Returns the run's id, name, status, and last update.
    pub(super) fn run(&self) -> RunFact {
        let id = self.run.id.to_string();
        RunFact {
            name: match self.run.form {
                Form::Postgres { .. } => postgres_name(&id),
                _ => id.clone(),
            },
            id,
            status: match (&self.run.status, &self.run.state_file) {
                (None, Some(file)) if self.style == Style::Files => in_file(file.status.as_ref()),
                (status, _) if self.style == Style::Files => in_file(status.as_ref()),
                (status, _) => status.clone().unwrap_or(RunStatus::Running),
            },
            updated: self.run.updated.clone(),
        }
    }

    /// Returns the run's program, if the run has one.
    pub(super) fn listing(&self) -> Option<&'s Listing> {
        self.listing
    }

    /// Returns the id for the next execution row.
    pub(super) fn next_execution(&self) -> Result<i64, Fault> {
        match self.planned {
            Some(last) => Ok(last.saturating_add(1)),
            None => self.shelf.next_execution(),
        }
    }

    /// Returns the rows of the run, in order of id.
    pub(super) fn rows(&self) -> &[Execution] {
        &self.run.executions
    }

    /// Returns the execution row with this id.
    pub(super) fn execution(&self, id: i64) -> Option<&Execution> {
        let rows = self.rows();
        let at = rows.binary_search_by_key(&id, |row| row.id).ok()?;
        rows.get(at)
    }

    /// Returns the instance that has a row with this id.
    pub(super) fn instance(&self, id: i64) -> Option<Instance> {
        let trace = self.trace();
        let node = trace.node(trace.of_row(id)?)?;
        let first = self.row_at(node.first_row)?;
        Some(Instance {
            first: first.clone(),
            last: self.row_at(node.last_row).unwrap_or(first).clone(),
        })
    }

    /// Returns the executions that are open, like all executions around them, with the first row of each.
    pub(super) fn open(&self) -> impl Iterator<Item = &Execution> {
        let trace = self.trace();
        let earlier = |node: &Node| trace.is_present(&self.run, node) == Some(false);
        let mut closed = NodeId::new(0);
        let nodes = trace.nodes.iter_enumerated();
        let open = nodes.filter(move |(at, node)| {
            if *at < closed || node.kind.is_round() {
                return false;
            }
            if !node.status.is_open() || node.derived || earlier(node) {
                closed = trace.end(*at);
                return false;
            }
            true
        });
        open.filter_map(|(_, node)| self.row_at(node.first_row))
    }

    /// Returns the rows at `place`, from the newest down to the row with the id `since`.
    pub(super) fn back<'f>(
        &'f self,
        place: &StatementPlace<'_>,
        since: i64,
    ) -> impl Iterator<Item = &'f Execution> + use<'f, 's> {
        let text = place.index.is_none().then(|| Text::from(place.text));
        let places = self.places.get_or_init(|| places_of(self.rows()));
        let at = places.get(&(place.parent, place.index, text));
        let rows = at.map_or(&[][..], Vec::as_slice).iter().rev();
        let rows = rows.filter_map(|at| self.rows().get(*at));
        rows.take_while(move |row| row.id >= since)
    }

    /// Returns the executions directly in an execution, or at the program's top: in a loop, those of the last round.
    pub(super) fn inside(&self, parent: Option<i64>) -> impl Iterator<Item = &Node> {
        let trace = self.trace();
        let around = self.part(parent);
        let is_known = parent.is_none() || around.is_some();
        let inside = trace.children(around).filter(move |_| is_known);
        inside.filter_map(|at| trace.node(at))
    }

    /// Returns the node of an execution, or of its open round if it is a loop.
    fn part(&self, id: Option<i64>) -> Option<NodeId> {
        let trace = self.trace();
        let at = trace.of_row(id?)?;
        let round = trace.round_open(at);
        let is_over = |at: &NodeId| trace.node(*at).is_some_and(|node| !node.status.is_open());
        Some(round.filter(|round| !is_over(round)).unwrap_or(at))
    }

    /// Returns a row of the run by its position.
    pub(super) fn row_at(&self, at: Option<u32>) -> Option<&Execution> {
        self.rows().get(at? as usize)
    }

    /// Returns a binding of a frame (`None`: the root) with exactly this name.
    pub(super) fn binding(
        &self,
        name: &str,
        frame: Option<i64>,
    ) -> Result<Option<BindingFact>, Fault> {
        let Some(found) = self.live(name, frame) else {
            return Ok(None);
        };
        let binding = if found.tail_known {
            Cow::Borrowed(found)
        } else {
            Cow::Owned(self.shelf.whole(found)?)
        };
        Ok(Some(BindingFact {
            name: name.to_owned(),
            kind: binding.kind.clone(),
            source: binding.source.as_deref().map(str::to_owned),
            updated: binding.updated.clone(),
            attachment: binding.attachment.as_deref().map(str::to_owned),
        }))
    }

    fn live(&self, name: &str, frame: Option<i64>) -> Option<&Binding> {
        let mut all = self.run.bindings.iter().rev().filter(|b| !b.superseded);
        all.find(|b| *b.name == *name && b.execution_id == frame)
    }

    /// Returns the value of a binding of a frame, if it is text of at most `most` bytes that is not in an attachment.
    pub(super) fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        match self.live(name, frame) {
            Some(binding) => self.shelf.short_text(binding, most),
            None => Ok(None),
        }
    }

    /// Returns the items that a construct goes through, if a short value records its list; items that are not texts
    /// have no name. `frame` is the frame around the construct.
    pub(super) fn items(
        &self,
        construct: &Statement,
        frame: Option<i64>,
    ) -> Result<Option<Vec<Option<String>>>, Fault> {
        let list = construct.property("in").map(Expression::of);
        let Some(Expression::Name(name)) = list else {
            return Ok(None);
        };
        let list = self.short_text(&name, frame, LONGEST_LIST)?;
        Ok(list.and_then(|list| items(&list)).map(|all| {
            let named = |item| match item {
                Expression::Text(text) => Some(text),
                Expression::Name(_) | Expression::Other(_) => None,
            };
            all.into_iter().map(named).collect()
        }))
    }

    /// Returns the name of a binding in this frame that differs from `name` only in case. In a folder, both bindings
    /// would share a file.
    pub(super) fn binding_by_case(&self, name: &str, frame: Option<i64>) -> Option<&str> {
        let folded = name.to_lowercase();
        let like = |b: &&Binding| *b.name != *name && b.name.to_lowercase() == folded;
        let mut all = self.run.bindings.iter();
        all.find(|b| b.execution_id == frame && like(b))
            .map(|b| &*b.name)
    }

    /// Returns the highest number of an `anon_…` binding, or 0. Names with more than nine digits come from other tools.
    pub(super) fn last_anonymous(&self) -> u32 {
        let number = |b: &Binding| -> Option<u32> {
            let digits = b.name.strip_prefix("anon_")?;
            (digits.len() <= 9).then(|| digits.parse().ok()).flatten()
        };
        let numbers = self.run.bindings.iter().filter_map(number);
        numbers.max().unwrap_or(0)
    }

    /// Returns whether an attachment with this path (`attachments/…`) exists.
    pub(super) fn attachment(&self, path: &str) -> Result<bool, Fault> {
        self.shelf.attachment(path)
    }

    /// Returns the facts about the agent with this name in this store.
    pub(super) fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        self.shelf.agent(name)
    }

    /// Returns the facts about the import with this alias.
    pub(super) fn import(&self, alias: &str) -> Option<ImportFact> {
        let import = self.run.imports.iter().find(|i| *i.alias == *alias)?;
        let text = |text: &Option<Text>| text.as_deref().map(str::to_owned);
        Some(ImportFact {
            // PostgreSQL's column is NOT NULL, so an empty text means unknown.
            source_url: text(&import.source_url).filter(|url| !url.is_empty()),
            inputs_schema: text(&import.inputs_schema),
            outputs_schema: text(&import.outputs_schema),
            nested: import.nested.iter().map(ToString::to_string).collect(),
        })
    }

    /// Returns all gates of the run, in order of creation, without those whose file has the name of another gate.
    pub(super) fn gates(&self) -> impl DoubleEndedIterator<Item = &Gate> {
        self.run
            .gates
            .iter()
            .filter(|gate| gate.recorded == GateRecord::Own)
    }

    /// Returns the gates whose recorded id differs from the id in their file name, each with the latter id.
    pub(super) fn misnamed_gates(&self) -> impl Iterator<Item = (&Gate, &str)> {
        let all = self.run.gates.iter();
        all.filter_map(|gate| match &gate.recorded {
            GateRecord::FileOf(id) => Some((gate, &**id)),
            GateRecord::Own | GateRecord::Told => None,
        })
    }

    /// Returns the gate of the run with exactly this id.
    ///
    /// # Errors
    /// A [`Fault`] if the gate's file can be read in two ways, or has the name of another gate.
    pub(super) fn gate(&self, id: &str) -> Result<Option<&Gate>, Fault> {
        let file = format!("gates/{id}.json");
        self.one_meaning(&file)?;
        if let Some((gate, _)) = self.misnamed_gates().find(|(_, named)| *named == id) {
            let own = short(&gate.id, 60);
            let message = format!(
                "{file}: the file of gate {id} contains the id {own:?}: nothing was changed"
            );
            return Err(Fault::new(FaultKind::Damaged, message).hint(format!(
                "correct the file: only a file whose `id` is {id} may state who decides gate {id}"
            )));
        }
        // If a gate of an unrecorded run has the same id, the run's own gate is taken.
        let of_run = |gate: &&Gate| gate.run_id.as_deref() == Some(&*self.run.id);
        let mut named = self.gates().filter(|gate| *gate.id == *id);
        let first = named.next();
        Ok(first
            .filter(of_run)
            .or_else(|| named.find(of_run))
            .or(first))
    }

    /// Refuses a JSON object that has a key twice. Programs differ in which of the two values they use, and no decision
    /// may depend on that choice.
    fn one_meaning(&self, file: &str) -> Result<(), Fault> {
        let twice = |issue: &&Issue| {
            issue.rule == gates_json::TWICE && issue.location.file.as_deref() == Some(file)
        };
        self.run.issues.iter().find(twice).map_or(Ok(()), |issue| {
            let message = format!("{}: nothing was changed", issue.message);
            Err(Fault::new(FaultKind::Damaged, message).hint(&*issue.hint))
        })
    }

    /// Returns the id of another run in the same store that has a gate with this id.
    pub(super) fn gate_elsewhere(&self, id: &str) -> Result<Option<String>, Fault> {
        self.shelf.gate_elsewhere(id)
    }

    /// Returns the rows of the run's audit log, in order of id.
    pub(super) fn audit(&self) -> impl DoubleEndedIterator<Item = &AuditEvent> {
        let own = |event: &&AuditEvent| *event.run_id == *self.run.id;
        self.run.audit.iter().filter(own)
    }

    /// Returns the audit rows about a gate, in order of id, without the rows that record a viewing.
    pub(super) fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault> {
        self.one_meaning("gates/audit.jsonl")?;
        let own = |event: &&AuditEvent| *event.gate_id == *gate && event.kind != AuditKind::Viewed;
        Ok(self.audit().filter(own).cloned().collect())
    }

    /// Returns whether the run has gates but no row in its audit log.
    pub(super) fn lacks_log(&self) -> bool {
        self.run.recorded_gates().next().is_some() && self.audit().next().is_none()
    }

    /// Returns the id for the next row of the audit log, and the seal of the last sealed row; rows of other tools have
    /// no seal.
    pub(super) fn audit_tail(&self) -> Result<(i64, Option<Chain>), Fault> {
        let chain = |event: &AuditEvent| Chain::of_metadata(event.metadata.as_deref()?);
        Ok((self.shelf.next_audit()?, self.audit().rev().find_map(chain)))
    }

    /// Adds planned changes, so that the next plan of the same command is computed on top of them.
    pub(super) fn apply(&mut self, changes: &[Change]) {
        (self.read, self.trace, self.places) = (None, OnceCell::new(), OnceCell::new());
        let run = self.run.to_mut();
        for change in changes {
            run.apply(change);
            if let Change::Execution(row) = change {
                self.planned = Some(row.id);
            }
        }
    }
}

/// Returns the status that a state file records. A recorded `waiting` counts as running, because waiting follows from
/// the gates (errata T10).
fn in_file(status: Option<&RunStatus>) -> RunStatus {
    let status = status.filter(|status| **status != RunStatus::Waiting);
    status.cloned().unwrap_or(RunStatus::Running)
}

/// The rules of parts that could not be read because of the system: a permission, or a disk that fails.
const FAILED: [&str; 3] = ["file-unreadable", "reading-failed", "unreadable-folder"];

/// Returns whether an issue says that rows, gates, bindings, the audit log or the program were not read as a whole.
/// Readers show the rest; a command could contradict what was not read.
fn is_gap(issue: &Issue) -> bool {
    const CUT: [&str; 5] = [
        "file-cut",
        "log-cut",
        "reading-stopped",
        "table-damaged",
        "too-many-rows",
    ];
    const TABLES: [&str; 5] = ["run", "execution", "bindings", "gates", "gate_audit_log"];
    const FILES: [&str; 3] = ["x_events.jsonl", "program.prose", "state.md"];
    let (rule, at) = (issue.rule.as_str(), &issue.location);
    let file = at.file.as_deref().unwrap_or_default();
    let in_table = at.table.as_deref().is_some_and(|of| TABLES.contains(&of));
    let in_file = FILES.contains(&file) || file.starts_with("gates");
    let is_value = file.starts_with("bindings");
    // A link in the place of the program or of values leads to files that do not belong to the run.
    let is_link = rule == "link-not-followed" && in_file && file != "program.prose";
    let is_cut = CUT.contains(&rule) && (in_table || in_file);
    let is_failed = FAILED.contains(&rule) && (in_table || in_file || is_value);
    is_link || is_cut || is_failed || rule == "log-unreadable" && issue.severity == Severity::Error
}

/// The place of a statement: its parent, and its line or, without a line, its text (errata T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatementPlace<'a> {
    /// The row id of the execution that the statement runs in.
    pub parent: Option<i64>,
    /// The column `statement_index`, which contains the line in the program.
    pub index: Option<i64>,
    /// The column `statement_text`, which is compared only if the row has no `statement_index`.
    pub text: &'a str,
}

impl<'a> StatementPlace<'a> {
    /// Returns the place of a row.
    pub(crate) fn of(row: &'a Execution) -> StatementPlace<'a> {
        StatementPlace {
            parent: row.parent,
            index: row.index,
            text: &row.text,
        }
    }

    /// Returns the place of a statement of the program that runs in `parent`.
    pub(super) fn of_statement(parent: Option<i64>, own: &'a Statement) -> StatementPlace<'a> {
        StatementPlace {
            parent,
            index: Some(own.line.into()),
            text: &own.text,
        }
    }

    /// Returns whether a row has this place.
    pub(crate) fn holds(&self, row: &Execution) -> bool {
        row.parent == self.parent
            && row.index == self.index
            && (self.index.is_some() || *row.text == *self.text)
    }
}

/// The facts about a run, from its database row or from the head of its `state.md`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunFact {
    pub id: String,
    /// The name for commands: `postgres:ID` in PostgreSQL, else the id.
    pub name: String,
    /// The run's recorded status, or `running` if none is recorded.
    pub status: RunStatus,
    /// The time of the last write to the run, if it is recorded.
    pub updated: Option<Stamp>,
}

/// The facts about a binding.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BindingFact {
    pub name: String,
    /// The binding's kind.
    pub kind: BindingKind,
    /// The text of the statement that wrote the binding.
    pub source: Option<String>,
    /// The time of the last write to the binding.
    pub updated: Option<Stamp>,
    /// The path of the attachment that contains the value, such as `attachments/x.md`, if there is one.
    pub attachment: Option<String>,
}

/// The facts about an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFact {
    /// The agent's scope.
    pub scope: AgentScope,
    /// Whether the agent has a memory.
    pub has_memory: bool,
    /// The highest number of the agent's segments, or 0.
    pub last_segment: i64,
}

/// The facts about an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ImportFact {
    /// The address of the imported program, if recorded.
    pub source_url: Option<String>,
    /// The inputs of the imported program, as JSON.
    pub inputs_schema: Option<String>,
    /// The outputs of the imported program, as JSON.
    pub outputs_schema: Option<String>,
    /// The folders of the import's nested run, relative to the run (`imports/{handle}--{slug}`): normally one; other
    /// tools may have created more.
    pub nested: Vec<String>,
}
