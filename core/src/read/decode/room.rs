//! Limits the memory that one run takes: the approximate size of each kind of row, and the maximum of all rows.

use crate::model::issue::Issue;
use crate::model::schema;

/// Maximum bytes of all rows together, including structures derived from them such as the trace and indexes. With all
/// other memory, the total of a command stays below 256 MB (docs/reference/limits.md).
pub(super) const MOST_HELD: usize = 160 << 20;

/// Additional bytes of an `execution` row that has metadata, such as the row of a frame, a round or a branch.
pub(super) const METADATA: usize = 300;

/// Bytes per program line: the line, its statement, and its links to rows.
const PROGRAM_LINE: usize = 300;

/// Returns the approximate bytes of a table's row without its texts, measured on runs of 40,000 rows of one kind.
pub(super) fn bytes_a_row(table: &str) -> usize {
    match table {
        schema::EXECUTION => 470,
        // The size includes the gate's view, which repeats all columns.
        schema::GATES => 1_800,
        // The size includes the JSON of each row, which is kept for checking the row's seal.
        schema::GATE_AUDIT_LOG => 700,
        schema::BINDINGS => 300,
        schema::IMPORTS => 400,
        _ => 280,
    }
}

/// Returns the approximate bytes of memory that a program takes once it is scanned.
pub(super) fn bytes_of_program(text: &str) -> usize {
    text.lines().count().saturating_mul(PROGRAM_LINE)
}

/// Returns the issue for a table or file of which only the first `most` rows fit in memory.
pub(super) fn too_many_rows(of: &str, most: usize) -> Issue {
    let message = format!(
        "{of} has too many rows for the memory that one run may take; only the first {most} rows are shown"
    );
    Issue::error("too-many-rows", message)
}
