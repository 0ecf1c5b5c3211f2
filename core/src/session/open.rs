use std::cell::RefCell;
use std::rc::Rc;

use super::stray::{has_stray_database, kept_in_files};
use super::summary::last_part;
use super::survey::{join, split};
use super::{Around, NodeIndex, Options, Session, Store};
use crate::decode::sqlite_header;
use crate::decode::{dotenv, folder, rows, state_md};
use crate::issue::Issue;
use crate::model::{Agent, AgentScope, FolderForm, Form, Run, Text};
use crate::program;
use crate::source::{NAMES_HIDDEN, Source, SourceError, is_hidden_name};
use crate::trace;

/// Why a place could not be opened: what was found, why that is no run, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The source could not give a file or a database.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A database that is not what it seems.
    #[error("{path}: {cause}")]
    Database {
        /// The file.
        path: String,
        /// What was found, and why it cannot be read.
        cause: String,
        /// What to do next.
        next: String,
    },
    /// There is no run in this place.
    #[error("{place}: {found}")]
    NoRun {
        /// The place.
        place: String,
        /// What was found instead.
        found: String,
        /// What to do next.
        next: String,
    },
}

impl OpenError {
    /// What to do next; may be empty.
    pub fn next(&self) -> &str {
        match self {
            OpenError::Source(SourceError::Database { next, .. }) => next,
            OpenError::Source(SourceError::Changed(_)) => "open it again",
            OpenError::Source(SourceError::Unreadable { .. }) => {
                "check that you may read it; where a program writes it, wait until that is done; then repeat the command"
            }
            OpenError::Source(SourceError::NotFound(_)) => "",
            OpenError::Database { next, .. } | OpenError::NoRun { next, .. } => next,
        }
    }

    /// Whether reading failed (no permission, a lock, an I/O error), so that another try may succeed.
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

    /// Whether nothing was there, rather than something unreadable.
    pub fn is_not_found(&self) -> bool {
        matches!(self, OpenError::Source(SourceError::NotFound(_)))
    }
}

impl Session {
    /// Opens a place of a source: a run folder's path (empty for the source itself), a database, or a lone state
    /// file. Content decides what it is.
    ///
    /// # Errors
    /// Only when nothing is usable; everything else becomes an issue of the run.
    pub fn open(
        source: Rc<dyn Source>,
        place: &str,
        options: &Options,
    ) -> Result<Session, OpenError> {
        Session::open_inside(source, place, options, true)
    }

    /// The same; without what lies `around` the run (agents of wider scopes, settings), a line in a list needs none.
    pub(super) fn open_inside(
        source: Rc<dyn Source>,
        place: &str,
        options: &Options,
        around: bool,
    ) -> Result<Session, OpenError> {
        let place = place.trim_end_matches('/');
        let (mut opened, source) = if source.file(place).is_some() {
            (open_file(&source, place, options)?, source)
        } else {
            let source = folder::as_written(source, &join(place, ""));
            (open_folder(&source, place, options)?, source)
        };
        if around {
            opened.around(&source, options);
        }
        let Opened {
            mut run,
            root,
            db,
            agent_stores,
            folders,
            other_runs,
        } = opened;
        if run.id.is_empty() && run.form != Form::Agents {
            let name = split(root.trim_end_matches('/')).1;
            run.id = last_part(&source.label(), name).into();
        }
        let counts = db.as_ref().map(|db| rows::version_counts(db.db.as_ref()));
        let earlier = match counts {
            Some(counts) => counts.unwrap_or_default(),
            None => folder::version_counts(source.as_ref(), &root),
        };
        let listing = run.program.source.as_deref().map(program::scan);
        let trace = trace::fold(&run, listing.as_ref(), options.now);
        run.issues.extend(super::gates::issues(&run));
        let listed = listed(source.as_ref(), &root, &run);
        run.issues.extend(listed);
        let told = super::gates::told(&run, &trace, listing.as_ref());
        let recorded_gates = run.gates.len();
        run.gates.extend(told);
        let index = NodeIndex::build(&run, &trace, listing.as_ref());
        Ok(Session {
            source,
            place: place.to_owned(),
            now: options.now,
            called: options.called.clone(),
            root,
            db,
            agent_stores,
            folders,
            run,
            recorded_gates,
            listing,
            trace,
            index,
            other_runs,
            earlier,
            lost: RefCell::default(),
        })
    }
}

struct Opened {
    run: Run,
    root: String,
    db: Option<Store>,
    agent_stores: Vec<Store>,
    folders: Vec<(Text, Rc<dyn Source>)>,
    other_runs: Vec<String>,
}

fn open_file(source: &Rc<dyn Source>, path: &str, options: &Options) -> Result<Opened, OpenError> {
    let head = source.read(path, 0, 4096)?;
    let (dir, _) = split(path);
    let root = if dir.is_empty() {
        String::new()
    } else {
        format!("{dir}/")
    };
    if head.starts_with(b"SQLite format 3\0") {
        return open_database(source, path, root, options);
    }
    let len = source.file(path).map_or(0, |f| f.len);
    let text = String::from_utf8_lossy(&head);
    if state_md::form(&text) != FolderForm::Foreign {
        let bytes = source.read(
            path,
            0,
            usize::try_from(len)
                .unwrap_or(usize::MAX)
                .min(folder::STATE_FILE_MOST),
        )?;
        return Ok(Opened::of(
            folder::lone_state_file(path, &String::from_utf8_lossy(&bytes)),
            root,
        ));
    }
    // Not a database and not a state file: the SQLite decoder knows how to say what it is instead.
    let error = sqlite_header::not_sqlite(&head, len);
    Err(OpenError::Database {
        path: path.to_owned(),
        cause: error.to_string(),
        next: error.next_step().to_owned(),
    })
}

fn open_database(
    source: &Rc<dyn Source>,
    path: &str,
    root: String,
    options: &Options,
) -> Result<Opened, OpenError> {
    let db = source.database(path, &options.limits)?;
    let name = split(path).1;
    let decoded = rows::decode(db.as_ref(), name, options.run_id.as_deref())
        .map_err(|error| SourceError::of_database(path, &error))?;
    let mut run = decoded.run;
    run.issues.extend(source.notes(path));
    if run.form != Form::Agents {
        folder::beside_database(source.as_ref(), &root, &mut run);
        let contradictions = folder::compare_with_rows(&run);
        run.issues.extend(contradictions);
    }
    let db = Some(Store {
        name: name.into(),
        db,
    });
    Ok(Opened {
        run,
        root,
        db,
        agent_stores: Vec::new(),
        folders: Vec::new(),
        other_runs: decoded.other_runs,
    })
}

fn open_folder(source: &Rc<dyn Source>, dir: &str, options: &Options) -> Result<Opened, OpenError> {
    let root = if dir.is_empty() {
        String::new()
    } else {
        format!("{dir}/")
    };
    let below = source.below(&root).len();
    if below == 0 {
        return Err(SourceError::NotFound(if dir.is_empty() {
            source.label()
        } else {
            dir.to_owned()
        })
        .into());
    }
    let mut refused = None;
    let database = join(dir, "state.db");
    if source.file(&database).is_some() {
        match open_database(source, &database, root.clone(), options) {
            Ok(opened) => return Ok(opened),
            // Without files of a run beside it, the database is all there was of the run.
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
    let recognised = !matches!(
        run.form,
        Form::Folder {
            form: FolderForm::Bare
        } | Form::Unknown
    );
    if empty && !recognised {
        return Err(refused.unwrap_or_else(|| OpenError::NoRun {
            place: if dir.is_empty() {
                source.label()
            } else {
                dir.to_owned()
            },
            found: format!(
                "{below} files, but no state.db, no state.md, no program and no bindings"
            ),
            next:
                "give the run's own folder (.prose/runs/{id}), its state.db, or the .prose folder"
                    .to_owned(),
        }));
    }
    if let Some(error) = refused {
        let issue = match has_stray_database(source.as_ref(), dir) {
            true => Issue::info("stray-database", error.to_string()).hint(
                "It is ignored, as the run is kept in the files beside it. Next: remove it if no other program needs it.",
            ),
            false => {
                let rule = match error.is_failed() {
                    true => "reading-failed",
                    false => "database-unreadable",
                };
                Issue::error(rule, error.to_string()).hint(format!(
                    "the folder's own files are shown instead; {}",
                    error.next()
                ))
            }
        };
        run.issues.push(issue.at_file("state.db"));
    }
    Ok(Opened::of(run, root))
}

/// Why a run's database cannot be read that is gone, where something that only it explains is left.
fn lost_database(source: &dyn Source, root: &str) -> Option<OpenError> {
    let database = format!("{root}state.db");
    // A run that is kept in files has its values in `bindings/`: what a database left there is not the run's.
    if source.file(&database).is_some() || kept_in_files(source, root) {
        return None;
    }
    let beside = ["-journal", "-wal"].map(|end| format!("{database}{end}"));
    let mut beside = beside.iter().filter_map(|path| source.file(path));
    let attachment = || source.below(&format!("{root}attachments/")).first();
    let left = beside.find(|file| file.len > 0).or_else(attachment)?;
    let left = left.path.strip_prefix(root).unwrap_or(&left.path);
    Some(OpenError::Database {
        path: database,
        cause: format!("it is missing, but {left} shows that there was one"),
        next: "Copy state.db into the folder again; until then what was recorded is unknown."
            .to_owned(),
    })
}

impl Opened {
    fn of(run: Run, root: String) -> Opened {
        Opened {
            run,
            root,
            db: None,
            agent_stores: Vec::new(),
            folders: Vec::new(),
            other_runs: Vec::new(),
        }
    }

    /// Adds agents of wider scopes, and the settings beside the runs: of the `.prose` folder in the same source,
    /// and of those that the shell names.
    fn around(&mut self, source: &Rc<dyn Source>, options: &Options) {
        if let Some(prefix) = prose_folder(&self.root) {
            let own = Around {
                scope: AgentScope::Project,
                source: Rc::clone(source),
                prefix,
            };
            self.add(&own, options);
        }
        for around in &options.around {
            self.add(around, options);
        }
    }

    fn add(&mut self, around: &Around, options: &Options) {
        let source = around.source.as_ref();
        let before = self.run.agents.len();
        let path = format!("{}agents.db", around.prefix);
        if self.run.form != Form::Agents && source.file(&path).is_some() {
            match agents_of_database(source, &path, &around.scope, options) {
                Ok((agents, issues, store)) => {
                    self.run.agents.extend(agents);
                    self.run.issues.extend(issues);
                    self.agent_stores.push(store);
                }
                Err(error) => {
                    let rule = match error.is_failed() {
                        true => "reading-failed",
                        false => "agents-unreadable",
                    };
                    self.run.issues.push(
                        Issue::warning(rule, error.to_string())
                            .at_file(path.clone())
                            .hint("its agents are not shown"),
                    );
                }
            }
        }
        self.run.issues.extend(agents_not_listed(around));
        let of_database = self.run.agents.len().saturating_sub(before);
        let (agents, issues) = folder::agents(
            source,
            &format!("{}agents/", around.prefix),
            around.scope.clone(),
        );
        for mut agent in agents {
            // Two sources may have folders of the same name: the store's name tells them apart.
            agent.store = format!("{}: {}", around.scope.word(), agent.store).into();
            self.folders
                .push((agent.store.clone(), Rc::clone(&around.source)));
            self.run.agents.push(agent);
        }
        if self.db.is_none() {
            files_first(&mut self.run.agents, before, of_database);
        }
        self.run.issues.extend(issues);
        let env = format!("{}.env", around.prefix);
        if self.run.env.is_empty()
            && around.scope == AgentScope::Project
            && source.file(&env).is_some()
            && let Ok(bytes) = source.read(&env, 0, 64 << 10)
        {
            let (pairs, issues) = dotenv::parse_masked(&String::from_utf8_lossy(&bytes));
            self.run.env = pairs;
            self.run.issues.extend(issues);
        }
    }
}

/// What could not be listed where agents lie.
pub(super) fn agents_not_listed(around: &Around) -> impl Iterator<Item = Issue> {
    let above = around.prefix.trim_end_matches('/').to_owned();
    let agents = format!("{}agents", around.prefix);
    around
        .source
        .listed()
        .into_iter()
        .filter(move |issue| {
            let place = issue.location.file.as_deref().unwrap_or_default();
            let listing = matches!(issue.rule.as_str(), "unreadable-folder" | "file-unreadable");
            listing && (place == above || place.starts_with(&agents))
        })
        .map(|issue| issue.at_file("../agents"))
}

/// Orders the agents of a scope, which begin at `before`, so that those of files precede the `of_database` ones of
/// `agents.db`: of two agents of one name and scope, the first is used (see [`Session::agent_home`]).
pub(super) fn files_first(agents: &mut [Agent], before: usize, of_database: usize) {
    if let Some(added) = agents.get_mut(before..) {
        added.rotate_left(of_database.min(added.len()));
    }
}

fn agents_of_database(
    source: &dyn Source,
    path: &str,
    scope: &AgentScope,
    options: &Options,
) -> Result<(Vec<Agent>, Vec<Issue>, Store), OpenError> {
    let db = source.database(path, &options.limits)?;
    let name: std::sync::Arc<str> = format!("{}: {path}", scope.word()).into();
    let decoded = rows::decode(db.as_ref(), &name, None)
        .map_err(|error| SourceError::of_database(path, &error))?;
    // Its other issues are for whoever opens the store itself.
    let issues = decoded.run.issues.into_iter();
    let issues = issues.map(|issue| issue.at_file(path));
    let unread = issues.filter(|issue| super::unread::unread(issue).is_some());
    let agents = decoded.run.agents.into_iter().map(|mut agent| {
        // The store decides how far an agent reaches (errata A1), whatever its row says.
        agent.scope = scope.clone();
        agent.store = std::sync::Arc::clone(&name);
        agent
    });
    Ok((
        agents.collect(),
        unread.collect(),
        Store {
            name: std::sync::Arc::clone(&name),
            db,
        },
    ))
}

/// What is to be said of the source's listing in a run: what concerns its own folder, or everything.
///
/// That files may have been kept back is said only where the run names one that is not there and may have been.
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

/// What a writer has under a name of its own before it is renamed into its place.
fn leftovers(source: &dyn Source, root: &str) -> Vec<Issue> {
    let begins = [".tmp-", "attachments/.new-"];
    let found = begins
        .iter()
        .flat_map(|begin| source.below(&format!("{root}{begin}")));
    found
        .map(|file| {
            let path = file.path.strip_prefix(root).unwrap_or(&file.path);
            Issue::info(
                "writer-leftover",
                format!(
                    "{path} ({} bytes) is no part of the run: a writer was killed, or is at work",
                    file.len
                ),
            )
            .at_file(path)
            .hint("The next command that records removes it.")
        })
        .collect()
}

/// The `.prose` folder that a run folder lies in, when the source holds it: what is before `runs/`.
pub(super) fn prose_folder(root: &str) -> Option<String> {
    let at = if root.starts_with("runs/") {
        0
    } else {
        root.find("/runs/")? + 1
    };
    root.get(..at).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::prose_folder;

    #[test]
    fn finds_the_prose_folder_above_a_run() {
        for (root, prose) in [
            ("runs/a/", Some("")),
            (".prose/runs/a/", Some(".prose/")),
            ("x/.prose/runs/a/imports/r--b/", Some("x/.prose/")),
            ("a/", None),
            ("", None),
        ] {
            assert_eq!(prose_folder(root).as_deref(), prose, "{root}");
        }
    }
}
