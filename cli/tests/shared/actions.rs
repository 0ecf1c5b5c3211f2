//! Lists every action on workflows as a command and as an HTTP request, for the tests that compare both with the
//! core's tables.
#![allow(dead_code)]

use prosescope_workflow::Action;
use serde_json::{Value, json};

/// Returns the arguments of `prosescope` for an action.
pub(crate) fn words<'a>(action: Action, of: &'a str, run: &'a str) -> Vec<&'a str> {
    match action {
        Action::Start => vec!["workflow", "start", "--workflow", of, "--input", "More"],
        Action::Ask => vec!["workflow", "ask", run, "--question", "Another?"],
        Action::Input => vec!["workflow", "input", of, "--run", run, "--text", "This"],
        Action::Finish => vec!["workflow", "finish", run, "--output", "{\"b\": 2}"],
        Action::Fail => vec!["workflow", "fail", run, "--error", "Broken"],
        Action::Append => vec![
            "workflow", "events", "append", of, "--run", run, "--text", "More",
        ],
        Action::Pause => vec!["workflow", "pause", of],
        Action::Resume => vec!["workflow", "resume", of],
        Action::Error => vec!["workflow", "error", of, "--error", "Gone"],
        Action::Cancel => vec!["workflow", "cancel", of],
        Action::CancelRun => vec!["workflow", "cancel", of, "--run", run],
        Action::Prefer => vec!["workflow", "prefer", of, "a=1"],
        Action::Step => vec!["workflow", "step", of, "--text", "Kept"],
        Action::Heartbeat => vec!["workflow", "heartbeat", run],
        Action::State => vec!["workflow", "state", run, "--set", "{\"b\": 2}"],
        Action::Claim => vec!["workflow", "claim", run, "--owner", "engine"],
    }
}

/// Returns the path and the body of the POST request for an action.
pub(crate) fn request(action: Action, of: &str, run: &str) -> (String, Value) {
    match action {
        Action::Start => (
            "/workflow/start".to_owned(),
            json!({"input": "More", "workflow_id": of}),
        ),
        Action::Ask => (
            format!("/workflow/ask/{run}"),
            json!({"question": "Another?"}),
        ),
        Action::Input => (
            format!("/workflow/input/{of}"),
            json!({"text": "x", "run_id": run}),
        ),
        Action::Finish => (format!("/workflow/finish/{run}"), json!({"output": 2})),
        Action::Fail => (format!("/workflow/fail/{run}"), json!({"error": "broken"})),
        Action::Append => (
            format!("/workflow/events/{of}"),
            json!({"text": "x", "run_id": run}),
        ),
        Action::Pause => (format!("/workflow/pause/{of}"), json!({})),
        Action::Resume => (format!("/workflow/resume/{of}"), json!({})),
        Action::Error => (format!("/workflow/error/{of}"), json!({"error": "gone"})),
        Action::Cancel => (format!("/workflow/cancel/{of}"), json!({})),
        Action::CancelRun => (format!("/workflow/cancel/{of}"), json!({"run_id": run})),
        Action::Prefer => (format!("/workflow/prefer/{of}"), json!({"set": {"a": 1}})),
        Action::Step => (format!("/workflow/step/{of}"), json!({"text": "x"})),
        Action::Heartbeat => (format!("/workflow/heartbeat/{run}"), json!({})),
        Action::State => (format!("/workflow/state/{run}"), json!({"state": {"b": 2}})),
        Action::Claim => (
            "/workflow/claim".to_owned(),
            json!({"run_id": run, "owner": "engine"}),
        ),
    }
}
