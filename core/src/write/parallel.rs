use std::ops::ControlFlow;

use super::begin::{Begun, not_twice, opening, touch};
use super::close::{Closed, ending};
use super::instance::{Instance, open_parent, running};
use super::meta::Keys;
use super::{At, Facts, Named, Place, Plan, Record, Style, WriteError, names};
use crate::model::{Execution, Meta, Status, Text};

/// `parallel begin`: a parallel is entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeginParallel {
    /// The statement; without one `parallel:`.
    pub statement: Named,
    /// The execution that it runs in.
    pub parent: Option<i64>,
    /// Its branches, where they are known beforehand.
    pub branches: Vec<String>,
    /// `all`, `first`, `any`; nothing is `all`.
    pub strategy: Option<String>,
}

impl Record for BeginParallel {
    type Done = Begun;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Begun>, WriteError> {
        running(facts)?;
        open_parent(facts, self.parent)?;
        for (n, branch) in self.branches.iter().enumerate() {
            names::plain("branch", branch)?;
            if self.branches.iter().take(n).any(|other| other == branch) {
                return Err(WriteError::wrong(
                    format!("branch {branch} is named twice"),
                    "every branch needs a name of its own",
                ));
            }
        }
        let (text, index) = or_word(&self.statement, facts, "parallel:")?;
        let id = facts.next_execution()?;
        let name = format!("p{id}");
        let meta = Meta {
            parallel_id: Some(name.as_str().into()),
            ..Meta::default()
        };
        let keys = Keys::naming(&meta)
            .list("branches", &self.branches)
            .text("strategy", self.strategy.as_deref());
        let row = construct(facts, id, &text, index, self.parent, meta);
        not_twice(facts, &row)?;
        Ok(Plan {
            changes: vec![opening(facts, at, &row, keys), touch(facts, at)],
            done: Begun {
                id,
                text,
                line: index,
                frame: None,
                name: Some(name),
            },
        })
    }
}

/// `parallel branch`: a branch begins. It ends as every execution does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The parallel's execution id.
    pub parallel: i64,
    /// The branch.
    pub name: String,
    /// Its statement; without one `parallel:name`, as the document writes it.
    pub statement: Option<Named>,
}

impl Record for Branch {
    type Done = Begun;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Begun>, WriteError> {
        running(facts)?;
        names::plain("branch", &self.name)?;
        let parallel = parallel_of(facts, self.parallel)?.open()?;
        let own = parallel.meta();
        if !own.branches.is_empty() && !own.branches.iter().any(|b| **b == *self.name) {
            return Err(WriteError::refused(
                "branch-unknown",
                format!(
                    "parallel {} has no branch {}: it announced {}",
                    self.parallel,
                    self.name,
                    own.branches.join(", ")
                ),
                "name one of these",
            ));
        }
        let mut before = None;
        each_branch(facts, &parallel, &mut |row, name| {
            if **name == *self.name {
                before = Some(row.status.clone());
            }
        })?;
        if let Some(status) = before {
            return Err(WriteError::refused(
                "branch-begun",
                format!(
                    "branch {} of parallel {} is {} already",
                    self.name,
                    self.parallel,
                    status.word()
                ),
                "a failed branch goes on with `prose exec retry ID`",
            ));
        }
        let (text, index) = match &self.statement {
            Some(statement) => statement.find(facts)?,
            None => (format!("parallel:{}", self.name), parallel.first.index),
        };
        let meta = Meta {
            parallel_id: own.parallel_id,
            branch: Some(self.name.as_str().into()),
            ..Meta::default()
        };
        let keys = Keys::naming(&meta);
        let id = facts.next_execution()?;
        let row = Execution {
            status: Status::Executing,
            ..construct(facts, id, &text, index, Some(self.parallel), meta)
        };
        Ok(Plan {
            changes: vec![opening(facts, at, &row, keys), touch(facts, at)],
            done: Begun {
                id,
                text,
                line: index,
                frame: None,
                name: Some(self.name.clone()),
            },
        })
    }
}

/// `parallel join`: the branches come together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The parallel's execution id.
    pub parallel: i64,
}

/// What came together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The parallel.
    pub closed: Closed,
    /// Its branches in order, each with its status word; `pending` for one that never began.
    pub branches: Vec<(String, String)>,
}

impl Record for Join {
    type Done = Joined;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Joined>, WriteError> {
        running(facts)?;
        let parallel = parallel_of(facts, self.parallel)?.open()?;
        let own = parallel.meta();
        let mut branches: Vec<(Text, Status)> = own
            .branches
            .iter()
            .map(|name| (name.clone(), Status::Pending))
            .collect();
        each_branch(facts, &parallel, &mut |row, name| match branches
            .iter_mut()
            .find(|(known, _)| known == name)
        {
            Some((_, status)) => *status = row.status.clone(),
            None => branches.push((name.clone(), row.status.clone())),
        })?;
        // X3: branches are counted, the parallel itself is none.
        let open: Vec<&str> = branches
            .iter()
            .filter(|(_, status)| !status.is_terminal())
            .map(|(name, _)| &**name)
            .collect();
        let any_done = branches
            .iter()
            .any(|(_, status)| *status == Status::Completed);
        let waits_for_all = !matches!(own.strategy.as_deref(), Some("first" | "any"));
        if !open.is_empty() && (waits_for_all || !any_done) {
            return Err(WriteError::refused(
                "branches-open",
                format!(
                    "parallel {} waits for {}",
                    self.parallel,
                    match waits_for_all {
                        true => open.join(", "),
                        false => format!("one of {}", open.join(", ")),
                    }
                ),
                "complete, fail or skip them first",
            ));
        }
        let word = match facts.style() {
            Style::InPlace => "completed",
            Style::AppendOnly | Style::Files => "joined",
        };
        let change = ending(facts, at, &parallel, word, None, Keys::default())?;
        Ok(Plan {
            changes: vec![change, touch(facts, at)],
            done: Joined {
                closed: Closed {
                    id: self.parallel,
                    text: parallel.first.text.to_string(),
                    line: parallel.first.index,
                    status: "joined",
                    branch: None,
                },
                branches: branches
                    .into_iter()
                    .map(|(name, status)| (name.to_string(), status.word().to_owned()))
                    .collect(),
            },
        })
    }
}

fn parallel_of(facts: &dyn Facts, id: i64) -> Result<Instance, WriteError> {
    let instance = Instance::of(facts, id)?;
    let meta = instance.meta();
    if meta.parallel_id.is_some() && meta.branch.is_none() {
        return Ok(instance);
    }
    Err(WriteError::refused(
        "not-a-parallel",
        format!("execution {id} is no parallel: {}", instance.first.text),
        "give the id that `prose parallel begin` printed",
    ))
}

/// The rows of each branch, in order of id. Branches belong to their `parallel_id` before any parent (errata X2): the
/// documents' own rows stand beside their parallel.
fn each_branch(
    facts: &dyn Facts,
    parallel: &Instance,
    each: &mut dyn FnMut(&Execution, &Text),
) -> Result<(), WriteError> {
    let id = parallel.meta().parallel_id;
    let first = &parallel.first;
    let mut rows: Vec<Execution> = Vec::new();
    let mut take = |row: Execution| {
        let own = row
            .meta
            .as_deref()
            .is_some_and(|meta| meta.parallel_id == id && meta.branch.is_some());
        if own {
            rows.push(row);
        }
        ControlFlow::Continue(())
    };
    facts.children(first.id, &mut take)?;
    // Without an index these would be all rows of the parent.
    if first.index.is_some() {
        facts.executions_back(&Place::of(first), first.id, &mut take)?;
    }
    rows.sort_by_key(|row| row.id);
    rows.dedup_by_key(|row| row.id);
    for row in &rows {
        if let Some(branch) = row.meta.as_deref().and_then(|meta| meta.branch.as_ref()) {
            each(row, branch);
        }
    }
    Ok(())
}

/// The statement, or the construct's own word when none was named.
pub(super) fn or_word(
    statement: &Named,
    facts: &dyn Facts,
    word: &str,
) -> Result<(String, Option<i64>), WriteError> {
    match *statement == Named::default() {
        true => Ok((word.to_owned(), None)),
        false => statement.find(facts),
    }
}

/// The first row of a construct: `started` where events are appended (sqlite.md), `executing` in place.
pub(super) fn construct(
    facts: &dyn Facts,
    id: i64,
    text: &str,
    index: Option<i64>,
    parent: Option<i64>,
    meta: Meta,
) -> Execution {
    Execution {
        id,
        index,
        text: text.into(),
        status: match facts.style() {
            Style::InPlace => Status::Executing,
            Style::AppendOnly | Style::Files => Status::Started,
        },
        parent,
        started: None,
        completed: None,
        error: None,
        meta: Some(meta.into()),
    }
}
