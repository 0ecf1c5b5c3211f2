//! Opens runs: finds them in a source, decodes them, and reads their values on request.
//!
//! ```text
//! survey, choose ──► Session::open ──► Session ─┬─► Opened: run, trace, listing, index (plain data)
//!                                               └─► values: bytes of values, read when needed
//! pages::overview(&session, now) ──► view::Overview
//! ```
//!
//! A shell (the command line, a browser, a server) finds the runs of a source with [`survey`], or the run that a user
//! wants with [`choose`]. The shell lists runs with [`list`] and opens a place with [`Session::open`]. Each page is a
//! function of [`pages`] that returns a struct of [`crate::pages::view`]. A page without values takes an [`Opened`];
//! other pages take a [`Session`], which is an [`Opened`] that can read values. This module computes all facts, so that
//! a shell only displays them. Functions that depend on the time take `now`, in milliseconds since 1970 UTC.
//!
//! A [`search::Search`] searches all parts of a run for a text, step by step.
//!
//! A [`Lookup`] finds one value, and a [`OneAgent`] one agent, without reading the whole run.

mod around;
mod asked;
mod choose;
mod convert;
mod filter;
mod history;
mod list;
mod lookup;
mod many;
mod one_agent;
mod open;
mod opened;
mod order;
pub mod pages;
mod renumbering;
mod replay;
pub mod search;
mod shown;
mod stray;
mod summary;
mod survey;
mod unread;
mod values;

use std::ops::Deref;
use std::rc::Rc;

use values::Values;

use crate::model::database::Limits;
use crate::model::source::Source;

pub use around::AgentFolder;
pub use choose::{ChooseError, choose};
pub use convert::{ChangeReceiver, CopiedFiles, CopyComparison, CopyLoss, weight};
pub use filter::{Filter, RUN_STATUSES, SILENT, UnknownStatus, began};
pub use history::{DayOfRuns, WhyFailed, day_of, days, why_failed};
pub use list::{RunListing, is_of_newest, list, list_again, list_more, list_page, list_while};
pub use lookup::{FoundValue, Lookup};
pub use one_agent::{AgentHome, OneAgent};
pub use open::OpenError;
pub use opened::Opened;
pub use order::ListOrder;
pub use renumbering::Renumbering;
pub use stray::{DatabaseAt, has_stray_database};
pub use survey::{FoundKind, Survey, SurveyPlace, survey};
pub use values::ValueOf;

/// An opened run that can read values.
pub struct Session {
    opened: Opened,
    values: Values,
}

impl Deref for Session {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.opened
    }
}

impl Session {
    /// Returns the path of the run's own database in its source; `None` if the run is in files, or shares a store with
    /// other runs.
    pub(crate) fn own_database(&self) -> Option<String> {
        let store = self.values.db.as_ref()?;
        if store.db.holds_many_runs() {
            return None;
        }
        Some(if self.source().file(&self.place).is_some() {
            self.place.clone()
        } else {
            format!("{}state.db", self.root)
        })
    }

    /// Returns the source that the run was opened from.
    pub fn source(&self) -> &Rc<dyn Source> {
        &self.values.source
    }
}

/// Settings for opening runs.
#[derive(Default)]
pub struct Options {
    /// The current time in milliseconds since 1970 UTC; without it, runs never count as silent.
    pub now: Option<i64>,
    /// The `.prose` folders of the project and the user, whose agents the run may use.
    pub around: Vec<AgentFolder>,
    /// The run to open in a database of several runs: `latest`, the run's id, or a unique beginning of the id. `None`
    /// opens the run with the name of the database's folder, or else the latest.
    pub run_id: Option<String>,
    /// The name for the run in commands that pages show, such as a path. `None` if commands find the run by its own
    /// name.
    pub called: Option<String>,
    /// Limits on reading databases.
    pub limits: Limits,
}
