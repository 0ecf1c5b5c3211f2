//! Writes a story as the state directory of a reactor, which has one list of receipts and no end.

use prosescope_core::model::text::hex;
use serde_json::json;

use crate::contract2::Files;
use crate::hashes::{FEED, address, receipts};
use crate::story::Story;

pub(crate) fn folder(story: &Story) -> Files {
    let mut files = Files::new();
    let lines: Vec<String> = receipts(story).into_iter().map(|(_, line)| line).collect();
    let list = format!("[{}]\n", lines.join(","));
    files.insert("receipts.json".to_owned(), list.into_bytes());
    files.insert(
        "registry.json".to_owned(),
        b"{\"gateway_cursors\":{}}\n".to_vec(),
    );
    files.insert(
        "compile/topology.json".to_owned(),
        topology(story).into_bytes(),
    );
    for (at, node) in story.nodes.iter().enumerate() {
        let Some(text) = story.truth(at) else {
            continue;
        };
        let bin = bin(&format!("{}.md", story.value_of(at)), text);
        let version = address(text);
        let dir = format!("world-models/{}", hex(node.name.as_bytes()));
        let published = json!({"version": version, "fingerprints": {"@atomic": version}});
        files.insert(
            format!("{dir}/published.json"),
            published.to_string().into_bytes(),
        );
        let file = version.replace(':', "_");
        files.insert(format!("{dir}/versions/{file}.bin"), bin.clone());
        files.insert(format!("{dir}/workspace.bin"), bin);
    }
    files
}

fn topology(story: &Story) -> String {
    let nodes = story.nodes.iter();
    let edges = nodes.clone().flat_map(|node| {
        let reads = node.reads.iter().map(|of| story.nodes[*of].name);
        reads.map(|of| json!({"subscriber": node.name, "producer": of, "facet": "@atomic"}))
    });
    let mut edges: Vec<_> = edges.collect();
    if story.is_fed {
        edges
            .push(json!({"subscriber": story.nodes[0].name, "producer": FEED, "facet": "@atomic"}));
    }
    let named = nodes.map(|node| json!({"node": node.name, "wake_source": "input"}));
    let topology = json!({"nodes": named.collect::<Vec<_>>(), "edges": edges, "acyclic": true});
    json!({"contract_fingerprints": {}, "topology": topology}).to_string()
}

/// Returns the file of one version with one value.
fn bin(name: &str, text: &str) -> Vec<u8> {
    let mut bytes = b"OPWM1".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    for part in [name, text] {
        bytes.extend((part.len() as u32).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes
}
