use super::end::{Close, EndingKind, again};
use super::entry::touch;
use super::facts::BindingFact;
use super::insist::Insist;
use super::instance::{Instance, frame_of, meta, no_execution, scope_of, shown};
use super::meta::MetaKeys;
use super::open_executions::{OpenExecutions, listed};
use super::run::finished;
use super::source::ProgramSource;
use super::steps::Steps;
use super::task::output_of;
use super::{
    AddSegment, At, AttachmentFile, BindingRow, BindingWritten, Change, CommandPlan,
    ExecutionEnded, ExecutionRow, ExecutionUpdate, Facts, Fault, FaultKind, Record, Remember,
    Style, WriteError, names,
};
use crate::model::change::ValueBytes;
use crate::model::{AgentScope, BindingKind, Execution, Status};
use crate::program::StatementKind as Kind;
use crate::trace::{RowShape, frame_block, shape};

/// Limit for a value stored inline, in bytes; a longer value becomes an attachment (sqlite.md, "Large Outputs").
pub const LARGE: usize = 100_000;

/// Limit for a summary made from the value, in characters.
const SUMMARY: usize = 160;

/// The command `put`, which writes a value as a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Put {
    /// The value's name; `None` uses the next `anon_…` (errata B13).
    pub name: Option<String>,
    /// The execution that writes the value; its frame is the scope. By default the open execution whose statement
    /// writes the name (without a name, the only open statement), else none: the value then belongs to the root.
    pub execution: Option<i64>,
    /// The binding's kind: input, output, let or const; by default the kind in the program, else `let`.
    pub kind: Option<String>,
    /// The text of the statement that makes the value; by default the execution's text, or the text of the program's
    /// statement for this name.
    pub source: Option<String>,
    /// A summary of the value in one sentence; by default the value's first line.
    pub summary: Option<String>,
    /// The value to write.
    pub value: ValueBytes,
    /// Whether the execution goes on. By default the value completes it, in the same transaction (errata F9).
    pub not_done: bool,
    /// The agent that did the work; by default the agent that the program names. Used with `memory` and `segment` only.
    pub agent: Option<String>,
    /// The agent's new memory, written in the same transaction. The agent's scope must be `execution`, because a memory
    /// that outlives the run has its own store.
    pub memory: Option<String>,
    /// A summary of the agent's work, recorded as the agent's next segment.
    pub segment: Option<String>,
}

impl Record for Put {
    type Done = BindingWritten;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<BindingWritten>, WriteError> {
        if self.execution.is_none() {
            let asked = match self.asked_by(facts) {
                // Whatever the execution is, it goes on, so an unnamed value needs none.
                Err(WriteError::NotFound { .. } | WriteError::Refused { .. })
                    if self.not_done && self.name.is_none() =>
                {
                    None
                }
                asked => asked?,
            };
            if asked.is_some() {
                let execution = asked;
                return Put {
                    execution,
                    ..self.clone()
                }
                .plan(facts, at);
            }
        }
        let completes = self.execution.filter(|_| !self.not_done);
        let mut all = Steps::new(facts);
        let mut written = all.then(|facts| self.plan_value(facts, at, completes.is_some()))?;
        if completes.is_none() {
            let kept = self.keep_writer(all.facts(), &written)?;
            all.add(kept);
        }
        if self.memory.is_some() || self.segment.is_some() {
            written.segment = self.remember(&mut all, at)?;
        }
        if let Some(id) = completes {
            self.not_empty(all.facts(), id)?;
            let ended = all.then(|facts| complete(facts, at, id, &written))?;
            written.notes.extend(ended.notes);
            written.completed = Some(id);
        }
        Ok(all.done(written))
    }
}

/// Returns the plan that completes an execution with the binding `written` as its value. Refuses if the execution's
/// statement writes another binding, or has no value.
fn complete(
    facts: &Facts<'_>,
    at: &At,
    id: i64,
    written: &BindingWritten,
) -> Result<CommandPlan<ExecutionEnded>, WriteError> {
    let wrote = &written.name;
    let instance = Instance::of(facts, id)?.open()?;
    let source = ProgramSource::of(facts);
    let output = output_of(&source, &instance.first);
    if output.is_none()
        && let Some(what) = no_value(&source, &instance)
    {
        return Err(what);
    }
    if let Some((name, _)) = output.filter(|(name, _)| name != wrote) {
        return Err(WriteError::refused(
            "output-differs",
            format!(
                "{wrote} does not complete execution {id}, whose statement writes {name} ({})",
                shown(&instance.first.text)
            ),
            format!(
                "use `prosescope put {name} --into {id}`; to write another binding, add --not-done"
            ),
        ));
    }
    let close = Close::new(id, EndingKind::Completed, Insist::default());
    let keys = MetaKeys::wrote(wrote, written.execution_id).text("completed_by", Some("put"));
    close.close(facts, at, keys)
}

/// Returns a refusal if an execution has no value of its own, because the statements inside it write the values.
fn no_value(source: &ProgramSource<'_>, instance: &Instance) -> Option<WriteError> {
    let row = &instance.first;
    let (listing, at) = (source.listing?, source.of_row(row)?);
    let kind = listing.get(at)?.kind;
    // A branch is a scope, so the subagent that runs the branch writes the branch's value. The same holds for a pipe.
    let gives = matches!(kind, Kind::Do | Kind::Call | Kind::Pipe) || meta(row).branch.is_some();
    let first = listing.first_in(Some(at)).filter(|_| !gives)?;
    let line = listing.get(first)?.line;
    let id = row.id;
    Some(WriteError::refused(
        "construct-has-no-value",
        format!(
            "execution {id} has no value of its own: {}",
            shown(&row.text)
        ),
        format!(
            "run the statements inside (the first is line {line}), which write the values; then end the execution with `prosescope end {id}`"
        ),
    ))
}

impl Put {
    /// Returns the change that records which execution wrote a value under an assigned name such as `anon_002`. Readers
    /// then need not infer the writer.
    fn keep_writer(
        &self,
        facts: &Facts<'_>,
        written: &BindingWritten,
    ) -> Result<Option<Change>, WriteError> {
        if self.name.is_some() {
            return Ok(None);
        }
        let Some(id) = self.execution else {
            return Ok(None);
        };
        let instance = Instance::of(facts, id)?;
        let source = ProgramSource::of(facts);
        let named = output_of(&source, &instance.first).is_some();
        if named || !instance.is_open() || no_value(&source, &instance).is_some() {
            return Ok(None);
        }
        let keys = MetaKeys::wrote(&written.name, written.execution_id);
        Ok(Some(match facts.style() {
            Style::Files => Change::Execution(ExecutionRow {
                status: Status::Executing.word().to_owned(),
                ..again(facts, &instance, keys)?
            }),
            Style::AppendOnly | Style::InPlace => Change::UpdateExecution(ExecutionUpdate {
                id: instance.last.id,
                metadata: keys.done(),
                ..ExecutionUpdate::default()
            }),
        }))
    }

    /// Returns the open execution that asks for the value: the one whose statement writes the name, the innermost of
    /// several inside of each other; without a name, the only open statement. `None` if no open execution writes the
    /// name.
    fn asked_by(&self, facts: &Facts<'_>) -> Result<Option<i64>, WriteError> {
        let run = facts.run();
        if run.status.is_finished() {
            return Err(finished(&run));
        }
        let open_executions = OpenExecutions::of(facts);
        if let Some(name) = &self.name {
            let source = ProgramSource::of(facts);
            let writes = |row: &&Execution| {
                output_of(&source, row).is_some_and(|(output, _)| output == *name)
            };
            let ask: Vec<&Execution> = open_executions.rows().filter(writes).collect();
            // A call that gives the name its value may have another value of the name inside.
            let inside = |row: &Execution| {
                let block = frame_block(row).zip(source.listing);
                block.is_some_and(|(block, listing)| listing.binds_in(block, name))
            };
            return match (ask.as_slice(), open_executions.innermost(&ask)) {
                (_, Some(one)) if inside(one) => Err(WriteError::refused(
                    "binding-of-a-call",
                    format!(
                        "{name} is the value of the call {}, and the name of a value inside of it",
                        listed(&[one])
                    ),
                    "`--into ID` names the execution that the value is for",
                )),
                (_, Some(one)) => Ok(Some(one.id)),
                ([], None) => Ok(None),
                _ => Err(WriteError::refused(
                    "binding-of-a-branch",
                    format!(
                        "each branch writes its own {name}, and no branch was given: {}",
                        listed(&ask)
                    ),
                    "`--into ID` names the branch that writes it",
                )),
            };
        }
        let id = match OpenExecutions::of(facts).pick(facts, None, Some(RowShape::Statement)) {
            Err(WriteError::Refused { rule, message, .. }) => {
                return Err(WriteError::refused(
                    rule,
                    message,
                    "name the execution to complete with `--into ID`",
                ));
            }
            picked => picked?,
        };
        Ok(Some(id))
    }

    /// Writes the agent's memory and segment, and returns the number of the segment.
    fn remember(&self, all: &mut Steps<'_, '_>, at: &At) -> Result<Option<i64>, WriteError> {
        let facts = all.facts();
        let listing = facts.listing();
        let source = ProgramSource::of(facts);
        let row = self.execution.and_then(|id| facts.execution(id));
        let statement = row.and_then(|row| source.of_row(row));
        let says = statement
            .and_then(|at| source.get(at))
            .and_then(|s| s.target.clone());
        let Some(agent) = self.agent.clone().or(says) else {
            return Err(WriteError::wrong(
                "no agent is named, and the execution's statement names none",
                "`--agent NAME` names the agent",
            ));
        };
        let scope = listing.and_then(|listing| listing.agent_scope(&agent));
        let scope = scope.unwrap_or(AgentScope::Execution);
        if scope != AgentScope::Execution {
            return Err(WriteError::wrong(
                format!(
                    "agent {agent} outlives the run (scope {}), so its memory has a store of its own",
                    scope.word()
                ),
                "for this agent, use `prosescope agent memory set` and `prosescope agent segment add`",
            ));
        }
        if let Some(memory) = &self.memory {
            let memory = memory.clone();
            all.plan(
                &Remember {
                    agent: agent.clone(),
                    scope: scope.clone(),
                    memory,
                },
                at,
            )?;
        }
        let Some(summary) = self.segment.clone() else {
            return Ok(None);
        };
        let asked = statement
            .zip(listing)
            .and_then(|(at, listing)| listing.asked(at));
        let segment = AddSegment {
            agent,
            scope,
            prompt: asked.unwrap_or_default(),
            summary,
        };
        Ok(all.plan(&segment, at)?.segment)
    }

    /// Returns the kind of the value: the given one, else that of the value that it replaces, else that of the program.
    fn kind(
        &self,
        name: &str,
        before: Option<&BindingFact>,
        declared: Option<&(BindingKind, String)>,
    ) -> Result<BindingKind, WriteError> {
        Ok(match (&self.kind, before, declared) {
            (Some(word), _, Some((says, text))) if known_kind(word)? != *says => {
                return Err(WriteError::refused(
                    "against-program",
                    format!(
                        "kind {word} contradicts the program, in which {name} is {}: {}",
                        says.word(),
                        shown(text)
                    ),
                    "leave --kind out to record the program's kind, or choose another name",
                ));
            }
            (Some(word), ..) => known_kind(word)?,
            (None, Some(before), _) => before.kind.clone(),
            (None, None, Some((kind, _))) => kind.clone(),
            (None, None, None) => BindingKind::Let,
        })
    }

    /// Returns the plan that only writes the value. `result` is true if the value may be the result of a called block,
    /// which belongs to the scope of the caller. Other values of the block belong to the block's frame.
    fn plan_value(
        &self,
        facts: &Facts<'_>,
        at: &At,
        result: bool,
    ) -> Result<CommandPlan<BindingWritten>, WriteError> {
        // A session that outlives an interruption may still write its value. A run that has ended takes no value.
        let run = facts.run();
        if run.status.is_finished() {
            return Err(finished(&run));
        }
        let name = match &self.name {
            Some(name) => {
                names::binding(name)?;
                names::file_in(facts.style(), "binding", name)?;
                name.clone()
            }
            None => anonymous(facts.last_anonymous())?,
        };
        let row = match self.execution {
            Some(id) => Some(facts.execution(id).ok_or_else(|| no_execution(id))?),
            None => None,
        };
        let program = ProgramSource::of(facts);
        // What the program names as the value of a call is the caller's, even before the call ends.
        let is_result =
            |row: &Execution| output_of(&program, row).is_some_and(|(output, _)| output == name);
        let from = match &row {
            Some(row) if frame_block(row).is_some() && (result || is_result(row)) => row.parent,
            _ => self.execution,
        };
        let scope = scope_of(facts, &program, from, &name)?;
        let frame = scope.as_ref().map(|frame| frame.id);
        // A database records the parents of frames in rows; in a folder, the binding's header records them.
        let above = match &scope {
            Some(frame) if facts.style() == Style::Files => {
                frame_of(facts, frame.parent)?.map(|frame| frame.id)
            }
            _ => None,
        };
        let before = facts.binding(&name, frame)?;
        let declared = declared(&program, &name, row);
        let source = self.source.clone().or_else(|| written_by(row));
        let source = source.or_else(|| declared.as_ref().map(|(_, text)| text.clone()));
        let kind = self.kind(&name, before.as_ref(), declared.as_ref())?;
        match &before {
            Some(before) => replaceable(before, &name, &kind, source.as_deref())?,
            None => unlike_others(facts, &name, frame)?,
        }
        let text = self.value.beginning();
        let summary = match (&self.summary, &text) {
            (Some(summary), _) => one_line(summary),
            (None, Some(text)) => one_line(text),
            (None, None) => format!("{} bytes, not text", self.value.len()),
        };
        // Text beyond the limit and binary data become an attachment. So does text with a NUL character, because a NUL
        // would end the text in SQLite's shell.
        let inline = self.value.text();
        let inline = inline.filter(|text| text.len() <= LARGE && !text.contains('\0'));
        let mut changes = Vec::with_capacity(3);
        let attachment = match inline {
            Some(_) => None,
            None => {
                let path = free_attachment(facts, &name, frame, text.is_some())?;
                changes.push(Change::Attachment(AttachmentFile {
                    path: path.clone(),
                    content: self.value.clone(),
                }));
                Some(path)
            }
        };
        changes.push(Change::Binding(BindingRow {
            name: name.clone(),
            execution_id: frame,
            parent_execution_id: above,
            kind: kind.word().to_owned(),
            value: inline.unwrap_or(&summary).to_owned(),
            source,
            attachment: attachment.clone(),
            at: at.text(facts.style()),
            created: None,
        }));
        changes.push(touch(facts, at));
        let notes = self.notes(&program, &name);
        Ok(CommandPlan {
            changes,
            done: BindingWritten {
                run: run.name,
                name,
                execution_id: frame,
                kind: kind.word().to_owned(),
                summary,
                attachment,
                replaced: before.is_some(),
                notes,
                ..BindingWritten::default()
            },
        })
    }
}

impl Put {
    /// Refuses an empty value that would complete a session: its command probably failed to read the value. A command
    /// of `exec` may print nothing.
    fn not_empty(&self, facts: &Facts<'_>, id: i64) -> Result<(), WriteError> {
        let source = ProgramSource::of(facts);
        let row = facts.execution(id);
        let kind = row.and_then(|row| source.kind(source.of_row(row)?));
        if self.value.text() != Some("") || kind == Some(Kind::Exec) {
            return Ok(());
        }
        let name = self.name.as_deref().unwrap_or("--anon");
        Err(WriteError::refused(
            "value-empty",
            format!("the value is empty, so execution {id} is not completed"),
            format!(
                "give the value on standard input or with `--file PATH`; if the value really is empty, use `prosescope put {name} --into {id} --not-done`, then `prosescope end {id}`"
            ),
        ))
    }

    /// Returns notes about input that is recorded although it is probably a mistake, such as an empty value.
    fn notes(&self, source: &ProgramSource<'_>, name: &str) -> Vec<String> {
        let mut notes = Vec::new();
        match self.value.text() {
            Some("") => notes.push(format!("the value of {name} is empty")),
            Some(text) if text.trim().is_empty() => {
                notes.push(format!("the value of {name} is only white space"));
            }
            _ => {}
        }
        let listing = source.listing;
        if self.name.is_some() && listing.is_some_and(|listing| !listing.contains_name(name)) {
            notes.push(format!("the program does not contain the name {name}"));
        }
        notes
    }
}

/// Returns the kind and the statement text that the program declares for a name. Both come from the statement of the
/// writing execution if that statement binds the name, else from the only statement that binds the name.
fn declared(
    source: &ProgramSource<'_>,
    name: &str,
    row: Option<&Execution>,
) -> Option<(BindingKind, String)> {
    let own = row
        .and_then(|row| source.of_row(row))
        .and_then(|at| source.get(at));
    let own =
        own.filter(|s| s.output().is_some_and(|(output, _)| output == name) && s.binds.is_some());
    let binder = own.or_else(|| source.listing?.binder(name));
    binder.map(|statement| {
        let kind = BindingKind::parse(statement.binds.as_deref().unwrap_or("let"));
        (kind, statement.text.clone())
    })
}

/// Returns the text of the plain statement that wrote a value. A frame or a construct is not the source of a value,
/// because it contains several statements.
fn written_by(row: Option<&Execution>) -> Option<String> {
    let row = row?;
    (shape(row) == RowShape::Statement && !row.text.is_empty()).then(|| row.text.to_string())
}

/// Refuses to replace a constant or an input by the value of another statement.
fn replaceable(
    before: &BindingFact,
    name: &str,
    kind: &BindingKind,
    source: Option<&str>,
) -> Result<(), WriteError> {
    let fixed = [&before.kind, kind]
        .into_iter()
        .any(|kind| matches!(kind, BindingKind::Const | BindingKind::Input));
    // A loop round or a retry executes the same statement again, so it may replace the value (errata B6).
    if fixed && (before.source.is_none() || before.source.as_deref() != source) {
        return Err(overwrites(name, &before.kind, before.source.as_deref()));
    }
    Ok(())
}

/// Refuses a new name that differs from another only in case, in a folder.
fn unlike_others(facts: &Facts<'_>, name: &str, frame: Option<i64>) -> Result<(), WriteError> {
    match facts.binding_by_case(name, frame) {
        Some(other) if facts.style() == Style::Files => Err(WriteError::refused(
            "name-differs-by-case",
            format!(
                "{name} and {other} differ only in case: some systems would keep both bindings in one file"
            ),
            "take another name",
        )),
        _ => Ok(()),
    }
}

fn known_kind(word: &str) -> Result<BindingKind, WriteError> {
    match BindingKind::parse(word) {
        BindingKind::Other(_) => Err(WriteError::wrong(
            format!("{word:?} is not a kind of binding"),
            "give input, output, let or const",
        )),
        kind => Ok(kind),
    }
}

fn overwrites(name: &str, kind: &BindingKind, source: Option<&str>) -> WriteError {
    let by = source.map_or(String::new(), |text| {
        format!(", written by: {}", shown(text))
    });
    WriteError::refused(
        "binding-fixed",
        format!(
            "{name} exists already and cannot be replaced ({}{by})",
            kind.word()
        ),
        "take another name, or declare the binding with `let`; only the statement that wrote the binding may write it again (--source)",
    )
}

/// Returns the next name for an unnamed value: `anon_001`, with more digits past 999. Stores read at most nine digits,
/// so a longer name would be assigned again and again.
fn anonymous(last: u32) -> Result<String, WriteError> {
    const LAST: u32 = 999_999_999;
    match last {
        0..LAST => Ok(format!("anon_{:03}", last + 1)),
        LAST.. => Err(WriteError::refused(
            "anonymous-used-up",
            format!("anon_{LAST} exists already, and is the last name for a value without a name"),
            "give the value a name",
        )),
    }
}

/// Returns a free path for an attachment, because an attachment is never overwritten (errata B8).
fn free_attachment(
    facts: &Facts<'_>,
    name: &str,
    frame: Option<i64>,
    text: bool,
) -> Result<String, WriteError> {
    let end = if text { "md" } else { "bin" };
    let scope = frame.map_or(String::new(), |id| format!("__{id}"));
    // `aux.md` is not a valid file on Windows; `aux@2.md` is.
    let mut version: u32 = if names::is_device(name) { 2 } else { 1 };
    loop {
        let at = match version {
            1 => String::new(),
            n => format!("@{n}"),
        };
        let path = format!("attachments/{name}{scope}{at}.{end}");
        if !facts.attachment(&path)? {
            return Ok(path);
        }
        version = version.checked_add(1).ok_or_else(|| {
            Fault::new(FaultKind::Damaged, format!("no version of {name} is free"))
        })?;
    }
}

/// Returns the first line that is not empty, cut to [`SUMMARY`] characters.
fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(SUMMARY) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or(line).trim_end()),
        None => line.to_owned(),
    }
}
