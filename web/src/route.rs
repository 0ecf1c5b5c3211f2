//! Parses the hash of the page's address into a [`Route`], a screen of the viewer, and writes routes as hashes.
//!
//! | hash | page |
//! |---|---|
//! | `#/` | the open source: the list of runs, or the empty page |
//! | `#/run/{run}/trace/31` | row 31 of a run's trace; a missing or unknown page name also leads to the trace |
//! | `#/run/{run}/trace?status=failed&order=longest` | the trace with a filter and an order |
//! | `#/run/{run}/bindings/4?from=43` | a binding, resolved from frame 43 |
//! | `#/compare/{a}/{b}/12` | two runs side by side, with row 12 open |
//! | `#/workflows/{place}` | the workflows of a database, by the database's path in the open source |
//! | `#/workflow/{place}/{id}/thread/event%3A7` | event 7 of a workflow |
//!
//! `{run}` is the run's id, percent-encoded. If several open runs have the same id, `{run}` is the run's path in the
//! open source.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

use std::fmt::{self, Write as _};

/// A screen of the viewer, with the selected item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Route {
    /// The list of runs, or the empty page.
    #[default]
    Home,
    /// A page of a run.
    Run {
        /// The run's id, or the run's path in the open source.
        run: String,
        /// The open page.
        page: Page,
        /// The selected item, such as a row's number; `None` if nothing is selected.
        item: Option<String>,
        /// The keys and values after `?`, such as `from=43`, the frame from which a name is resolved.
        query: Vec<(String, String)>,
    },
    /// Two runs side by side.
    Compare {
        /// The id of the first run, or the run's path in the open source.
        a: String,
        /// The id of the second run, or the run's path in the open source.
        b: String,
        /// The index of the selected row, or `runs` for both runs as a whole; `None` if nothing is selected.
        item: Option<String>,
    },
    /// The workflows of a database.
    Workflows {
        /// The path of the shown database in the open source.
        place: String,
    },
    /// A page of a workflow.
    Workflow {
        /// The path, in the open source, of the database with the workflow.
        place: String,
        /// The id of the shown workflow.
        id: String,
        /// The open page.
        tab: Tab,
        /// The selected item, such as `event:7` ([`InThread`]); `None` if nothing is selected.
        item: Option<String>,
    },
}

/// The pages of a workflow, in the order of the keys `1` and `2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    /// The conversation: messages, runs with their events, and a waiting question.
    Thread,
    /// The data kept beside the conversation.
    Data,
}

impl Tab {
    /// All pages, in order.
    pub(crate) const ALL: [Tab; 2] = [Tab::Thread, Tab::Data];

    /// Returns the page's name in the hash.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Tab::Thread => "thread",
            Tab::Data => "data",
        }
    }

    /// Returns the page's title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Tab::Thread => "Thread",
            Tab::Data => "Data",
        }
    }
}

/// A selected item in the thread of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InThread {
    /// A run, by its id.
    Run(String),
    /// An event, by its id.
    Event(i64),
    /// All events.
    Events,
}

impl InThread {
    /// Parses the item of an address: `run:{id}`, `event:7` or `events`.
    pub(crate) fn parse(item: &str) -> Option<InThread> {
        match item.split_once(':') {
            None => (item == "events").then_some(InThread::Events),
            Some(("run", run)) => Some(InThread::Run(run.to_owned())),
            Some(("event", event)) => event.parse().ok().map(InThread::Event),
            Some(_) => None,
        }
    }
}

impl fmt::Display for InThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InThread::Run(run) => write!(f, "run:{run}"),
            InThread::Event(event) => write!(f, "event:{event}"),
            InThread::Events => f.write_str("events"),
        }
    }
}

/// The pages of a run. The keys `1` to `9` open them in order; SQL has the key `q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Page {
    /// The executions, as a tree.
    Trace,
    /// The program, with the executions at each line.
    Program,
    /// The bindings: named values.
    Bindings,
    /// The agents with a memory.
    Agents,
    /// The gates and their audit log.
    Gates,
    /// The imported programs and their runs.
    Imports,
    /// The run's files and tables.
    Files,
    /// The run's `state.md`.
    State,
    /// SQL queries.
    Sql,
    /// The issues that the checks found.
    Issues,
}

impl Page {
    /// All pages, in order.
    pub(crate) const ALL: [Page; 10] = [
        Page::Trace,
        Page::Program,
        Page::Bindings,
        Page::Agents,
        Page::Gates,
        Page::Imports,
        Page::Files,
        Page::State,
        Page::Sql,
        Page::Issues,
    ];

    /// Returns the page's name in the hash.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Page::Program => "program",
            Page::Trace => "trace",
            Page::Bindings => "bindings",
            Page::Agents => "agents",
            Page::Gates => "gates",
            Page::Imports => "imports",
            Page::State => "state",
            Page::Files => "files",
            Page::Sql => "sql",
            Page::Issues => "issues",
        }
    }

    /// Returns the page's title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Page::Program => "Program",
            Page::Trace => "Trace",
            Page::Bindings => "Values",
            Page::Agents => "Agents",
            Page::Gates => "Gates",
            Page::Imports => "Imports",
            Page::State => "state.md",
            Page::Files => "Data",
            Page::Sql => "SQL",
            Page::Issues => "Issues",
        }
    }

    /// Returns the pages that have numbers as keys, of those that are offered. The page for SQL has the key `q`.
    pub(crate) fn numbered(offered: &[Page]) -> impl Iterator<Item = Page> {
        offered.iter().copied().filter(|page| *page != Page::Sql)
    }

    /// Returns the key that opens this page, if these pages are offered; `None` if it is not offered.
    pub(crate) fn key(self, offered: &[Page]) -> Option<String> {
        if self == Page::Sql {
            return Some("q".to_owned());
        }
        let at = Page::numbered(offered).position(|page| page == self)?;
        Some((at + 1).to_string())
    }
}

impl Route {
    /// Returns the route to a page of a run, with nothing selected.
    pub(crate) fn page(run: &str, page: Page) -> Route {
        Route::Run {
            run: run.to_owned(),
            page,
            item: None,
            query: Vec::new(),
        }
    }

    /// Returns the route to an item on a page of a run.
    pub(crate) fn item(run: &str, page: Page, item: impl fmt::Display) -> Route {
        Route::Run {
            run: run.to_owned(),
            page,
            item: Some(item.to_string()),
            query: Vec::new(),
        }
    }

    /// Adds a key and a value after the `?` of a route to a run. Returns other routes unchanged.
    pub(crate) fn with(mut self, key: &str, value: impl fmt::Display) -> Route {
        if let Route::Run { query, .. } = &mut self {
            query.push((key.to_owned(), value.to_string()));
        }
        self
    }

    /// Returns the route to a page of a workflow, with nothing selected.
    pub(crate) fn workflow(place: &str, id: &str, tab: Tab) -> Route {
        Route::Workflow {
            place: place.to_owned(),
            id: id.to_owned(),
            tab,
            item: None,
        }
    }

    /// Returns the route to an item in the thread of a workflow.
    pub(crate) fn thread(place: &str, id: &str, at: &InThread) -> Route {
        Route::Workflow {
            place: place.to_owned(),
            id: id.to_owned(),
            tab: Tab::Thread,
            item: Some(at.to_string()),
        }
    }

    /// Returns the same route with nothing selected.
    pub(crate) fn closed(&self) -> Route {
        match self {
            Route::Run { run, page, .. } => Route::page(run, *page),
            Route::Workflow { place, id, tab, .. } => Route::workflow(place, id, *tab),
            Route::Compare { a, b, .. } => Route::Compare {
                a: a.clone(),
                b: b.clone(),
                item: None,
            },
            other => other.clone(),
        }
    }

    /// Returns whether the route leads to the trace of a run.
    pub(crate) fn is_trace(&self) -> bool {
        matches!(
            self,
            Route::Run {
                page: Page::Trace,
                ..
            }
        )
    }

    /// Returns the same route without the keys and values after `?`.
    pub(crate) fn without_query(&self) -> Route {
        let mut route = self.clone();
        if let Route::Run { query, .. } = &mut route {
            query.clear();
        }
        route
    }

    /// Returns the selected item.
    pub(crate) fn selected(&self) -> Option<&str> {
        match self {
            Route::Run { item, .. }
            | Route::Workflow { item, .. }
            | Route::Compare { item, .. } => item.as_deref(),
            Route::Home | Route::Workflows { .. } => None,
        }
    }

    /// Parses a hash; an invalid hash yields `Home`.
    pub(crate) fn parse(hash: &str) -> Route {
        let path = hash.trim_start_matches('#').trim_start_matches('/');
        let (path, _) = path.split_once('?').unwrap_or((path, ""));
        let mut parts = path.split('/').map(decode);
        let (first, second) = (parts.next(), parts.next());
        let (Some(first), Some(run)) = (first.as_deref(), second) else {
            return Route::Home;
        };
        match (first, parts.clone().next()) {
            ("run", _) => {}
            ("compare", Some(b)) => {
                return Route::Compare {
                    a: run,
                    b,
                    item: parts.nth(1).filter(|item| !item.is_empty()),
                };
            }
            ("workflows", _) => return Route::Workflows { place: run },
            ("workflow", Some(id)) => {
                let tab = parts.nth(1).unwrap_or_default();
                let item = parts.next().filter(|item| !item.is_empty());
                let tab = Tab::ALL.into_iter().find(|known| known.word() == tab);
                return Route::Workflow {
                    place: run,
                    id,
                    tab: tab.unwrap_or(Tab::Thread),
                    item,
                };
            }
            _ => return Route::Home,
        }
        let page = parts.next().unwrap_or_default();
        let page = Page::ALL.into_iter().find(|p| p.word() == page);
        Route::Run {
            run,
            page: page.unwrap_or(Page::Trace),
            item: parts.next().filter(|item| !item.is_empty()),
            query: query(hash),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (item, query) = match self {
            Route::Home => return f.write_str("#/"),
            Route::Workflows { place } => return write!(f, "#/workflows/{}", encode(place)),
            Route::Compare { a, b, item } => {
                write!(f, "#/compare/{}/{}", encode(a), encode(b))?;
                (item, [].as_slice())
            }
            Route::Workflow {
                place,
                id,
                tab,
                item,
            } => {
                let (place, id) = (encode(place), encode(id));
                write!(f, "#/workflow/{place}/{id}/{}", tab.word())?;
                (item, [].as_slice())
            }
            Route::Run {
                run,
                page,
                item,
                query,
            } => {
                write!(f, "#/run/{}/{}", encode(run), page.word())?;
                (item, query.as_slice())
            }
        };
        if let Some(item) = item {
            write!(f, "/{}", encode(item))?;
        }
        f.write_str(&written(query))
    }
}

/// Returns the keys and values after `?` in an address, decoded.
pub(crate) fn query(hash: &str) -> Vec<(String, String)> {
    let (_, query) = hash.split_once('?').unwrap_or_default();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(key, value)| (decode(key), decode(value)));
    pairs.collect()
}

/// Returns the hash of a route with keys and values appended after `?`. The route itself must have no keys and values.
pub(crate) fn with_query(route: &Route, pairs: &[(&str, String)]) -> String {
    format!("{route}{}", written(pairs))
}

fn written<K: AsRef<str>>(pairs: &[(K, String)]) -> String {
    let mut out = String::new();
    for (i, (key, value)) in pairs.iter().enumerate() {
        out.push(if i == 0 { '?' } else { '&' });
        out.push_str(&encode(key.as_ref()));
        out.push('=');
        out.push_str(&encode(value));
    }
    out
}

fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes
            .get(at + 1..at + 3)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(value) if byte == b'%' => {
                out.push(value);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_survives_the_address() {
        let routes = [
            (Route::Home, "#/"),
            (
                Route::page("20260125-125506-002755", Page::Trace),
                "#/run/20260125-125506-002755/trace",
            ),
            (
                Route::item("runs/a b/ü?", Page::Bindings, 4).with("from", 43),
                "#/run/runs%2Fa%20b%2F%C3%BC%3F/bindings/4?from=43",
            ),
            (
                Route::item("x", Page::Files, "bindings/a&b=c.md"),
                "#/run/x/files/bindings%2Fa%26b%3Dc.md",
            ),
        ];
        let workflow = |tab, item: Option<&str>| Route::Workflow {
            place: ".prose/workflows.db".into(),
            id: "a/b".into(),
            tab,
            item: item.map(str::to_owned),
        };
        let of_workflows = [
            (
                Route::Compare {
                    a: "x y".into(),
                    b: "runs/z".into(),
                    item: Some("12".into()),
                },
                "#/compare/x%20y/runs%2Fz/12",
            ),
            (
                Route::Workflows {
                    place: ".prose/workflows.db".into(),
                },
                "#/workflows/.prose%2Fworkflows.db",
            ),
            (
                workflow(Tab::Thread, Some("event:7")),
                "#/workflow/.prose%2Fworkflows.db/a%2Fb/thread/event%3A7",
            ),
            (
                workflow(Tab::Data, None),
                "#/workflow/.prose%2Fworkflows.db/a%2Fb/data",
            ),
        ];
        for (route, hash) in routes.into_iter().chain(of_workflows) {
            assert_eq!(route.to_string(), hash);
            assert_eq!(Route::parse(hash), route);
        }
    }

    #[test]
    fn an_item_of_a_thread_is_parsed_as_it_is_written() {
        for item in [
            InThread::Run("r:1".into()),
            InThread::Event(7),
            InThread::Events,
        ] {
            assert_eq!(InThread::parse(&item.to_string()), Some(item));
        }
        assert_eq!(InThread::parse("message:1"), None);
    }

    #[test]
    fn what_makes_no_sense_goes_home_or_to_the_trace() {
        for hash in [
            "",
            "#",
            "#/",
            "#/nothing",
            "#//x",
            "#run",
            "#/workflows",
            "#/workflow/x",
        ] {
            assert_eq!(Route::parse(hash), Route::Home, "{hash}");
        }
        for hash in [
            "#/run/x",
            "#/run/x/",
            "#/run/x/nothing",
            "#/run/x/overview/",
        ] {
            assert_eq!(Route::parse(hash), Route::page("x", Page::Trace), "{hash}");
        }
        assert_eq!(
            Route::parse("#/run/%zz%/trace"),
            Route::page("%zz%", Page::Trace)
        );
    }

    #[test]
    fn a_list_says_in_the_address_what_it_is_narrowed_to() {
        let pairs = [
            ("program", "tax & more".to_owned()),
            ("order", "oldest".to_owned()),
        ];
        let hash = with_query(&Route::Home, &pairs);
        assert_eq!(hash, "#/?program=tax%20%26%20more&order=oldest");
        assert_eq!(Route::parse(&hash), Route::Home);
        let read = query(&hash);
        let read = read
            .iter()
            .map(|(key, value)| (key.as_str(), value.clone()));
        assert_eq!(read.collect::<Vec<_>>(), pairs);
        assert!(query("#/").is_empty() && query("#/?odd").is_empty());
    }

    #[test]
    fn keys_count_only_the_pages_that_are_offered() {
        let offered = [Page::Trace, Page::Bindings, Page::Sql, Page::Issues];
        let keys = offered.map(|page| page.key(&offered).unwrap());
        assert_eq!(keys, ["1", "2", "q", "3"]);
        assert_eq!(Page::Gates.key(&offered), None);
    }
}
