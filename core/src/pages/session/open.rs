//! Opens the run at a place of a source: a folder, a database or a state file.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::OnceLock;

use super::around::Parts;
use super::choose::{ChooseError, among};
use super::pages::{NodeIndex, gates};
use super::stray::{has_stray_database, kept_in_files};
use super::summary::{folder_name, last_part};
use super::survey::{join, split};
use super::values::NamedDatabase;
use super::{Opened, Options, Session};
use crate::model::issue::Issue;
use crate::model::schema::postgres_name;
use crate::model::source::{NAMES_HIDDEN, Source, SourceError, is_hidden_name};
use crate::model::text::counted;
use crate::model::{FolderForm, Form, Run};
use crate::program;
use crate::read::decode::rows::RunEntry;
use crate::read::decode::sqlite_header;
use crate::read::decode::{folder, rows, state_md};
use crate::trace;

/// Why a place could not be opened, with what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The source could not read a file or a database.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The requested run ([`Options::run_id`]) matches none of the database's runs, or more than one.
    #[error(transparent)]
    Run(#[from] ChooseError),
    /// The place does not contain a run.
    #[error("{place}: {found}")]
    NoRun {
        /// The path of the place in the source, or the source's label.
        place: String,
        /// A description of what the place contains instead of a run.
        found: String,
        /// What the user can open instead.
        next: String,
    },
}

impl OpenError {
    /// Returns what to do next; may be empty.
    pub fn next(&self) -> &str {
        match self {
            OpenError::Source(SourceError::Database { next, .. }) => next,
            OpenError::Source(SourceError::Changed(_)) => "open the file again",
            OpenError::Source(SourceError::Unreadable { .. }) => {
                "check that you may read the file and that no program is writing it, then repeat the command"
            }
            OpenError::Source(SourceError::NotFound(_)) | OpenError::Run(_) => "",
            OpenError::NoRun { next, .. } => next,
        }
    }

    /// Returns whether reading failed (permission denied, a lock, an I/O error), so that another try may succeed.
    pub fn is_failed(&self) -> bool {
        matches!(
            self,
            OpenError::Source(
                SourceError::Unreadable { .. }
                    | SourceError::Changed(_)
                    | SourceError::Database { failed: true, .. }
            )
        )
    }

    /// Returns the rule for an issue about this error: `reading-failed`, or `damaged` if the content was read but could
    /// not be understood.
    pub(super) fn rule(&self, damaged: &'static str) -> &'static str {
        if self.is_failed() {
            "reading-failed"
        } else {
            damaged
        }
    }

    /// Returns whether the place, or the requested run in it, does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self,
            OpenError::Source(SourceError::NotFound(_)) | OpenError::Run(_)
        )
    }
}

impl Session {
    /// Opens a place of a source: the path of a run folder (empty for the source itself), a database, or a single state
    /// file. The content determines which of these it is.
    ///
    /// # Errors
    /// An error only if nothing can be read; all other problems become issues of the run.
    pub fn open(
        source: Rc<dyn Source>,
        place: &str,
        options: &Options,
    ) -> Result<Session, OpenError> {
        Session::open_inside(source, place, options, true)
    }

    /// Opens a place like [`Session::open`]. Without `around`, the agents and settings of the project and the user are
    /// not read, because the line of a list does not need them.
    pub(super) fn open_inside(
        source: Rc<dyn Source>,
        place: &str,
        options: &Options,
        around: bool,
    ) -> Result<Session, OpenError> {
        let place = place.trim_end_matches('/');
        let mut parts = if source.file(place).is_some() {
            open_file(source, place, options)?
        } else {
            let source = folder::as_written(source, &join(place, ""));
            open_folder(source, place, options)?
        };
        if around {
            parts.around(options, None);
        }
        let Parts {
            mut run,
            values,
            other_runs,
        } = parts;
        let (source, root) = (values.source.as_ref(), values.root.as_str());
        if run.id.is_empty() && run.form != Form::Agents {
            let name = split(root.trim_end_matches('/')).1;
            run.id = last_part(&source.label(), name).into();
        }
        // A folder without a database contains one run only, so a request for another id is an error.
        if let (None, Some(name)) = (
            &values.db,
            options.run_id.as_deref().filter(|id| *id != "latest"),
        ) {
            among(&BTreeSet::from([&*run.id]), name, || source.label())?;
        }
        let earlier = match &values.db {
            Some(db) => rows::version_counts(db.db.as_ref()).unwrap_or_default(),
            None => folder::version_counts(source, root),
        };
        let listing = run.program.source.as_deref().map(program::scan);
        let trace = trace::fold(&run, listing.as_ref(), options.now);
        run.issues.extend(gates::issues(&run));
        let listed = listed(source, root, &run);
        run.issues.extend(listed);
        let unrecorded = gates::unrecorded(&run, &trace, listing.as_ref());
        run.gates.extend(unrecorded);
        let opened = Opened {
            label: source.label(),
            place: place.to_owned(),
            now: options.now,
            called: options.called.clone(),
            root: root.to_owned(),
            index: NodeIndex::build(&run, &trace, listing.as_ref()),
            run,
            listing,
            trace,
            other_runs,
            earlier,
            found: OnceLock::new(),
        };
        Ok(Session { opened, values })
    }
}

fn open_file(source: Rc<dyn Source>, path: &str, options: &Options) -> Result<Parts, OpenError> {
    let head = source.read(path, 0, 4096)?;
    if head.starts_with(b"SQLite format 3\0") {
        return open_database(&source, path, options);
    }
    let len = source.file(path).map_or(0, |f| f.len);
    if state_md::form(&String::from_utf8_lossy(&head)) != FolderForm::Foreign {
        let most = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = source.read(path, 0, most.min(folder::STATE_FILE_MOST))?;
        let run = folder::lone_state_file(path, &String::from_utf8_lossy(&bytes));
        return Ok(Parts::new(run, source, join(split(path).0, ""), None));
    }
    if is_reactor(&head) {
        return Err(reactor(path.to_owned()));
    }
    // The SQLite decoder recognizes other types of files, and its error contains the type.
    let error = sqlite_header::not_sqlite(&head, len);
    Err(SourceError::of_database(path, &error).into())
}

/// Returns whether the beginning of a file is a reactor's list of receipts.
fn is_reactor(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.trim_start().starts_with(['[', '{']) && text.contains("\"openprose.receipt\"")
}

fn reactor(place: String) -> OpenError {
    OpenError::NoRun {
        place,
        found:
            "this file contains the receipts of a reactor (schema openprose.receipt), without the directory that they belong to"
                .to_owned(),
        next: "Give the reactor's whole directory, in which `receipts.json` is beside `compile/` or `world-models/`."
            .to_owned(),
    }
}

fn open_database(
    source: &Rc<dyn Source>,
    path: &str,
    options: &Options,
) -> Result<Parts, OpenError> {
    let db = source.database(path, &options.limits)?;
    let (dir, name) = split(path);
    let root = join(dir, "");
    // A run in a store of many runs has no file of its own, so messages call its store `postgres:ID`.
    let name = match (db.holds_many_runs(), name) {
        (true, "state.db") => postgres_name(split(dir).1),
        _ => name.to_owned(),
    };
    let folder = folder_name(source.as_ref(), &root);
    let refused = |error| SourceError::of_database(path, &error);
    let wanted = match &options.run_id {
        Some(run) => {
            let runs = rows::runs(db.as_ref(), &name).map_err(refused)?;
            wanted(&runs, run, || path.to_owned())?
        }
        None => None,
    };
    let decoded =
        rows::decode_in(db.as_ref(), &name, &folder, wanted.as_deref()).map_err(refused)?;
    let mut run = decoded.run;
    run.issues.extend(source.notes(path));
    if run.form != Form::Agents {
        folder::beside_database(source.as_ref(), &root, &mut run);
        let contradictions = folder::compare_with_rows(&run);
        run.issues.extend(contradictions);
    }
    let name = name.as_str().into();
    Ok(Parts {
        other_runs: decoded.other_runs,
        ..Parts::new(
            run,
            Rc::clone(source),
            root,
            Some(NamedDatabase { name, db }),
        )
    })
}

/// Returns the id of the run to open among the runs of a database; `None` if that run has no id.
fn wanted(
    runs: &[RunEntry],
    name: &str,
    label: impl FnOnce() -> String,
) -> Result<Option<String>, ChooseError> {
    if name == "latest" {
        let entries = runs.iter().map(|run| (run.id.as_deref(), run.started));
        let latest = rows::which_run(entries, "").and_then(|at| runs.get(at));
        return Ok(latest.and_then(|run| run.id.as_deref().map(str::to_owned)));
    }
    let ids = runs.iter().filter_map(|run| run.id.as_deref()).collect();
    among(&ids, name, label).map(Some)
}

fn open_folder(source: Rc<dyn Source>, dir: &str, options: &Options) -> Result<Parts, OpenError> {
    let root = join(dir, "");
    let below = source.below(&root).len();
    let place = || match dir {
        "" => source.label(),
        dir => dir.to_owned(),
    };
    if below == 0 {
        return Err(SourceError::NotFound(place()).into());
    }
    let mut refused = None;
    let database = format!("{root}state.db");
    if source.file(&database).is_some() {
        match open_database(&source, &database, options) {
            Ok(parts) => return Ok(parts),
            Err(error @ OpenError::Run(_)) => return Err(error),
            // If the folder has no other files of a run, the database was the only record of the run.
            Err(error) if !kept_in_files(source.as_ref(), &root) => return Err(error),
            Err(error) => refused = Some(error),
        }
    }
    if let Some(lost) = lost_database(source.as_ref(), &root) {
        return Err(lost);
    }
    let mut run = folder::decode(source.as_ref(), &root);
    let empty = run.bindings.is_empty()
        && run.state_file.is_none()
        && run.program.source.is_none()
        && run.agents.is_empty();
    let form = FolderForm::Bare;
    let recognised = run.form != Form::Folder { form } && run.form != Form::Unknown;
    if empty && !recognised {
        let receipts = source.read(&format!("{root}receipts.json"), 0, 4096);
        if receipts.is_ok_and(|head| is_reactor(&head)) {
            return Err(reactor(place()));
        }
        return Err(refused.unwrap_or_else(|| OpenError::NoRun {
            place: place(),
            found: format!(
                "{}, but no state.db, no state.md, no program and no bindings",
                counted(below as u64, "file", "files")
            ),
            next:
                "give the run's own folder (.prose/runs/{id}), its state.db, or the .prose folder"
                    .to_owned(),
        }));
    }
    if let Some(error) = refused {
        let issue = if has_stray_database(source.as_ref(), dir) {
            Issue::noted("stray-database", error.to_string()).hint(
            "The database is ignored, because the run is kept in the files beside it. Next: remove the database if no other program needs it.",
        )
        } else {
            Issue::error(error.rule("database-unreadable"), error.to_string()).hint(format!(
                "the folder's own files are shown instead; {}",
                error.next()
            ))
        };
        run.issues.push(issue.at_file("state.db"));
    }
    Ok(Parts::new(run, source, root, None))
}

/// Returns an error if a run's database is missing and other files show that there was a database.
fn lost_database(source: &dyn Source, root: &str) -> Option<OpenError> {
    let database = format!("{root}state.db");
    // If the run is kept in files, leftovers of a database do not belong to the run.
    if source.file(&database).is_some() || kept_in_files(source, root) {
        return None;
    }
    let beside = ["-journal", "-wal"].map(|end| format!("{database}{end}"));
    let mut beside = beside.iter().filter_map(|path| source.file(path));
    let attachment = || source.below(&format!("{root}attachments/")).first();
    let left = beside.find(|file| file.len > 0).or_else(attachment)?;
    let left = left.path.strip_prefix(root).unwrap_or(&left.path);
    Some(OpenError::Source(SourceError::Database {
        path: database,
        cause: format!("the database is missing, but {left} shows that there was a database"),
        next:
            "Copy state.db into the folder again. Until then, the records of the run are unknown."
                .to_owned(),
        failed: false,
    }))
}

/// Returns the issues of listing the source that concern the run's own folder or all folders.
///
/// The issue `names-hidden` reports that a browser may have withheld files. It is only included if the run refers to a
/// missing file whose name may be the reason.
pub(super) fn listed(source: &dyn Source, root: &str, run: &Run) -> Vec<Issue> {
    let is_lost = |path: &str| {
        let path = path.trim_start_matches("./");
        is_hidden_name(path) && source.file(&format!("{root}{path}")).is_none()
    };
    let attachments = run.bindings.iter().filter_map(|b| b.attachment.as_deref());
    let indexed = run.state_file.iter().flat_map(|file| &file.bindings);
    let mut named = attachments.chain(indexed.map(|row| &*row.path));
    let is_named = named.any(is_lost);
    let own = |mut issue: Issue| {
        if issue.rule == NAMES_HIDDEN && !is_named {
            return None;
        }
        issue.location.file = match issue.location.file.take() {
            Some(file) => Some(file.strip_prefix(root)?.to_owned()),
            None => None,
        };
        Some(issue)
    };
    let mut listed: Vec<Issue> = source.listed().into_iter().filter_map(own).collect();
    listed.extend(leftovers(source, root));
    listed
}

/// Reports files that a program wrote under a temporary name and did not rename yet.
fn leftovers(source: &dyn Source, root: &str) -> Vec<Issue> {
    let begins = [".tmp-", "attachments/.new-"];
    let found = begins
        .iter()
        .flat_map(|begin| source.below(&format!("{root}{begin}")));
    found
        .map(|file| {
            let path = file.path.strip_prefix(root).unwrap_or(&file.path);
            Issue::noted(
                "writer-leftover",
                format!(
                    "{path} ({} bytes) is an unfinished file, not a part of the run: a program that records was killed, or is writing the file now",
                    file.len
                ),
            )
            .at_file(path)
            .hint("The next command that records removes the file.")
        })
        .collect()
}
