//! Tests to which statement a transcript is joined, on a run with times and on runs with receipts.

use std::rc::Rc;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::*;
use crate::model::schema::STATE_SQL;
use crate::pages::session::Options;
use crate::read::sqlite::MemorySource;
use crate::read::transcript::TranscriptReader;

const RUN: &str = "20260105-100000-aaaaaa";

const PROGRAM: &str = "let plan = session \"Make a plan of the letter\"\nlet draft = session \"Write it\"\nparallel:\n  facts = session \"Check the facts in it\"\n  tone = session \"Check its tone\"\n";

/// Opens a run: `plan` from 10:00 to 10:10, `draft` to 10:20, then `facts` and `tone` at once to 10:30.
fn run(status: &str) -> Session {
    changed(&format!("UPDATE run SET status = '{status}'"))
}

/// Opens the run after a change of its rows.
fn changed(change: &str) -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute(
        "INSERT INTO run (id, program_source, status, started_at, updated_at)
         VALUES (?1, ?2, 'completed', '2026-01-05 10:00:00', '2026-01-05 10:30:00')",
        [RUN, PROGRAM],
    )
    .unwrap();
    conn.execute_batch(
        "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, started_at, completed_at) VALUES
         (1, NULL, 0, 'let plan = session \"Make a plan of the letter\"', 'completed', '2026-01-05 10:00:00', '2026-01-05 10:10:00'),
         (2, NULL, 1, 'let draft = session \"Write it\"', 'completed', '2026-01-05 10:10:00', '2026-01-05 10:20:00'),
         (3, NULL, 2, 'parallel:', 'completed', '2026-01-05 10:20:00', '2026-01-05 10:30:00'),
         (4, 3, 3, 'facts = session \"Check the facts in it\"', 'completed', '2026-01-05 10:20:00', '2026-01-05 10:30:00'),
         (5, 3, 4, 'tone = session \"Check its tone\"', 'completed', '2026-01-05 10:20:00', '2026-01-05 10:30:00');",
    )
    .unwrap();
    conn.execute_batch(change).unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = Rc::new(MemorySource::new("run", [("state.db".to_owned(), bytes)]));
    Session::open(source, "", &Options::default()).unwrap()
}

fn at(time: &str) -> String {
    format!("2026-01-05T{time}Z")
}

fn answer(agent: Option<&str>, time: &str, more: Value) -> Value {
    let mut line = json!({"type": "assistant", "sessionId": "s1", "requestId": format!("r{time}{agent:?}"),
        "timestamp": at(time), "message": {"id": format!("m{time}{agent:?}"), "model": "opus", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 10}}});
    if let Some(agent) = agent {
        line["agentId"] = agent.into();
        line["isSidechain"] = true.into();
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    line
}

/// A session with a call of `Task` with the id `t`, and a subagent `a` that it started, which answered at a time.
fn task(time: &str, description: &str, prompt: &str) -> [(&'static str, Value); 3] {
    let mut call = answer(None, "10:00:05", json!({}));
    call["message"]["content"] = json!([{"type": "tool_use", "id": "t", "name": "Task",
        "input": {"description": description, "prompt": prompt}}]);
    [
        ("s1.jsonl", call),
        (
            "s1/subagents/agent-a.jsonl",
            answer(Some("a"), time, json!({})),
        ),
        ("s1.jsonl", answer(None, "10:29:00", json!({}))),
    ]
}

fn read(files: &[(&str, Value)]) -> Vec<Conversation> {
    let paths: BTreeSet<&str> = files.iter().map(|(path, _)| *path).collect();
    let mut all = Vec::new();
    for path in paths {
        let is_started = path.contains("agent-a.");
        let meta: &[u8] = if is_started {
            br#"{"toolUseId": "t"}"#
        } else {
            b""
        };
        let mut reader = TranscriptReader::new(path, RUN, meta);
        for (_, line) in files.iter().filter(|(of, _)| *of == path) {
            reader.line(line.to_string().as_bytes());
        }
        all.extend(reader.finish().conversations);
    }
    all
}

fn cost_of(session: &Session, files: &[(&str, Value)]) -> RunCost {
    run_cost(session, Some(TranscriptsRead::default()), read(files))
}

fn output(tokens: &BTreeMap<String, TokenUse>) -> Vec<(&str, u64)> {
    let all = tokens.iter();
    all.map(|(model, of)| (&**model, of.output)).collect()
}

/// Returns for each file to which line it is joined and by what evidence, or why not.
fn joins(session: &Session, files: &[(&str, Value)]) -> Vec<String> {
    let view = cost_of(session, files);
    let joined = view.statements.iter().flat_map(|of| {
        let line = of.line.unwrap_or(0);
        of.transcripts.iter().map(move |joined| {
            let by = joined.by.as_deref().expect("it is joined");
            format!("{}: line {line} by {by}: {}", joined.file, joined.why)
        })
    });
    let not = view.not_joined.iter().map(|of| {
        assert_eq!(of.by, None);
        format!("{}: {}", of.file, of.why)
    });
    joined.chain(not).collect()
}

/// Checks how the subagent of a call is joined.
#[track_caller]
fn check(time: &str, description: &str, prompt: &str, expected: &str) {
    let all = joins(&run("completed"), &task(time, description, prompt));
    let own = all
        .iter()
        .find_map(|text| text.strip_prefix("s1/subagents/agent-a.jsonl: "));
    assert_eq!(own, Some(expected), "{all:?}");
}

#[test]
fn a_call_that_names_one_statement_decides_whatever_the_time() {
    for (description, prompt, line, named) in [
        ("", "Write to bindings/draft.md", 2, "bindings/draft.md"),
        ("", "See workspace/draft/ for more", 2, "workspace/draft/"),
        ("", "See bindings/draft__4.md", 2, "bindings/draft__"),
        (
            "Check the tone",
            "Write to bindings/draft.md",
            2,
            "bindings/draft.md",
        ),
        // A workspace is of one node only; bindings are read by others.
        (
            "",
            "Read bindings/plan.md. Write to workspace/draft/",
            2,
            "workspace/draft/",
        ),
        ("Write the draft", "Go", 2, "draft"),
        (
            "",
            "Now: Make a plan of the letter",
            1,
            "Make a plan of the letter",
        ),
        (
            "",
            "Run `prosescope brief 4 --run 20260105-100000-aaaaaa` first",
            4,
            "execution 4",
        ),
    ] {
        check(
            "10:05:00",
            description,
            prompt,
            &format!("line {line} by tool use: {named}"),
        );
    }
}

#[test]
fn a_call_that_names_several_statements_is_not_joined_whatever_the_time() {
    let both = "Read bindings/plan.md and bindings/draft.md";
    let why = "the tool call that started it names several statements: plan, draft";
    check("10:15:00", "", both, why);
    check("10:15:00", "draft", both, why);
    check("10:15:00", "plan, then draft", "Go", why);
}

#[test]
fn a_call_that_names_nothing_leaves_it_to_the_time() {
    // A word of a prompt is no name.
    check("10:15:00", "Help", "Make a good plan", "line 2 by time: ");
    let why = "no tool call names its statement, and ";
    let two = format!("{why}its time allows facts, tone");
    check("10:25:00", "Help", "Go", &two);
    let mut files = task("10:15:00", "Help", "Go").to_vec();
    files.push((
        "s1/subagents/agent-a.jsonl",
        answer(Some("a"), "10:25:00", json!({})),
    ));
    let none =
        format!("s1/subagents/agent-a.jsonl: {why}no statement was executing during all of it");
    assert!(joins(&run("completed"), &files).contains(&none));
}

#[test]
fn a_time_that_may_be_of_a_statement_without_times_proves_nothing() {
    let why = "s1/subagents/agent-a.jsonl: no tool call names its statement, and its time allows ";
    let all = |change: &str, time: &str| joins(&changed(change), &task(time, "Help", "Go"));
    let untimed = "UPDATE execution SET started_at = NULL WHERE id = 5";
    assert!(all(untimed, "10:25:00").contains(&format!("{why}facts, tone")));
    let alone =
        "DELETE FROM execution WHERE id = 4; UPDATE execution SET started_at = NULL WHERE id = 5";
    assert!(all(alone, "10:25:00").contains(&format!("{why}tone")));
    // Nothing around the statement has a time: it may have been executing at any time.
    let nothing = "UPDATE execution SET started_at = NULL WHERE id = 1";
    assert!(all(nothing, "10:15:00").contains(&format!("{why}plan, draft")));
}

#[test]
fn a_call_for_another_run_is_not_joined() {
    let other = "Write to .prose/runs/20260104-090000-bbbbbb/bindings/draft.md";
    let why = "the tool call that started it names another run, 20260104-090000-bbbbbb";
    check("10:15:00", "", other, why);
    let own = "Write to .prose/runs/20260105-100000-aaaaaa/bindings/draft.md";
    check("10:15:00", "", own, "line 2 by tool use: bindings/draft.md");
}

#[test]
fn a_transcript_outside_of_the_runs_time_is_left_out() {
    let view = cost_of(&run("completed"), &task("11:00:00", "draft", "Go"));
    assert_eq!(
        (view.source.as_str(), view.not_joined.len()),
        ("unknown", 1)
    );
    // Without a recorded end, the name of a statement is no evidence: it may be another run of the same program.
    let all = joins(&run("running"), &task("11:00:00", "draft", "Go"));
    let why = "s1/subagents/agent-a.jsonl: its session does not name the run, and the run's end is not recorded";
    assert!(all.iter().any(|text| text == why), "{all:?}");
    let named = format!("draft of {RUN}");
    let all = joins(&run("running"), &task("11:00:00", "draft", &named));
    assert_eq!(
        all[0],
        "s1/subagents/agent-a.jsonl: line 2 by tool use: draft"
    );
}

#[test]
fn a_session_of_another_run_of_the_same_program_is_not_joined() {
    let mut files = task("10:15:00", "draft", "Write bindings/draft.md").to_vec();
    let own = json!({"sessionId": "s2", "cwd": format!("/p/.prose/runs/{RUN}")});
    files.push(("s2.jsonl", answer(None, "10:05:00", own)));
    let all = joins(&run("completed"), &files);
    let other =
        "s1/subagents/agent-a.jsonl: its session does not name the run, and another one does";
    assert!(all.iter().any(|text| text == other), "{all:?}");
    assert_eq!(all[0], "s2.jsonl: line 1 by time: ");
}

#[test]
fn of_two_calls_with_the_same_prompt_none_is_chosen() {
    let mut asks = answer(None, "10:00:05", json!({}));
    let call = |id: &str, name: &str| {
        json!({"type": "tool_use", "id": id, "name": "Task",
            "input": {"description": name, "prompt": "Go on"}})
    };
    asks["message"]["content"] = json!([call("t1", "facts"), call("t2", "tone")]);
    let asked = json!({"type": "user", "sessionId": "s1", "agentId": "b", "isSidechain": true,
        "timestamp": at("10:25:00"), "message": {"content": "Go on"}});
    let does = answer(Some("b"), "10:25:01", json!({}));
    let files = [("s1", asks), ("s1/b", asked), ("s1/b", does)];
    let all = joins(&run("completed"), &files);
    let why = "s1/b: no tool call names its statement, and its time allows facts, tone";
    assert!(all.iter().any(|text| text == why), "{all:?}");
}

#[test]
fn subagents_that_start_each_other_are_no_endless_chain() {
    let of = |agent: &str, call: &str, starts: &str| {
        let mut line = answer(Some(agent), "10:25:00", json!({"parent_tool_use_id": call}));
        line["message"]["content"] = json!([{"type": "tool_use", "id": starts, "name": "Task",
            "input": {"prompt": "Go"}}]);
        line
    };
    let files = [("s1/x", of("x", "tx", "ty")), ("s1/y", of("y", "ty", "tx"))];
    assert_eq!(joins(&run("completed"), &files).len(), 2);
}

#[test]
fn a_subagent_of_a_subagent_belongs_to_the_same_statement() {
    let mut files = task("10:15:00", "draft", "Go").to_vec();
    let mut call = answer(Some("a"), "10:15:30", json!({}));
    call["message"]["content"] = json!([{"type": "tool_use", "id": "t2", "name": "Agent", "input": {"prompt": "Look it up"}}]);
    files.push(("s1/subagents/agent-a.jsonl", call));
    let asked = json!({"type": "user", "sessionId": "s1", "agentId": "b", "isSidechain": true,
        "timestamp": at("10:25:00"), "message": {"content": "Look it up"}});
    files.push(("s1/subagents/agent-b.jsonl", asked));
    files.push((
        "s1/subagents/agent-b.jsonl",
        answer(Some("b"), "10:25:01", json!({})),
    ));
    let all = joins(&run("completed"), &files);
    assert_eq!(
        all[1],
        "s1/subagents/agent-b.jsonl: line 2 by tool use: draft"
    );
    assert_eq!(
        all[2],
        "s1.jsonl: it carried out the run: it started subagents of statements"
    );
}

#[test]
fn an_id_of_an_agent_means_another_agent_in_another_session() {
    let call = |name: &str| json!([{"type": "tool_use", "id": name, "name": "Task", "input": {"prompt": format!("bindings/{name}.md")}}]);
    let mut files = Vec::new();
    for (session, name) in [("s1", "draft"), ("s2", "tone")] {
        let own = json!({"sessionId": session, "requestId": name});
        let mut asks = answer(None, "10:00:05", own.clone());
        asks["message"]["content"] = call(name);
        asks["message"]["id"] = name.into();
        let mut started =
            json!({"type": "user", "sessionId": session, "toolUseResult": {"agentId": "b"}});
        started["message"]["content"] = json!([{"type": "tool_result", "tool_use_id": name}]);
        let mut does = answer(Some("b"), "10:25:00", own);
        does["requestId"] = session.into();
        files.extend([
            (session, asks),
            (session, started),
            (if session == "s1" { "s1/b" } else { "s2/b" }, does),
        ]);
    }
    let all = joins(&run("completed"), &files);
    let own: Vec<&String> = all.iter().filter(|text| text.contains("/b: ")).collect();
    assert_eq!(
        own,
        [
            "s1/b: line 2 by tool use: bindings/draft.md",
            "s2/b: line 5 by tool use: bindings/tone.md"
        ]
    );
}

#[test]
fn a_subagent_of_an_old_version_is_found_by_its_prompt() {
    let [(path, call), ..] = task("10:15:00", "draft", "Go on");
    let side = |mut line: Value, uuid: &str, before: Value| {
        line["isSidechain"] = true.into();
        line["uuid"] = uuid.into();
        line["parentUuid"] = before;
        line
    };
    let asked = json!({"type": "user", "sessionId": "s1", "timestamp": at("10:25:00"), "message": {"content": "Go on"}});
    let files = [
        (path, call),
        (path, side(asked, "u1", Value::Null)),
        (
            path,
            side(answer(None, "10:26:00", json!({})), "u2", "u1".into()),
        ),
    ];
    assert_eq!(
        joins(&run("completed"), &files)[0],
        "s1.jsonl: line 2 by tool use: draft"
    );
}

#[test]
fn a_subagent_of_codex_is_found_by_the_call_of_its_parent() {
    let of = |time: &str, kind: &str, payload: Value| json!({"timestamp": at(time), "type": kind, "payload": payload});
    let totals = json!({"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2});
    let counts = json!({"type": "token_count", "info": {"total_token_usage": totals, "last_token_usage": totals}});
    let spawned = json!({"subagent": {"thread_spawn": {"parent_thread_id": "c1"}}});
    let files = [
        ("r1", of("10:00:01", "session_meta", json!({"id": "c1"}))),
        (
            "r1",
            of(
                "10:10:00",
                "response_item",
                json!({"type": "function_call", "name": "spawn_agent",
            "call_id": "k", "arguments": format!("{{\"message\": \"{RUN}: write bindings/draft.md\"}}")}),
            ),
        ),
        (
            "r1",
            of(
                "10:10:01",
                "response_item",
                json!({"type": "function_call_output", "call_id": "k",
            "output": "{\"agent_id\": \"c2\"}"}),
            ),
        ),
        (
            "r2",
            of(
                "10:24:00",
                "session_meta",
                json!({"id": "c2", "source": spawned}),
            ),
        ),
        ("r2", of("10:25:00", "event_msg", counts)),
    ];
    // The end of the run is not recorded, so the session has to name the run.
    let all = joins(&run("running"), &files);
    assert_eq!(all[0], "r2: line 2 by tool use: bindings/draft.md");
}

#[test]
fn other_work_at_the_same_time_is_not_joined_if_a_session_names_the_run() {
    let other = answer(None, "10:15:00", json!({"sessionId": "s2"}));
    let all = joins(&run("completed"), &[("s2.jsonl", other.clone())]);
    assert_eq!(all, ["s2.jsonl: line 2 by time: "]);
    let own = answer(
        None,
        "10:05:00",
        json!({"cwd": format!("/p/.prose/runs/{RUN}")}),
    );
    let files = [("s1.jsonl", own), ("s2.jsonl", other)];
    let view = cost_of(&run("completed"), &files);
    assert_eq!(view.statements[0].transcripts[0].file, "s1.jsonl");
    assert_eq!(
        view.not_joined[0].why,
        "its session does not name the run, and another one does"
    );
    assert_eq!(output(&view.by_model), [("opus", 10)]);
}

#[test]
fn only_answers_within_the_runs_time_count_for_a_session() {
    let files = ["09:00:00", "10:05:00", "11:00:00"]
        .map(|time| ("s1.jsonl", answer(None, time, json!({}))));
    let view = cost_of(&run("completed"), &files);
    assert_eq!(output(&view.not_joined[0].tokens), [("opus", 10)]);
    // The session does not name the run.
    assert_eq!(output(&view.by_model), []);
}

#[test]
fn the_models_of_a_statement_are_counted_apart() {
    let mut files = task("10:15:00", "draft", "Go").to_vec();
    let mut other = answer(Some("a"), "10:16:00", json!({}));
    other["message"]["model"] = "haiku".into();
    files.push(("s1/subagents/agent-a.jsonl", other));
    let view = cost_of(&run("completed"), &files);
    let expected = [("haiku", 10), ("opus", 10)];
    assert_eq!(output(&view.statements[1].tokens), expected);
    assert_eq!(output(&view.by_model), expected);
}

#[test]
fn a_price_counts_if_the_session_names_the_run_also_if_its_answers_are_in_another_file() {
    let own = answer(None, "10:05:00", json!({"cwd": RUN}));
    let mut again = own.clone();
    let fields = again.as_object_mut().expect("an object");
    fields.remove("timestamp");
    let end = json!({"type": "result", "session_id": "s1", "total_cost_usd": 0.5});
    let files = [
        ("native.jsonl", again),
        ("native.jsonl", end),
        ("s1.jsonl", own),
    ];
    let view = cost_of(&run("completed"), &files);
    assert_eq!(view.total_cost_usd, Some(0.5));
    assert_eq!(output(&view.by_model), [("opus", 10)]);
    let other = json!({"type": "result", "session_id": "s1", "total_cost_usd": 0.5});
    let files = [
        ("s1.jsonl", answer(None, "10:25:00", json!({}))),
        ("s1.jsonl", other),
    ];
    assert_eq!(cost_of(&run("completed"), &files).total_cost_usd, None);
}

#[test]
fn tokens_that_are_not_recorded_are_unknown_and_not_0() {
    let mut files = task("10:15:00", "draft", "Go");
    files[1].1["message"]
        .as_object_mut()
        .expect("an object")
        .remove("usage");
    let view = cost_of(&run("completed"), &files);
    let draft = &view.statements[1];
    assert_eq!((draft.tokens.len(), draft.transcripts.len()), (0, 1));
    assert_eq!(view.source, "unknown");
    assert!(
        view.note
            .contains("No transcript with tokens in the folder"),
        "{}",
        view.note
    );
    let view = run_cost(&run("completed"), None, Vec::new());
    assert!(
        view.note.contains("give the folder of the transcripts"),
        "{}",
        view.note
    );
    assert_eq!(view.statements.len(), 4);
}

#[test]
fn a_run_with_receipts_reports_tokens_and_transcripts_measure_them_by_node() {
    let receipt = |node: &str| {
        json!({"node": node, "status": "rendered", "wake": {"source": "input", "refs": []}, "fingerprints": {},
            "cost": {"provider": "acme", "model": "m1", "tokens": {"fresh": 40, "reused": 60}}})
        .to_string()
    };
    let files = [
        ("receipts/collector.jsonl", receipt("collector")),
        ("receipts/editor.jsonl", receipt("editor")),
        (
            "vm.log.md",
            format!("# run:{RUN} editor\nroot: src/editor.prose.md\n"),
        ),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
    let session = Session::open(
        Rc::new(MemorySource::new(RUN, files)),
        "",
        &Options::default(),
    )
    .unwrap();
    let view = run_cost(&session, None, Vec::new());
    assert_eq!(
        (&*view.source, view.reported.map(|of| of.total.fresh)),
        ("reported", Some(80))
    );
    let prompt = format!("You are a node of {RUN}. Write to workspace/editor/ and nowhere else.");
    let view = cost_of(&session, &task("10:15:00", "", &prompt));
    assert_eq!(view.source, "measured");
    let of: Vec<_> = view
        .statements
        .iter()
        .map(|of| (&*of.text, !of.tokens.is_empty()))
        .collect();
    assert_eq!(of, [("collector", false), ("editor", true)]);
}

/// A log of contract 1 names services, whose sessions write into `workspace/{service}/`.
#[test]
fn a_service_of_a_log_is_named_by_its_workspace() {
    let files = [
        (
            "root.prose.md",
            "# brief\n\n### Execution\n\n```prose\nlet review = call critic\n```\n",
        ),
        (
            "vm.log.md",
            "# run:20260105-100000-aaaaaa brief\n\n1→ critic ✓\n2→ researcher ✓\n---end 2026-01-05T10:30:00Z\n",
        ),
        ("bindings/researcher/findings.md", "Three."),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    let source = Rc::new(MemorySource::new(RUN, files));
    let session = Session::open(source, "", &Options::default()).unwrap();
    let ran = statements::statements(&session);
    let names = ran
        .statements
        .iter()
        .map(|of| of.names.iter().map(String::as_str).collect::<Vec<_>>());
    let names: Vec<Vec<&str>> = names.collect();
    assert_eq!(
        names,
        [
            vec!["critic", "review"],
            vec!["researcher", "researcher/findings"]
        ]
    );
}
