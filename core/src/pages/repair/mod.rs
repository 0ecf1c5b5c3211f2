//! Decides the changes that `prosescope check --fix` makes to a damaged run, without I/O.
//!
//! [`copy_repaired`] reads the damaged database row by row. It repairs each row with [`Repair::row`]
//! and writes the result into a new database with the corrected schema. The damaged file is never changed, and no data
//! is lost: `x_repaired` keeps the replaced values, and `x_unplaced` the rows that do not fit into any table.
//!
//! | damage | repair |
//! |---|---|
//! | missing tables and columns, wrong keys | the schema is created again, as the errata correct it |
//! | two rows for one name in one frame (errata S2) | the newest stays, the others become history |
//! | a parent that does not exist, is the row itself, is in a cycle, or is contradicted (errata X2) | the parent in the trace |
//! | malformed JSON (errata X13) | an object that contains the text; for approvers, a list that admits no principal (errata G4) |
//! | a status that newer evidence contradicts | the status supported by the evidence, also in the run's row |
//! | a state.md in the folder that contradicts the rows | rendered from the rows; the old file moves to `x_history/` |
//! | a state.md that contradicts the files of its folder | rendered from the run's other records; the old file moves to `x_history/` |
//! | two files for one name in one frame | the current one stays, the others move to `x_history/` |
//! | a missing run row, gates without a run, invalid ids | filled in |

mod copy;
mod plan;
mod row;

use serde::Serialize;

use crate::model::database::Value;
pub use crate::pages::view::MadeRepair;

pub use copy::copy_repaired;
pub use plan::{Repair, StaleState, plan, stale_state_file, superseded_files};
pub use row::{PlacedRow, RepairedRow, as_json};

/// The table that keeps replaced values.
pub const REPAIRED: &str = "x_repaired";
/// The table that keeps rows which do not fit into any other table.
pub const UNPLACED: &str = "x_unplaced";

/// The rules of severity "note" whose findings a repair corrects.
pub const REPAIRED_NOTES: [&str; 2] = ["odd-key", "missing-table"];

/// A record of one repair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepairNote {
    /// The rule of `prosescope check` that found the damage.
    pub rule: &'static str,
    /// The table that contains the repaired row.
    pub table: String,
    /// The id of the row.
    pub row: i64,
    /// The changed column; empty if the repair concerns the whole row.
    pub column: String,
    /// The repair, in a few words.
    pub did: &'static str,
    /// The value before the repair.
    #[serde(skip)]
    pub before: Value<'static>,
    /// The value after the repair.
    #[serde(skip)]
    pub after: Value<'static>,
}
