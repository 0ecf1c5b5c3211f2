//! Reads which nodes there are, and which node reads which.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{INTENT, MOST};
use crate::model::issue::Issue;
use crate::model::{FolderForm, Text};
use crate::read::decode::folder::tree::RunTree;
use crate::read::decode::jsonl::text;

/// The nodes of a graph and their edges.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Text>,
    /// For each node, the nodes that it reads, each with the facet unless it reads the whole truth.
    reads: BTreeMap<Text, BTreeSet<Text>>,
    labels: BTreeMap<Text, Text>,
    /// Whether a file names all nodes: each once, and in a form that is read.
    pub(super) is_whole: bool,
}

impl Graph {
    /// Returns the nodes in the order of the file.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| &**node)
    }

    /// Returns the nodes that a node reads.
    pub(super) fn reads(&self, node: &str) -> impl Iterator<Item = &str> {
        self.reads.get(node).into_iter().flatten().map(|of| &**of)
    }

    /// Returns a node's name for people.
    pub(super) fn label(&self, node: &Text) -> Text {
        self.labels.get(node).unwrap_or(node).clone()
    }
}

/// Reads the graph of a folder; an empty graph if no file has it.
pub(super) fn read(tree: &mut RunTree<'_>, form: FolderForm) -> Graph {
    let mut graph = Graph::default();
    let file = match form {
        FolderForm::Reactor => "compile/topology.json",
        _ => INTENT,
    };
    if let Some(json) = json(tree, file) {
        let topology = json.get("topology").unwrap_or(&json);
        let list = |key: &str| {
            topology
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let nodes = list("nodes").filter_map(|node| node.get("node").unwrap_or(node).as_str());
        graph.nodes = nodes.map(Text::from).collect();
        let unlike: BTreeSet<&Text> = graph.nodes.iter().collect();
        graph.is_whole = !unlike.is_empty() && unlike.len() == list("nodes").count();
        for edge in list("edges") {
            let end = |key: &str| edge.get(key).and_then(text);
            let (Some(reader), Some(producer)) = (end("subscriber"), end("producer")) else {
                continue;
            };
            let of = match end("facet").filter(|facet| &**facet != "@atomic") {
                Some(facet) => format!("{producer} ({facet})").into(),
                None => producer,
            };
            graph.reads.entry(reader).or_default().insert(of);
        }
    }
    if let Some(Value::Object(labels)) = json(tree, "labels.json") {
        let labels = labels.iter();
        graph.labels = labels
            .filter_map(|(node, label)| Some((node.as_str().into(), text(label)?)))
            .collect();
    }
    graph
}

pub(super) fn json(tree: &mut RunTree<'_>, path: &str) -> Option<Value> {
    let text = tree.get(path).and_then(|file| tree.text(file, MOST))?;
    match serde_json::from_str(&text) {
        Ok(json) => Some(json),
        Err(error) => {
            let message = format!("{path} is not readable: {error}");
            let issue = Issue::warning("malformed-json", message).at_file(path);
            tree.issue(issue.hint("What the file records is not shown."));
            None
        }
    }
}
