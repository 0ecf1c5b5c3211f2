//! The documents' tables and columns, as data: what is looked for, what is missing, and how rows are read.

use crate::database::{NEAR, Want};

/// `run`: one row a run.
pub const RUN: &str = "run";
/// `execution`: what was executed.
pub const EXECUTION: &str = "execution";
/// `bindings`: named values.
pub const BINDINGS: &str = "bindings";
/// `agents`: persistent agents and their memory.
pub const AGENTS: &str = "agents";
/// `agent_segments`: an agent's invocations.
pub const AGENT_SEGMENTS: &str = "agent_segments";
/// `imports`: imported programs.
pub const IMPORTS: &str = "imports";
/// `gates`: approval gates; sqlite.md only, the earlier document has none.
pub const GATES: &str = "gates";
/// `gate_audit_log`: what happened at gates; sqlite.md only.
pub const GATE_AUDIT_LOG: &str = "gate_audit_log";
/// `x_binding_history`: our extension, earlier values of bindings (errata B6).
pub const BINDING_HISTORY: &str = "x_binding_history";
/// `x_agent_memory_history`: our extension, earlier memories (errata A1).
pub const AGENT_MEMORY_HISTORY: &str = "x_agent_memory_history";

/// Our extension column of `bindings`: the frame around the row's frame, where no row of `execution` records it. A database has
/// it only where a run came from a folder, whose headers say so.
pub const FRAME_AROUND: &str = "x_parent_execution_id";

/// A table as a document defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in the document's order, and how a list reads each. One that is missing reads as empty.
    pub columns: &'static [Want<'static>],
    /// Whether the earlier document (`sqlite-earlier.md`) has it too.
    pub earlier: bool,
}

impl TableSpec {
    /// The names of its columns.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|want| want.column)
    }
}

/// All tables of sqlite.md and sqlite-earlier.md, in the order in which the document creates them.
pub const TABLES: &[TableSpec] = &[
    TableSpec {
        name: RUN,
        columns: &[
            Want::short("id"),
            Want::short("program_path"),
            Want::size("program_source"),
            Want::short("started_at"),
            Want::short("updated_at"),
            Want::short("status"),
            Want::short("state_mode"),
        ],
        earlier: true,
    },
    TableSpec {
        name: EXECUTION,
        columns: &[
            Want::short("id"),
            Want::short("statement_index"),
            Want::long("statement_text"),
            Want::short("status"),
            Want::short("started_at"),
            Want::short("completed_at"),
            Want::long("error_message"),
            Want::short("parent_id"),
            Want::long("metadata"),
        ],
        earlier: true,
    },
    TableSpec {
        name: BINDINGS,
        columns: &[
            Want::short("name"),
            Want::short("execution_id"),
            Want::short("kind"),
            Want::size("value"),
            Want::long("source_statement").within(NEAR),
            Want::short("created_at").within(NEAR),
            Want::short("updated_at").within(NEAR),
            Want::short("attachment_path").within(NEAR),
        ],
        earlier: true,
    },
    TableSpec {
        name: AGENTS,
        columns: &[
            Want::short("name"),
            Want::short("scope"),
            Want::size("memory"),
            Want::short("created_at").within(NEAR),
            Want::short("updated_at").within(NEAR),
        ],
        earlier: true,
    },
    TableSpec {
        name: AGENT_SEGMENTS,
        columns: &[
            Want::short("id"),
            Want::short("agent_name"),
            Want::short("segment_number"),
            Want::short("timestamp"),
            Want::long("prompt"),
            Want::long("summary"),
        ],
        earlier: true,
    },
    TableSpec {
        name: IMPORTS,
        columns: &[
            Want::short("alias"),
            Want::short("source_url"),
            Want::short("fetched_at"),
            Want::long("inputs_schema"),
            Want::long("outputs_schema"),
        ],
        earlier: true,
    },
    TableSpec {
        name: GATES,
        columns: &[
            Want::short("id"),
            Want::short("run_id"),
            Want::short("execution_id"),
            Want::long("prompt"),
            Want::long("allow"),
            Want::short("timeout"),
            Want::short("timeout_at"),
            Want::long("on_reject"),
            Want::short("status"),
            Want::short("created_at"),
            Want::short("resolved_at"),
            Want::short("resolved_by"),
            Want::long("resolution_comment"),
            Want::long("metadata"),
        ],
        earlier: false,
    },
    TableSpec {
        name: GATE_AUDIT_LOG,
        columns: &[
            Want::short("id"),
            Want::short("gate_id"),
            Want::short("run_id"),
            Want::short("event_type"),
            Want::short("principal"),
            Want::long("comment"),
            Want::short("timestamp"),
            Want::long("metadata"),
        ],
        earlier: false,
    },
];

/// The document's definition of a table. Table names have no case in SQLite.
pub fn table_spec(table: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|t| t.name.eq_ignore_ascii_case(table))
}

/// Whether a document defines this table.
pub fn known_table(table: &str) -> bool {
    table_spec(table).is_some()
}

/// Whether a document defines this column of this table, or we do. Column names have no case in SQLite.
pub fn known_column(table: &str, column: &str) -> bool {
    table_spec(table).is_some_and(|t| {
        t.names().any(|c| c.eq_ignore_ascii_case(column))
            || (t.name == BINDINGS && column == FRAME_AROUND)
    })
}
