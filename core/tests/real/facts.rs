//! Extracts the facts of a session that the cases list.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::{Options, Session, pages};
use prosescope_core::pages::view::Stop;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::trace::{NodeId, NodeKind};

use crate::cases::Case;

/// The folder of a case's files.
pub(crate) const FOLDER: &str = ".prose/runs/20260104-101500-case01";

/// 2026-03-01 12:00:00 UTC in milliseconds: the file date that all files of a case get.
const NOW: i64 = 1_772_366_400_000;

/// The facts about a run.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) status: String,
    /// The status of each line of the program; lines without a status are absent.
    pub(crate) lines: BTreeMap<u32, String>,
    /// The status of each gate, by its line in the program.
    pub(crate) gates: BTreeMap<u32, String>,
    /// The effect of a rejection of each gate, by the gate's line in the program.
    pub(crate) on_reject: BTreeMap<u32, String>,
    pub(crate) nodes: Vec<Fact>,
    /// The number of rounds of each loop, and its limit.
    pub(crate) loops: Vec<(u32, Option<u32>)>,
    /// The positions at which the run continues, each by its line, or by its text if it has no line.
    pub(crate) positions: Vec<String>,
    pub(crate) first_cause: Option<u32>,
    /// The notes that pages show beside statements, and the messages of issues.
    pub(crate) notes: Vec<String>,
    /// Number of started statements.
    pub(crate) count: u32,
    pub(crate) started: Option<String>,
    pub(crate) duration_seconds: Option<i64>,
    pub(crate) rules: BTreeSet<String>,
    /// The run's state in one line.
    pub(crate) headline: String,
    /// What is left, as `show` says it.
    pub(crate) left: String,
    /// The lines at which `resume` goes on.
    pub(crate) places: Vec<u32>,
    /// The lines of the program's statements.
    pub(crate) program_lines: Vec<u32>,
    /// The number of statements that remain to run; `None` if it is not known.
    pub(crate) statements_left: Option<u32>,
}

/// A node of the run's trace.
#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) text: String,
}

/// Opens the files of a run folder with the dates of a copy, and extracts its facts.
///
/// Returns `None` if the folder is refused.
pub(crate) fn facts(case: &Case) -> Option<Facts> {
    let mut files: BTreeMap<String, Vec<u8>> = case
        .files
        .iter()
        .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
        .collect();
    if !case.sql.is_empty() {
        files.insert("state.db".to_owned(), database(&case.sql));
    }
    let source: Rc<dyn Source> = Rc::new(Copied::new(files));
    let options = Options {
        now: Some(NOW),
        ..Options::default()
    };
    let session = Session::open(source, FOLDER, &options).ok()?;
    let trace = session.trace();
    let overview = pages::overview(&session, Some(NOW));
    let program = pages::program_page(&session, 0, u32::MAX);
    let mut facts = Facts {
        status: overview.status,
        count: overview.statements,
        started: overview.started.map(|at| at.to_string()),
        duration_seconds: overview.duration_ms.map(|ms| ms / 1000),
        first_cause: trace.first_cause.and_then(|at| trace.nodes[at].line),
        headline: overview.headline,
        left: overview.left,
        ..Facts::default()
    };
    let resume = pages::resume(&session, Some(NOW));
    for at in &resume.positions {
        let next = at.next.as_ref().map(|next| next.line);
        facts.places.extend(if at.how == Stop::Between {
            next
        } else {
            at.line
        });
    }
    facts.statements_left = Some(resume.ahead_count);
    for line in &program.lines {
        if !line.kind.is_empty() {
            facts.program_lines.push(line.line);
        }
        if !line.status.is_empty() {
            // Takes the recorded status, because the cases ignore how long a run has been silent.
            let recorded = line.status.strip_prefix("was ").unwrap_or(&line.status);
            facts.lines.insert(line.line, recorded.to_owned());
        }
        if line.kind == "gate" {
            facts.gates.insert(line.line, line.status.clone());
        }
    }
    for (at, node) in trace.nodes.iter_enumerated() {
        facts.nodes.push(Fact {
            kind: node.kind.word().to_owned(),
            status: node.status.word().to_owned(),
            text: node.text.to_string(),
        });
        if node.kind == NodeKind::Loop {
            let rounds = trace.nodes.iter().filter(|inner| {
                inner.parent == Some(at) && matches!(inner.kind, NodeKind::Round { .. })
            });
            facts.loops.push((rounds.count() as u32, node.max));
        }
        if let (NodeKind::Gate { .. }, Some(line)) = (&node.kind, node.line) {
            facts.gates.insert(line, node.status.word().to_owned());
        }
        facts
            .notes
            .extend(node.remark(session.run()).map(|note| note.to_string()));
    }
    let remarks = trace.remarks.iter().map(|(_, line)| line.to_string());
    facts.notes.extend(remarks);
    for at in &trace.positions {
        let node = &trace.nodes[*at];
        let place = node.line.map(|line| line.to_string());
        facts
            .positions
            .push(place.unwrap_or_else(|| node.text.to_string()));
    }
    for gate in pages::gates(&session, Some(NOW)).gates {
        let line = gate
            .node
            .and_then(|node| trace.nodes[NodeId::new(node)].line);
        if let (Some(line), Some(text)) = (line, gate.on_reject) {
            facts.on_reject.insert(line, text);
        }
    }
    for Issue { rule, message, .. } in pages::check(&session, Some(NOW)) {
        facts.rules.insert(rule);
        facts.notes.push(message);
    }
    Some(facts)
}

/// Returns a database of sqlite.md with the rows of these statements.
fn database(sql: &[String]) -> Vec<u8> {
    let mut conn = rusqlite::Connection::open_in_memory().expect("a database");
    conn.execute_batch(STATE_SQL).expect("the tables");
    for statement in sql {
        conn.execute_batch(statement)
            .expect("a statement of the case");
    }
    conn.serialize("main").expect("its bytes").to_vec()
}

/// The files of a run folder as if they had just been copied, so that their dates carry no information.
struct Copied {
    memory: MemorySource,
    files: Vec<FileEntry>,
}

impl Copied {
    fn new(files: BTreeMap<String, Vec<u8>>) -> Copied {
        let files = files
            .into_iter()
            .map(|(path, bytes)| (format!("{FOLDER}/{path}"), bytes));
        let memory = MemorySource::new("copied", files);
        let mut files = memory.files().to_vec();
        for file in &mut files {
            file.modified = Some(Stamp::At(NOW - 400));
        }
        Copied { memory, files }
    }
}

impl Source for Copied {
    fn label(&self) -> String {
        self.memory.label()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        self.memory.read(path, offset, len)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        self.memory.database(path, limits)
    }
}
