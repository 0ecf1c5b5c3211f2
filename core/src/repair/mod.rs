//! What `prosescope check --fix` changes of a damaged run, decided without I/O.
//!
//! [`crate::sqlite::copy_repaired`] reads the damaged database row by row, asks [`Repair::row`] what the row is to be, and writes that
//! into a new database of the corrected schema, which the store opened; nothing is ever changed in place. What is replaced stays in `x_repaired`, and a
//! row that no table takes in `x_unplaced`: nothing is thrown away.
//!
//! | damage | what becomes of it |
//! |---|---|
//! | missing tables and columns, keys that are none | the schema is made anew, as the errata correct it |
//! | two rows for one name in one frame (errata S2) | the newest stays, the others become history |
//! | parents that are orphans, themselves, circles, or contradicted (errata X2) | where the trace shows the row |
//! | malformed JSON (errata X13) | an object that holds the text; a list of approvers that admits nobody (errata G4) |
//! | a status that newer evidence contradicts | what is believed, with the run's row |
//! | a state.md beside it that its rows contradict | rendered from the rows; the old one goes to `x_history/` |
//! | a state.md that the files of its folder contradict | rendered from what is believed; the old one goes to `x_history/` |
//! | two files for one name in one frame | the one that counts stays, the others go to `x_history/` |
//! | no run row, gates without a run, ids that are none | filled in |

mod plan;
mod row;

use serde::Serialize;

use crate::database::Value;
pub use crate::view::Done;

pub use plan::{Repair, StaleState, plan, stale_state_file, superseded_files};
pub use row::{Placed, Row, as_json};

/// The table in which what was replaced is kept.
pub const REPAIRED: &str = "x_repaired";
/// The table in which rows are kept that no table takes.
pub const UNPLACED: &str = "x_unplaced";

/// Something that was repaired.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    /// The rule of `prosescope check` that it was found by.
    pub rule: &'static str,
    /// The table.
    pub table: String,
    /// The row.
    pub row: i64,
    /// The column; empty for a whole row.
    pub column: String,
    /// What was done, in a few words.
    pub did: &'static str,
    /// What stood there.
    #[serde(skip)]
    pub before: Value<'static>,
    /// What stands there now.
    #[serde(skip)]
    pub after: Value<'static>,
}
