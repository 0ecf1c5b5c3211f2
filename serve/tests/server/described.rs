//! Tests that `/openapi.json` is valid and matches the server's answers.

use std::process::Command;
use std::sync::OnceLock;

use prosescope_test_support::needs;
use serde_json::Value;

use super::{Reply, Site, TOKEN};

/// Statuses of any HTTP server, which need no description: a request that cannot be parsed, a head that is too long,
/// a preflight, a method that a path does not accept.
const OF_HTTP: [u16; 4] = [0, 204, 405, 431];

/// Checks that an answer is one that the description lists for its path. All tests call this for every answer.
#[track_caller]
pub(super) fn check(method: &str, path: &str, reply: &Reply) {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| {
        serde_json::from_str(&prosescope_serve::openapi()).expect("the description is JSON")
    });
    let path = path.split('?').next().unwrap_or_default();
    let paths = document["paths"].as_object().expect("paths");
    let Some(operation) = paths
        .iter()
        .find(|(template, _)| is_of(path, template))
        .and_then(|(_, item)| item.get(method.to_ascii_lowercase()))
    else {
        return;
    };
    if OF_HTTP.contains(&reply.status) {
        return;
    }
    let responses = &operation["responses"];
    let own = responses.get(reply.status.to_string());
    let described = own
        .or_else(|| responses.get("default").filter(|_| reply.status >= 400))
        .unwrap_or_else(|| panic!("{method} {path}: no {}: {reply:?}", reply.status));
    let of = reply.header("content-type").unwrap_or_default();
    let of = of.split(';').next().unwrap_or_default();
    let is_described = described["content"]
        .as_object()
        .is_none_or(|content| content.contains_key(of));
    assert!(is_described, "{method} {path}: {of}: {described}");
}

/// Returns whether a path matches a template, whose `{id}` is one segment.
fn is_of(path: &str, template: &str) -> bool {
    let (path, template) = (path.split('/'), template.split('/'));
    path.clone().count() == template.clone().count()
        && path
            .zip(template)
            .all(|(said, of)| of == said || of == "{id}")
}

#[test]
fn the_description_is_a_valid_document() {
    let Some(validator) = needs::python_tool("openapi-spec-validator") else {
        return;
    };
    let site = Site::new();
    let file = site.folder.path().join("openapi.json");
    std::fs::write(&file, site.get("/openapi.json").body).unwrap();
    let out = Command::new(validator).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
}

/// Sends requests generated from the description. Valid requests must be answered as described, invalid ones refused.
#[test]
fn the_description_is_true() {
    let Some(schemathesis) = needs::python_tool("schemathesis") else {
        return;
    };
    let site = Site::new();
    let (of, _) = site.begin();
    assert!(!of.is_empty());
    let folder = site.folder.path();
    // Stores differ in texts with a NUL: SQLite accepts them, PostgreSQL does not. A schema cannot express the
    // version of a workflow.
    let settings = r#"
[parameters]
"path.id" = "latest"
[generation]
allow-x00 = false
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 403, 404, 409, 412]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 412, 415]
"#;
    std::fs::write(folder.join("schemathesis.toml"), settings).unwrap();
    let out = Command::new(schemathesis)
        .args(["--no-color", "run"])
        .arg(format!("http://{}/openapi.json", site.address))
        .args(["--header", &format!("Authorization: Bearer {TOKEN}")])
        .args(["--seed", "1", "--max-examples", "10", "--workers", "1"])
        // The routes of streams are left out, because a stream never ends by itself.
        .args(["--exclude-path-regex", "/events/(stream|ws)$"])
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
}
