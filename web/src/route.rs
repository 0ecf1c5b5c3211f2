//! Where a person is, as the address's hash says it.
//!
//! | hash | page |
//! |---|---|
//! | `#/` | what is open: the list of runs, or the empty page |
//! | `#/run/{run}/trace/31` | row 31 of a run's trace |
//! | `#/run/{run}/bindings/4?from=43` | a binding, asked for from frame 43 |
//!
//! `{run}` is the run's id where it names one run of what is open, else its place; percent-encoded.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

use std::fmt::{self, Write as _};

/// A place in the viewer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Route {
    /// The list of runs, or the empty page.
    #[default]
    Home,
    /// A page of a run.
    Run {
        /// The run's id or place.
        run: String,
        /// The page.
        page: Page,
        /// What is selected on it.
        item: Option<String>,
        /// The frame that a name is resolved from, and such.
        query: Vec<(String, String)>,
    },
}

/// The pages of a run, in the order of the keys `1` to `9` and `0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Page {
    /// What happened, where it stopped and why.
    Overview,
    /// The program with what happened at each line.
    Program,
    /// What happened, as a tree.
    Trace,
    /// Named values.
    Bindings,
    /// Persistent agents.
    Agents,
    /// Approvals and their audit log.
    Gates,
    /// Nested runs.
    Imports,
    /// The state file.
    State,
    /// Files and tables.
    Files,
    /// What was odd.
    Issues,
}

impl Page {
    /// All pages, in order.
    pub(crate) const ALL: [Page; 10] = [
        Page::Overview,
        Page::Program,
        Page::Trace,
        Page::Bindings,
        Page::Agents,
        Page::Gates,
        Page::Imports,
        Page::State,
        Page::Files,
        Page::Issues,
    ];

    /// Its word in the hash.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Page::Overview => "overview",
            Page::Program => "program",
            Page::Trace => "trace",
            Page::Bindings => "bindings",
            Page::Agents => "agents",
            Page::Gates => "gates",
            Page::Imports => "imports",
            Page::State => "state",
            Page::Files => "files",
            Page::Issues => "issues",
        }
    }

    /// Its name for a person.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Page::Overview => "Overview",
            Page::Program => "Program",
            Page::Trace => "Trace",
            Page::Bindings => "Bindings",
            Page::Agents => "Agents",
            Page::Gates => "Gates",
            Page::Imports => "Imports",
            Page::State => "state.md",
            Page::Files => "Files and tables",
            Page::Issues => "Issues",
        }
    }

    /// The key that opens it.
    pub(crate) fn key(self) -> char {
        match Page::ALL.iter().position(|page| *page == self) {
            Some(at @ 0..=8) => char::from(b'1' + at as u8),
            _ => '0',
        }
    }

    /// The page of a key.
    pub(crate) fn of_key(key: char) -> Option<Page> {
        Page::ALL.into_iter().find(|page| page.key() == key)
    }
}

impl Route {
    /// A page of a run with nothing selected.
    pub(crate) fn page(run: &str, page: Page) -> Route {
        Route::Run {
            run: run.to_owned(),
            page,
            item: None,
            query: Vec::new(),
        }
    }

    /// A page of a run with something selected.
    pub(crate) fn item(run: &str, page: Page, item: impl fmt::Display) -> Route {
        Route::Run {
            run: run.to_owned(),
            page,
            item: Some(item.to_string()),
            query: Vec::new(),
        }
    }

    /// The same with a key and its value.
    pub(crate) fn with(mut self, key: &str, value: impl fmt::Display) -> Route {
        if let Route::Run { query, .. } = &mut self {
            query.push((key.to_owned(), value.to_string()));
        }
        self
    }

    /// Reads a hash; what makes no sense is home.
    pub(crate) fn parse(hash: &str) -> Route {
        let path = hash.trim_start_matches('#').trim_start_matches('/');
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut parts = path.split('/').map(decode);
        let (Some("run"), Some(run)) = (parts.next().as_deref(), parts.next()) else {
            return Route::Home;
        };
        let page = parts.next().unwrap_or_default();
        let page = Page::ALL.into_iter().find(|p| p.word() == page);
        let query = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (decode(key), decode(value)));
        Route::Run {
            run,
            page: page.unwrap_or(Page::Overview),
            item: parts.next().filter(|item| !item.is_empty()),
            query: query.collect(),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Route::Run {
            run,
            page,
            item,
            query,
        } = self
        else {
            return f.write_str("#/");
        };
        write!(f, "#/run/{}/{}", encode(run), page.word())?;
        if let Some(item) = item {
            write!(f, "/{}", encode(item))?;
        }
        for (i, (key, value)) in query.iter().enumerate() {
            let mark = if i == 0 { '?' } else { '&' };
            write!(f, "{mark}{}={}", encode(key), encode(value))?;
        }
        Ok(())
    }
}

fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
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
        for (route, hash) in routes {
            assert_eq!(route.to_string(), hash);
            assert_eq!(Route::parse(hash), route);
        }
    }

    #[test]
    fn what_makes_no_sense_goes_home_or_to_the_overview() {
        for hash in ["", "#", "#/", "#/nothing", "#//x", "#run"] {
            assert_eq!(Route::parse(hash), Route::Home, "{hash}");
        }
        for hash in [
            "#/run/x",
            "#/run/x/",
            "#/run/x/nothing",
            "#/run/x/overview/",
        ] {
            assert_eq!(
                Route::parse(hash),
                Route::page("x", Page::Overview),
                "{hash}"
            );
        }
        assert_eq!(
            Route::parse("#/run/%zz%/trace"),
            Route::page("%zz%", Page::Trace)
        );
    }

    #[test]
    fn every_page_has_its_key() {
        let keys: String = Page::ALL.iter().map(|page| page.key()).collect();
        assert_eq!(keys, "1234567890");
        for page in Page::ALL {
            assert_eq!(Page::of_key(page.key()), Some(page));
        }
        assert_eq!(Page::of_key('x'), None);
    }
}
