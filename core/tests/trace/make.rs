//! Makes runs from JSON, and single rows from a few arguments.

use std::sync::Arc;

use prosescope_core::model::time::Stamp;
use prosescope_core::model::{
    Execution, Gate, GateRecord, GateStatus, Meta, Program, Run, RunStatus, StateFile, Status,
};
use serde_json::Value;

/// Makes a row from its id, parent, index, text, status and metadata.
pub(crate) fn made(
    id: i64,
    parent: Option<i64>,
    index: i64,
    text: &str,
    status: Status,
    meta: &Option<Arc<Meta>>,
) -> Execution {
    Execution {
        id,
        parent,
        index: Some(index),
        text: text.into(),
        status,
        meta: meta.clone(),
        error: None,
        started: None,
        completed: None,
    }
}

pub(crate) fn running(executions: Vec<Execution>) -> Run {
    Run {
        status: Some(RunStatus::Running),
        executions,
        ..Run::default()
    }
}

pub(crate) fn run_of(case: &Value) -> Run {
    let rows = case["rows"].as_array().expect("a case lists rows");
    let time = |value: &Value| value.as_str().map(Stamp::parse);
    Run {
        id: case["run"].as_str().unwrap_or_default().into(),
        status: case["run_status"].as_str().map(RunStatus::parse),
        program: Program {
            source: case["program"].as_str().map(Arc::from),
            ..Program::default()
        },
        executions: rows.iter().map(row_of).collect(),
        gates: case["gates"]
            .as_array()
            .map(|gates| gates.iter().map(gate_of).collect())
            .unwrap_or_default(),
        state_file: case["state_file"].as_object().map(|file| StateFile {
            status: file["status"].as_str().map(RunStatus::parse),
            updated: file.get("updated").and_then(time),
            ..StateFile::default()
        }),
        updated: time(&case["updated"]),
        ..Run::default()
    }
}

/// Reads a row from `[id, parent_id, statement_index, statement_text, status, metadata, error?, started?]`.
fn row_of(row: &Value) -> Execution {
    Execution {
        id: row[0].as_i64().expect("a row has an id"),
        parent: row[1].as_i64(),
        index: row[2].as_i64(),
        text: row[3].as_str().unwrap_or_default().into(),
        status: Status::parse(row[4].as_str().unwrap_or_default()),
        meta: meta_of(&row[5]).map(Arc::new),
        error: row[6].as_str().map(Arc::from),
        started: row[7].as_str().map(Stamp::parse),
        completed: None,
    }
}

fn meta_of(meta: &Value) -> Option<Meta> {
    let text = |key: &str| meta[key].as_str().map(Arc::from);
    let number = |a: &str, b: &str| meta[a].as_i64().or(meta[b].as_i64());
    meta.as_object().filter(|map| !map.is_empty())?;
    Some(Meta {
        parallel_id: text("parallel_id"),
        branch: text("branch"),
        branches: meta["branches"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).map(Arc::from))
            .map(Iterator::collect)
            .unwrap_or_default(),
        strategy: text("strategy"),
        loop_id: text("loop_id"),
        iteration: number("iteration", "current_iteration"),
        max: meta["max"]
            .as_i64()
            .or_else(|| number("max_iterations", "max_retries")),
        condition: text("condition"),
        attempt: number("attempt", "retry_attempt"),
        gate_id: text("gate_id"),
        block: text("block"),
        depth: meta["depth"].as_i64(),
        reason: text("reason"),
        in_place: !meta["current_iteration"].is_null(),
        ..Meta::default()
    })
}

pub(crate) fn gate_of(gate: &Value) -> Gate {
    let text = |key: &str| gate[key].as_str().map(Arc::from);
    Gate {
        id: text("id").expect("a gate has an id"),
        recorded: GateRecord::Own,
        run_id: text("run_id"),
        execution_id: gate["execution_id"].as_i64(),
        source_execution_id: None,
        prompt: None,
        allow: None,
        timeout: None,
        timeout_at: None,
        on_reject: None,
        status: GateStatus::parse(gate["status"].as_str().unwrap_or_default()),
        created: None,
        resolved: None,
        resolved_by: None,
        comment: None,
        metadata: None,
    }
}
