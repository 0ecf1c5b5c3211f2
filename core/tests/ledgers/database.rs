//! Writes a story as a database of contract 2, with the files beside it.

use rusqlite::Connection;
use serde_json::Value;

use crate::contract2::{Files, RUN, folder as mounted};
use crate::hashes::receipts;
use crate::story::{End, Story};

const SCHEMA: &str = include_str!("../fixtures/sql/contract_2.sql");

pub(crate) fn folder(story: &Story) -> Files {
    let mut files = mounted(story);
    let instead = |path: &String| {
        path.starts_with("receipts/") || path.starts_with("world-model/") || path == "vm.log.md"
    };
    files.retain(|path, _| !instead(path));
    let mut db = Connection::open_in_memory().expect("a database");
    db.execute_batch(SCHEMA).expect("tables");
    let status = match story.end {
        End::Ended => "completed",
        End::Error => "failed",
        End::Open | End::NoLog => "running",
    };
    let run = "INSERT INTO run VALUES (?1, 'root.prose.md', '# Contract', '2026-01-04 10:15:00', '2026-01-04 10:20:00', ?2, 'sqlite')";
    db.execute(run, (RUN, status)).expect("a run");
    let mut add = db
        .prepare("INSERT INTO bindings (name, binding, value) VALUES (?1, ?2, ?3)")
        .expect("SQL");
    for (name, text) in &story.inputs {
        add.execute((name, "input", text)).expect("a value");
    }
    for (at, node) in story.nodes.iter().enumerate() {
        if let Some(text) = story.truth(at) {
            let name = name(&format!("{}/{}", node.name, story.value_of(at)));
            add.execute((name, "output", text)).expect("a value");
        }
    }
    drop(add);
    for (_, line) in receipts(story) {
        let receipt: Value = serde_json::from_str(&line).expect("JSON");
        let cell = |key: &str| match &receipt[key] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            json => Some(json.to_string()),
        };
        let columns = [
            "node",
            "wake",
            "fingerprints",
            "semantic_diff",
            "prev",
            "status",
            "cost",
        ];
        let sql = "INSERT INTO receipt (node, wake, fingerprints, semantic_diff, prev, status, cost) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        db.execute(sql, rusqlite::params_from_iter(columns.map(cell)))
            .expect("a receipt");
    }
    let bytes = db.serialize("main").expect("bytes").to_vec();
    files.insert("state.db".to_owned(), bytes);
    files
}

/// Returns the name of a value in the table, where names are no paths and have only plain characters.
pub(crate) fn name(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = path.chars().map(|c| if plain(c) { c } else { '-' });
    name.collect()
}
