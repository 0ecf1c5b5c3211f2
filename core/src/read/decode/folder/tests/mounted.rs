//! Tests the forms with receipts: mounted runs (contract 2), reactors and hosted downloads. No public run of contract 2
//! exists, so its folders here are made from the specification.

use std::collections::BTreeMap;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::*;
use crate::model::text::hex;
use crate::pages::session::{Options, Session, ValueOf, pages};
use crate::trace::NodeStatus;

/// A receipt of a node, with its hash.
struct Given {
    node: &'static str,
    status: &'static str,
    prev: Option<String>,
    refs: Vec<String>,
    tokens: (u64, u64),
    reason: Option<&'static str>,
}

impl Given {
    fn of(node: &'static str, status: &'static str) -> Given {
        Given {
            node,
            status,
            prev: None,
            refs: Vec::new(),
            tokens: (40, 0),
            reason: None,
        }
    }

    /// Returns the receipt's line and its hash.
    fn line(&self) -> (String, String) {
        let diff = self.reason.map_or(
            serde_json::json!({}),
            |why| serde_json::json!({"failure_reason": why}),
        );
        let receipt = serde_json::json!({
            "contract_fingerprint": "sha256:aa",
            "cost": {"model": "m1", "provider": "acme", "surprise_cause": "input",
                "tokens": {"fresh": self.tokens.0, "reused": self.tokens.1}},
            "fingerprints": {"@atomic": "sha256:11"},
            "hash_algorithm": "sha256",
            "input_fingerprints": [],
            "node": self.node,
            "prev": self.prev,
            "schema": "openprose.receipt",
            "semantic_diff": diff,
            "sig": {"null_reason": "local", "scheme": "none"},
            "status": self.status,
            "wake": {"refs": self.refs, "source": "input"},
        });
        // The keys of `serde_json::Map` are sorted, as the hash demands.
        let hash = format!("sha256:{}", hex(&Sha256::digest(receipt.to_string())));
        let mut receipt = receipt;
        receipt["content_hash"] = hash.clone().into();
        (format!("{receipt}\n"), hash)
    }
}

const INTENT: &str = r#"{"kind": "openprose.compile-phase-ir", "version": 2, "topology": {
    "nodes": [{"node": "editor"}, {"node": "collector"}],
    "edges": [{"subscriber": "editor", "producer": "collector", "facet": "@atomic"}],
    "entry_points": ["collector"], "acyclic": true}}"#;

const ENDED: &str = "# run:r editor\nroot: src/editor.prose.md\n\n1→ [input] topic ✓\n2→ collector ✓ rendered\n3→ editor ✓ rendered\n---end 2026-01-04T10:20:00Z\n";

/// A mounted run in which both nodes rendered, and the log records the end.
fn mounted() -> BTreeMap<String, String> {
    let (collected, hash) = Given::of("collector", "rendered").line();
    let edited = Given {
        refs: vec![hash],
        tokens: (30, 90),
        ..Given::of("editor", "rendered")
    };
    let files = [
        ("compiled-intent.json", INTENT.to_owned()),
        (
            "root.prose.md",
            "---\nname: editor\nkind: responsibility\n---\n".to_owned(),
        ),
        (
            "world-model/caller/topic.md",
            "# topic\n\nbinding: input\nsource: caller\n\n---\n\ntides".to_owned(),
        ),
        (
            "world-model/collector/clippings.md",
            "Five clippings.".to_owned(),
        ),
        ("world-model/collector/.version", "sha256:11\n".to_owned()),
        (
            "world-model/editor/published/short/digest.md",
            "Tides.".to_owned(),
        ),
        ("receipts/collector.jsonl", collected),
        ("receipts/editor.jsonl", edited.line().0),
        ("vm.log.md", ENDED.to_owned()),
    ];
    files.map(|(path, text)| (path.to_owned(), text)).into()
}

fn session(files: &[(&str, &str)]) -> Session {
    Session::open(Rc::new(folder(files)), "", &Options::default()).unwrap()
}

fn open(files: &BTreeMap<String, String>) -> Session {
    let pairs: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
    session(&pairs)
}

fn status(session: &Session) -> String {
    pages::overview(session, None).status
}

fn told(session: &Session) -> Vec<(&str, &NodeStatus)> {
    let nodes = session.trace().nodes.iter();
    nodes.map(|node| (&*node.text, &node.status)).collect()
}

fn rules(session: &Session) -> Vec<String> {
    pages::check(session, None)
        .into_iter()
        .map(|issue| issue.rule)
        .collect()
}

#[test]
fn receipts_say_what_ran_and_what_it_cost() {
    let session = open(&mounted());
    let form = FolderForm::Mounted;
    assert_eq!(session.run().form, Form::Folder { form });
    assert_eq!(status(&session), "completed");
    let ran = [
        ("collector", &NodeStatus::Completed),
        ("editor", &NodeStatus::Completed),
    ];
    assert_eq!(told(&session), ran);
    assert_eq!(rules(&session), [""; 0]);
    let names = session
        .run()
        .bindings
        .iter()
        .map(|b| (&*b.name, b.kind.word(), b.value.len()));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            ("topic", "input", Some(5)),
            ("collector/clippings", "output", Some(15)),
            ("editor/short/digest", "output", Some(6)),
        ]
    );
    let overview = pages::overview(&session, None);
    assert_eq!(
        (&*overview.left, &*overview.form),
        ("nothing", "folder, contract 2")
    );
    let cost = overview.cost.unwrap();
    assert_eq!(
        (cost.total.fresh, cost.total.reused, cost.total.executions),
        (70, 90, 2)
    );
    assert_eq!(cost.by_node[0].name, "collector");
    // The name of a value is enough if only one node has it.
    assert!(session.winner("digest", None).is_some());
    let reads = session
        .trace()
        .nodes
        .iter()
        .filter_map(|node| node.remark(session.run()));
    assert!(
        reads
            .into_iter()
            .any(|said| said.contains("reads collector"))
    );
}

/// The fields are those of upstream's open change #176; no public run has these files.
#[test]
fn handoffs_and_opened_files_are_remarks() {
    let mut files = mounted();
    let mut add = |path: &str, text: &str| _ = files.insert(path.to_owned(), text.to_owned());
    let handoff = |task: &str| {
        format!(
            r#"{{"parent_node": "editor", "target_delegate": "judge", "task_identity": "{task}"}}"#
        )
    };
    add("handoffs/10.json", &handoff("t10"));
    add("handoffs/9.json", &handoff("t9"));
    add("handoffs/11.json", "{");
    add("handoffs/notes.md", "not a handoff");
    let read = r#"{"event": "read", "tool": "Read", "path": "src/b.rs", "start_line": 1}"#;
    let other = read.replace("b.rs", "a.rs");
    add(
        "observed_access.jsonl",
        &format!("{read}\n{other}\n{read}\n{{\n{read}\n"),
    );
    let session = open(&files);
    let remarks = session.run().remarks.iter().map(|remark| &**remark);
    let told = [
        "editor handed t9 to judge (handoffs/9.json)",
        "editor handed t10 to judge (handoffs/10.json)",
        "sessions opened 2 files (observed_access.jsonl): src/a.rs, src/b.rs",
    ];
    assert_eq!(remarks.take(3).collect::<Vec<_>>(), told);
    let issues = session.run().issues.iter();
    let places: Vec<_> = issues
        .map(|issue| (&*issue.rule, issue.location.file.as_deref()))
        .collect();
    let broken = |file| ("malformed-json", Some(file));
    assert_eq!(
        places,
        [broken("handoffs/11.json"), broken("observed_access.jsonl")]
    );
    assert_eq!(status(&session), "completed");
}

/// Since 0.18 the program that runs a graph decides where it puts the receipts.
#[test]
fn receipts_count_wherever_a_run_has_them() {
    let ledgers = ["receipts/collector.jsonl", "receipts/editor.jsonl"];
    let mut list = mounted();
    let [collected, edited] = ledgers.map(|path| list.remove(path).unwrap());
    let with = |more: &[(&str, &str)]| {
        let mut files = list.clone();
        files.extend(
            more.iter()
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned())),
        );
        let session = open(&files);
        (status(&session), told(&session).len(), rules(&session))
    };
    let whole = ("completed".to_owned(), 2, vec![]);
    let state = [
        ("state/world-model/collector/receipts.jsonl", &*collected),
        ("state/world-model/editor/receipts.jsonl", &edited),
        ("state/world-model/editor/notes.jsonl", "not a receipt"),
    ];
    assert_eq!(with(&state), whole);
    let [collector, editor, ..] = state;
    assert_eq!(
        with(&[("receipts.json", &format!("[{collected},{edited}]"))]),
        whole
    );
    assert_eq!(with(&[collector]).1, 1);
    let cut = ("state/world-model/editor/receipts.jsonl", "{\"node\"");
    let damaged = with(&[collector, cut]);
    assert_eq!(
        (&*damaged.0, damaged.2),
        ("unknown", vec!["malformed-json".to_owned()])
    );
    let damaged = with(&[("receipts.json", &format!("[{collected},{edited},{{}}]"))]);
    assert_eq!(
        (damaged.1, damaged.2),
        (2, vec!["malformed-json".to_owned()])
    );
    // Without a plan and values, such a ledger still shows what kind of run the folder has.
    let files = [editor, ("vm.log.md", ENDED)];
    assert_eq!(session(&files).run().form, FolderForm::Mounted.form());
}

/// Whatever the log says, the last receipt of each node counts.
#[test]
fn a_last_receipt_that_failed_beats_the_end_of_the_log() {
    let mut files = mounted();
    let (before, hash) = Given::of("editor", "rendered").line();
    let failed = Given {
        prev: Some(hash),
        reason: Some("out of budget"),
        ..Given::of("editor", "failed")
    };
    let (failed, hash) = failed.line();
    files.insert(
        "receipts/editor.jsonl".to_owned(),
        format!("{before}{failed}"),
    );
    let session = open(&files);
    assert_eq!(status(&session), "failed");
    assert_eq!(rules(&session), ["log-against-receipt"]);
    let overview = pages::overview(&session, None);
    assert_eq!(overview.left, "1 node failed: editor");
    assert_eq!(
        overview.failure.unwrap().error.as_deref(),
        Some("out of budget")
    );
    let digest = session.run().bindings.last().unwrap();
    assert_eq!(
        &*digest.fields[0].1,
        "an earlier receipt: the last one is a failure"
    );
    // After another attempt, the failure is recovered.
    let again = Given {
        prev: Some(hash),
        ..Given::of("editor", "rendered")
    };
    files.insert(
        "receipts/editor.jsonl".to_owned(),
        format!("{before}{failed}{}", again.line().0),
    );
    let session = open(&files);
    assert_eq!(status(&session), "completed");
    let last = session.trace().nodes.last().unwrap();
    assert_eq!((&last.status, last.attempts), (&NodeStatus::Completed, 2));
}

/// Nothing that is taken away, or said otherwise, makes a completion of a run that is none.
#[test]
fn only_receipts_of_all_nodes_and_an_end_make_a_completion() {
    type Change = fn(&mut BTreeMap<String, String>);
    let without = |files: &mut BTreeMap<String, String>, path: &str| drop(files.remove(path));
    let cases: [(Change, &str, &str); 6] = [
        (
            |files| drop(files.remove("vm.log.md")),
            "unknown",
            "not known: no record shows the run's end",
        ),
        (
            |files| drop(files.remove("receipts/editor.jsonl")),
            "unknown",
            "1 node without a receipt: editor",
        ),
        (
            |files| {
                let log = ENDED.replace("---end 2026-01-04T10:20:00Z\n", "");
                files.insert("vm.log.md".to_owned(), log);
            },
            "unknown",
            "not known: no record shows the run's end",
        ),
        (
            |files| {
                let log = ENDED.replace("---end", "---error");
                files.insert("vm.log.md".to_owned(), log);
            },
            "failed",
            "not known: no record shows where the run failed",
        ),
        (
            |files| {
                let cut = files["receipts/editor.jsonl"].chars().take(90).collect();
                files.insert("receipts/editor.jsonl".to_owned(), cut);
            },
            "unknown",
            "1 node without a receipt: editor",
        ),
        (
            |files| {
                let odd = Given::of("editor", "gave up").line().0;
                files.insert("receipts/editor.jsonl".to_owned(), odd);
            },
            "unknown",
            "not known: no record shows the run's end",
        ),
    ];
    for (change, status, left) in cases {
        let mut files = mounted();
        change(&mut files);
        let session = open(&files);
        let overview = pages::overview(&session, None);
        assert_eq!(
            (&*overview.status, &*overview.left),
            (status, left),
            "{:?}",
            files.keys()
        );
    }
    let mut files = mounted();
    without(&mut files, "compiled-intent.json");
    assert_eq!(status(&open(&files)), "completed");
}

#[test]
fn hashes_and_chains_of_receipts_are_verified() {
    let mut files = mounted();
    let line = files["receipts/editor.jsonl"].replace("m1", "m2");
    files.insert("receipts/editor.jsonl".to_owned(), line);
    assert_eq!(rules(&open(&files)), ["receipt-altered"]);
    let other = Given {
        prev: Some("sha256:99".to_owned()),
        ..Given::of("editor", "rendered")
    };
    files.insert("receipts/editor.jsonl".to_owned(), other.line().0);
    assert_eq!(rules(&open(&files)), ["receipt-chain"]);
    // The next receipt of a model that wrote no hash proves nothing.
    let bare = r#"{"node": "editor", "status": "rendered", "prev": null}"#;
    let next = r#"{"node": "editor", "status": "skipped", "prev": "sha256:77"}"#;
    files.insert(
        "receipts/editor.jsonl".to_owned(),
        format!("{bare}\n{next}\n"),
    );
    let session = open(&files);
    assert_eq!(
        session.trace().nodes.last().unwrap().status,
        NodeStatus::Unchanged
    );
    assert!(
        !rules(&session)
            .iter()
            .any(|rule| rule.starts_with("receipt"))
    );
}

#[test]
fn a_reactor_is_read_from_its_list_of_receipts() {
    let (first, hash) = Given::of("source", "rendered").line();
    let second = Given {
        refs: vec![hash],
        ..Given::of("digest", "rendered")
    };
    // The order of the list is the order of time.
    let list = format!("[{},{}]", first.trim(), second.line().0.trim());
    let part = |name: &str, text: &str| {
        let mut bytes = (name.len() as u32).to_le_bytes().to_vec();
        bytes.extend(name.as_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    };
    let mut bin = b"OPWM1".to_vec();
    bin.extend(2_u32.to_le_bytes());
    bin.extend([part("a.md", "first"), part("b.json", "{}")].concat());
    let dir = format!("world-models/{}", hex(b"digest"));
    let files = [
        ("receipts.json".to_owned(), list.into_bytes()),
        (
            "compile/topology.json".to_owned(),
            br#"{"nodes": ["source", "digest"], "edges": []}"#.to_vec(),
        ),
        (
            format!("{dir}/published.json"),
            br#"{"version": "sha256:ab"}"#.to_vec(),
        ),
        (format!("{dir}/versions/sha256_ab.bin"), bin),
    ];
    let source = Rc::new(MemorySource::new("reactor", files));
    let session = Session::open(source, "", &Options::default()).unwrap();
    let form = FolderForm::Reactor;
    assert_eq!(session.run().form, Form::Folder { form });
    let ran = [
        ("source", &NodeStatus::Completed),
        ("digest", &NodeStatus::Completed),
    ];
    assert_eq!(told(&session), ran);
    let overview = pages::overview(&session, None);
    assert_eq!(
        overview.headline,
        "Reactor: 2 receipts, and no node's last receipt is a failure"
    );
    let value = session.winner("digest/a", None).unwrap();
    let value = session.value(&ValueOf::Binding(value), 100).unwrap();
    assert_eq!(value.text, "first");
}

#[test]
fn a_hosted_download_says_what_the_service_recorded() {
    let marker = r#"{"download": {"files": [{"path": "outputs/result.json", "bytes": 10}, {"path": "outputs/log.txt", "bytes": 3}]},
        "run": {"run_id": "run_44", "status": "timeout", "created_at": "2026-01-04T10:15:00Z", "error": "limit of 600 s"}}"#;
    let session = session(&[
        (".prose-run-manifest.json", marker),
        ("outputs/result.json", "{\"rows\":3}"),
    ]);
    let form = FolderForm::Hosted;
    assert_eq!(session.run().form, Form::Folder { form });
    assert_eq!(
        (&*status(&session), &*session.run().id),
        ("timeout", "run_44")
    );
    assert_eq!(rules(&session), ["download-incomplete", "no-program"]);
    let fact = ("error".into(), "limit of 600 s".into());
    assert!(session.run().facts.contains(&fact));
}

/// Every file of a run, cut anywhere: the run opens, and a ledger that lost its receipt completes nothing.
#[test]
fn a_cut_file_completes_nothing() {
    let whole = mounted();
    for (path, text) in &whole {
        for at in (0..text.len()).step_by(5) {
            let mut files = whole.clone();
            let at = text.floor_char_boundary(at);
            files.insert(path.clone(), text[..at].to_owned());
            let session = open(&files);
            let lost =
                path.starts_with("receipts/") || path == "vm.log.md" && at < ENDED.len() - 25;
            assert!(
                !lost || status(&session) != "completed",
                "{path} cut at {at}"
            );
        }
    }
}
