//! Decodes a run folder into a [`Run`] (filesystem.md, "Directory Structure"; docs/reference/formats.md).
//!
//! ```
//! use prosescope_core::read::{decode::folder, sqlite::MemorySource};
//! let files = [
//!     ("state.md", "# Execution State\n\nrun: r1\n"),
//!     ("program.prose", "let a = session \"A\"\n"),
//!     ("bindings/a.md", "# a\n\nkind: let\n\n---\n\nthe value"),
//! ];
//! let source = MemorySource::new("dropped", files.map(|(p, t)| (p.to_owned(), t.as_bytes().to_vec())));
//! let run = folder::decode(&source, "");
//! assert_eq!(&*run.id, "r1");
//! assert_eq!((&*run.bindings[0].name, run.bindings[0].value.len()), ("a", Some(9)));
//! ```
//!
//! Only the head of a binding file is read; the value stays in the file. File names, headers, the state file's index
//! and the files on disk may contradict each other. Each contradiction is an issue whose hint says which of them is
//! used. Nested runs (`imports/{handle}--{slug}/`) are listed, and each opens as a run of its own, at any depth. Paths
//! that may lead out of the folder, such as `../x`, are never read.

mod agents;
mod bindings;
mod compare;
mod files;
mod gates;
mod generation;
mod history;
mod hosted;
mod imports;
mod journal;
mod marks;
mod mounted;
mod program;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod tree;

use crate::model::issue::Issue;
use crate::model::source::{Source, SourceError};
use crate::model::{
    Agent, AgentScope, Dialect, FileInfo, FolderForm, Form, Program, RecordedStatus, Run, Segment,
    ValueAt,
};
use crate::read::decode::memory_md;
use crate::read::decode::text::lossy;
use tree::RunTree;

pub use tree::is_workings;

pub use bindings::{binding_of, head_of, in_order_of_index, scoped};
pub use files::role;
pub use generation::of_chat;
pub(in crate::read::decode) use generation::{CONTRACT_2, written_by};
pub use history::{binding_versions, memory_versions, version_counts};
pub use imports::import_row;
pub use journal::as_written;
pub(in crate::read::decode) use mounted::of_table as receipts_of_table;
pub(crate) use program::is_program_name;
pub use rows::compare_with_rows;
pub use state::STATE_FILE_MOST;

/// Decodes the run folder at `root` (its path inside the source, empty for the source itself). Never fails: a folder
/// without a run gives an empty run.
pub fn decode(source: &dyn Source, root: &str) -> Run {
    let mut tree = RunTree::new(source, root);
    let mut run = Run::default();
    let form = state::read(&mut tree, &mut run);
    let hosted = hosted::read(&mut tree, &mut run).then_some(FolderForm::Hosted);
    let ledger = mounted::form(&tree);
    run.form = hosted.or(ledger).unwrap_or(form).form();
    run.root = tree.root.as_str().into();
    if run.id.is_empty() {
        run.id = tree
            .root
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .into();
    }
    let named = run.program.path.clone();
    run.program = program::read(&mut tree, named.as_deref());
    // Form D has ids of receipts behind its lines.
    if form != FolderForm::Receipts {
        marks::read(&mut run);
    }
    if let Some(form) = ledger {
        mounted::read(&mut tree, &mut run, form);
    }
    bindings::read(&mut tree, &mut run);
    if ledger.is_none() {
        generation::nodes_ahead(&mut tree, &mut run);
    }
    generation::read(&mut tree, &mut run);
    // The state file of form D has no index to compare with the files.
    if form != FolderForm::Receipts {
        compare::bindings(&mut tree, &mut run);
    }
    run.agents = agents::read(&mut tree, "agents/", &AgentScope::Execution, "agents/");
    compare::agents(&mut tree, &mut run);
    imports::rows(&mut tree, &mut run);
    imports::read(&mut tree, &mut run);
    gates::read(&mut tree, &mut run);
    run.files = files::list(&tree);
    run.touched = tree.touched();
    if form == FolderForm::Bare && hosted.or(ledger).is_none() && !run.files.is_empty() {
        tree.issue(
            Issue::warning("no-state-file", "the folder has no state file").hint(
                "Only the bindings show what ran. Check whether the whole run folder was copied.",
            ),
        );
    }
    run.issues.extend(tree.finish());
    run
}

/// Adds to a run from a `state.db` the other contents of the database's folder: the files, the nested runs, the state
/// file, and the program if the database has none.
pub fn beside_database(source: &dyn Source, root: &str, run: &mut Run) {
    let mut tree = RunTree::new(source, root);
    run.root = tree.root.as_str().into();
    run.files = files::list(&tree);
    run.touched = tree.touched();
    if run.program.source.is_none() {
        let named = run.program.path.clone();
        run.program = program::read(&mut tree, named.as_deref());
    }
    imports::read(&mut tree, run);
    let renamed = Dialect::Renamed;
    if run.form.has_nodes() || run.form == (Form::Sqlite { dialect: renamed }) {
        mounted::beside_table(&mut tree, run);
    }
    // The state file describes the same run as the rows, so the state file is kept for comparison.
    if run.state_file.is_none() {
        let mut state_run = Run::default();
        state::read(&mut tree, &mut state_run);
        if let (Some(file), true) = (
            &state_run.state_file,
            !state_run.id.is_empty() && state_run.id != run.id,
        ) {
            let message = format!(
                "the state file belongs to run {}, but the database belongs to run {}",
                file.run.as_deref().unwrap_or_default(),
                run.id
            );
            tree.issue(
                Issue::warning("another-run", message)
                    .at_file("state.md")
                    .hint("The database is used. Check whether the state file was copied from another run."),
            );
        } else {
            // If the state file is a log, or has a form of which only the head is read, only its status is used.
            if let (Some(status), None) = (state_run.status, &state_run.state_file) {
                let file = state_run
                    .log
                    .map_or_else(|| "state.md".into(), |log| log.file);
                let at = state_run.updated;
                run.recorded.push(RecordedStatus { file, status, at });
            }
            run.state_file = state_run.state_file;
        }
    }
    if tree.under("bindings/").next().is_some() {
        tree.issue(
            Issue::noted(
                "bindings-beside-database",
                "the folder contains binding files, although its run is kept in a database",
            )
            .at_file("bindings")
            .hint("The bindings in the database are shown; the binding files are only listed as files."),
        );
    }
    run.issues.extend(tree.finish());
}

/// Returns the files of a folder with their roles.
pub fn files_of(source: &dyn Source, root: &str) -> Vec<FileInfo> {
    files::list(&RunTree::new(source, root))
}

/// Returns the path of a folder's state file inside the source: a `state.md`, `STATE.md` or `vm.log.md`.
pub fn state_file_of(source: &dyn Source, root: &str) -> Option<String> {
    state::find(&RunTree::new(source, root)).map(|file| file.path.clone())
}

/// Returns the program in a folder; `named` is the program's name in the run's records.
pub fn program_of(source: &dyn Source, root: &str, named: Option<&str>) -> (Program, Vec<Issue>) {
    let mut tree = RunTree::new(source, root);
    let program = program::read(&mut tree, named);
    (program, tree.finish())
}

/// Decodes a state file that was given without its run folder. The bindings and agents in its index have no content.
pub fn lone_state_file(path: &str, text: &str) -> Run {
    let mut run = Run::default();
    let name = path.rsplit('/').next().unwrap_or(path);
    let (form, issues) = state::from_text(&mut run, name, text, "");
    run.form = form.form();
    run.issues
        .extend(issues.into_iter().map(|issue| issue.at_file(name)));
    if let Some(file) = &run.state_file {
        let written = file.bindings.iter().filter(|row| !row.path.is_empty());
        run.bindings = written.map(compare::named_only).collect();
        let placed = |path: &str| path.starts_with("agents/");
        run.agents = file
            .agents
            .iter()
            .filter_map(|row| Some((row, row.path.as_deref().filter(|p| placed(p))?)))
            .map(|(row, path)| compare::named_agent(&row.name, path))
            .collect();
    }
    run.files = vec![FileInfo {
        path: name.to_owned(),
        len: text.len() as u64,
        role: Some("state file".to_owned()),
    }];
    run.issues.push(
        Issue::noted("state-file-alone", "only the state file was given")
            .at_file(name)
            .hint("Open the whole run folder to see the bindings and memories, which are listed here without content."),
    );
    run
}

/// Reads the agents in a folder of agents. `dir` is the folder's path inside the source, such as `.prose/agents/`.
pub fn agents(source: &dyn Source, dir: &str, scope: AgentScope) -> (Vec<Agent>, Vec<Issue>) {
    let mut tree = RunTree::new(source, dir);
    let store = tree.root.clone();
    let agents = agents::read(&mut tree, "", &scope, &store);
    let mut issues = tree.finish();
    for issue in &mut issues {
        issue.location.file = issue.location.file.take().map(|file| {
            if file.starts_with(&store) {
                file
            } else {
                format!("{store}{file}")
            }
        });
    }
    (agents, issues)
}

/// Returns the agent called `name` in a folder of agents, without reading its segments. Returns `None` if the agent
/// has neither a memory nor segments.
pub fn agent_named(source: &dyn Source, dir: &str, scope: AgentScope, name: &str) -> Option<Agent> {
    let memory = match source.file(&format!("{dir}{name}/memory.md")) {
        Some(file) => ValueAt::file(&file.path, file.len),
        None => {
            agents::segment_files(source, &format!("{dir}{name}/"), name).next()?;
            ValueAt::Missing
        }
    };
    Some(Agent {
        name: name.into(),
        scope,
        memory,
        store: format!("{dir}{name}/").into(),
        ..Agent::default()
    })
}

/// Reads one segment of an agent: the segment with this number, or the last segment if `number` is `None`. `dir` is the
/// agent's folder, ending in `/`.
///
/// # Errors
/// If the segment's file cannot be read.
pub fn segment(
    source: &dyn Source,
    dir: &str,
    agent: &str,
    number: Option<i64>,
) -> Result<Option<Segment>, SourceError> {
    let found = agents::segment_files(source, dir, agent)
        .filter(|(at, _)| number.is_none_or(|number| number == *at))
        .max_by_key(|(at, _)| *at);
    let Some((number, file)) = found else {
        return Ok(None);
    };
    let len = usize::try_from(file.len).unwrap_or(usize::MAX);
    let read = memory_md::segment(&lossy(&source.read(&file.path, 0, len)?).0);
    Ok(Some(read.numbered(number)))
}
