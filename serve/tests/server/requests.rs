//! Tests of the server's routes for commands and pages.

use prosescope_workflow::{Action, TurnStatus, WorkflowStatus, show};
use serde_json::{Value, json};

use super::actions::request;
use super::conformance::{bring_about, is_already, is_refused};
use super::{Site, bearer};

#[test]
fn a_conversation_over_http() {
    let site = Site::new();
    let (of, run) = site.begin();
    let asked = site.post(
        &format!("/workflow/ask/{run}"),
        &json!({"question": "Which?"}),
    );
    assert_eq!(asked.json()["status"], "waiting_for_input");
    let waiting = site.get("/workflows?waiting=true").json();
    assert_eq!(waiting["workflows"][0]["question"], "Which?");
    let answered = site.post(
        &format!("/workflow/input/{of}"),
        &json!({"text": "it's <b>that</b>"}),
    );
    assert_eq!(answered.json()["seq"], 2);
    let events = json!([{"text": "a", "kind": "progress", "run_id": run}, {"text": "b", "payload": {"n": 1}}]);
    assert_eq!(
        site.post(&format!("/workflow/events/{of}"), &events).json()["ids"],
        // The question and the answer are events, too.
        json!([3, 4])
    );
    let one = site.post(
        &format!("/workflow/events/{of}"),
        &json!({"text": "c", "kind": "final"}),
    );
    assert_eq!(one.json()["ids"], json!([5]));
    let page = site
        .get(&format!("/workflows/{of}/events?after=3&limit=1"))
        .json();
    assert_eq!(
        (page["events"][0]["text"].as_str(), page["more"].as_bool()),
        (Some("b"), Some(true))
    );
    for (path, body) in [
        (
            format!("/workflow/heartbeat/{run}"),
            json!({"owner": "engine"}),
        ),
        (
            format!("/workflow/prefer/{of}"),
            json!({"set": {"lang": "de"}}),
        ),
        (format!("/workflow/step/{of}"), json!({"text": "kept"})),
        (
            format!("/workflow/finish/{run}"),
            json!({"output": {"a": 1}, "message": "done"}),
        ),
        (format!("/workflow/pause/{of}"), Value::Null),
        (format!("/workflow/resume/{of}"), Value::Null),
        (format!("/workflow/error/{of}"), json!({"error": "gone"})),
        (format!("/workflow/cancel/{of}"), json!({})),
    ] {
        let body = if body.is_null() { json!({}) } else { body };
        let done = site.post(&path, &body);
        assert_eq!(done.status, 200, "{path}: {done:?}");
    }
    let view = site.get(&format!("/workflows/{of}"));
    let shown = view.json();
    assert_eq!(shown["context"]["tail"][1]["content"], "it's <b>that</b>");
    assert_eq!(shown["important_steps"]["steps"][0]["text"], "kept");
    assert_eq!(shown["error"]["message"], "gone");
    assert_eq!(
        site.get(&format!("/runs/{run}")).json()["final_output"]["a"],
        1
    );
    assert_eq!(
        view.header("etag"),
        Some(format!("\"{}\"", shown["version"]))
    );
    assert_eq!(site.get("/workflows/stuck?silent=1s").json(), json!([]));
}

#[test]
fn a_request_that_is_repeated_begins_one_run() {
    let site = Site::new();
    let body = json!({"input": "x", "run_id": "0199c0de-0000-7000-8000-000000000009"});
    let first = site.post("/workflow/start", &body).json();
    let again = site.post("/workflow/start", &body).json();
    assert_eq!(
        (first["workflow_id"].clone(), true),
        (again["workflow_id"].clone(), again["already"] == true)
    );
    let of = first["workflow_id"].as_str().unwrap();
    let version = site
        .get(&format!("/workflows/{of}"))
        .header("etag")
        .unwrap();
    let paused = |version: &str| {
        let bearer = bearer();
        let headers = [("Authorization", bearer.as_str()), ("If-Match", version)];
        site.ask("POST", &format!("/workflow/pause/{of}"), &headers, "")
    };
    paused("\"77\"").problem(412);
    assert_eq!(paused(&version).status, 200);
}

#[test]
fn every_action_in_every_status_does_what_the_table_says() {
    let site = Site::new();
    let mut store = site.store();
    let mut n = 0;
    for workflow in WorkflowStatus::ALL {
        for turn in TurnStatus::ALL {
            for action in Action::all() {
                n += 1;
                let Some((of, run)) = bring_about(&mut store, n, *workflow, *turn) else {
                    continue;
                };
                let (path, body) = request(action, &of, &run);
                let before = show(&store, &of).unwrap();
                let done = site.post(&path, &body);
                let about = format!("{action:?} on {workflow:?} and {turn:?}: {done:?}");
                if is_refused(action, *workflow, *turn) {
                    assert!(done.problem(409)["rule"].is_string(), "{about}");
                    assert_eq!(show(&store, &of).unwrap(), before, "{about}");
                } else {
                    assert_eq!(done.status, 200, "{about}");
                    if is_already(action, *workflow, *turn) {
                        assert_eq!(done.json()["already"], true, "{about}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_description_has_every_route_and_all_that_it_refers_to() {
    let site = Site::new();
    let document = site.get("/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    for path in [
        "/workflow/start",
        "/workflow/input/{id}",
        "/workflow/pause/{id}",
        "/workflow/resume/{id}",
        "/workflow/cancel/{id}",
        "/workflows/{id}/events/ws",
        "/health",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    let mut refs = Vec::new();
    collect(&document, &mut refs);
    assert!(refs.len() > 30);
    for reference in refs {
        let at = reference.trim_start_matches('#');
        assert!(document.pointer(at).is_some(), "{reference} leads nowhere");
    }
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            assert!(
                operation["summary"].is_string(),
                "{method} {path} says what it does"
            );
            // Checks that every described route exists.
            let asked = path.replace("{id}", "ffffffff");
            let done = match method.as_str() {
                "get" => site.get(&asked),
                _ => site.post(
                    &asked,
                    &json!({"input": "x", "text": "x", "question": "x", "output": 1, "error": "x"}),
                ),
            };
            assert!(
                !done.body.contains("nothing at this path"),
                "{method} {path}: {done:?}"
            );
        }
    }
}

fn collect(value: &Value, refs: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str().filter(|_| name == "$ref") {
                    Some(reference) => refs.push(reference.to_owned()),
                    None => collect(value, refs),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, refs)),
        _ => {}
    }
}

#[test]
fn errors_are_problems_that_say_what_to_do() {
    let site = Site::new();
    let (of, run) = site.begin();
    site.get("/workflows/ffffffff").problem(404);
    site.get("/nothing/here").problem(404);
    site.get("/workflow/start").problem(405);
    site.get("/workflows?status=odd").problem(400);
    site.get("/workflows?limit=many").problem(400);
    site.get("/workflows/stuck?silent=long").problem(400);
    site.post("/workflow/start", &json!({"input": 3}))
        .problem(400);
    site.post("/workflow/start", &json!({"input": "x", "unknown": 3}))
        .problem(400);
    site.post("/workflow/start", &json!({"input": "x", "run_id": "7"}))
        .problem(400);
    site.post(&format!("/workflow/finish/{run}"), &json!({"output": null}))
        .problem(400);
    site.post(
        &format!("/workflow/events/{of}"),
        &json!({"text": "x", "payload": [1]}),
    )
    .problem(400);
    let refused = site
        .post(&format!("/workflow/input/{of}"), &json!({"text": "x"}))
        .problem(409);
    assert_eq!(refused["rule"], "nothing-waits");
    assert!(refused["hint"].as_str().unwrap().contains("start"));
    std::fs::write(site.file(), "no database any more").unwrap();
    let bearer = bearer();
    let failed = site.ask("GET", "/workflows", &[("Authorization", &bearer)], "");
    assert!(failed.status >= 500, "{failed:?}");
    let folder = site.folder.path().display().to_string();
    assert!(!failed.body.contains(&folder), "{failed:?}");
    let told = site.failures.lock().unwrap();
    assert!(told.iter().any(|told| told.contains(&folder)), "{told:?}");
}

#[test]
fn long_numbers_of_events_stay_as_they_were_sent() {
    let site = Site::new();
    let (of, _) = site.begin();
    let long = "123456789012345678901234567890";
    let one = format!("{{\"text\": \"a\", \"payload\": {{\"n\": {long}}}}}");
    let path = format!("/workflow/events/{of}");
    let headers = [
        ("Authorization", &*bearer()),
        ("Content-Type", "application/json"),
    ];
    for body in [&one, &format!(" [{one}]")] {
        let said = site.ask("POST", &path, &headers, body);
        assert_eq!(said.status, 200, "{said:?}");
    }
    let read = site.get(&format!("/workflows/{of}/events")).body;
    assert_eq!(read.matches(long).count(), 2, "{read}");
}
