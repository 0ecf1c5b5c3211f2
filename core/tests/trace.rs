//! Rows and the trees that must come out: `fixtures/trace.json` is the project's golden file, `trace-more.json`
//! goes beyond it. Fields that a case does not list are free.

use std::sync::Arc;

use prosescope_core::issue::Issue;
use prosescope_core::model::{
    Execution, Gate, GateStatus, Meta, Program, Run, RunStatus, StateFile, Status,
};
use prosescope_core::time::Stamp;
use prosescope_core::trace::{Node, NodeKind, Trace, fold};
use serde_json::Value;

#[test]
fn every_golden_case_comes_out_as_written() {
    check_file(include_str!("fixtures/trace.json"), 8);
}

/// Reads cases and reports all that fail at once.
fn check_file(text: &str, at_least: usize) {
    let file: Value = serde_json::from_str(text).expect("the fixture is JSON");
    let cases = file["cases"].as_array().expect("it lists cases");
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    let mut wrong = String::new();
    for case in cases {
        let problems = check(case);
        if !problems.is_empty() {
            let name = case["name"].as_str().unwrap_or("?");
            wrong.push_str(&format!("\n{name}:\n  {}\n", problems.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Folds one case; what differs from what it lists.
fn check(case: &Value) -> Vec<String> {
    let run = run_of(case);
    let program = run
        .program
        .source
        .as_deref()
        .map(prosescope_core::program::scan);
    let now = case["now"]
        .as_str()
        .and_then(|now| Stamp::parse(now).millis());
    let trace = fold(&run, program.as_ref(), now);
    let mut wrong = Vec::new();
    sound(&run, &trace, &mut wrong);

    let roots: Vec<usize> = (0..trace.nodes.len())
        .filter(|at| trace.nodes[*at].parent.is_none())
        .collect();
    if let Some(tree) = case["tree"].as_array() {
        siblings("", tree, &roots, &trace, &run, &mut wrong);
    }
    let ids = |nodes: &[usize]| -> Vec<Value> {
        nodes
            .iter()
            .map(|at| trace.nodes[*at].id.map_or(Value::Null, Value::from))
            .collect()
    };
    let mut same = |what: &str, got: Value| {
        if let Some(want) = case.get(what)
            && *want != got
        {
            wrong.push(format!("{what}: wanted {want}, got {got}"));
        }
    };
    same("positions", Value::from(ids(&trace.positions)));
    let cause = trace.first_cause.and_then(|at| trace.nodes[at].id);
    same("first_cause", cause.map_or(Value::Null, Value::from));
    same("because_of", Value::from(ids(&trace.because_of)));
    same("issues", Value::from(trace.issues.len()));
    let mut rules: Vec<&str> = trace.issues.iter().map(|i| i.rule.as_str()).collect();
    rules.sort_unstable();
    same("rules", Value::from(rules));
    let verdict = &trace.verdict;
    same("status", Value::from(verdict.status.as_str()));
    same("source", Value::from(verdict.source.as_str()));
    same("reason", Value::from(verdict.reason.as_str()));
    same("stale", Value::from(verdict.stale));
    same(
        "claims",
        serde_json::to_value(&verdict.claims).expect("claims are JSON"),
    );
    if wrong.iter().any(|w| w.contains("issues")) {
        wrong.extend(trace.issues.iter().map(told));
    }
    wrong
}

fn told(issue: &Issue) -> String {
    format!("issue {}: {}", issue.rule, issue.message)
}

fn siblings(
    path: &str,
    want: &[Value],
    got: &[usize],
    trace: &Trace,
    run: &Run,
    wrong: &mut Vec<String>,
) {
    if want.len() != got.len() {
        let got: Vec<String> = got.iter().map(|at| short(&trace.nodes[*at])).collect();
        wrong.push(format!(
            "{path}/: wanted {} nodes, got {}",
            want.len(),
            got.join(", ")
        ));
        return;
    }
    for (want, at) in want.iter().zip(got) {
        let node = &trace.nodes[*at];
        let path = format!("{path}/{}", short(node));
        let mut differs = |field: &str, got: Value| {
            if let Some(want) = want.get(field)
                && *want != got
            {
                wrong.push(format!("{path}: {field}: wanted {want}, got {got}"));
            }
        };
        differs("id", node.id.map_or(Value::Null, Value::from));
        differs("kind", Value::from(node.kind.word()));
        differs("status", Value::from(node.status.word()));
        differs("aliases", Value::from(node.aliases.clone()));
        differs("attempts", Value::from(node.attempts));
        differs("max", node.max.map_or(Value::Null, Value::from));
        differs("line", node.line.map_or(Value::Null, Value::from));
        differs("text", Value::from(&*node.text));
        differs("inferred", Value::from(node.inferred));
        differs("derived", Value::from(node.derived));
        differs("recovered", Value::from(node.recovered));
        let error = node.error(run).map_or(Value::Null, |e| Value::from(&**e));
        differs("error", error);
        match &node.kind {
            NodeKind::Branch { branch } => differs("branch", Value::from(&**branch)),
            NodeKind::Round { n } => differs("n", Value::from(*n)),
            NodeKind::Gate { gate } => differs("gate", Value::from(&**gate)),
            NodeKind::Frame { block, depth } => {
                differs("block", Value::from(&**block));
                differs("depth", Value::from(*depth));
            }
            _ => {
                for field in ["branch", "n", "gate", "block", "depth"] {
                    differs(field, Value::Null);
                }
            }
        }
        // A case lists children where there are any.
        let children: Vec<usize> = children(trace, *at);
        let none = Vec::new();
        let listed = want["children"].as_array().unwrap_or(&none);
        siblings(&path, listed, &children, trace, run, wrong);
    }
}

fn children(trace: &Trace, of: usize) -> Vec<usize> {
    (0..trace.nodes.len())
        .filter(|at| trace.nodes[*at].parent == Some(of as u32))
        .collect()
}

fn short(node: &Node) -> String {
    match (&node.kind, node.id) {
        (_, Some(id)) => id.to_string(),
        (NodeKind::Round { n }, None) => format!("round {n}"),
        (kind, None) => format!("{} {}", kind.word(), node.text),
    }
}

/// What holds for every trace: preorder, levels, descendants, each row in one node, by_row, positions.
fn sound(run: &Run, trace: &Trace, wrong: &mut Vec<String>) {
    let mut seen: Vec<(i64, u32)> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, node) in trace.nodes.iter().enumerate() {
        while open.last().is_some_and(|(_, end)| *end < at) {
            open.pop();
        }
        let parent = open.last().map(|(at, _)| *at as u32);
        if node.parent != parent || node.level as usize != open.len() {
            wrong.push(format!("node {at} is out of place: {node:?}"));
        }
        let end = at + node.descendants as usize;
        if end >= trace.nodes.len() || open.last().is_some_and(|(_, outer)| end > *outer) {
            wrong.push(format!("node {at} counts too many descendants: {node:?}"));
        }
        open.push((at, end));
        let ids = node.id.iter().chain(&node.aliases);
        seen.extend(ids.map(|id| (*id, at as u32)));
        if node.text.is_empty() && node.id.is_none() {
            wrong.push(format!("node {at} has neither a row nor a name"));
        }
    }
    seen.sort_unstable();
    if seen != trace.by_row {
        wrong.push("by_row is not what the nodes say".to_owned());
    }
    let mut rows: Vec<i64> = run.executions.iter().map(|row| row.id).collect();
    rows.sort_unstable();
    let placed: Vec<i64> = seen.iter().map(|(id, _)| *id).collect();
    if rows != placed {
        wrong.push(format!("rows {rows:?} became {placed:?}"));
    }
    if !trace.positions.is_sorted() || trace.positions.iter().any(|at| *at >= trace.nodes.len()) {
        wrong.push(format!("positions {:?}", trace.positions));
    }
}

fn run_of(case: &Value) -> Run {
    let rows = case["rows"].as_array().expect("a case lists rows");
    let time = |value: &Value| value.as_str().map(Stamp::parse);
    Run {
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

/// `[id, parent_id, statement_index, statement_text, status, metadata, error?, started?]`
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
    })
}

fn gate_of(gate: &Value) -> Gate {
    let text = |key: &str| gate[key].as_str().map(Arc::from);
    Gate {
        id: text("id").expect("a gate has an id"),
        run_id: text("run_id"),
        execution_id: gate["execution_id"].as_i64(),
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
