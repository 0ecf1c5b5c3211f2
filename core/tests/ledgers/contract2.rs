//! Writes a story as a mounted run of contract 2.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use crate::hashes::{FEED, address, receipts};
use crate::story::{End, Outcome, Story, Wake};

/// The files of a folder, by path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The name of the run's folder.
pub(crate) const RUN: &str = "20260104-101500-case01";

pub(crate) fn folder(story: &Story) -> Files {
    let mut files = Files::new();
    let mut add = |path: String, text: String| {
        let file: &mut Vec<u8> = files.entry(path).or_default();
        file.extend(text.into_bytes());
    };
    add("compiled-intent.json".to_owned(), intent(story));
    for (node, line) in receipts(story) {
        add(format!("receipts/{node}.jsonl"), format!("{line}\n"));
    }
    for (at, node) in story.nodes.iter().enumerate() {
        let Some(text) = story.truth(at) else {
            continue;
        };
        let inner = match node.facet {
            "" => "",
            _ => "published/",
        };
        let dir = format!("world-model/{}/", node.name);
        add(
            format!("{dir}{inner}{}.md", story.value_of(at)),
            text.to_owned(),
        );
        add(format!("{dir}.version"), format!("{}\n", address(text)));
    }
    for (name, text) in &story.inputs {
        let text = format!("# {name}\n\nbinding: input\nsource: caller\n\n---\n\n{text}");
        add(format!("world-model/caller/{name}.md"), text);
    }
    around(story, &mut add);
    add("vm.log.md".to_owned(), log(story, true));
    if story.end == End::NoLog {
        files.remove("vm.log.md");
    }
    files
}

/// Adds the files that both contracts have: the sources, and what sessions wrote beside the truth.
pub(crate) fn around(story: &Story, add: &mut impl FnMut(String, String)) {
    let root = story.nodes.last().map_or("", |node| node.name);
    let source = |name: &str| format!("---\nname: {name}\nkind: responsibility\n---\n\n# {name}\n");
    add("root.prose.md".to_owned(), source(root));
    for (at, node) in story.nodes.iter().enumerate() {
        let name = node.name;
        add(format!("sources/{name}.prose.md"), source(name));
        let own = story.wakes.iter().filter(|wake| wake.node == at);
        let why = own.clone().rev().find_map(|wake| match wake.outcome {
            Outcome::Failed(why, _) => Some(why),
            _ => None,
        });
        if let Some(why) = why {
            let text = format!("# Error: {name}\n\n{why}\n");
            add(format!("workspace/{name}/__error.md"), text);
        }
        let asked = own.filter(|wake| wake.asked).count();
        let is_open = story.open == Some(at);
        for ask in 1..=asked + usize::from(is_open) {
            let dir = format!("workspace/{name}/__delegate/{}", story.helper());
            add(format!("{dir}/d{ask}.md"), "Is it right?".to_owned());
            if ask <= asked {
                add(format!("{dir}/d{ask}-response.md"), "Yes.".to_owned());
            }
        }
    }
}

fn intent(story: &Story) -> String {
    let nodes = story.nodes.iter();
    let named = nodes.clone().map(|node| {
        json!({"node": node.name, "contract_fingerprint": address(node.name), "wake_source": "input"})
    });
    let mut edges = Vec::new();
    for node in nodes.clone() {
        for of in &node.reads {
            edges.push(json!({"subscriber": node.name, "producer": story.nodes[*of].name, "facet": "@atomic"}));
        }
    }
    if story.is_fed {
        edges
            .push(json!({"subscriber": story.nodes[0].name, "producer": FEED, "facet": "@atomic"}));
    }
    let entries = nodes.filter(|node| node.reads.is_empty());
    let entries: Vec<&str> = entries.map(|node| node.name).collect();
    json!({
        "kind": "openprose.compile-phase-ir",
        "version": 2,
        "sources": [{"path": "src/root.prose.md", "kind": "responsibility"}],
        "topology": {"nodes": named.collect::<Vec<_>>(), "edges": edges, "entry_points": entries, "acyclic": true},
        "diagnostics": [],
    })
    .to_string()
}

/// Returns the log. In contract 1, a service that ended well is only marked, and there are no skips.
pub(crate) fn log(story: &Story, is_second: bool) -> String {
    let root = story.nodes.last().map_or("", |node| node.name);
    let mut text = format!("# run:{RUN} {root}\n\nroot: src/{root}.prose.md\n\n");
    let mut number = 0;
    for (name, _) in &story.inputs {
        number += 1;
        let _ = writeln!(text, "{number}→ [input] {name} ✓");
    }
    let mut rest = story.wakes.as_slice();
    while let [wake, later @ ..] = rest {
        number += 1;
        rest = later;
        let Some(second) = later
            .first()
            .filter(|next| story.has_groups && apart(story, wake, next))
        else {
            wakes(&mut text, story, &number.to_string(), wake, is_second);
            continue;
        };
        rest = &later[1..];
        let [a, b] = [wake, second].map(|wake| story.nodes[wake.node].name);
        let _ = writeln!(text, "{number}→ ∥start {a},{b}");
        wakes(&mut text, story, &format!("{number}a"), wake, is_second);
        wakes(&mut text, story, &format!("{number}b"), second, is_second);
        let _ = writeln!(text, "{number}→ ∥done");
    }
    if let Some(open) = story.open {
        let (node, helper) = (story.nodes[open].name, story.helper());
        let _ = writeln!(text, "{}→ {node} ⇒ {helper} (delegate: d1)", number + 1);
    }
    match story.end {
        End::Ended => text.push_str("---end 2026-01-04T10:20:00Z\n"),
        End::Error => text.push_str("---error 2026-01-04T10:20:00Z the session was lost\n"),
        End::Open | End::NoLog => {}
    }
    text
}

/// Whether two wakes in a row may happen at the same time.
fn apart(story: &Story, a: &Wake, b: &Wake) -> bool {
    a.node != b.node && !story.nodes[b.node].reads.contains(&a.node)
}

fn wakes(text: &mut String, story: &Story, number: &str, wake: &Wake, is_second: bool) {
    let (node, helper) = (story.nodes[wake.node].name, story.helper());
    if wake.asked {
        let _ = writeln!(text, "{number}→ {node} ⇒ {helper} (delegate: d1)");
        let _ = writeln!(text, "{number}→   {helper} ✓");
        let _ = writeln!(text, "{number}→ {node} ⟳ (resumed)");
    }
    let mark = match &wake.outcome {
        Outcome::Failed(..) if story.omits_failures => return,
        Outcome::Failed(why, _) => format!("✗ {why}"),
        _ if !is_second => "✓".to_owned(),
        Outcome::Rendered(_) => "✓ rendered".to_owned(),
        Outcome::Skipped => "∅ skipped".to_owned(),
    };
    let _ = writeln!(text, "{number}→ {node} {mark}");
}
