//! Opens a folder and collects what the reader knows of the run.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use prosescope_core::model::Status;
use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::{Options, Session, ValueOf, pages};
use prosescope_core::pages::view::TokenCount;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::trace::NodeKind;

use crate::contract2::{Files, RUN};
use crate::story::Told;

/// Opens the files as the folder of a run.
pub(crate) fn opened(files: &Files) -> Session {
    reopened(files).0.expect("the folder opens")
}

/// Opens the files as the folder of a run; `None` if it is refused. Also returns the number of bytes read so far.
pub(crate) fn reopened(files: &Files) -> (Option<Session>, Rc<Cell<u64>>) {
    let dir = format!("runs/{RUN}");
    let files = files
        .iter()
        .map(|(path, bytes)| (format!("{dir}/{path}"), bytes.clone()));
    let read = Rc::new(Cell::new(0));
    let source = Counted {
        memory: MemorySource::new("runs", files),
        read: read.clone(),
    };
    let session = Session::open(Rc::new(source), &dir, &Options::default());
    (session.ok(), read)
}

/// Files in memory that count the bytes that are read.
struct Counted {
    memory: MemorySource,
    read: Rc<Cell<u64>>,
}

impl Source for Counted {
    fn label(&self) -> String {
        self.memory.label()
    }

    fn files(&self) -> &[FileEntry] {
        self.memory.files()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let bytes = self.memory.read(path, offset, len)?;
        self.read.set(self.read.get() + bytes.len() as u64);
        Ok(bytes)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        self.memory.database(path, limits)
    }
}

/// Returns the issues of a run.
pub(crate) fn issues(session: &Session) -> Vec<Issue> {
    pages::check(session, None)
}

/// Returns what the reader knows.
pub(crate) fn told(session: &Session) -> Told {
    let view = pages::overview(session, None);
    let mut told = Told {
        status: match &*view.status {
            "completed" | "failed" => view.status.clone(),
            _ => "neither".to_owned(),
        },
        issues: issues(session)
            .into_iter()
            .map(|issue| format!("{}: {}", issue.rule, issue.message))
            .collect(),
        ..Told::default()
    };
    let run = session.run();
    let nodes = session.trace().nodes.iter();
    for node in nodes.filter(|node| node.kind != NodeKind::Parallel) {
        let name = node.text.to_string();
        told.reasons.remove(&name);
        if node.status.word() == "failed" {
            let why = node.error(run).map_or("no reason", |why| why);
            told.reasons.insert(name.clone(), why.to_owned());
        }
        told.nodes.insert(name, node.status.word().to_owned());
    }
    // Without a receipt, the log's lines are the trace. It also names inputs, which are no nodes.
    let inputs = run.bindings.iter().filter(|_| run.executions.is_empty());
    for binding in inputs {
        told.nodes.remove(&*binding.name);
    }
    for node in &run.nodes_ahead {
        told.nodes
            .insert(node.to_string(), "not reached".to_owned());
    }
    for (at, binding) in (0..).zip(&run.bindings) {
        let value = session.value(&ValueOf::Binding(at), 10_000);
        let text = value.map_or_else(|error| error.to_string(), |value| value.text);
        let is_earlier = binding.fields.iter().any(|(key, _)| &**key == "from");
        let value = (binding.kind.word().to_owned(), text, is_earlier);
        told.values.insert(binding.name.to_string(), value);
    }
    if let Some(cost) = view.cost {
        let sums = |of: &TokenCount| (of.name.clone(), (of.fresh, of.reused));
        told.tokens = cost.by_node.iter().map(sums).collect();
        told.models = cost.by_model.iter().map(sums).collect();
        let sum = told
            .tokens
            .values()
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        assert_eq!((cost.total.fresh, cost.total.reused), sum, "the total");
    }
    told
}

/// Returns the reason of every failure of each node, also of those before another attempt.
pub(crate) fn failures(session: &Session) -> BTreeMap<String, Vec<Option<String>>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let rows = session.run().executions.iter();
    for row in rows.filter(|row| row.status == Status::Failed) {
        let why = row.error.as_deref().map(str::to_owned);
        all.entry(row.text.to_string()).or_default().push(why);
    }
    all
}
