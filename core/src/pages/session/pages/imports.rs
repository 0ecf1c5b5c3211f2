//! Builds the page of imports, and resolves dotted names such as `research.findings` in an import's own run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::model::{FolderForm, Form};
use crate::pages::session::{Opened, Options, Session};
use crate::pages::view::{ImportView, ImportsView};
use crate::program::{Statement, StatementKind};
use crate::trace::NodeStatus;

/// The greatest depth of nested imports. Deeper imports are listed, but not opened.
const DEEPEST: usize = 50;

/// Builds the page: the imports, with the status of their own runs.
pub fn imports(session: &Session) -> ImportsView {
    let above = above(&session.place);
    let deep = above.len() >= DEEPEST;
    let names = session.run.bindings.iter().map(|b| &*b.name);
    let mut names: Vec<(&str, u32)> = names.zip(0..).collect();
    names.sort_unstable();
    // Several imports may share a handle or a nested run. Bindings are listed, and runs opened, only for the first of
    // these imports.
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    let mut statuses: BTreeMap<String, Option<String>> = BTreeMap::new();
    let imports = session.run.imports.iter().map(|import| {
        let nested_at = import.nested.as_deref();
        let place = nested_at.map(|nested| format!("{}{nested}", session.root));
        let prefix = format!("{}.", import.alias);
        let note = if deep {
            Some(format!(
                "not opened: imports that are nested deeper than {DEEPEST} are not followed"
            ))
        } else {
            repeats(session, import.source_url.as_deref(), &above)
        };
        let status = |place: &str| {
            let session = nested(session, place)?;
            (!is_program_alone(&session)).then(|| session.status().to_owned())
        };
        let nested_status = place.as_deref().filter(|_| !deep).and_then(|place| {
            let known = statuses.entry(place.to_owned());
            known.or_insert_with(|| status(place)).clone()
        });
        let bindings = if listed.insert(&import.alias) {
            beginning(&names, &prefix)
        } else {
            Vec::new()
        };
        let bindings = bindings.into_iter();
        ImportView {
            alias: import.alias.to_string(),
            source_url: import.source_url.as_deref().map(str::to_owned),
            fetched: import.fetched.clone(),
            inputs_schema: import.inputs_schema.as_deref().map(str::to_owned),
            outputs_schema: import.outputs_schema.as_deref().map(str::to_owned),
            place: place.filter(|_| !deep),
            nested_status,
            bindings: bindings.filter_map(|b| session.binding_ref(b)).collect(),
            note,
        }
    });
    ImportsView {
        imports: imports.collect(),
        above,
    }
}

/// Returns the first 200 bindings whose names begin with a prefix. `names` is sorted.
fn beginning(names: &[(&str, u32)], prefix: &str) -> Vec<u32> {
    let from = names.partition_point(|(name, _)| *name < prefix);
    let rest = names.get(from..).unwrap_or_default();
    let length = rest.partition_point(|(name, _)| name.starts_with(prefix));
    let mut found: Vec<u32> = rest.iter().take(length).map(|(_, at)| *at).collect();
    found.sort_unstable();
    found.truncate(200);
    found
}

/// Resolves a dotted name that no binding of this run has (errata B12). Returns the run that has the value (`None` for
/// this run), and the name of a binding at that run's root.
///
/// | name | means |
/// |---|---|
/// | `research.findings` | `findings` of the import `research`'s own run, whatever its kind and form |
/// | `report.findings` | `research.findings`, if the program contains `report = research(…)` |
/// | `research.findings`, asked in the run `imports/research--…` itself | `findings` |
pub fn in_import(
    session: &Session,
    name: &str,
    options: &Options,
) -> Option<(Option<Session>, String)> {
    let (head, inner) = name.split_once('.')?;
    for handle in [Some(head), called(session, head)].into_iter().flatten() {
        let dotted = format!("{handle}.{inner}");
        if session.winner(&dotted, None).is_some() {
            return Some((None, dotted));
        }
        let imports = session.run.imports.iter().filter(|i| *i.alias == *handle);
        for place in imports.filter_map(|import| import.nested.as_deref()) {
            let place = format!("{}{place}", session.root);
            if let Some(found) = in_nested(session, &place, inner, options) {
                return Some(found);
            }
        }
    }
    let (_, own) = session.place.rsplit_once("imports/")?;
    let is_own = own.split_once("--")?.0 == head && session.winner(inner, None).is_some();
    is_own.then(|| (None, inner.to_owned()))
}

fn in_nested(
    session: &Session,
    place: &str,
    name: &str,
    options: &Options,
) -> Option<(Option<Session>, String)> {
    if above(&session.place).len() >= DEEPEST {
        return None;
    }
    let nested =
        Session::open_inside(Rc::clone(&session.values.source), place, options, false).ok()?;
    if nested.winner(name, None).is_some() {
        return Some((Some(nested), name.to_owned()));
    }
    let (deeper, name) = in_import(&nested, name, options)?;
    Some((Some(deeper.unwrap_or(nested)), name))
}

/// Returns the import whose call gives a name its value: `research` for `report = research(…)`.
fn called<'o>(opened: &'o Opened, name: &str) -> Option<&'o str> {
    let listing = opened.listing.as_ref()?;
    let recorded: BTreeSet<&str> = opened.run.imports.iter().map(|i| &*i.alias).collect();
    let is_import = |target: &str| {
        recorded.contains(target) || !listing.named(StatementKind::Use, target).is_empty()
    };
    let of_name = |s: &&Statement| s.name.as_deref() == Some(name);
    let targets = listing.statements.iter().filter(of_name);
    let mut targets = targets.filter_map(|s| s.target.as_deref());
    targets.find(|target| is_import(target))
}

/// The calls of imports in the program, by the name of each import.
pub(super) struct ImportCalls<'o> {
    /// Imports with a completed call, as far as is known. Other imports leave no result: a skill that is only made
    /// available, or a call that failed or was not reached. `None` without a program.
    ended: Option<BTreeSet<&'o str>>,
    /// Imports whose call gave its value to a name of this run: `report = research(…)`.
    valued: BTreeSet<&'o str>,
}

impl<'o> ImportCalls<'o> {
    pub(super) fn of(opened: &'o Opened) -> ImportCalls<'o> {
        let ran = |line: u32| {
            let mut nodes = opened.index.at_line(line);
            nodes.any(|at| {
                let node = opened.node(at);
                node.is_some_and(|n| !n.derived && n.status == NodeStatus::Completed)
            })
        };
        let listing = opened.listing.as_ref();
        let names: BTreeSet<&str> = opened.run.bindings.iter().map(|b| &*b.name).collect();
        let statements = listing.iter().flat_map(|listing| &listing.statements);
        let calls = statements.filter_map(|s| Some((s, s.target.as_deref()?)));
        ImportCalls {
            ended: listing.map(|_| {
                let ended = calls.clone();
                let ended = ended.filter(|(s, _)| s.kind != StatementKind::Use && ran(s.line));
                ended.map(|(_, import)| import).collect()
            }),
            valued: calls
                .filter(|(s, _)| s.name.as_deref().is_some_and(|name| names.contains(name)))
                .map(|(_, import)| import)
                .collect(),
        }
    }

    /// Returns whether a call of an import completed; true if the program is not known.
    pub(super) fn ended(&self, alias: &str) -> bool {
        let ended = self.ended.as_ref();
        ended.is_none_or(|ended| ended.contains(alias))
    }

    /// Returns whether a call of an import gave its value to a name.
    pub(super) fn gave_a_value(&self, alias: &str) -> bool {
        self.valued.contains(alias)
    }
}

/// Returns whether a run has no records: `begin` of a `use` creates the run of an import even if the import is never
/// used.
pub(super) fn is_unused(opened: &Opened) -> bool {
    opened.trace.nodes.is_empty() && opened.run.bindings.is_empty()
}

/// Opens the nested run at a place; `None` if that fails.
pub(super) fn nested(session: &Session, place: &str) -> Option<Session> {
    let source = Rc::clone(&session.values.source);
    Session::open(source, place, &Options::default()).ok()
}

/// Returns whether a run folder contains only a program. If the importing run is in a database, an import has only such
/// a folder.
fn is_program_alone(opened: &Opened) -> bool {
    let form = FolderForm::Bare;
    opened.run.form == Form::Folder { form } && opened.run.bindings.is_empty()
}

/// Returns a note if a program imports itself, judging by file names.
fn repeats(opened: &Opened, source: Option<&str>, above: &[String]) -> Option<String> {
    let own = opened.run.program.path.as_deref()?;
    let source = source?;
    let slug = |text: &str| {
        let file = text.rsplit('/').next().unwrap_or(text);
        file.trim_end_matches(".prose").to_owned()
    };
    (!above.is_empty() && slug(source) == slug(own))
        .then(|| "this program imports itself: a cycle".to_owned())
}

/// Returns the runs around a nested run, outermost first: the part of the path before each `imports/`.
fn above(place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = place.get(at..).and_then(|rest| rest.find("imports/")) {
        let end = at + next;
        let before = place.get(..end).unwrap_or_default();
        if before.is_empty() || before.ends_with('/') {
            found.push(before.trim_end_matches('/').to_owned());
        }
        at = end + "imports/".len();
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::pages::session::pages;
    use rusqlite::Connection;

    use super::*;
    use crate::model::schema::STATE_SQL;
    use crate::model::source::Source;
    use crate::pages::session::{Lookup, ValueOf};
    use crate::read::sqlite::MemorySource;

    const PROGRAM: &str = "use \"./deep.prose\" as research\nlet report = research(topic: \"x\")\nlet mine = session \"A\"\n";
    const NESTED: &str = "runs/r/imports/research--deep";

    fn database(sql: &str) -> Vec<u8> {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(STATE_SQL).unwrap();
        conn.execute_batch(sql).unwrap();
        conn.serialize("main").unwrap().to_vec()
    }

    fn binding(name: &str, kind: &str) -> Vec<u8> {
        format!("# {name}\n\nkind: {kind}\n\n---\n\n{name} of the import").into_bytes()
    }

    /// Checks the value of each name in a run with these files, and in its import's run.
    fn check(own: &(String, Vec<u8>), nested: &[(String, Vec<u8>)]) {
        let mut files = nested.to_vec();
        files.push(own.clone());
        files.push(("runs/r/program.prose".to_owned(), PROGRAM.into()));
        let source: Rc<dyn Source> = Rc::new(MemorySource::new("test", files));
        let ask = |place: &str, name: &str, from: Option<i64>| {
            let lookup = Lookup::open(&source, place, &Options::default(), name, from).unwrap();
            let value = lookup.found().map(|found| found.value(1000).unwrap().text);
            let session = Session::open(Rc::clone(&source), place, &Options::default()).unwrap();
            // The name must mean the same value in an opened run as in the lookup.
            let opened = match session.winner(name, from) {
                Some(at) => session.value(&ValueOf::Binding(at), 1000).ok(),
                None => pages::in_import(&session, name, &Options::default()).and_then(
                    |(nested, name)| {
                        let session = nested.as_ref().unwrap_or(&session);
                        let of = ValueOf::Binding(session.winner(&name, None)?);
                        session.value(&of, 1000).ok()
                    },
                ),
            };
            assert_eq!(opened.map(|value| value.text), value, "{place} {name}");
            value
        };
        for (name, value) in [
            ("research.findings", Some("findings of the import")),
            ("research.sources", Some("sources of the import")),
            ("report.findings", Some("findings of the import")),
            ("report.sources", Some("sources of the import")),
            ("research.inner.facts", Some("facts of the import")),
            ("research.nothing", None),
            ("mine.findings", None),
            ("other.findings", None),
            ("findings", None),
        ] {
            let found = ask("runs/r", name, None);
            assert_eq!(found.as_deref(), value, "{} {name}", own.0);
        }
        // The nested run also accepts the handle by which the outer run imports it.
        for name in ["findings", "research.findings"] {
            let found = ask(NESTED, name, None);
            assert_eq!(found.as_deref(), Some("findings of the import"), "{name}");
        }
        assert_eq!(ask(NESTED, "report.findings", None), None);
    }

    #[test]
    fn a_dotted_name_reaches_the_run_of_an_import_whatever_forms_they_have() {
        let folder = (
            "runs/r/state.md".to_owned(),
            b"# Execution State\n\nrun: r\n".to_vec(),
        );
        let imports = "INSERT INTO run(id) VALUES ('r'); INSERT INTO imports(alias, source_url) VALUES ('research', './deep.prose');";
        let rows = ("runs/r/state.db".to_owned(), database(imports));
        let inner = (
            format!("{NESTED}/imports/inner--facts/bindings/facts.md"),
            binding("facts", "let"),
        );
        let files = [
            (
                format!("{NESTED}/bindings/findings.md"),
                binding("findings", "output"),
            ),
            (
                format!("{NESTED}/bindings/sources.md"),
                binding("sources", "let"),
            ),
            inner.clone(),
        ];
        let values = "INSERT INTO run(id) VALUES ('n'); INSERT INTO bindings(name, kind, value) VALUES
            ('findings', 'output', 'findings of the import'), ('sources', 'let', 'sources of the import');";
        let database = [(format!("{NESTED}/state.db"), database(values)), inner];
        for own in [&folder, &rows] {
            check(own, &files);
            check(own, &database);
        }
    }

    /// In OpenProse's database, an import has no nested run, but a row with a dotted name (sqlite.md).
    #[test]
    fn a_call_of_an_import_gives_its_name_to_the_imports_rows() {
        let rows = "INSERT INTO run(id, program_source) VALUES ('r', 'use \"x\" as research\nlet report = research()\n');
            INSERT INTO bindings(name, kind, value) VALUES ('research.findings', 'let', 'a row');";
        let files = [("runs/r/state.db".to_owned(), database(rows))];
        let source: Rc<dyn Source> = Rc::new(MemorySource::new("test", files));
        for name in ["research.findings", "report.findings"] {
            let options = Options::default();
            let lookup = Lookup::open(&source, "runs/r", &options, name, None).unwrap();
            assert_eq!(
                lookup.found().unwrap().value(100).unwrap().text,
                "a row",
                "{name}"
            );
        }
    }

    #[test]
    fn of_imports_with_one_handle_the_first_lists_the_bindings() {
        let rows = "DROP TABLE imports; CREATE TABLE imports (alias TEXT, source_url TEXT);
            INSERT INTO run(id) VALUES ('r');
            INSERT INTO imports VALUES ('a', 'x'), ('b', 'x'), ('a', 'y');
            INSERT INTO bindings(name, kind, value) VALUES ('a.one', 'let', '1'), ('a.two', 'let', '2'), ('b.one', 'let', '3');";
        let files = [("state.db".to_owned(), database(rows))];
        let source: Rc<dyn Source> = Rc::new(MemorySource::new("test", files));
        let session = Session::open(source, "", &Options::default()).unwrap();
        let view = imports(&session);
        let listed = view.imports.iter().map(|import| import.bindings.len());
        assert_eq!(listed.collect::<Vec<_>>(), [2, 1, 0]);
    }

    #[test]
    fn names_the_runs_above() {
        assert_eq!(above("runs/a"), Vec::<String>::new());
        assert_eq!(above("runs/a/imports/r--x"), ["runs/a"]);
        assert_eq!(
            above("runs/a/imports/r--x/imports/s--y"),
            ["runs/a", "runs/a/imports/r--x"]
        );
        assert_eq!(above("imports/r--x"), [""]);
    }
}
