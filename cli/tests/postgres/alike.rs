//! Tests that one script of commands tells the same in each store: the states that PostgreSQL overwrites in a row are kept
//! beside it.

use serde_json::Value;

use crate::commands::{Steps, record_all};
use crate::project::{Project, cluster};
use crate::same::{IDS, page, plain};

const PROGRAM: &str = r#"agent critic:
  persist: true

let plan = session "Plan"
loop until **good** (max: 3):
  draft = session "Draft"
  session: critic
    prompt: "Critique"
let fix = session "Fix"
  retry: 3
parallel:
  a = session "A"
  b = session "B"
    retry: 2
approve go:
  prompt: "Go?"
  allow: ["alice"]
output done = session "Finish"
"#;

/// The steps up to a branch that failed.
const UNTIL: Steps<'static> = &[
    ("", 0, "plan", "begin 4"),
    ("The plan", 0, "", "put plan --into {plan}"),
    ("", 0, "loop", "begin 5"),
    ("", 0, "draft", "begin 6"),
    ("draft 1", 0, "", "put draft --into {draft}"),
    ("", 0, "critic", "begin 7"),
    ("memory 1", 0, "", "agent memory set critic"),
    (
        "segment 1",
        0,
        "",
        "agent segment add critic --prompt Critique",
    ),
    ("", 0, "", "end {critic}"),
    ("", 0, "", "round {loop}"),
    ("", 0, "again", "begin 6"),
    ("draft 2", 0, "", "put draft --into {again}"),
    ("", 0, "", "end {loop} --because condition_satisfied"),
    ("", 0, "fix", "begin 9"),
    ("", 0, "", "fail {fix} no_tools"),
    ("", 0, "", "retry {fix}"),
    ("", 0, "", "fail {fix} no_luck"),
    ("", 0, "", "retry {fix}"),
    ("fixed", 0, "", "put fix --into {fix}"),
    ("", 0, "parallel a b", "begin 11"),
    ("value a", 0, "", "put a --into {a}"),
    ("", 0, "", "fail {b} b_broke"),
];

/// The steps from there to the end.
const THEN: Steps<'static> = &[
    ("", 0, "", "retry {b}"),
    ("value b", 0, "", "put b --into {b}"),
    ("", 0, "", "end {parallel}"),
    ("", 0, "", "gate create --line 15"),
    ("", 0, "", "approve go --as alice"),
    ("", 0, "done", "begin 18"),
    ("the end", 0, "", "put done --into {done}"),
    ("", 0, "", "finish"),
];

/// Keys of the JSON that contain a time.
const TIMES: &[&str] = &[
    "started",
    "ended",
    "duration",
    "duration_ms",
    "created",
    "updated",
    "timestamp",
    "resolved",
    "last_sign",
    "metadata",
];

/// The form decides how many rows an execution has, and the times that it records decide what has to be inferred about a
/// value.
const OF_A_NODE: &[&str] = &["rows", "inferred"];

/// Returns what the pages about a run contain, but for ids, times and names of the store.
fn told(project: &Project, run: &str) -> Vec<(String, Value)> {
    let id = run.trim_start_matches("postgres:");
    let keys = [IDS, TIMES].concat();
    let pages = ["trace", "show", "resume", "agents", "gates"];
    let told = pages.map(|name| {
        (
            name.to_owned(),
            plain(page(project, run, name), run, id, &keys),
        )
    });
    let mut told = Vec::from(told);
    let mut found = project.json(&["search", "draft", "--run", run]);
    let groups = found["runs"][0]["groups"].as_array_mut().unwrap();
    groups.retain(|group| group["kind"] == "statements" || group["kind"] == "values");
    told.push(("search".to_owned(), plain(found, run, id, &keys)));
    let keys = [&keys, OF_A_NODE].concat();
    for row in project.json(&["trace", run])["rows"].as_array().unwrap() {
        if let Some(node) = row["id"].as_i64() {
            let node = project.json(&["trace", run, "--node", &node.to_string()]);
            told.push((row["text"].to_string(), plain(node, run, id, &keys)));
        }
    }
    told
}

#[test]
fn one_script_tells_the_same_in_each_store() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let all = ["sqlite", "filesystem", "postgres"].map(|form| {
        let run = project.init(form);
        let mut ids = Vec::new();
        record_all(&project, &run, UNTIL, &mut ids);
        let next = project.prose(0, &["next", &run], "");
        let id = &ids.iter().find(|(name, _)| *name == "b").unwrap().1;
        let retry = format!("prosescope retry {id} ");
        assert!(next.starts_with(&retry), "{form}: {next}");
        let failed = told(&project, &run);
        record_all(&project, &run, THEN, &mut ids);
        (form, failed, told(&project, &run))
    });
    let [(_, failed, done), others @ ..] = &all;
    for (form, others_failed, others_done) in others {
        let others = others_failed.iter().chain(others_done);
        for (ours, theirs) in failed.iter().chain(done).zip(others) {
            assert_eq!(ours, theirs, "{form}");
        }
    }
}
