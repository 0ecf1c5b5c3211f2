//! How much of a run is held in memory: about how many bytes each kind of row takes, and where reading stops.

use crate::issue::Issue;
use crate::schema;

/// Bytes that the rows of all tables take together at most, with what is made of them: a trace, an index. A page needs
/// room, too, and all of it fits into 256 MB.
pub(super) const MOST_HELD: usize = 160 << 20;

/// Bytes that a row of `execution` with metadata takes beyond one without: a frame, a round, a branch or an open gate.
pub(super) const METADATA: usize = 300;

/// Bytes that a line of the program takes: the line, its statement, and what rows are tied to it by.
const PROGRAM_LINE: usize = 300;

/// About how many bytes a row of a table takes without its texts, as opened runs of 40,000 rows of one kind were measured.
pub(super) fn bytes_a_row(table: &str) -> usize {
    match table {
        schema::EXECUTION => 470,
        // With its view, which shows all that it has.
        schema::GATES => 1_800,
        // Each is held as JSON as well, which its seal is checked with.
        schema::GATE_AUDIT_LOG => 700,
        schema::BINDINGS => 300,
        schema::IMPORTS => 400,
        _ => 280,
    }
}

/// About how many bytes a scanned program takes.
pub(super) fn bytes_of_program(text: &str) -> usize {
    text.lines().count().saturating_mul(PROGRAM_LINE)
}

/// Says that there was room for so many rows of a table or of a file, which has more.
pub(super) fn too_many_rows(of: &str, most: usize) -> Issue {
    let message = format!(
        "{of} has more than {most} rows; the rows of all tables take more than can be held, and the others are not shown"
    );
    Issue::error("too-many-rows", message)
}
