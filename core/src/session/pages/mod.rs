//! The pages of a run: one file each, one function a view.
//!
//! A page takes an [`Opened`](super::Opened) where its data is all that the page needs, and a
//! [`Session`](super::Session) where it shows values. Shells call these functions and draw the struct of
//! [`crate::view`] that comes back.

mod agents;
mod answer;
mod audit;
mod bindings;
mod check;
mod files;
pub(super) mod gates;
mod imports;
mod index;
mod overview;
mod program;
mod resume;
mod silent;
mod state;
mod story;
mod task;
mod trace;
mod writes;

pub use super::summary::summary;
pub use agents::agents;
pub use audit::{
    AuditFilter, audit, audit_check, audit_stats, audit_timeouts, gate_waits, longest_first,
};
pub use bindings::{binding_place, binding_row, bindings_page, resolve};
pub use check::{check, check_page};
pub use files::{files, issues_page, table_rows};
pub use gates::{gate, gates};
pub use imports::{imports, in_import};
pub use overview::overview;
pub use program::program_page;
pub use resume::resume;
pub use state::{state_md, state_page};
pub use task::task;
pub use trace::{next_failure, node_detail, node_ref, trace_page, trace_place, tree_row};

pub(super) use index::{NodeIndex, node_of_row};
pub(super) use overview::{form_words, run_status};
pub(super) use trace::span;
pub(super) use writes::Written;
