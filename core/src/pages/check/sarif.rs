use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::model::issue::{Location, Severity};
use crate::pages::view::{CheckReport, CheckedRun, IssueView, RuleView};

/// Returns a report as SARIF 2.1.0 (OASIS standard), which code scanning in CI reads.
///
/// A file and its line are a physical location. A row of a database is a logical location, such as
/// `state.db/execution/12/metadata`; its physical location is the database file, because readers of SARIF require a
/// file. `version` is the version of Prosescope.
pub fn sarif(report: &CheckReport, version: &str) -> Value {
    let rules: Vec<Value> = report.rules.iter().map(rule).collect();
    let results: Vec<Value> = report
        .runs
        .iter()
        .flat_map(|run| run.issues.iter().map(move |issue| (run, issue)))
        .map(|(run, issue)| result(report, run, issue))
        .collect();
    let unreadable: Vec<Value> = report
        .runs
        .iter()
        .filter_map(|run| {
            let text = run.error.as_deref()?;
            Some(json!({
                "level": "error",
                "message": { "text": format!("{}: {text}", run.run) },
            }))
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "prosescope",
                "semanticVersion": version,
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": unreadable.is_empty(),
                "toolExecutionNotifications": unreadable,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(rule: &RuleView) -> Value {
    let usual = rule.severities.first().copied().unwrap_or(Severity::Note);
    let mut markdown = format!(
        "{}\n\n**Why is this bad:** {}\n\n**What to do:** {}\n",
        rule.meaning, rule.why, rule.fix
    );
    for part in &rule.example {
        if part.language.is_empty() {
            markdown.push_str(&format!("\nExample: {}\n", part.text));
            continue;
        }
        let ticks = "`".repeat(if part.text.contains("```") { 4 } else { 3 });
        markdown.push_str(&format!(
            "\n{}:\n\n{ticks}{}\n{}\n{ticks}\n",
            part.title, part.language, part.text
        ));
    }
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.meaning },
        "fullDescription": { "text": format!("{} {}", rule.meaning, rule.fix) },
        "help": { "text": format!("{}\n\nWhy is this bad: {}\n\nWhat to do: {}", rule.meaning, rule.why, rule.fix), "markdown": markdown },
        "defaultConfiguration": { "level": usual.word() },
        "properties": { "tags": [rule.area], "source": rule.source },
    })
}

fn result(report: &CheckReport, run: &CheckedRun, view: &IssueView) -> Value {
    let issue = &view.issue;
    let text = match issue.hint.as_str() {
        "" => issue.message.clone(),
        hint => format!("{} {hint}", sentence(&issue.message)),
    };
    let at = &issue.location;
    let uri = uri(run, at);
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let (Some(line), Some(object)) = (at.line.filter(|l| *l > 0), physical.as_object_mut()) {
        object.insert("region".to_owned(), json!({ "startLine": line }));
    }
    let mut location = Map::new();
    location.insert("physicalLocation".to_owned(), physical);
    if let Some(logical) = logical(run, at) {
        location.insert("logicalLocations".to_owned(), json!([logical]));
    }
    let mut result = json!({
        "ruleId": issue.rule,
        "level": issue.severity.word(),
        "message": { "text": text },
        "locations": [location],
        "partialFingerprints": { "prosescope/v1": fingerprint(&issue.rule, &uri, &view.place) },
        "properties": { "run": run.run },
    });
    let index = report.rules.iter().position(|r| r.name == issue.rule);
    if let (Some(index), Some(object)) = (index, result.as_object_mut()) {
        object.insert("ruleIndex".to_owned(), json!(index));
    }
    result
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '…', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// Returns the file of an issue as a relative or absolute URI reference.
fn uri(run: &CheckedRun, at: &Location) -> String {
    let file = at.file.as_deref().filter(|_| at.table.is_none());
    let file = match (file, at.file.as_deref()) {
        (Some(file), _) => file,
        // An issue in a table of another store, such as an agent's store outside the run, points to that store. Any
        // other table is in the run's own store.
        (None, Some(store)) if store != run.store => store,
        _ => &run.store,
    };
    let folder = run.folder.trim_end_matches('/');
    let path = if folder.is_empty() || folder == "." {
        file.to_owned()
    } else {
        format!("{folder}/{file}")
    };
    encoded(&path)
}

/// Returns a path as a URI reference: escapes characters with a meaning in URIs, and colons, which would end a scheme.
fn encoded(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut out = String::with_capacity(path.len());
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'@' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Returns the logical location of an issue inside a database: its table, row and column, or a key of a header.
fn logical(run: &CheckedRun, at: &Location) -> Option<Value> {
    let table = at.table.as_deref()?;
    let store = at.file.as_deref().unwrap_or(&run.store);
    let mut parts = vec![store.to_owned(), table.to_owned()];
    let mut kind = "table";
    if let Some(row) = at.row {
        parts.push(row.to_string());
        kind = "row";
    }
    if let Some(column) = &at.column {
        parts.push(column.clone());
        kind = "column";
    }
    Some(json!({
        "name": parts.last(),
        "fullyQualifiedName": parts.join("/"),
        "kind": kind,
    }))
}

/// Returns an id that stays the same in the next check: it depends on the rule and the place, not on the message.
fn fingerprint(rule: &str, uri: &str, place: &str) -> String {
    let digest = Sha256::digest(format!("{rule}\n{uri}\n{place}"));
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        for (path, uri) in [
            (".prose/runs/r1/state.db", ".prose/runs/r1/state.db"),
            ("/srv/my runs/state.md", "file:///srv/my%20runs/state.md"),
            ("a:b/ü#1.md", "a%3Ab/%C3%BC%231.md"),
            ("runs\\r1\\state.db", "runs/r1/state.db"),
        ] {
            assert_eq!(encoded(path), uri);
        }
    }
}
