//! Reads what nodes asked other nodes: `workspace/{node}/__delegate/{delegate}/{id}.md`, and the answer beside it,
//! `{id}-response.md` (contract-2.md, "Files of a run").

use super::RunTree;
use crate::model::Run;
use crate::model::issue::Issue;

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
}
