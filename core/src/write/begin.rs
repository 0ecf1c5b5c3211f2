use super::instance::{depth, frame_of, open_already, open_parent, running, shown};
use super::meta::Keys;
use super::{At, Change, ExecutionRow, Facts, Named, Plan, Record, RunChange, WriteError};
use crate::model::{Execution, Meta, Status};
use crate::trace::{Shape, frame_block, shape};

/// `exec begin`: a statement begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Begin {
    /// The statement.
    pub statement: Named,
    /// The execution that it runs in: a branch, a loop, a frame.
    pub parent: Option<i64>,
    /// The block that it calls, when its text does not say so (`do name(…)` does).
    pub block: Option<String>,
}

/// What began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Its execution id: what every later command names it by, and the scope of its bindings when it is a frame.
    pub id: i64,
    /// The statement's text.
    pub text: String,
    /// Its line in the program, where it is known.
    pub line: Option<i64>,
    /// The block that it calls, and how deep it is in frames, from 1.
    pub frame: Option<(String, i64)>,
    /// The `parallel_id` or `loop_id` that was given to it.
    pub name: Option<String>,
}

impl Record for Begin {
    type Done = Begun;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Begun>, WriteError> {
        running(facts)?;
        open_parent(facts, self.parent)?;
        let (text, index) = self.statement.find(facts)?;
        let mut row = Execution {
            id: facts.next_execution()?,
            index,
            text: text.as_str().into(),
            status: Status::Executing,
            parent: self.parent,
            started: None,
            completed: None,
            error: None,
            meta: self.block.as_deref().map(|block| {
                let block = Some(block.into());
                Meta {
                    block,
                    ..Meta::default()
                }
                .into()
            }),
        };
        let command = match shape(&row) {
            Shape::Parallel => Some("prose parallel begin"),
            Shape::Loop => Some("prose loop begin"),
            Shape::Gate => Some("prose gate create"),
            Shape::Frame | Shape::Statement => None,
        };
        if let Some(command) = command {
            return Err(WriteError::wrong(
                format!("this statement has a command of its own: {}", shown(&text)),
                format!("use `{command}`"),
            ));
        }
        not_twice(facts, &row)?;
        let frame = match frame_block(&row).map(str::to_owned) {
            Some(block) => Some((block, depth(facts, self.parent)?.saturating_add(1))),
            None => None,
        };
        let meta = Meta {
            block: frame.as_ref().map(|(block, _)| block.as_str().into()),
            depth: frame.as_ref().map(|(_, depth)| *depth),
            ..Meta::default()
        };
        row.meta = Some(meta.clone().into());
        let id = row.id;
        Ok(Plan {
            changes: vec![
                opening(facts, at, &row, Keys::naming(&meta)),
                touch(facts, at),
            ],
            done: Begun {
                id,
                text,
                line: index,
                frame,
                name: None,
            },
        })
    }
}

/// Refuses when the same statement is under way in the same parent: its rows could not be told apart.
pub(super) fn not_twice(facts: &dyn Facts, row: &Execution) -> Result<(), WriteError> {
    match open_already(facts, row)? {
        None => Ok(()),
        Some(open) => Err(WriteError::refused(
            "execution-open",
            format!(
                "this statement is {} already, see execution {}: {}",
                open.status.word(),
                open.id,
                shown(&row.text)
            ),
            "complete, fail or skip that one first; two at once belong into branches of a parallel",
        )),
    }
}

/// The row that opens an instance.
pub(super) fn opening(facts: &dyn Facts, at: &At, row: &Execution, keys: Keys) -> Change {
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

/// The run was written to (errata X15).
pub(super) fn touch(facts: &dyn Facts, at: &At) -> Change {
    Change::Run(RunChange {
        status: None,
        updated: at.text(facts.style()),
    })
}

/// The frame that an execution lies in, by its id.
pub(super) fn scope_of(facts: &dyn Facts, id: Option<i64>) -> Result<Option<i64>, WriteError> {
    Ok(frame_of(facts, id)?.map(|frame| frame.id))
}
