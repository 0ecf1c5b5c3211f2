//! Tells which generation of OpenProse wrote a run folder, from the files that only that generation writes
//! (contract-2.md, "Generations and how a reader tells them apart"). No file of a run contains the version itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::mounted::INTENT;
use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::source::Source;
use crate::model::{LogEvent, Run, RunStatus};

/// The plan of a run of contract 1: its nodes, and which node reads which.
const MANIFEST: &str = "forme.manifest.json";
/// Maximum bytes read of that plan, and of the list of chats.
const MOST: usize = 16 << 20;
/// The generation whose truth is receipts.
pub(in crate::read::decode) const CONTRACT_2: &str = "OpenProse 0.15 to 0.18 (contract 2)";

/// The generations that a folder shows by files or folders of its own, the newest first.
const MARKS: [(&str, &[&str]); 5] = [
    (
        CONTRACT_2,
        &[INTENT, "world-model/", "receipts/", "state/world-model/"],
    ),
    ("OpenProse 0.12 to 0.14 (contract 1)", &[MANIFEST]),
    ("OpenProse 0.11", &["manifest.run.md"]),
    ("OpenProse 0.9 or 0.10", &["manifest.md", "services/"]),
    ("OpenProse 0.5 to 0.8", &["program.prose"]),
];

/// The name of the fact that names the generation.
const WRITTEN_BY: &str = "written by";

/// Adds the fact that names the generation of OpenProse that wrote the run.
pub(in crate::read::decode) fn written_by(run: &mut Run, generation: &str) {
    run.facts.insert(0, (WRITTEN_BY.into(), generation.into()));
}

/// Names openclaw-prose, which still writes the first form of runs, if its list of chats names this run. The list,
/// `sessions.json`, is in the folder of runs, whose path is `runs` (empty, or ending in `/`). A run that shows another
/// generation keeps it.
pub fn of_chat(source: &dyn Source, runs: &str, run: &mut Run) {
    let path = format!("{runs}sessions.json");
    if source.file(&path).is_none() || run.facts.iter().any(|(key, _)| **key == *WRITTEN_BY) {
        return;
    }
    let bytes = source.read(&path, 0, MOST).unwrap_or_default();
    let chats: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&bytes).unwrap_or_default();
    // A key is a chat and its value a run; the first versions wrote them the other way round.
    let chat = chats.iter().find_map(|(key, value)| match value.as_str()? {
        value if *value == *run.id => Some(&**key),
        value => (**key == *run.id).then_some(value),
    });
    if let Some(chat) = chat {
        run.facts.insert(0, ("chat".into(), chat.into()));
        written_by(run, "openclaw-prose, in the form of OpenProse 0.5 to 0.8");
    }
}

/// Adds a fact about the generation that wrote the folder. The first programs and those that only look like them get
/// none, because the other files of such a run may be of any version.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) {
    let has = |path: &&&str| match path.strip_suffix('/') {
        Some(_) => !tree.under(path).is_empty(),
        None => tree.get(path).is_some(),
    };
    let found: Vec<(&str, &str)> = MARKS
        .iter()
        .filter_map(|(name, marks)| Some((*name, *marks.iter().find(has)?)))
        .collect();
    let fact = match found.as_slice() {
        [] if has(&&"root.prose.md") && has(&&"vm.log.md") => {
            "OpenProse 0.12 or later; the files do not show whether by contract 1 or 2"
        }
        [] | [(_, "program.prose")] => return,
        [(name, _), ..] => name,
    };
    written_by(run, fact);
    if let [(newest, _), _, ..] = found.as_slice() {
        let marks: Vec<String> = found
            .iter()
            .map(|(name, mark)| format!("{mark} ({name})"))
            .collect();
        let message = format!(
            "the folder contains files of several generations: {}",
            marks.join(", ")
        );
        let hint = format!(
            "It is read as a run of {newest}. Check whether files of two runs were copied into one folder."
        );
        tree.issue(Issue::warning("mixed-generations", message).hint(hint));
    }
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    graph: Vec<Service>,
}

#[derive(Deserialize)]
struct Service {
    id: String,
}

/// Reads the nodes of a run of contract 1 that no line of the log and no value records. Another object in the file of
/// the plan is left alone: some projects write one of their own.
pub(super) fn nodes_ahead(tree: &mut RunTree<'_>, run: &mut Run) {
    let Some(text) = tree.get(MANIFEST).and_then(|file| tree.text(file, MOST)) else {
        return;
    };
    let Ok(manifest) = serde_json::from_str::<Manifest>(&text) else {
        return;
    };
    let lines = run.log.iter().flat_map(|log| &log.lines);
    // A line with a tag, such as `[input] topic ✓`, is not about a node.
    let lines = lines.filter(|line| line.tag().is_none());
    let mut seen: BTreeSet<&str> = lines
        .filter_map(|line| match &line.event {
            LogEvent::Statement { text, .. } => Some(&**text),
            _ => None,
        })
        .collect();
    let values = run.bindings.iter();
    seen.extend(values.filter_map(|value| Some(value.name.split_once('/')?.0)));
    let ids = manifest.graph.into_iter().map(|service| service.id);
    let ahead = ids.filter(|id| !seen.contains(&**id));
    run.nodes_ahead = ahead.map(Into::into).collect();
    if run.status == Some(RunStatus::Completed) && !run.nodes_ahead.is_empty() {
        let message = format!(
            "the log says that the run ended, but nothing records the nodes {}",
            run.nodes_ahead.join(", ")
        );
        let issue = Issue::noted("node-not-recorded", message).at_file(MANIFEST);
        tree.issue(issue.hint("Check whether the program may leave them out."));
    }
}
