//! Looks up one value by its name without reading the whole run, for `prosescope get`.
//!
//! ```text
//! rows of that name, by the index ──► all at the root ────────────► scope::winner ──► the value
//!                                 └─► some in frames, from a frame: executions ────► trace::fold ──┘
//! ```
//!
//! As everywhere, [`crate::trace::scope`] decides which binding a name means. Here, only the bindings of that name are
//! read, and executions only if one of those bindings is in a frame. If these rows are not enough (a folder, an unknown
//! name, an import's `alias.name`, an unusual table, damage), the whole run is opened.

use std::rc::Rc;

use super::around::Parts;
use super::pages::in_import;
use super::summary::folder_name;
use super::survey::{database_of, join, split};
use super::unread::{unread, unread_of};
use super::values::{NamedDatabase, ValuePlace};
use super::{OpenError, Options, Session, open};
use crate::model::issue::{Issue, Severity};
use crate::model::source::{Source, SourceError};
use crate::model::{Binding, Run, Text, ValueAt};
use crate::pages::view::{Unread, ValueView};
use crate::program;
use crate::read::decode::{folder, rows};
use crate::trace::scope;
use crate::trace::{self, Trace};

/// The result of looking up a name in a run.
pub enum Lookup {
    /// The name means a value.
    Found(Box<FoundValue>),
    /// The name means nothing, or the frame does not exist. The session of the whole run helps to list alternatives.
    NotFound(Box<Session>),
}

/// A value that was found by its name, and the part of the run that was read to find the value.
pub struct FoundValue {
    parts: Parts,
    binding: Binding,
}

impl Lookup {
    /// Resolves a name in the run at a place of a source, from a frame or (with `None`) from the root.
    ///
    /// # Errors
    /// The errors of [`Session::open`]. An unknown name is not an error.
    pub fn open(
        source: &Rc<dyn Source>,
        place: &str,
        options: &Options,
        name: &str,
        from: Option<i64>,
    ) -> Result<Lookup, OpenError> {
        if let Some(found) = narrow(source, place, options, name, from) {
            return Ok(Lookup::Found(Box::new(found)));
        }
        let session = Session::open_inside(Rc::clone(source), place, options, false)?;
        if from.is_some_and(|id| !session.has_frame(id)) {
            return Ok(Lookup::NotFound(Box::new(session)));
        }
        let (session, winner) = match session.winner(name, from) {
            None => match in_import(&session, name, options) {
                Some((nested, name)) => {
                    let session = nested.unwrap_or(session);
                    let winner = session.winner(&name, None);
                    (session, winner)
                }
                None => (session, None),
            },
            winner => (session, winner),
        };
        let binding = winner.and_then(|at| session.run.bindings.get(at as usize));
        Ok(match binding.cloned() {
            Some(binding) => Lookup::Found(Box::new(FoundValue {
                parts: Parts::of(session).0,
                binding,
            })),
            None => Lookup::NotFound(Box::new(session)),
        })
    }

    /// Returns the value, if the name means a value.
    pub fn found(&self) -> Option<&FoundValue> {
        match self {
            Lookup::Found(found) => Some(found),
            Lookup::NotFound(_) => None,
        }
    }
}

impl FoundValue {
    /// Returns the id of the run; empty if the lookup did not read the id.
    pub fn run(&self) -> &Text {
        &self.parts.run.id
    }

    /// Returns the binding's own name, if it is another than the name that was looked up: `draft_round2` for `draft`. A
    /// name through an import, such as `research.findings`, is the binding's own.
    pub fn other_name(&self, name: &str) -> Option<&Text> {
        let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
        Some(&self.binding.name).filter(|own| last(own) != last(name))
    }

    /// Returns the reason if the value's file could not be read. The bytes of [`FoundValue::value`] are then not the
    /// value.
    pub fn lost(&self) -> Option<Unread> {
        let ValueAt::File { path, .. } = &self.binding.value else {
            return None;
        };
        let path = path.strip_prefix(&*self.parts.values.root).unwrap_or(path);
        let issues = self.parts.run.issues.iter();
        issues
            .filter(|issue| issue.location.file.as_deref() == Some(path))
            .find_map(unread)
    }

    /// Returns the parts of the run that the lookup needed and that could not be read.
    pub fn unread(&self) -> Vec<Unread> {
        unread_of(&self.parts.run, &self.parts.values)
    }

    /// Returns the beginning of the value, like [`Session::value`].
    ///
    /// # Errors
    /// An error if the store cannot read the value.
    pub fn value(&self, most: usize) -> Result<ValueView, SourceError> {
        self.parts.values.view(&self.place(), most)
    }

    /// Passes the whole value to `each` in pieces, like [`Session::value_pieces`].
    ///
    /// # Errors
    /// The errors of [`FoundValue::value`].
    pub fn value_pieces(&self, each: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), SourceError> {
        self.parts.values.pieces(&self.place(), each)
    }

    /// Returns whether an issue of severity error was found in the part of the run that was read for this value. Call
    /// this after reading the value, because another program may have written to the database meanwhile.
    pub fn met_errors(&self) -> bool {
        let values = &self.parts.values;
        let database = values.db.as_ref();
        let notes = database.map(|db| values.source.notes(&format!("{}{}", values.root, db.name)));
        let notes = notes.iter().flatten();
        let is_error = |issue: &Issue| issue.severity == Severity::Error;
        self.parts.run.issues.iter().chain(notes).any(is_error)
    }

    fn place(&self) -> ValuePlace {
        self.parts.values.of_binding(&self.binding)
    }
}

/// Looks the value up without opening the run. `None` if that fails; opening the run then gives the reason.
fn narrow(
    source: &Rc<dyn Source>,
    place: &str,
    options: &Options,
    name: &str,
    from: Option<i64>,
) -> Option<FoundValue> {
    if options.run_id.is_some() {
        return None;
    }
    let path = database_of(source.as_ref(), place)?;
    let db = source.database(&path, &options.limits).ok()?;
    // The lookup and the later reading of the value must see the same state of the database.
    db.begin().ok()?;
    let (dir, file) = split(&path);
    let root = join(dir, "");
    let rows::NamedBindings { bindings, issues } =
        rows::bindings_named(db.as_ref(), file, name).ok()??;
    let at_root = bindings
        .iter()
        .all(|binding| binding.execution_id.is_none());
    let mut run = Run::default();
    let mut trace = Trace::default();
    let is_there = |id| {
        bindings.iter().any(|b| b.execution_id == Some(id))
            || rows::has_execution(db.as_ref(), file, id)
    };
    if from.is_some_and(|id| !is_there(id)) {
        return None;
    }
    let from = from.filter(|_| !at_root);
    if from.is_some() {
        // The executions determine how frames are nested, so they become a trace as for the whole run.
        run = rows::head(
            db.as_ref(),
            file,
            &folder_name(source.as_ref(), &root),
            |_| u64::MAX,
        )
        .ok()?
        .run;
        if run.executions.is_empty() {
            return None;
        }
        let listing = program_of(source.as_ref(), &root, &mut run);
        trace = trace::fold(&run, listing.as_ref(), options.now);
    }
    run.bindings = bindings;
    run.issues.extend(issues);
    let listed = open::listed(source.as_ref(), &root, &run);
    run.issues.extend(listed);
    let winner = scope::winner(&run, &trace, name, from)?;
    let binding = run.bindings.get(winner)?.clone();
    let name = file.into();
    let parts = Parts::new(
        run,
        Rc::clone(source),
        root,
        Some(NamedDatabase { name, db }),
    );
    Some(FoundValue { parts, binding })
}

/// Returns the parsed program of a partly read run: from the run's row, or else from the program's file.
pub(super) fn program_of(
    source: &dyn Source,
    root: &str,
    run: &mut Run,
) -> Option<program::Listing> {
    if run.program.source.is_none() {
        let named = run.program.path.clone();
        run.program = folder::program_of(source, root, named.as_deref()).0;
    }
    run.program.source.as_deref().map(program::scan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::STATE_SQL;
    use crate::pages::session::ValueOf;
    use crate::read::sqlite::MemorySource;
    use rusqlite::Connection;

    fn source(sql: &[&str]) -> Rc<dyn Source> {
        let mut conn = Connection::open_in_memory().unwrap();
        for sql in sql {
            conn.execute_batch(sql).unwrap();
        }
        let bytes = conn.serialize("main").unwrap().to_vec();
        let files = [
            ("runs/r/state.db".to_owned(), bytes),
            (
                "runs/r/attachments/big.md".to_owned(),
                b"the attachment".to_vec(),
            ),
        ];
        Rc::new(MemorySource::new("test", files))
    }

    /// Looks a name up and checks that the whole run gives the same value. Returns the value, and whether `narrow`
    /// found it.
    fn check(source: &Rc<dyn Source>, name: &str, from: Option<i64>) -> (Option<String>, bool) {
        let options = Options::default();
        let session = Session::open(Rc::clone(source), "runs/r", &options).unwrap();
        let whole = session.winner(name, from).map(ValueOf::Binding);
        let whole = whole.filter(|_| from.is_none_or(|id| session.has_frame(id)));
        let whole = whole.map(|of| session.value(&of, 1000).unwrap());
        for place in ["runs/r", "runs/r/state.db"] {
            let lookup = Lookup::open(source, place, &options, name, from).unwrap();
            let found = lookup.found().map(|found| found.value(1000).unwrap());
            assert_eq!(found, whole, "{name} from {from:?}");
        }
        let short = narrow(source, "runs/r", &options, name, from).is_some();
        (whole.map(|value| value.text), short)
    }

    /// A run with frames in a round of a loop and in a branch, a statement with two rows, and names bound in several
    /// frames.
    const ROWS: &str = "
        INSERT INTO run(id, program_source) VALUES ('r', 'loop until **x**:\n  do f()\nparallel:\n  a = do f()\n');
        INSERT INTO execution(id, parent_id, statement_index, statement_text, status, metadata) VALUES
          (1, NULL, 1, 'loop until **x**:', 'started', '{\"loop_id\": \"l1\"}'),
          (2, NULL, 2, 'do f()', 'executing', NULL),
          (3, 2, 5, 'session \"in\"', 'completed', NULL),
          (4, NULL, 2, 'do f()', 'completed', NULL),
          (5, NULL, 1, 'loop until **x**:', 'exited', '{\"loop_id\": \"l1\"}'),
          (6, NULL, 3, 'parallel:', 'started', '{\"parallel_id\": \"p\"}'),
          (7, NULL, 4, 'a = do f()', 'executing', '{\"parallel_id\": \"p\", \"branch\": \"a\"}'),
          (8, 7, 5, 'session \"in\"', 'executing', NULL);
        INSERT INTO bindings(name, execution_id, kind, value) VALUES
          ('x', NULL, 'let', 'root'), ('x', 1, 'let', 'loop'), ('x', 4, 'let', 'frame'), ('x', 6, 'let', 'parallel'),
          ('only', NULL, 'let', 'root alone'), ('deep', 7, 'let', 'branch'), ('none', 99, 'let', 'nowhere'),
          ('null', NULL, 'let', NULL), ('it''s', NULL, 'let', 'quoted');
        INSERT INTO bindings(name, kind, value, attachment_path)
          VALUES ('big', 'let', 'short', 'attachments/big.md'), ('lost', 'let', 'short', 'attachments/lost.md');";

    #[test]
    fn a_name_means_what_it_means_in_the_whole_run() {
        let source = source(&[STATE_SQL, ROWS]);
        // Leaves out execution 99: only a binding records it, so the lookup opens the whole run.
        let ids = (1..=8).chain([-1]).map(Some);
        for from in [None].into_iter().chain(ids) {
            for name in [
                "x", "only", "deep", "none", "null", "it's", "big", "lost", "X", "no", "",
            ] {
                let (value, short) = check(&source, name, from);
                assert_eq!(value.is_some(), short, "{name} from {from:?}");
            }
        }
        // A lookup from an execution that does not exist finds no value, not even a binding of the root.
        assert_eq!(check(&source, "only", Some(-1)), (None, false));
        for (from, value) in [(3, "frame"), (8, "parallel"), (5, "loop"), (99, "root")] {
            assert_eq!(check(&source, "x", Some(from)).0.as_deref(), Some(value));
        }
        assert_eq!(
            check(&source, "big", None).0.as_deref(),
            Some("the attachment")
        );
    }

    #[test]
    fn tables_of_other_shapes_give_the_same_value() {
        let table = |columns: &str, end: &str| {
            format!("CREATE TABLE bindings({columns}, execution_id INTEGER, kind TEXT, value TEXT){end};
                CREATE TABLE run(id TEXT); INSERT INTO run VALUES ('r');")
        };
        let rows = "INSERT INTO bindings(name, value) VALUES ('a', 'first'), ('7', 'seven'), (x'61', 'a blob'), ('A', 'other');";
        for (columns, end, short) in [
            ("name TEXT", "", true),
            ("name VARCHAR(20) COLLATE NOCASE", "", true),
            ("name", "", true),
            ("name POINT", "", true),
            ("name TEXT, run_id TEXT", "", false),
            ("key INTEGER PRIMARY KEY, name TEXT", " WITHOUT ROWID", true),
        ] {
            let rows = match end {
                "" => rows.to_owned(),
                _ => rows
                    .replace("(name,", "(key, name,")
                    .replace("('a'", "(1, 'a'")
                    .replace("('7'", "(2, '7'")
                    .replace("(x'", "(3, x'")
                    .replace("('A'", "(4, 'A'"),
            };
            let source = source(&[&table(columns, end), &rows]);
            assert_eq!(
                check(&source, "a", None),
                (Some("a blob".to_owned()), short),
                "{columns}"
            );
            assert_eq!(
                check(&source, "7", None),
                (Some("seven".to_owned()), short),
                "{columns}"
            );
        }
        let utf16 = source(&["PRAGMA encoding = 'UTF-16'", STATE_SQL, ROWS]);
        assert_eq!(
            check(&utf16, "only", None),
            (Some("root alone".to_owned()), true)
        );
    }

    #[test]
    fn a_run_without_rows_of_execution_is_asked_as_a_whole() {
        let source = source(&[
            STATE_SQL,
            "INSERT INTO bindings(name, execution_id, value) VALUES ('x', 3, 'in'), ('x', NULL, 'root')",
        ]);
        assert_eq!(check(&source, "x", None), (Some("root".to_owned()), true));
        assert_eq!(check(&source, "x", Some(3)), (Some("in".to_owned()), false));
    }

    #[test]
    fn errors_elsewhere_in_the_run_are_not_met() {
        let source = source(&[
            STATE_SQL,
            ROWS,
            "DROP TABLE gates; CREATE VIEW gates AS SELECT 1 AS id",
        ]);
        let options = Options::default();
        let session = Session::open(Rc::clone(&source), "runs/r", &options).unwrap();
        assert!(session.issue_counts().error > 0);
        let lookup = Lookup::open(&source, "runs/r", &options, "x", None).unwrap();
        assert!(!lookup.found().unwrap().met_errors());
    }
}
