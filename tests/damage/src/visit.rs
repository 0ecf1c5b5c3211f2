use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Options, Session, ValueOf, list, pages, survey};
use prosescope_core::trace::NodeId;
use serde::Serialize;

/// The time of a visit: 2026-01-25 14:00:00 UTC, in milliseconds since 1970.
const NOW: i64 = 1_769_349_600_000;

/// How many rows a page requests at once, as in the viewer.
const WINDOW: u32 = 200;

/// How many windows at the beginning of a list are read. The last window is read, too.
const WINDOWS: u32 = 4;

/// How many nodes, bindings, tables and values are opened one by one.
const OPENED: usize = 16;

/// How many bytes of a value a page shows, and after how many bytes the reading of a value in pieces stops.
const SHOWN: usize = 256 << 10;
const READ: usize = 8 << 20;

/// The results of a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visited {
    /// How many runs and stores were opened.
    pub opened: usize,
    /// The errors of the runs and stores that were not opened.
    pub refused: Vec<String>,
    /// The rules of all issues that were reported.
    pub rules: BTreeSet<String>,
    /// The size of all pages as JSON in bytes.
    pub json: usize,
    /// How many execution rows and nodes were read, as a measure of how much was understood.
    pub rows: usize,
    /// The page that took longest, and its time.
    pub slowest: (&'static str, Duration),
    /// The total time that each kind of page took.
    pub spent: BTreeMap<&'static str, Duration>,
    /// The page with the largest JSON, and its size in bytes.
    pub largest: (&'static str, usize),
}

/// Opens the whole content of a source and builds every page of it, as if a user opened everything in the viewer.
pub fn visit(source: &Rc<dyn Source>, options: &Options) -> Visited {
    let mut visited = Visited::default();
    let found = survey(source.as_ref()).found;
    visited.page("list", || list(source, options));
    let mut places: Vec<String> = found.into_iter().map(|f| f.place).collect();
    if places.is_empty() {
        // If the source is a single file that is not a run, the file itself is opened.
        let lone = match source.files() {
            [file] => file.path.clone(),
            _ => String::new(),
        };
        places.push(lone);
    }
    places.truncate(OPENED);
    for place in places {
        let started = Instant::now();
        let opened = Session::open(Rc::clone(source), &place, options);
        visited.took("open", started.elapsed());
        match opened {
            Ok(session) => {
                visited.opened += 1;
                visited.pages(&session);
            }
            Err(error) => {
                visited.refused.push(format!("{error} ({})", error.next()));
            }
        }
    }
    visited
}

impl Visited {
    /// Builds a page and its JSON, and records their time and size.
    fn page<T: Serialize>(&mut self, name: &'static str, page: impl FnOnce() -> T) {
        let started = Instant::now();
        let bytes = serde_json::to_vec(&page()).map_or(0, |json| json.len());
        self.json += bytes;
        self.took(name, started.elapsed());
        if bytes > self.largest.1 {
            self.largest = (name, bytes);
        }
    }

    fn took(&mut self, name: &'static str, time: Duration) {
        *self.spent.entry(name).or_default() += time;
        if time > self.slowest.1 {
            self.slowest = (name, time);
        }
    }

    /// Builds every page of a run.
    fn pages(&mut self, session: &Session) {
        self.rules
            .extend(session.issues().map(|issue| issue.rule.clone()));
        self.rows += session.run().executions.len() + session.trace().nodes.len();
        self.page("overview", || pages::overview(session, Some(NOW)));
        self.page("overview", || pages::overview(session, None));
        self.page("summary", || pages::summary(session));
        self.page("agents", || pages::agents(session));
        self.page("gates", || pages::gates(session, Some(NOW)));
        self.page("files", || pages::files(session));
        self.page("issues_page", || pages::issues_page(session));
        for whole in [false, true] {
            self.page("state_page", || pages::state_page(session, whole));
        }
        let lines = session.listing().map_or(0, |l| l.lines.len());
        self.windows("program_page", lines as u64, |from, len| {
            Some(pages::program_page(session, u32::try_from(from).ok()?, len))
        });
        self.nested(session);
        self.trace(session);
        self.bindings(session);
        self.values(session);
        self.tables(session);
    }

    /// Builds the first windows of a list, and its last window.
    fn windows<T: Serialize>(
        &mut self,
        name: &'static str,
        total: u64,
        window: impl Fn(u64, u32) -> Option<T>,
    ) {
        let last = total.saturating_sub(u64::from(WINDOW));
        let starts = (0..WINDOWS).map(|n| u64::from(n * WINDOW));
        for from in starts.filter(|from| *from <= total).chain([last, total]) {
            self.page(name, || window(from, WINDOW));
        }
    }

    fn nested(&mut self, session: &Session) {
        let imports = pages::imports(session);
        self.page("imports", || &imports);
        for place in imports
            .imports
            .iter()
            .filter_map(|i| i.place.as_deref())
            .take(3)
        {
            let nested = Session::open(Rc::clone(session.source()), place, &Options::default());
            if let Ok(nested) = nested {
                self.page("overview", || pages::overview(&nested, Some(NOW)));
                self.page("imports", || pages::imports(&nested));
            }
        }
    }

    fn trace(&mut self, session: &Session) {
        let nodes = session.trace().nodes.len();
        let keys = session.trace().nodes.keys();
        let folded: BTreeSet<NodeId> = keys.step_by(3).collect();
        for folded in [BTreeSet::new(), folded] {
            self.windows("trace_page", nodes as u64, |from, len| {
                Some(pages::trace_page(
                    session,
                    &folded,
                    u32::try_from(from).ok()?,
                    len,
                ))
            });
            self.windows("trace_screen", nodes as u64, |from, len| {
                Some(pages::trace_screen(
                    session,
                    &folded,
                    u32::try_from(from).ok()?,
                    len,
                ))
            });
            for node in some_indexes(nodes) {
                self.page("trace_place", || {
                    pages::trace_place(session, &folded, NodeId::new(node))
                });
            }
        }
        for node in some_indexes(nodes) {
            let (at, even) = (NodeId::new(node), node % 2 == 0);
            self.page("node_detail", || pages::node_detail(session, at));
            self.page("node_ref", || pages::node_ref(session, at));
            self.page("tree_row", || pages::tree_row(session, at, even));
            self.page("next_failure", || {
                pages::next_failure(session, Some(at), even)
            });
        }
        for row in session.run().executions.iter().take(OPENED) {
            self.page("node_of_row", || session.node_of_row(row.id));
        }
        self.page("next_failure", || pages::next_failure(session, None, true));
    }

    fn bindings(&mut self, session: &Session) {
        let bindings = session.run().bindings.len();
        self.windows("bindings_page", bindings as u64, |from, len| {
            Some(pages::bindings_page(
                session,
                u32::try_from(from).ok()?,
                len,
            ))
        });
        for binding in some_indexes(bindings) {
            self.page("binding_row", || pages::binding_row(session, binding));
            self.page("binding_place", || pages::binding_place(session, binding));
        }
        let last = session.run().executions.last().map(|row| row.id);
        for binding in session.run().bindings.iter().take(3) {
            for frame in [None, last, binding.execution_id, Some(i64::MAX)] {
                self.page("resolve", || pages::resolve(session, &binding.name, frame));
            }
        }
        self.page("resolve", || pages::resolve(session, "nowhere.else", last));
    }

    fn values(&mut self, session: &Session) {
        let run = session.run();
        let bindings = some_indexes(run.bindings.len())
            .flat_map(|n| [ValueOf::Binding(n), ValueOf::Summary(n)]);
        let memories = some_indexes(run.agents.len()).map(ValueOf::Memory);
        let files = run.files.iter().take(OPENED);
        let files = files.map(|f| ValueOf::File(f.path.clone()));
        let hostile = ["../../../etc/passwd", "/etc/passwd", "C:\\x", "", "a\0b"];
        let hostile = hostile.map(|path| ValueOf::File(path.to_owned()));
        for of in bindings.chain(memories).chain(files).chain(hostile) {
            self.page("value", || session.value(&of, SHOWN).ok());
            let len = session.value_len(&of).unwrap_or(0);
            for offset in [0, len / 2, len.saturating_sub(9), len + 1] {
                self.page("value_part", || session.value_part(&of, offset, 16).ok());
            }
            self.page("value_pieces", || {
                let mut read = 0;
                let _ = session.value_pieces(&of, &mut |piece| {
                    read += piece.len();
                    read < READ
                });
                read
            });
        }
    }

    fn tables(&mut self, session: &Session) {
        for table in session.run().tables.iter().take(OPENED) {
            self.windows("table_rows", table.rows.unwrap_or(0), |from, len| {
                pages::table_rows(session, &table.name, from, len).ok()
            });
            self.page("table_rows", || {
                pages::table_rows(session, &table.name, 3, 1).ok()
            });
        }
    }
}

/// Returns the first [`OPENED`] indexes below `total`, and the last index.
fn some_indexes(total: usize) -> impl Iterator<Item = u32> + Clone {
    let last = (total > OPENED).then(|| total as u32 - 1);
    (0..total.min(OPENED) as u32).chain(last)
}
