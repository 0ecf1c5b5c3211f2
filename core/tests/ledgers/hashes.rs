//! Writes receipts with their hashes, as OpenProse's Reactor does.

use prosescope_core::model::text::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::story::{Outcome, Story, Wake};

/// The name of the connector that brings data in.
pub(crate) const FEED: &str = "feed::ingress";

/// Returns the receipts in the order of the wakes, each with its node's name and its JSON in one line.
pub(crate) fn receipts(story: &Story) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    // The last hash of each node, and the fingerprint of its truth.
    let mut last: Vec<(Option<String>, Option<String>)> = vec![(None, None); story.nodes.len()];
    let mut fed = None;
    if story.is_fed {
        let (line, hash) = finished(fed_receipt(), story.has_hashes);
        fed = hash;
        lines.push((FEED, line));
    }
    for wake in &story.wakes {
        let node = &story.nodes[wake.node];
        let reads = node.reads.iter().map(|of| last[*of].clone());
        let reads: Vec<_> = reads.collect();
        let mut refs: Vec<String> = reads.iter().filter_map(|(hash, _)| hash.clone()).collect();
        refs.extend(fed.clone().filter(|_| wake.node == 0));
        let (prev, old) = last[wake.node].clone();
        let token = match &wake.outcome {
            Outcome::Rendered(text) => Some(address(text)),
            _ => old,
        };
        let body = receipt(story, wake, &token, prev, &refs);
        let (line, hash) = finished(body, story.has_hashes);
        last[wake.node] = (hash, token);
        lines.push((node.name, line));
    }
    lines
}

fn receipt(
    story: &Story,
    wake: &Wake,
    token: &Option<String>,
    prev: Option<String>,
    refs: &[String],
) -> Value {
    let node = &story.nodes[wake.node];
    let mut fingerprints = serde_json::Map::new();
    if let Some(token) = token {
        fingerprints.insert("@atomic".to_owned(), token.clone().into());
        if !node.facet.is_empty() {
            fingerprints.insert(node.facet.to_owned(), token.clone().into());
            // A second facet beside it, so that the order of keys matters.
            fingerprints.insert("\u{fdfd}".to_owned(), token.clone().into());
        }
    }
    let (status, diff) = match &wake.outcome {
        Outcome::Rendered(_) => ("rendered", json!({"summary": "größer \u{1f600}"})),
        Outcome::Skipped => ("skipped", json!({})),
        Outcome::Failed(why, true) => ("failed", json!({ "failure_reason": why })),
        Outcome::Failed(..) => ("failed", json!({})),
    };
    let model = if status == "skipped" {
        "none"
    } else {
        wake.model
    };
    json!({
        "contract_fingerprint": address(node.name),
        "cost": {
            "provider": if status == "skipped" { "none" } else { "acme" },
            "model": model,
            "tokens": {"fresh": wake.fresh, "reused": wake.reused},
            "surprise_cause": wake.source,
        },
        "fingerprints": fingerprints,
        "input_fingerprints": refs,
        "node": node.name,
        "prev": prev,
        "semantic_diff": diff,
        "sig": {"scheme": "none", "null_reason": "local"},
        "status": status,
        "wake": {"source": wake.source, "refs": refs},
    })
}

fn fed_receipt() -> Value {
    json!({
        "contract_fingerprint": format!("{FEED}@edge"),
        "cost": {"provider": "connector", "model": "connector", "tokens": {"fresh": 0, "reused": 0},
            "surprise_cause": "external"},
        "fingerprints": {"@atomic": address("fed")},
        "input_fingerprints": [],
        "node": FEED,
        "prev": null,
        "semantic_diff": {},
        "sig": {"scheme": "none", "null_reason": "local"},
        "status": "rendered",
        "wake": {"source": "external", "refs": []},
    })
}

/// Returns the receipt's line, and its hash if it has one.
fn finished(mut receipt: Value, has_hash: bool) -> (String, Option<String>) {
    if !has_hash {
        return (canonical(&receipt), None);
    }
    receipt["schema"] = "openprose.receipt".into();
    receipt["hash_algorithm"] = "sha256".into();
    let hash = address(&canonical(&receipt));
    receipt["content_hash"] = hash.clone().into();
    (canonical(&receipt), Some(hash))
}

/// Returns `sha256:` and the SHA-256 of a text.
pub(crate) fn address(text: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(text)))
}

/// Returns compact JSON whose keys are sorted by their UTF-16 code units.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_by_key(|key| key.encode_utf16().collect::<Vec<u16>>());
            let pairs = keys
                .iter()
                .map(|key| format!("{}:{}", Value::from(key.as_str()), canonical(&map[*key])));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(canonical).collect();
            format!("[{}]", list.join(","))
        }
        other => other.to_string(),
    }
}
