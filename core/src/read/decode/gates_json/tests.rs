use super::*;
use crate::model::Status;

#[test]
fn a_gate_is_its_two_files() {
    let pending = r#"{"gate_id":"deploy","run_id":"r","execution_id":7,"prompt":"Go?","allow":["user","ops"],"timeout":"4h",
            "timeout_at":"2026-01-15 18:00:00","on_reject":"throw","created_at":"2026-01-15 14:00:00","status":"pending"}"#;
    let (gate_, issues) = gate("deploy", Some(pending), None);
    let waiting = gate_.unwrap();
    assert!(issues.is_empty());
    assert_eq!(
        (waiting.status, waiting.execution_id),
        (GateStatus::Pending, Some(7))
    );
    assert_eq!(waiting.allow.as_deref(), Some(r#"["user","ops"]"#));
    assert_eq!(
        waiting.timeout_at.map(|t| t.to_string()).as_deref(),
        Some("2026-01-15T18:00:00Z")
    );

    let resolved = r#"{"gate_id":"deploy","decision":"reject","principal":"raymond","timestamp":"2026-01-15T15:00:00Z","comment":"no"}"#;
    let decided = gate("deploy", Some(pending), Some(resolved)).0.unwrap();
    assert_eq!(decided.status, GateStatus::Rejected);
    assert_eq!(
        (decided.resolved_by.as_deref(), decided.comment.as_deref()),
        (Some("raymond"), Some("no"))
    );
    assert_eq!(
        decided.created.map(|t| t.to_string()).as_deref(),
        Some("2026-01-15T14:00:00Z")
    );
    assert_eq!(decided.prompt.as_deref(), Some("Go?"));
}

#[test]
fn files_that_disagree_with_each_other_are_named() {
    let pending = r#"{"id":"deploy","gate_id":"deploy","run_id":"r","status":"pending","metadata":{"visit":2}}"#;
    let resolved = |more: &str| {
        format!(
            r#"{{"id":"deploy","gate_id":"deploy","run_id":"r","decision":"approved","principal":"raymond",
                "timestamp":"2026-01-15T15:00:00Z","comment":"ok",{more}}}"#
        )
    };
    for (pending, more, named) in [
        (pending, r#""status":"approved""#, ""),
        (pending, r#""status":"resolved""#, ""),
        (pending, r#""resolved_at":"2026-01-15 15:00:00""#, ""),
        (
            pending,
            r#""metadata":{"visit":2,"on_behalf_of":"ops"}"#,
            "",
        ),
        (pending, r#""status":"rejected""#, "status and decision"),
        (
            pending,
            r#""resolved_by":"lee""#,
            "resolved_by and principal",
        ),
        (
            pending,
            r#""resolved_at":"2026-01-15 15:00:01""#,
            "resolved_at and timestamp",
        ),
        (
            pending,
            r#""resolution_comment":"no""#,
            "resolution_comment and comment",
        ),
        (pending, r#""metadata":{"visit":3}"#, "metadata"),
        (r#"{"run_id":"r2"}"#, r#""x":1"#, "run_id"),
        (r#"{"decision":"rejected"}"#, r#""x":1"#, "decision"),
    ] {
        let (_, issues) = gate("deploy", Some(pending), Some(&resolved(more)));
        let told: Vec<&str> = issues.iter().map(|issue| &*issue.message).collect();
        let expected =
            format!("the pending and the resolved file of gate deploy disagree: {named}");
        let expected: &[&str] = if named.is_empty() { &[] } else { &[&expected] };
        assert_eq!(told, expected, "{more}");
    }
}

#[test]
fn an_unreadable_file_hides_only_itself() {
    let (found, issues) = gate("a#2", Some("{"), Some(r#"{"decision":"approved"}"#));
    assert_eq!(
        found.map(|g| (g.id.to_string(), g.status)),
        Some(("a#2".to_owned(), GateStatus::Approved))
    );
    assert_eq!(
        issues[0].message,
        "gate a#2: the pending file is not readable: EOF while parsing an object at line 1 column 1"
    );
    let (none, issues) = gate("a", Some("[]"), None);
    assert_eq!((none, issues.len()), (None, 1));
    // Deeply nested JSON counts as an unreadable file.
    let deep = "[".repeat(100_000);
    assert_eq!(gate("a", Some(&deep), None).1.len(), 1);
}

/// Rows must come in order of id (errata G8).
#[test]
fn reads_the_audit_log() {
    let log = concat!(
        r#"{"id":2,"gate_id":"g","run_id":"r","event_type":"approved","principal":"me","timestamp":"2026-01-15T15:00:00Z","metadata":{"b":1,"a":2}}"#,
        "\nnot json\n\n",
        r#"{"gate_id":"g","run_id":"r","event_type":"created"}"#,
        "\n",
        r#"{"id":1,"gate_id":"g","run_id":"r","event_type":"viewed","metadata":"{}"}"#
    );
    let (events, issues) = audit(log);
    let read: Vec<_> = events.iter().map(|e| (e.id, e.kind.word())).collect();
    assert_eq!(read, [(1, "viewed"), (2, "approved"), (4, "created")]);
    assert_eq!(events[1].metadata.as_deref(), Some(r#"{"a":2,"b":1}"#));
    assert_eq!(
        events[0].row_json.as_deref(),
        Some(r#"{"event_type":"viewed","gate_id":"g","id":1,"metadata":"{}","run_id":"r"}"#)
    );
    assert_eq!((issues.len(), issues[0].location.line), (1, Some(2)));
}

#[test]
fn reads_execution_events() {
    let (rows, issues) = events(concat!(
        r#"{"id":1,"statement_index":2,"statement_text":"parallel:","status":"started","started_at":"2026-01-15T15:00:00Z","metadata":{"parallel_id":"p1","branches":["a","b"]}}"#,
        "\n",
        r#"{"id":2,"parent_id":1,"statement_text":"parallel:a","status":"complete","metadata":"{\"branch\""}"#,
    ));
    assert_eq!(rows[0].meta.as_ref().map(|m| m.branches.len()), Some(2));
    assert_eq!(
        (rows[1].parent, &rows[1].status),
        (Some(1), &Status::Completed)
    );
    assert_eq!(issues[0].rule, "malformed-json");
    let many = "x\n".repeat(25);
    let (_, issues) = events(&many);
    assert_eq!(
        issues.last().unwrap().message,
        "… and 5 more of the same kind"
    );
}
