//! Runs the cases of `fixtures/trace.json`, the project's golden file, and of `trace-more.json`, which adds cases.
//! Fields that a case does not list may have any value.

use prosescope_core::model::Run;
use prosescope_core::model::issue::Issue;
use prosescope_core::model::time::Stamp;
use prosescope_core::trace::{Node, NodeId, NodeKind, Trace, fold};
use serde_json::Value;

use crate::make::run_of;
use crate::sound::sound;

#[test]
fn every_golden_case_comes_out_as_written() {
    check_file(include_str!("../fixtures/trace.json"), 8);
}

#[test]
fn every_case_of_our_own_comes_out_as_written() {
    check_file(include_str!("../fixtures/trace-more.json"), 80);
}

/// Runs the cases of a golden file and reports all failures at once.
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

/// Builds the trace of one case; returns the differences from the expected trace.
pub(crate) fn check(case: &Value) -> Vec<String> {
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

    let roots: Vec<NodeId> = trace.children(None).collect();
    if let Some(tree) = case["tree"].as_array() {
        siblings("", tree, &roots, &trace, &run, &mut wrong);
    }
    let ids = |nodes: &[NodeId]| -> Vec<Value> {
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
    got: &[NodeId],
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
        // A node without a list of children in the case must not have children.
        let children: Vec<NodeId> = trace.children(Some(*at)).collect();
        let none = Vec::new();
        let listed = want["children"].as_array().unwrap_or(&none);
        siblings(&path, listed, &children, trace, run, wrong);
    }
}

fn short(node: &Node) -> String {
    match (&node.kind, node.id) {
        (_, Some(id)) => id.to_string(),
        (NodeKind::Round { n }, None) => format!("round {n}"),
        (kind, None) => format!("{} {}", kind.word(), node.text),
    }
}
