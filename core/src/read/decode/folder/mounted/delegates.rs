//! Reads what nodes asked other nodes: `workspace/{node}/__delegate/{delegate}/{id}.md`, and the answer beside it,
//! `{id}-response.md` (contract-2.md, "Files of a run"). Newer programs also write `handoffs/{number}.json`, and the
//! files that sessions were seen to open, `observed_access.jsonl`.

use std::collections::BTreeSet;

use super::graph::json;
use super::{MOST as MOST_BYTES, RunTree, listed};
use crate::model::Run;
use crate::model::issue::Issue;
use crate::model::text::counted;
use crate::read::decode::jsonl::{text, with_text};

/// Maximum number of requests that are told.
const MOST: usize = 1_000;

/// Adds a remark for each answered request, and an issue for each request without an answer: its node waits.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) {
    let mut open = Vec::new();
    let requests = tree.under("workspace/").filter_map(|place| {
        let path = tree.relative(tree.at(place)?);
        let (node, below) = path
            .strip_prefix("workspace/")?
            .split_once("/__delegate/")?;
        let (delegate, id) = below.strip_suffix(".md")?.split_once('/')?;
        (!id.ends_with("-response")).then_some((path, node, delegate, id))
    });
    for (path, node, delegate, id) in requests.take(MOST) {
        let answer = format!("{}-response.md", path.trim_end_matches(".md"));
        if tree.get(&answer).is_some() {
            let remark = format!("{node} asked {delegate} ({id}); the answer is {answer}");
            run.remarks.push(remark.into());
        } else {
            let message = format!("{node} waits for an answer of {delegate} ({id})");
            let issue = Issue::noted("delegation-open", message).at_file(path);
            open.push(issue.hint("The request is in the file. Only the run's program answers it."));
        }
    }
    for issue in open {
        tree.issue(issue);
    }
    handoffs(tree, run);
    access(tree, run);
}

/// Adds a remark for each task that a node handed to another.
fn handoffs(tree: &mut RunTree<'_>, run: &mut Run) {
    let paths = tree.under("handoffs/");
    let paths = paths.filter_map(|place| Some(tree.relative(tree.at(place)?)));
    let mut paths: Vec<&str> = paths.filter(|path| path.ends_with(".json")).collect();
    // `10.json` comes after `9.json`.
    paths.sort_by_key(|path| (path.len(), *path));
    for path in paths.into_iter().take(MOST) {
        let Some(handoff) = json(tree, path) else {
            continue;
        };
        let word = |key: &str| {
            handoff
                .get(key)
                .and_then(text)
                .unwrap_or_else(|| "?".into())
        };
        let [node, delegate, task] = ["parent_node", "target_delegate", "task_identity"].map(word);
        let remark = format!("{node} handed {task} to {delegate} ({path})");
        run.remarks.push(remark.into());
    }
}

/// Adds a remark with the files that sessions were seen to open. The record names no node.
fn access(tree: &mut RunTree<'_>, run: &mut Run) {
    const FILE: &str = "observed_access.jsonl";
    let Some(log) = tree.get(FILE).and_then(|file| tree.text(file, MOST_BYTES)) else {
        return;
    };
    let mut paths = BTreeSet::new();
    let read = with_text(&log, |_, _, event| {
        paths.extend(event.get("path").and_then(text));
        Ok(())
    });
    tree.issues_of(FILE, read.issues);
    let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
    let files = counted(paths.len() as u64, "file", "files");
    let remark = format!("sessions opened {files} ({FILE}): {}", listed(&paths));
    run.remarks.push(remark.into());
}
