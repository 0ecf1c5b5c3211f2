//! An opened run: the decoded facts, and the way back to its values.
//!
//! ```text
//! survey, choose ──► Session::open ──► Session ─┬─► Opened: run, trace, listing, index (plain data)
//!                                               └─► values: bytes of what is too large to hold
//! pages::overview(&session, now) ──► view::Overview
//! ```
//!
//! A shell finds what a source holds with [`survey`] (or the run that a person named with [`choose`]), lists its runs
//! with [`list`], and opens one place of it with [`Session::open`]. Each page is a function of [`pages`], which returns a
//! struct of [`crate::view`]: of [`Opened`] where the page needs no value, else of a [`Session`], which is an
//! [`Opened`] that can read values. Everything is computed here, once; a shell only shows it. `now` is passed in where
//! it matters, in milliseconds since 1970 UTC.
//!
//! A [`search::Search`] looks for a text in all of it, step by step.
//!
//! A [`Lookup`] and a [`OneAgent`] answer one question each without reading the whole run.

mod around;
mod asked;
mod carry;
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
pub mod pages;
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

use crate::database::Limits;
use crate::source::Source;

pub use around::Around;
pub use carry::Carried;
pub use choose::{ChooseError, choose};
pub use convert::{Each, Files, Left, There, weight};
pub use filter::{Filter, Order, RUN_STATUSES, SILENT, UnknownStatus, began};
pub use history::{DayOfRuns, WhyFailed, day_of, days, why_failed};
pub use list::{Listing, is_of_newest, list, list_again, list_more, list_page, list_while};
pub use lookup::{FoundValue, Lookup};
pub use one_agent::{AgentHome, OneAgent};
pub use open::OpenError;
pub use opened::Opened;
pub use stray::{DatabaseAt, has_stray_database};
pub use survey::{Found, FoundKind, Survey, survey};
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
    /// Returns the path of the run's own database in its source; `None` where the run has none, or shares it with others.
    pub(crate) fn own_database(&self) -> Option<String> {
        let store = self.values.db.as_ref()?;
        if store.db.holds_many_runs() {
            return None;
        }
        Some(match self.source().file(&self.place).is_some() {
            true => self.place.clone(),
            false => format!("{}state.db", self.root),
        })
    }

    /// Returns the source.
    pub fn source(&self) -> &Rc<dyn Source> {
        &self.values.source
    }
}

/// What a shell knows beside the run itself.
#[derive(Default)]
pub struct Options {
    /// Milliseconds since 1970 UTC; without it nothing is called stale.
    pub now: Option<i64>,
    /// Where agents of wider scopes live.
    pub around: Vec<Around>,
    /// Which run of a database that holds several: `latest`, its id or a unique beginning of it; without it the run of
    /// the database's folder, else the latest.
    pub run_id: Option<String>,
    /// What commands call the run, where its own name does not find it: a path.
    pub called: Option<String>,
    /// How far reading a database may go.
    pub limits: Limits,
}
