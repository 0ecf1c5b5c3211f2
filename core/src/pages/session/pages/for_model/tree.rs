//! Writes the tree of the trace in few lines for a language model, with rows that went well folded.

use super::block::{LINE, one_line};
use crate::model::text::{counted, short};
use crate::pages::session::Session;
use crate::pages::session::pages::calm::is_odd;
use crate::pages::session::pages::trace::{error_of, has_remarks, remarks_after, status_word};
use crate::pages::view::{Tone, icon, tone};
use crate::trace::{Node, NodeId};

/// The largest number of lines, more than fit into a text of any size.
const MOST: usize = 2_000;
/// The largest number of characters of a remark beside a row.
const REMARK: usize = 200;

/// Returns the lines of the tree around a node, and the index of that node's line.
pub(super) fn tree(session: &Session, focus: Option<NodeId>) -> (Vec<String>, usize) {
    let trace = session.trace();
    // Nodes around the focus, or around a row that did not go well, are unfolded.
    let says =
        |at: NodeId, node: &Node| node.remark(session.run()).is_some() || has_remarks(session, at);
    let shown = trace.above(|at, node| is_odd(node) || focus == Some(at) || says(at, node));
    let mut lines: Vec<String> = remarks_after(session, None)
        .iter()
        .map(|line| remark(line, 0))
        .collect();
    let mut of_focus = 0;
    let mut at = NodeId::new(0);
    while let Some(node) = session.node(at) {
        if focus.is_none_or(|focus| at <= focus) {
            of_focus = lines.len();
        }
        let is_folded = node.descendants > 0 && shown.get(at) != Some(&true);
        lines.push(line(session, at, node, is_folded, focus == Some(at)));
        let remarks = remarks_after(session, Some(at));
        lines.extend(remarks.iter().map(|line| remark(line, node.level)));
        // Lines are collected at least up to the focus, even beyond the limit.
        if lines.len() > MOST && focus.is_none_or(|focus| at > focus) {
            break;
        }
        at = if is_folded { trace.end(at) } else { at.next() };
    }
    let behind = remarks_after(session, Some(trace.nodes.next_key()));
    lines.extend(behind.iter().map(|line| remark(line, 0)));
    let behind = of_focus.saturating_sub(MOST / 2);
    (lines.split_off(behind), of_focus - behind)
}

/// Returns the line of a remark after a row of this level.
fn remark(text: &str, level: u32) -> String {
    let indent = "  ".repeat((level as usize).min(20));
    one_line(&format!(" {indent}· {text}"), LINE)
}

fn line(session: &Session, at: NodeId, node: &Node, folded: bool, focus: bool) -> String {
    let word = status_word(session, node);
    let mark = if focus { ">" } else { " " };
    let indent = "  ".repeat((node.level as usize).min(20));
    let mut line = format!("{} {}", icon(word), short(&node.text, 100));
    if tone(word) != Tone::Ok {
        line.push_str(&format!("  [{word}]"));
    }
    if folded {
        let rows = counted(node.descendants.into(), "row", "rows");
        line.push_str(&format!("  ({rows} below went well)"));
    }
    if let Some(said) = node.remark(session.run()) {
        line.push_str(&format!("  ({})", short(said, REMARK)));
    }
    let error = error_of(session, at, node).filter(|_| node.has_failed());
    if let Some(error) = error {
        line.push_str(&format!("  error: {}", short(error, 80)));
    }
    format!("{mark}{indent}{}", one_line(&line, LINE))
}
