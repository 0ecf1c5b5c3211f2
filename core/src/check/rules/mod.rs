//! The rules, one file an area; docs/checks.md is made of them.

mod agents;
mod audit;
mod bindings;
mod database;
mod folder;
mod gates;
mod program;
mod schema;
mod state_file;
mod trace;
mod values;

use super::Area;

/// Every area with its rules, in the order of docs/checks.md.
pub const AREAS: &[Area] = &[
    Area {
        title: "Databases",
        about: "Whether a `state.db` or `agents.db` could be opened and read to its end.",
        rules: database::RULES,
    },
    Area {
        title: "Schema",
        about: "Where tables and columns differ from the documents. Extra tables named `x_…` are welcome.",
        rules: schema::RULES,
    },
    Area {
        title: "Values in rows",
        about: "Cells that hold something else than their column is for. Nothing is refused: what cannot be read is shown as written.",
        rules: values::RULES,
    },
    Area {
        title: "Bindings",
        about: "Named values, in a database or in `bindings/`.",
        rules: bindings::RULES,
    },
    Area {
        title: "Agents",
        about: "Persistent agents, their memory and segments.",
        rules: agents::RULES,
    },
    Area {
        title: "Folders",
        about: "Files of a run folder, and of the source it lies in.",
        rules: folder::RULES,
    },
    Area {
        title: "State files",
        about: "What state.md says, and whether the disk agrees with it.",
        rules: state_file::RULES,
    },
    Area {
        title: "Program and imports",
        about: "The program's source and the runs of what it imports.",
        rules: program::RULES,
    },
    Area {
        title: "Trace",
        about: "What rows say of each other: parents, rounds, ends, and the status of the run.",
        rules: trace::RULES,
    },
    Area {
        title: "Gates",
        about: "Approval gates against their deadlines, their lists of who may decide, their log, and the rows that wait at them.",
        rules: gates::RULES,
    },
    Area {
        title: "Audit log",
        about: "The log of gates against its hash chain. A chain shows that a log agrees with itself, never who wrote it.",
        rules: audit::RULES,
    },
];
