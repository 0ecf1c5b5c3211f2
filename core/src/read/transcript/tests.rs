//! Tests what is counted, with small transcripts in the forms of many versions.

use serde_json::json;

use super::*;

/// A line of Claude Code: an answer.
fn answer(id: &str, request: &str, output: u64) -> Value {
    json!({"type": "assistant", "sessionId": "s1", "requestId": request, "timestamp": "2026-01-05T10:00:00Z",
        "message": {"id": id, "model": "opus", "content": [],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 500, "output_tokens": output}}})
}

fn with(mut line: Value, more: Value) -> Value {
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    line
}

fn read(path: &str, lines: &[Value]) -> TranscriptFile {
    let mut reader = TranscriptReader::new(path, "20260105-100000-aaaaaa", b"");
    for line in lines {
        reader.line(line.to_string().as_bytes());
    }
    reader.finish()
}

/// Returns the conversations of files after each answer was assigned: the file, the subagent and the sums.
fn counted(files: &[(&str, Vec<Value>)]) -> Vec<(String, Option<String>, TokenUse)> {
    let read = files
        .iter()
        .flat_map(|(path, lines)| read(path, lines).conversations);
    let mut all: Vec<Conversation> = read.collect();
    settle(&mut all);
    let sum = |of: &Conversation| {
        let mut sum = TokenUse::default();
        of.answers.iter().for_each(|answer| sum.add(&answer.tokens));
        sum
    };
    let mut all: Vec<_> = all
        .iter()
        .map(|of| (of.file.clone(), of.agent.clone(), sum(of)))
        .collect();
    all.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    all
}

/// Returns the file, the number of answers and their output.
fn outputs(files: &[(&str, Vec<Value>)]) -> Vec<(String, u32, u64)> {
    let all = counted(files).into_iter();
    all.map(|(file, _, sum)| (file, sum.messages, sum.output))
        .collect()
}

fn expected(all: &[(&str, u32, u64)]) -> Vec<(String, u32, u64)> {
    all.iter()
        .map(|(file, n, output)| ((*file).to_owned(), *n, *output))
        .collect()
}

#[test]
fn the_lines_of_one_answer_count_once_with_the_largest_output() {
    let lines = vec![
        answer("m1", "r1", 2),
        answer("m1", "r1", 80),
        answer("m1", "r1", 80),
    ];
    let all = counted(&[("a", lines)]);
    let sum = TokenUse {
        messages: 1,
        input: 10,
        cached: 500,
        output: 80,
        ..TokenUse::default()
    };
    assert_eq!(all, [("a".to_owned(), None, sum)]);
    // The largest count may come first.
    let lines = vec![
        answer("m1", "r1", 80),
        answer("m1", "r1", 2),
        answer("m2", "r2", 5),
    ];
    assert_eq!(outputs(&[("a", lines)]), expected(&[("a", 2, 85)]));
}

#[test]
fn an_answer_in_the_files_of_the_session_and_of_a_subagent_is_the_sessions() {
    let side = json!({"isSidechain": true, "agentId": "a1"});
    let main = vec![answer("m1", "r1", 20)];
    let copy = with(answer("m1", "r9", 30), side.clone());
    let own = with(answer("m2", "r2", 7), side);
    // A sidechain repeats the answer under another request.
    let files = [("s/agent-a1", vec![copy.clone(), own]), ("s", main.clone())];
    assert_eq!(
        outputs(&files),
        expected(&[("s", 1, 30), ("s/agent-a1", 1, 7)])
    );
    let files = [("s/agent-a1", vec![copy]), ("s", main)];
    assert_eq!(outputs(&files), expected(&[("s", 1, 30)]));
}

#[test]
fn a_fork_counts_only_its_own_answers() {
    let old = with(
        answer("m1", "r1", 20),
        json!({"timestamp": "2026-01-05T09:00:00Z"}),
    );
    let copy = with(answer("m1", "r1", 20), json!({"sessionId": "s2"}));
    let own = with(answer("m2", "r2", 7), json!({"sessionId": "s2"}));
    let files = [("a-fork", vec![copy, own]), ("b-original", vec![old])];
    assert_eq!(
        outputs(&files),
        expected(&[("a-fork", 1, 7), ("b-original", 1, 20)])
    );
}

#[test]
fn ids_of_a_gateway_that_repeat_are_different_answers() {
    let of = |session: &str, input: u64| {
        let mut line = with(answer("ocgo", "", 5), json!({"sessionId": session}));
        line["message"]["usage"]["input_tokens"] = input.into();
        line
    };
    let files = [
        ("a", vec![of("s1", 1), of("s1", 1), of("s1", 2)]),
        ("b", vec![of("s2", 1)]),
    ];
    assert_eq!(outputs(&files), expected(&[("a", 2, 10), ("b", 1, 5)]));
}

#[test]
fn answers_without_an_id_are_told_apart_by_their_requests() {
    let lines = vec![
        answer("", "r1", 5),
        answer("", "r1", 6),
        answer("", "r2", 5),
    ];
    assert_eq!(outputs(&[("a", lines)]), expected(&[("a", 2, 11)]));
    let mut line = answer("", "", 5);
    line["requestId"] = Value::Null;
    assert_eq!(
        outputs(&[("a", vec![line.clone(), line])]),
        expected(&[("a", 2, 10)])
    );
}

#[test]
fn messages_that_claude_code_made_itself_are_no_answers() {
    let mut line = answer("m1", "r1", 0);
    line["message"]["model"] = "<synthetic>".into();
    assert_eq!(read("a", &[line.clone()]).conversations, []);
    assert_eq!(
        outputs(&[("a", vec![answer("m2", "r2", 4), line])]),
        expected(&[("a", 1, 4)])
    );
}

#[test]
fn ids_of_agents_are_unique_only_inside_a_session() {
    let of = |session: &str, id: &str| {
        with(
            answer(id, id, 3),
            json!({"sessionId": session, "agentId": "a1", "isSidechain": true}),
        )
    };
    let files = [
        ("s1/a1", vec![of("s1", "m1")]),
        ("s2/a1", vec![of("s2", "m2")]),
    ];
    assert_eq!(
        outputs(&files),
        expected(&[("s1/a1", 1, 3), ("s2/a1", 1, 3)])
    );
}

#[test]
fn cache_writes_of_5_minutes_and_1_hour_are_kept_apart() {
    let mut new = answer("m1", "r1", 1);
    new["message"]["usage"]["cache_creation_input_tokens"] = 70.into();
    new["message"]["usage"]["cache_creation"] =
        json!({"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 30});
    let mut old = answer("m2", "r2", 1);
    old["message"]["usage"]["cache_creation_input_tokens"] = 9.into();
    let sum = counted(&[("a", vec![new, old])]).remove(0).2;
    assert_eq!((sum.written_5m, sum.written_1h, sum.written), (40, 30, 9));
    assert_eq!((sum.input, sum.cached), (20, 1000));
}

#[test]
fn subagents_in_the_file_of_an_old_session_are_conversations_of_their_own() {
    let side = |uuid: &str, parent: Value, line: Value| {
        with(
            line,
            json!({"isSidechain": true, "uuid": uuid, "parentUuid": parent}),
        )
    };
    let asked =
        |text: &str| json!({"type": "user", "sessionId": "s1", "message": {"content": text}});
    let lines = vec![
        answer("m0", "r0", 1),
        side("u1", Value::Null, asked("Draft it")),
        side("v1", Value::Null, asked("Check it")),
        side("u2", "u1".into(), answer("m1", "r1", 20)),
        side("v2", "v1".into(), answer("m2", "r2", 300)),
        side("u3", "u2".into(), answer("m3", "r3", 4000)),
    ];
    let file = read("a", &lines);
    let prompts: Vec<&str> = file.conversations.iter().map(|of| &*of.prompt).collect();
    assert_eq!(prompts, ["", "Draft it", "Check it"]);
    assert_eq!(
        outputs(&[("a", lines)]),
        expected(&[("a", 1, 1), ("a", 2, 4020), ("a", 1, 300)])
    );
}

#[test]
fn a_version_that_records_no_tokens_is_unknown() {
    let mut line = answer("m1", "r1", 0);
    line["message"]
        .as_object_mut()
        .expect("an object")
        .remove("usage");
    let all = read("a", &[line]).conversations;
    assert_eq!((all.len(), all[0].has_counts), (1, false));
}

#[test]
fn torn_and_foreign_lines_are_counted_and_the_others_read() {
    let mut reader = TranscriptReader::new("a", "", b"");
    let whole = answer("m1", "r1", 6).to_string();
    reader.line(b"\xff\xfe not text");
    reader.line(b"[1, 2]");
    reader.line(b"   ");
    reader.line(br#"{"type": "assistant", "sessionId": 7, "message": [], "timestamp": {}}"#);
    reader.line(
        br#"{"type": "assistant", "sessionId": "s1", "message": {"usage": {"output_tokens": -3}}}"#,
    );
    reader.line(whole.as_bytes());
    reader.line(&whole.as_bytes()[..40]);
    let file = reader.finish();
    assert_eq!(file.unreadable, 3);
    assert_eq!(file.conversations.len(), 1);
    assert_eq!(file.conversations[0].answers.len(), 2);
    let mut reader = TranscriptReader::new("a", "", b"");
    reader.line(br#"{"name": "not a transcript"}"#);
    assert_eq!(reader.finish().conversations, []);
}

#[test]
fn a_subagent_knows_the_call_that_started_it() {
    let mut call = answer("m1", "r1", 1);
    call["message"]["content"] = json!([{"type": "tool_use", "id": "t1", "name": "Task",
        "input": {"description": "Draft", "prompt": "Write it"}}]);
    let result = json!({"type": "user", "sessionId": "s1", "toolUseResult": {"agentId": "a1"},
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"}]}});
    let main = read("s", &[call, result]).conversations.remove(0);
    let task = TaskCall {
        id: "t1".to_owned(),
        description: "Draft".to_owned(),
        prompt: "Write it".to_owned(),
        started: Some("a1".to_owned()),
    };
    assert_eq!(main.tasks, [task]);
    let mut reader = TranscriptReader::new(
        "s/agent-a1",
        "",
        br#"{"agentType": "general-purpose", "toolUseId": "t1"}"#,
    );
    reader.line(
        with(answer("m2", "r2", 1), json!({"agentId": "a1"}))
            .to_string()
            .as_bytes(),
    );
    let agent = reader.finish().conversations.remove(0);
    assert_eq!(
        (agent.agent.as_deref(), agent.tool_use.as_deref()),
        (Some("a1"), Some("t1"))
    );
}

#[test]
fn recorded_prices_are_kept_and_none_is_computed() {
    let end = json!({"type": "result", "session_id": "s1", "total_cost_usd": 0.5});
    let file = read("a", &[answer("m1", "r1", 5), end]);
    assert_eq!(file.conversations[0].usd, Some(0.5));
}

/// A line of Codex with running totals: input, of which cached, and output; then the same of the last answer.
fn totals(at: &str, all: [u64; 3], last: [u64; 3]) -> Value {
    let of = |[input, cached, output]: [u64; 3]| {
        json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
            "reasoning_output_tokens": output / 2, "total_tokens": input + output})
    };
    json!({"timestamp": format!("2026-01-05T{at}Z"), "type": "event_msg", "payload": {"type": "token_count",
        "info": {"total_token_usage": of(all), "last_token_usage": of(last)}}})
}

fn began(id: &str, at: &str, more: Value) -> [Value; 2] {
    let at = format!("2026-01-05T{at}Z");
    let meta = with(json!({"id": id, "timestamp": at, "cwd": "/p"}), more);
    [
        json!({"timestamp": at, "type": "session_meta", "payload": meta}),
        json!({"timestamp": at, "type": "turn_context", "payload": {"model": "gpt-5"}}),
    ]
}

#[test]
fn the_totals_of_codex_include_the_cached_input_and_may_repeat_or_start_again() {
    let lines = [
        began("c1", "10:00:00", json!({})).to_vec(),
        vec![
            json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}}),
            totals("10:01:00", [100, 60, 10], [100, 60, 10]),
            totals("10:01:01", [100, 60, 10], [100, 60, 10]),
            totals("10:02:00", [300, 200, 30], [200, 140, 20]),
            totals("10:03:00", [50, 0, 5], [50, 0, 5]),
        ],
    ];
    let all = counted(&[("rollout-1", lines.concat())]);
    let sum = TokenUse {
        messages: 3,
        input: 150,
        cached: 200,
        output: 35,
        ..TokenUse::default()
    };
    assert_eq!(all, [("rollout-1".to_owned(), None, sum)]);
}

#[test]
fn a_resumed_rollout_of_codex_does_not_count_the_history_in_its_first_totals() {
    let more = vec![totals("10:05:00", [5000, 4000, 900], [80, 0, 8])];
    let lines = [began("c1", "10:00:00", json!({})).to_vec(), more].concat();
    assert_eq!(outputs(&[("r", lines)]), expected(&[("r", 1, 8)]));
}

#[test]
fn a_session_of_codex_in_two_files_counts_once() {
    let old = vec![totals("10:01:00", [100, 0, 10], [100, 0, 10])];
    let new = vec![totals("10:05:00", [180, 0, 17], [80, 0, 7])];
    let first = [began("c1", "10:00:00", json!({})).to_vec(), old.clone()].concat();
    let second = [began("c1", "10:04:00", json!({})).to_vec(), old, new].concat();
    assert_eq!(
        outputs(&[("r1", first), ("r2", second)]),
        expected(&[("r1", 1, 10), ("r2", 1, 7)])
    );
}

#[test]
fn a_rollout_of_a_subagent_does_not_count_what_it_repeats_of_its_parent() {
    let theirs = [
        totals("10:01:00", [100, 0, 10], [100, 0, 10]),
        totals("10:02:00", [300, 0, 30], [200, 0, 20]),
    ];
    let parent = [began("c1", "10:00:00", json!({})).to_vec(), theirs.to_vec()].concat();
    let spawned = json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "c1"}}}});
    let again = |at: &str| {
        let mut lines = theirs.to_vec();
        lines
            .iter_mut()
            .for_each(|line| line["timestamp"] = format!("2026-01-05T{at}Z").into());
        lines
    };
    let own = totals("10:05:00", [380, 0, 37], [80, 0, 7]);
    let fresh = totals("10:05:00", [80, 0, 7], [80, 0, 7]);
    for (replay, own) in [
        (theirs.to_vec(), &own),
        (again("10:04:00.500"), &own),
        (again("10:04:30"), &own),
        (Vec::new(), &fresh),
        (again("10:04:30"), &fresh),
    ] {
        let head = began("c2", "10:04:00", spawned.clone()).to_vec();
        let child = [
            head,
            began("c1", "10:04:00", json!({})).to_vec(),
            replay,
            vec![own.clone()],
        ]
        .concat();
        let files = [("child", child.clone()), ("parent", parent.clone())];
        assert_eq!(
            outputs(&files),
            expected(&[("child", 1, 7), ("parent", 2, 30)])
        );
    }
    // The time is enough if the file of the parent is not there.
    let child = [
        began("c2", "10:04:00", spawned).to_vec(),
        theirs.to_vec(),
        vec![own],
    ]
    .concat();
    assert_eq!(
        outputs(&[("child", child.clone())]),
        expected(&[("child", 1, 7)])
    );
    let of = read("child", &child).conversations.remove(0);
    assert_eq!(
        (of.agent.as_deref(), of.parent.as_deref()),
        (Some("c2"), Some("c1"))
    );
    assert_eq!(of.first, Stamp::parse("2026-01-05T10:04:00Z").millis());
}

#[test]
fn a_version_of_codex_that_records_no_totals_is_unknown() {
    let all = read("r", &began("c1", "10:00:00", json!({}))).conversations;
    assert_eq!((all.len(), all[0].has_counts), (1, false));
}

#[test]
fn codex_records_which_subagent_a_call_started() {
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let lines = [
        began("c1", "10:00:00", json!({})).to_vec(),
        vec![
            item(
                json!({"type": "function_call", "name": "spawn_agent", "call_id": "k1",
                "arguments": "{\"message\": \"Write bindings/draft.md\"}"}),
            ),
            item(
                json!({"type": "function_call_output", "call_id": "k1", "output": "{\"agent_id\": \"c2\"}"}),
            ),
        ],
    ];
    let task = read("r", &lines.concat())
        .conversations
        .remove(0)
        .tasks
        .remove(0);
    assert!(task.prompt.contains("bindings/draft.md"), "{task:?}");
    assert_eq!(task.started.as_deref(), Some("c2"));
}
