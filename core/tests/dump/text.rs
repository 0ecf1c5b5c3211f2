//! Prints a trace as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use prosescope_core::model::issue::Issue;
use prosescope_core::trace::{Node, NodeId, NodeKind, Trace};
use sha2::{Digest, Sha256};

/// The name of a run, and its interpretation printed as text.
#[derive(Debug, Clone)]
pub(crate) struct Dumped {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Limit for the number of levels that the dump shows by indentation.
const LEVELS: usize = 30;

/// Limit for the printed nodes of one run; a longer trace ends with its length and a hash of all nodes.
const NODES: usize = 200;

pub(crate) fn joined(runs: &[Dumped]) -> String {
    let runs = runs
        .iter()
        .map(|run| format!("## {}\n{}", run.name, run.text));
    runs.collect()
}

/// Returns a run's trace and issues as text.
pub(crate) fn of_trace<'i>(trace: &Trace, issues: impl Iterator<Item = &'i Issue>) -> String {
    let stale = if trace.verdict.stale { " stale" } else { "" };
    let mut text = format!("{}{stale}\n", one_line(&trace.verdict.status, 40));
    let (mut hash, mut written) = (Sha256::new(), 0);
    let marked = |nodes: &[NodeId]| nodes.iter().copied().collect::<BTreeSet<_>>();
    let (stands, because) = (marked(&trace.positions), marked(&trace.because_of));
    for (at, node) in trace.nodes.iter_enumerated() {
        line(&mut text, node);
        let marks = [
            ("stands", stands.contains(&at)),
            ("cause", trace.first_cause == Some(at)),
            ("because", because.contains(&at)),
            ("recovered", node.recovered),
            ("inferred", node.inferred),
            ("derived", node.derived),
        ];
        for (mark, _) in marks.iter().filter(|(_, holds)| *holds) {
            let _ = write!(text, " {mark}");
        }
        text.push('\n');
        hash.update(&text[written..]);
        if usize::from(at) >= NODES {
            text.truncate(written);
        }
        written = text.len();
    }
    if trace.nodes.len() > NODES {
        let hash = hash.finalize();
        let short = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
        let _ = writeln!(text, "of {} nodes, {short:08x}", trace.nodes.len());
    }
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for issue in issues {
        *rules.entry(&issue.rule).or_default() += 1;
    }
    if !rules.is_empty() {
        text.push_str("issues");
        for (rule, count) in rules {
            let _ = match count {
                1 => write!(text, " {rule}"),
                _ => write!(text, " {rule}×{count}"),
            };
        }
        text.push('\n');
    }
    text
}

fn line(text: &mut String, node: &Node) {
    let indent = " ".repeat((node.level as usize).min(LEVELS));
    let _ = match node.id {
        Some(id) => write!(text, "{indent}{id}"),
        None => write!(text, "{indent}- {:?}", one_line(&node.text, 24)),
    };
    for alias in node.aliases.iter().take(8) {
        let _ = write!(text, "+{alias}");
    }
    let _ = write!(text, " {}", node.kind.word());
    let _ = match &node.kind {
        NodeKind::Branch { branch: name } | NodeKind::Gate { gate: name } => {
            write!(text, ":{}", one_line(name, 24))
        }
        NodeKind::Round { n } => write!(text, ":{n}"),
        NodeKind::Frame { block, depth } => write!(text, ":{}:{depth}", one_line(block, 24)),
        _ => Ok(()),
    };
    let _ = write!(text, " {}", one_line(node.status.word(), 24));
    if let Some(line) = node.line {
        let guess = if node.line_guessed { "?" } else { "" };
        let _ = write!(text, " {line}{guess}");
        if let Some(by) = node.line_by {
            let _ = write!(text, " {}", format!("{by:?}").to_lowercase());
        }
    } else {
        text.push_str(" -");
    }
    if node.attempts != 1 || node.max.is_some() {
        let max = node
            .max
            .map_or_else(|| "-".to_owned(), |max| max.to_string());
        let _ = write!(text, " {}/{max}", node.attempts);
    }
}

/// Returns the beginning of a text without line breaks.
fn one_line(text: &str, most: usize) -> String {
    let line = text.chars().take(most);
    line.map(|c| if c.is_control() { '·' } else { c }).collect()
}
