//! The tables and columns of OpenProse as data, used to find missing tables and columns and to read rows.

use crate::model::database::{ColumnType, NEAR, Want, is_new_name};

/// The table `run`: one row for each run.
pub const RUN: &str = "run";
/// The table `execution`: one row for each executed statement.
pub const EXECUTION: &str = "execution";
/// The table `bindings`: named values.
pub const BINDINGS: &str = "bindings";
/// The table `agents`: persistent agents and their memory.
pub const AGENTS: &str = "agents";
/// The table `agent_segments`: an agent's invocations.
pub const AGENT_SEGMENTS: &str = "agent_segments";
/// The table `imports`: imported programs.
pub const IMPORTS: &str = "imports";
/// The table `gates`: approval gates. Only sqlite.md has it, not the earlier format.
pub const GATES: &str = "gates";
/// The table `gate_audit_log`: events at gates. Only sqlite.md has it, not the earlier format.
pub const GATE_AUDIT_LOG: &str = "gate_audit_log";
/// The table `x_binding_history`, Prosescope's extension: earlier values of bindings (errata B6).
pub const BINDING_HISTORY: &str = "x_binding_history";
/// The table `x_agent_memory_history`, Prosescope's extension: earlier memories of agents (errata A1).
pub const AGENT_MEMORY_HISTORY: &str = "x_agent_memory_history";
/// The table `x_events` in PostgreSQL, Prosescope's extension: the states of executions, whose rows are updated in
/// place (errata P3).
pub const EVENTS: &str = "x_events";

/// Prosescope's extension column of `bindings`: the id of the frame around the row's frame, if no row of `execution`
/// records it. Only databases converted from a folder have this column, because the header of a binding's file can
/// record the enclosing frame.
pub const FRAME_AROUND: &str = "x_parent_execution_id";

/// A column of `gates` that a database of many runs offers beside its own: the number that the gate's execution has in
/// the store from which the run was copied.
pub const SOURCE_EXECUTION: &str = "x_source_execution_id";

/// A table as OpenProse defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// The name that OpenProse gives the table.
    pub name: &'static str,
    /// The table's columns, in OpenProse's order, and how a list reads each. A missing column reads as empty.
    pub columns: &'static [Want<'static>],
    /// Whether the earlier format (`sqlite-earlier.md`) has the table too.
    pub earlier: bool,
}

impl TableSpec {
    /// Returns the type of a column; also of [`FRAME_AROUND`], which changes write beside OpenProse's columns.
    pub fn kind(&self, column: &str) -> ColumnType {
        let mut wants = self.columns.iter();
        match wants.find(|want| want.column == column) {
            Some(want) => want.kind,
            None if column == FRAME_AROUND => ColumnType::Integer,
            None => ColumnType::Text,
        }
    }

    /// Returns the names of the table's columns.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|want| want.column)
    }
}

/// The column of the table `run` that only databases of contract 2 have.
pub const ROOT_PATH: &str = "root_path";

/// The table with the receipts of a database of contract 2.
pub const RECEIPT: &str = "receipt";

/// The columns of receipts that are read: texts, then objects and lists as JSON.
pub(crate) const RECEIPT_COLUMNS: [Want<'static>; 7] = [
    Want::short("node"),
    Want::short("prev"),
    Want::short("status"),
    Want::json("wake"),
    Want::json("fingerprints"),
    Want::json("semantic_diff"),
    Want::json("cost"),
];

/// The tables that only databases of contract 2 have.
pub(super) const OF_CONTRACT_2: [&str; 3] =
    [RECEIPT, "world_model_version", "world_model_published"];

/// All tables of sqlite.md and sqlite-earlier.md, in the order of creation. Times and metadata of gates and of their
/// log are text in every store, because the chain's hashes cover their exact bytes.
pub const TABLES: &[TableSpec] = &[
    TableSpec {
        name: RUN,
        columns: &[
            Want::short("id"),
            Want::short("program_path"),
            Want::size("program_source"),
            Want::time("started_at"),
            Want::time("updated_at"),
            Want::short("status"),
            Want::short("state_mode"),
        ],
        earlier: true,
    },
    TableSpec {
        name: EXECUTION,
        columns: &[
            Want::integer("id"),
            Want::integer("statement_index"),
            Want::long("statement_text"),
            Want::short("status"),
            Want::time("started_at"),
            Want::time("completed_at"),
            Want::long("error_message"),
            Want::integer("parent_id"),
            Want::json("metadata"),
        ],
        earlier: true,
    },
    TableSpec {
        name: BINDINGS,
        columns: &[
            Want::short("name"),
            Want::integer("execution_id"),
            Want::short("kind"),
            Want::size("value"),
            Want::long("source_statement").within(NEAR),
            Want::time("created_at").within(NEAR),
            Want::time("updated_at").within(NEAR),
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
            Want::time("created_at").within(NEAR),
            Want::time("updated_at").within(NEAR),
        ],
        earlier: true,
    },
    TableSpec {
        name: AGENT_SEGMENTS,
        columns: &[
            Want::integer("id"),
            Want::short("agent_name"),
            Want::integer("segment_number"),
            Want::time("timestamp"),
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
            Want::time("fetched_at"),
            Want::json("inputs_schema"),
            Want::json("outputs_schema"),
        ],
        earlier: true,
    },
    TableSpec {
        name: GATES,
        columns: &[
            Want::short("id"),
            Want::short("run_id"),
            Want::integer("execution_id"),
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
            Want::integer("id"),
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

/// Returns OpenProse's definition of a table. SQLite ignores case in table names.
pub fn table_spec(table: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|t| t.name.eq_ignore_ascii_case(table))
}

/// Returns whether OpenProse defines this table.
pub fn known_table(table: &str) -> bool {
    table_spec(table).is_some()
}

/// Returns whether OpenProse or Prosescope defines this column of this table. SQLite ignores case in column names.
pub fn known_column(table: &str, column: &str) -> bool {
    table_spec(table).is_some_and(|t| {
        t.names().any(|c| c.eq_ignore_ascii_case(column))
            || is_new_name(t.name, column)
            || (t.name == BINDINGS && column == FRAME_AROUND)
    })
}
