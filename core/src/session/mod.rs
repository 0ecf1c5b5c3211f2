//! An opened run: the decoded facts, and the way back to its values.
//!
//! A shell finds what a source holds with [`survey`] (or the run that a person named with [`choose`]), opens one place
//! of it with [`Session::open`], and asks it
//! for pages: one method a page, each returning a struct of [`crate::view`]. Everything is computed here, once;
//! a shell only shows it. `now` is passed in where it matters, in milliseconds since 1970 UTC.

mod agents;
mod answer;
mod audit;
mod bindings;
mod carry;
mod check;
mod choose;
mod convert;
mod files;
mod filter;
mod gates;
mod imports;
mod index;
mod lookup;
mod nodes;
mod one_agent;
mod open;
mod overview;
mod program;
mod resume;
mod silent;
mod state;
mod story;
mod stray;
mod summary;
mod survey;
mod task;
mod unread;
mod values;
mod writes;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::database::{Database, Limits};
use crate::model::{AgentScope, Run, Text};
use crate::program::Listing;
use crate::source::Source;
use crate::trace::Trace;
use crate::view::Unread;

pub use agents::AgentHome;
pub use audit::{AuditFilter, audit_stats, audit_timeouts, longest_first};
pub use carry::Carried;
pub use choose::{ChooseError, choose};
pub use convert::{Each, Files, Left};
pub use filter::{Filter, Order, RUN_STATUSES, SILENT, UnknownStatus};
pub use index::NodeIndex;
pub use lookup::Lookup;
pub use open::OpenError;
pub use stray::has_stray_database;
pub use survey::{Found, FoundKind, Survey, survey};
pub use values::ValueOf;

/// An opened run (or an opened store of agents).
pub struct Session {
    source: Rc<dyn Source>,
    place: String,
    /// When it was opened.
    now: Option<i64>,
    called: Option<String>,
    /// The run folder's path inside the source, ending in `/`, or empty.
    root: String,
    db: Option<Store>,
    agent_stores: Vec<Store>,
    /// Which source a store of agents that is a folder lies in.
    folders: Vec<(Text, Rc<dyn Source>)>,
    run: Run,
    /// How many gates have a row or a file; those behind them are told by the state file or the log.
    recorded_gates: usize,
    listing: Option<Listing>,
    trace: Trace,
    index: NodeIndex,
    other_runs: Vec<String>,
    /// How many earlier values of a name and frame the store keeps.
    earlier: BTreeMap<(Text, Option<i64>), u32>,
    /// Values of which a view was to show the beginning, and that could not be read.
    lost: RefCell<Vec<Unread>>,
}

/// A database of this session and the name its rows go by.
struct Store {
    name: Text,
    db: Box<dyn Database>,
}

/// What a shell knows beside the run itself.
#[derive(Default)]
pub struct Options {
    /// Milliseconds since 1970 UTC; without it nothing is called stale.
    pub now: Option<i64>,
    /// Where agents of wider scopes live.
    pub around: Vec<Around>,
    /// Which run of a database that holds several; the latest without it.
    pub run_id: Option<String>,
    /// What commands call the run, where its own name does not find it: a path.
    pub called: Option<String>,
    /// How far reading a database may go.
    pub limits: Limits,
}

/// A `.prose` folder whose agents a run may use.
pub struct Around {
    /// [`AgentScope::Project`] or [`AgentScope::User`].
    pub scope: AgentScope,
    /// The source that holds it.
    pub source: Rc<dyn Source>,
    /// Its path inside that source, ending in `/`, or empty.
    pub prefix: String,
}

impl Session {
    /// The decoded run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the name that commands take for the run: that of its folder among the runs of a project, else its id. A
    /// copied folder has the id of the run that it was copied from.
    pub fn name(&self) -> String {
        if let Some(called) = &self.called {
            return called.clone();
        }
        let path = format!("{}/{}", self.source.label(), self.root);
        let mut parts = path.trim_end_matches('/').rsplit(['/', '\\']);
        match (parts.next(), parts.next()) {
            (Some(name), Some("runs")) => name.to_owned(),
            _ => self.run.id.to_string(),
        }
    }

    /// What happened.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The scanned program, where its source is there.
    pub fn listing(&self) -> Option<&Listing> {
        self.listing.as_ref()
    }

    /// The place inside the source that was opened.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The source.
    pub fn source(&self) -> &Rc<dyn Source> {
        &self.source
    }
}
