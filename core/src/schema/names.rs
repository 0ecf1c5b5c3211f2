//! The documents' tables and columns, as data.

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

/// A table as a document defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in the document's order.
    pub columns: &'static [&'static str],
    /// Whether the earlier document (`sqlite-earlier.md`) has it too.
    pub earlier: bool,
}

/// All tables of sqlite.md and sqlite-earlier.md, in the order in which the document creates them.
pub const TABLES: &[TableSpec] = &[
    TableSpec {
        name: RUN,
        columns: &[
            "id",
            "program_path",
            "program_source",
            "started_at",
            "updated_at",
            "status",
            "state_mode",
        ],
        earlier: true,
    },
    TableSpec {
        name: EXECUTION,
        columns: &[
            "id",
            "statement_index",
            "statement_text",
            "status",
            "started_at",
            "completed_at",
            "error_message",
            "parent_id",
            "metadata",
        ],
        earlier: true,
    },
    TableSpec {
        name: BINDINGS,
        columns: &[
            "name",
            "execution_id",
            "kind",
            "value",
            "source_statement",
            "created_at",
            "updated_at",
            "attachment_path",
        ],
        earlier: true,
    },
    TableSpec {
        name: AGENTS,
        columns: &["name", "scope", "memory", "created_at", "updated_at"],
        earlier: true,
    },
    TableSpec {
        name: AGENT_SEGMENTS,
        columns: &[
            "id",
            "agent_name",
            "segment_number",
            "timestamp",
            "prompt",
            "summary",
        ],
        earlier: true,
    },
    TableSpec {
        name: IMPORTS,
        columns: &[
            "alias",
            "source_url",
            "fetched_at",
            "inputs_schema",
            "outputs_schema",
        ],
        earlier: true,
    },
    TableSpec {
        name: GATES,
        columns: &[
            "id",
            "run_id",
            "execution_id",
            "prompt",
            "allow",
            "timeout",
            "timeout_at",
            "on_reject",
            "status",
            "created_at",
            "resolved_at",
            "resolved_by",
            "resolution_comment",
            "metadata",
        ],
        earlier: false,
    },
    TableSpec {
        name: GATE_AUDIT_LOG,
        columns: &[
            "id",
            "gate_id",
            "run_id",
            "event_type",
            "principal",
            "comment",
            "timestamp",
            "metadata",
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

/// Whether a document defines this column of this table. Column names have no case in SQLite.
pub fn known_column(table: &str, column: &str) -> bool {
    table_spec(table).is_some_and(|t| t.columns.iter().any(|c| c.eq_ignore_ascii_case(column)))
}
