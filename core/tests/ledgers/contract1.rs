//! Writes a story as a run of contract 1, which has a log and values, but no receipts.

use serde_json::json;

use crate::contract2::{Files, around, log};
use crate::story::Story;

pub(crate) fn folder(story: &Story) -> Files {
    let mut files = Files::new();
    let mut add = |path: String, text: String| {
        files.insert(path, text.into_bytes());
    };
    add("forme.manifest.json".to_owned(), manifest(story));
    for (at, node) in story.nodes.iter().enumerate() {
        let Some(text) = story.truth(at) else {
            continue;
        };
        let name = story.value_of(at);
        let last = name.rsplit('/').next().unwrap_or(&name);
        let head = format!(
            "# {last}\n\nbinding: output\nsource: {}\n\n---\n\n",
            node.name
        );
        add(
            format!("bindings/{}/{name}.md", node.name),
            format!("{head}{text}"),
        );
    }
    for (name, text) in &story.inputs {
        let text = format!("# {name}\n\nbinding: input\nsource: caller\n\n---\n\n{text}");
        add(format!("bindings/caller/{name}.md"), text);
    }
    around(story, &mut add);
    add("vm.log.md".to_owned(), log(story, false));
    files
}

fn manifest(story: &Story) -> String {
    let graph = story.nodes.iter().enumerate().map(|(at, node)| {
        let inputs = node.reads.iter().map(|of| {
            let (name, from) = (story.value_of(*of), story.nodes[*of].name);
            json!({"name": name, "from": "service", "sourceNodeId": from, "sourceOutput": name})
        });
        json!({
            "id": node.name,
            "sourcePath": format!("sources/{}.prose.md", node.name),
            "workspacePath": format!("workspace/{}", node.name),
            "inputs": inputs.collect::<Vec<_>>(),
            "outputs": [{"name": story.value_of(at), "public": true}],
            "errors": [], "delegates": [],
        })
    });
    let order = story.nodes.iter().map(|node| {
        let reads = node.reads.iter().map(|of| story.nodes[*of].name);
        json!({"nodeId": node.name, "dependsOn": reads.collect::<Vec<_>>()})
    });
    json!({
        "openprose_runtime_contract": 1,
        "id": "case",
        "systemName": story.nodes.last().map(|node| node.name),
        "sourcePath": "root.prose.md",
        "caller": {"requires": [], "returns": []},
        "graph": graph.collect::<Vec<_>>(),
        "executionOrder": order.collect::<Vec<_>>(),
        "environment": [], "tools": [], "warnings": [],
    })
    .to_string()
}
