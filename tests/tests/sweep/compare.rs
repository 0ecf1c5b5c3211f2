//! Compares a recorded run with the log of the interpreter that recorded the run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::driver::{Stop, Vm};

/// Rules whose issues are not errors: they describe how the run was recorded, or choices that the program allows.
const NOTES: [&str; 1] = ["completed-by-session"];

/// Compares the recorded run of `vm` with the list of what `vm` did, and returns the differences.
pub(crate) fn compare(vm: &mut Vm) -> Vec<Stop> {
    let mut found = issues(vm).unwrap_or_else(|stop| vec![stop]);
    found.extend(traced(vm).err());
    found
}

/// Compares the trace with the log.
fn traced(vm: &mut Vm) -> Result<(), Stop> {
    let run = vm.run.clone();
    let trace = vm.json(&format!("trace {run}"))?;
    let rows: Vec<&Value> = trace["rows"].as_array().into_iter().flatten().collect();
    let mut by_id: BTreeMap<i64, &Value> = BTreeMap::new();
    for row in &rows {
        let ids = row["aliases"]
            .as_array()
            .into_iter()
            .flatten()
            .chain([&row["id"]]);
        by_id.extend(ids.filter_map(Value::as_i64).map(|id| (id, *row)));
    }
    let differs = |what: String, did: String, says: String| {
        Err(Stop::new(
            format!("trace: {what}"),
            format!("did {did}, trace says {says}"),
        ))
    };
    for (id, did) in &vm.log.by_id {
        let Some(row) = by_id.get(id) else {
            return differs(
                "missing".to_owned(),
                format!("{id} {did:?}"),
                "nothing".to_owned(),
            );
        };
        let what = format!("{id}, line {:?}, {}", did.line, row["text"]);
        let status = row["status"].as_str().unwrap_or_default();
        // If a later attempt completed the enclosing statement, the trace shows the failure inside of it as recovered.
        let recovered = did.status == "failed" && status == "recovered";
        // A parallel that needs only some of its branches may be joined while others run, and statements in these.
        let drops =
            |text: &str| text.contains("parallel (\"first") || text.contains("parallel (\"any");
        let joined = by_id
            .values()
            .any(|row| row["text"].as_str().is_some_and(drops));
        let left = joined && did.status == "executing" && status == "abandoned";
        if status != did.status && !recovered && !left {
            return differs(
                format!("status of {what}"),
                did.status.to_owned(),
                status.to_owned(),
            );
        }
        if did.line.is_some() && row["line"].as_u64() != did.line.map(u64::from) {
            return differs(
                format!("line of {what}"),
                format!("{:?}", did.line),
                row["line"].to_string(),
            );
        }
        if row["line_guessed"] == true {
            return differs(
                format!("line of {what}"),
                format!("{:?}", did.line),
                "a guess".to_owned(),
            );
        }
        if row["attempts"].as_u64() != Some(did.attempts.into()) {
            return differs(
                format!("attempts of {what}"),
                did.attempts.to_string(),
                row["attempts"].to_string(),
            );
        }
        if did.branch.is_some() && row["branch"].as_str() != did.branch.as_deref() {
            return differs(
                format!("branch of {what}"),
                format!("{:?}", did.branch),
                row["branch"].to_string(),
            );
        }
        let wrote = row["bindings"].as_array().into_iter().flatten();
        let mut wrote: Vec<String> = wrote
            .filter_map(|binding| binding["name"].as_str().map(str::to_owned))
            .collect();
        let mut did_write = did.wrote.clone();
        for names in [&mut wrote, &mut did_write] {
            names.sort();
            names.dedup();
        }
        if wrote != did_write {
            return differs(
                format!("bindings of {what}"),
                did_write.join(", "),
                wrote.join(", "),
            );
        }
        let rounds = rounds(&rows, row);
        if rounds != did.rounds {
            return differs(
                format!("rounds of {what}"),
                did.rounds.to_string(),
                rounds.to_string(),
            );
        }
    }
    gates_and_items(vm, &rows)
}

/// Counts the rounds directly below a row.
fn rounds(rows: &[&Value], of: &Value) -> u32 {
    let level = of["level"].as_u64().unwrap_or(0);
    let below = rows
        .iter()
        .skip_while(|row| row["node"] != of["node"])
        .skip(1);
    let below = below.take_while(|row| row["level"].as_u64().unwrap_or(0) > level);
    let own =
        below.filter(|row| row["kind"] == "round" && row["level"].as_u64() == Some(level + 1));
    u32::try_from(own.count()).unwrap_or(u32::MAX)
}

fn gates_and_items(vm: &Vm, rows: &[&Value]) -> Result<(), Stop> {
    for (id, line, decision) in &vm.log.gates {
        let row = rows.iter().find(|row| row["gate"].as_str() == Some(id));
        let status = row.map_or("nothing", |row| row["status"].as_str().unwrap_or_default());
        if !status.contains(decision) {
            return Err(Stop::new(
                format!("trace: gate {id}, line {line:?}"),
                format!("did {decision}, trace says {status}"),
            ));
        }
    }
    for (line, item) in &vm.log.items {
        let known = rows.iter().any(|row| row["branch"].as_str() == Some(item));
        if !known {
            return Err(Stop::new(
                format!("trace: item {item} of line {line}"),
                "no branch of that name".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Returns the issues that `check` reports, the first of each rule.
fn issues(vm: &mut Vm) -> Result<Vec<Stop>, Stop> {
    let run = vm.run.clone();
    let report = vm.json(&format!("check {run}"))?;
    let issues = report["runs"][0]["issues"].as_array().cloned();
    let mut found: Vec<Stop> = Vec::new();
    for issue in issues.unwrap_or_default() {
        let text = |key: &str| issue[key].as_str().unwrap_or_default().to_owned();
        if NOTES.contains(&&*text("rule")) {
            continue;
        }
        let rule = format!("check: {} {}", text("severity"), text("rule"));
        if !found.iter().any(|known| known.tried == rule) {
            found.push(Stop::new(
                rule,
                format!("{} ({})", text("message"), text("place")),
            ));
        }
    }
    Ok(found)
}
