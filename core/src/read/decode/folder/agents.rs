//! Reads the persistent agents of a folder: `agents/{name}/memory.md` and the agent's segment files.

use std::collections::BTreeMap;

use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::source::{FileEntry, Source};
use crate::model::{Agent, AgentScope, ValueAt};
use crate::read::decode::memory_md::{
    SEGMENT_MOST, SegmentFile, agent_of, segment, segment_number,
};
use crate::read::decode::text::lossy;

/// Maximum number of segment files read, over all agents. Of further segments, only the number is known.
const MOST_SEGMENTS: usize = 20_000;

/// Reads the agents in `dir`, a path inside the tree that ends in `/`. `store` is the path of `dir` that users see; the
/// store of each agent is that path plus the agent's name.
pub(super) fn read(
    tree: &mut RunTree<'_>,
    dir: &str,
    scope: &AgentScope,
    store: &str,
) -> Vec<Agent> {
    let mut by_name: BTreeMap<&str, Vec<(&str, &FileEntry)>> = BTreeMap::new();
    for place in tree.under(dir) {
        let Some(file) = tree.at(place) else { continue };
        let inside = tree.relative(file).get(dir.len()..).unwrap_or_default();
        if let Some((name, rest)) = inside.split_once('/') {
            by_name.entry(name).or_default().push((rest, file));
        }
    }
    let mut left = MOST_SEGMENTS;
    by_name
        .into_iter()
        .map(|(name, files)| {
            agent(
                tree,
                name,
                &files,
                scope,
                &format!("{store}{name}/"),
                &mut left,
            )
        })
        .collect()
}

/// Returns the files of an agent's segments with their numbers. `dir` is the agent's folder, ending in `/`.
pub(super) fn segment_files<'s>(
    source: &'s dyn Source,
    dir: &str,
    agent: &str,
) -> impl Iterator<Item = (i64, &'s FileEntry)> {
    source.below(dir).iter().filter_map(move |file| {
        let number = segment_number(agent, file.path.get(dir.len()..)?)?;
        Some((number, file))
    })
}

fn agent(
    tree: &mut RunTree<'_>,
    name: &str,
    files: &[(&str, &FileEntry)],
    scope: &AgentScope,
    store: &str,
    left: &mut usize,
) -> Agent {
    let mut agent = Agent {
        name: name.into(),
        scope: scope.clone(),
        store: store.into(),
        ..Agent::default()
    };
    for (rest, file) in files {
        if *rest == "memory.md" {
            agent.memory = ValueAt::file(&file.path, file.len);
            if let Some(head) = tree.head(file, 512) {
                let (head, _) = lossy(&head);
                if let Some(said) = agent_of(&head).filter(|said| *said != name) {
                    let message =
                        format!("the `memory.md` of agent {name} names another agent: {said}");
                    let issue =
                        Issue::noted("memory-of-another", message).at_file(tree.relative(file));
                    tree.issue(issue.hint("The agent is named after its folder. Check whether the file belongs to the other agent."));
                }
            }
        } else if let Some(number) = segment_number(name, rest) {
            let text = match *left {
                0 => None,
                _ => tree.text(file, SEGMENT_MOST),
            };
            *left = left.saturating_sub(1);
            let read = text.map_or_else(SegmentFile::default, |text| segment(&text));
            if let Some(said) = read.number.filter(|said| *said != number) {
                let message = format!(
                    "the header of {rest} has another segment number than the file's name: {said}"
                );
                let issue = Issue::noted("segment-number", message).at_file(tree.relative(file));
                tree.issue(issue.hint("The number in the file's name is used."));
            }
            agent.segments.push(read.numbered(number));
        }
    }
    agent.segments.sort_by_key(|segment| segment.number);
    for pair in agent.segments.windows(2) {
        if let [a, b] = pair
            && a.number == b.number
        {
            let message = format!("agent {name} has two segments numbered {}", a.number);
            tree.issue(
                Issue::warning("duplicate-segment", message)
                    .at_file(store)
                    .hint("Both segments are shown."),
            );
        }
    }
    if *left == 0 && !agent.segments.is_empty() {
        let message = format!("there are more than {MOST_SEGMENTS} segments");
        tree.issue(
            Issue::warning("segments-cut", message)
                .hint("The segments after these are listed without their text. Open their files to read them."),
        );
    }
    agent
}
