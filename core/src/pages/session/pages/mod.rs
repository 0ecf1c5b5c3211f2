//! Builds the pages of a run, with one file and one function for each page.
//!
//! A page without values takes an [`Opened`](super::Opened); other pages take a [`Session`]. User interfaces call these
//! functions and display the struct of [`crate::pages::view`] that each function returns.

use serde::{Deserialize, Serialize};

use super::Session;

mod agents;
mod audit;
mod bindings;
mod calm;
mod check;
mod chosen;
mod compare;
mod cost;
mod exit_codes;
mod files;
mod for_model;
pub(super) mod gates;
mod imports;
mod index;
mod joined;
mod lines;
mod next_action;
mod overview;
mod program;
mod questions;
mod resume;
mod run_cost;
mod state;
mod story;
mod task;
mod timeline;
mod trace;
mod unrecorded;
mod work;
mod writes;

pub use super::summary::summary;
pub use agents::agents;
pub(super) use agents::check_agents;
pub use audit::{
    AuditFilter, audit, audit_check, audit_stats, audit_timeouts, gate_waits, longest_first,
};
pub use bindings::{binding_place, binding_row, bindings_page, resolve};
pub(super) use calm::scope_words;
pub use calm::{name_calls, went_well};
pub(super) use check::check_ahead;
pub use check::{check, check_page, check_program};
pub use chosen::{TraceChoice, TraceOrder, chosen, chosen_page};
pub use compare::{COMPARED, CompareOptions, NotComparable, compare};
pub(super) use cost::cost;
pub use files::{files, issues_page, table_rows};
pub use for_model::for_model;
pub(super) use gates::waiting;
pub use gates::{gate, gates};
pub use imports::{imports, in_import};
pub use joined::{chosen_screen, drawn, drawn_parent, trace_page, trace_place, trace_screen};
pub use overview::overview;
pub use program::program_page;
pub use questions::questions;
pub use resume::{resume, resume_begun};
pub use run_cost::run_cost;
pub use state::{state_md, state_page};
pub use task::task;
pub use timeline::timeline;
pub use trace::{next_failure, node_detail, node_ref, tree_row};

/// A page that a user interface can request by name, without any options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Page {
    /// The page that [`overview`] returns.
    Overview,
    /// The page that [`agents`] returns.
    Agents,
    /// The page that [`gates`] returns.
    Gates,
    /// The page that [`imports`] returns.
    Imports,
    /// The page that [`files`] returns.
    Files,
    /// The page that [`issues_page`] returns.
    Issues,
    /// The page that [`resume`] returns.
    Resume,
}

impl Page {
    /// Returns the page's struct as JSON. `now` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    ///
    /// An error if the struct cannot be converted to JSON, which would be a bug.
    pub fn json(self, session: &Session, now: Option<i64>) -> serde_json::Result<String> {
        use serde_json::to_string;
        match self {
            Page::Overview => to_string(&overview(session, now)),
            Page::Agents => to_string(&agents(session)),
            Page::Gates => to_string(&gates(session, now)),
            Page::Imports => to_string(&imports(session)),
            Page::Files => to_string(&files(session)),
            Page::Issues => to_string(&issues_page(session)),
            Page::Resume => to_string(&resume(session, now)),
        }
    }
}

pub(super) use index::NodeIndex;
pub(crate) use trace::error_of;
pub(super) use trace::{error_in, span};
pub(super) use writes::ValueWriter;
