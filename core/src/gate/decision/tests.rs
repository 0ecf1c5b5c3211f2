use serde_json::{Value, json};

use super::super::samples::{event, gate};
use super::*;
use crate::gate::prompt_hash;

fn choice() -> Choice {
    Choice {
        decision: Verdict::Approved,
        comment: Some("LGTM".into()),
        by: "ops-team".into(),
        on_behalf_of: None,
        at: Stamp::parse("2026-01-25 13:00:00").millis().unwrap(),
    }
}

/// Builds a sealed row with a link in its metadata.
fn sealed(id: i64, kind: &str, seq: u64) -> AuditEvent {
    let hash = format!("{seq:064x}");
    let chain = json!({"chain": {"seq": seq, "prev": hash, "hash": hash}});
    AuditEvent {
        metadata: Some(chain.to_string().into()),
        ..event(id, kind)
    }
}

fn file() -> DecisionFile {
    let mut gate = gate("pending");
    gate.prompt = Some("Go?".into());
    let log = [sealed(1, "created", 1), sealed(2, "viewed", 2)];
    DecisionFile::new("r1", &gate, &log, choice()).unwrap()
}

#[test]
fn a_decision_says_what_was_seen_and_is_read_as_it_was_written() {
    let file = file();
    assert_eq!(
        file.seen,
        Seen {
            prompt_hash: prompt_hash("Go?"),
            allow: vec!["ops-team".into()],
            head: Some(SeenHead {
                count: 2,
                hash: format!("{:064x}", 2),
            }),
        }
    );
    assert_eq!(DecisionFile::parse(&file.text()), Ok(file.clone()));
    let keys: Value = serde_json::from_str(&file.text()).unwrap();
    assert_eq!(keys["format"], "prosescope-decision-1");
    assert_eq!(keys["decided_at"], "2026-01-25T13:00:00Z");
    let note = keys["note"].as_str().unwrap();
    assert!(note.contains("not recorded in the run yet"), "{note}");
    assert_eq!(file.name(), "deploy.decision.json");
    let odd = DecisionFile {
        gate: "../a b#2".into(),
        ..file
    };
    assert_eq!(odd.name(), "_a_b_2.decision.json");
}

/// A decision that the import would certainly refuse is refused before a file is written.
#[test]
fn no_file_is_made_of_what_cannot_be_recorded() {
    let refused = |gate: &Gate, choice| DecisionFile::new("r1", gate, &[], choice).unwrap_err();
    let no = |said: &str, gate: &Gate, choice: Choice| {
        assert_eq!(refused(gate, choice).to_string(), said);
    };
    no(
        "gate deploy is approved already",
        &gate("approved"),
        choice(),
    );
    let mut late = gate("pending");
    late.timeout_at = Some(Stamp::parse("2026-01-25 12:59:59"));
    no(
        "gate deploy is past its deadline: only its time-out can be recorded",
        &late,
        choice(),
    );
    no(
        "gate deploy: `eve` may not decide this gate: it admits ops-team",
        &gate("pending"),
        Choice {
            by: "eve".into(),
            ..choice()
        },
    );
    no(
        "a rejection needs a reason",
        &gate("pending"),
        Choice {
            decision: Verdict::Rejected,
            comment: Some(" ".into()),
            ..choice()
        },
    );
    let mut odd = gate("pending");
    odd.allow = Some("eve".into());
    assert!(matches!(refused(&odd, choice()), NoDecision::Allow(..)));
}

#[test]
fn what_is_no_decision_file_is_named_by_what_is_wrong() {
    let with = |edit: &dyn Fn(&mut Value)| {
        let mut value = serde_json::to_value(file()).unwrap();
        edit(&mut value);
        DecisionFile::parse(&value.to_string())
            .unwrap_err()
            .to_string()
    };
    for (edit, said) in [
        (
            &(|v: &mut Value| v["format"] = "prosescope-decision-2".into()) as &dyn Fn(&mut Value),
            "the `format` is \"prosescope-decision-2\", but this version of Prosescope reads \"prosescope-decision-1\"",
        ),
        (
            &|v| drop(v.as_object_mut().unwrap().remove("format")),
            "the key `format` is missing",
        ),
        (&|v| v["extra"] = 1.into(), "unknown field `extra`"),
        (&|v| v["seen"]["extra"] = 1.into(), "unknown field `extra`"),
        (
            &|v| v["seen"]["head"]["run"] = "r1".into(),
            "unknown field `run`",
        ),
        (
            &|v| drop(v.as_object_mut().unwrap().remove("by")),
            "missing field `by`",
        ),
        (&|v| v["gate"] = 7.into(), "invalid type"),
        (&|v| v["decision"] = "timeout".into(), "unknown variant"),
        (
            &|v| v["seen"]["prompt_hash"] = "sha256:AB".into(),
            "`prompt_hash` is \"sha256:AB\"",
        ),
        (&|v| v["seen"]["head"]["count"] = 0.into(), "`head` is \"0:"),
        (
            &|v| v["seen"]["head"]["hash"] = "ff".into(),
            "`head` is \"2:ff\"",
        ),
        (
            &|v| v["decided_at"] = "soon".into(),
            "`decided_at` is \"soon\"",
        ),
    ] {
        let why = with(edit);
        assert!(why.contains(said), "{why}\n{said}");
    }
    let twice = file().text().replacen('{', "{\"gate\": \"other\",", 1);
    for (text, said) in [
        ("", "the file is not valid JSON"),
        ("[]", "the key `format` is missing"),
        ("{\"format\":", "the file is not valid JSON"),
        (twice.as_str(), "the key \"gate\" occurs twice"),
        (&" ".repeat(MOST_BYTES + 1), "more than 262144 bytes"),
        (&"[".repeat(100_000), "the file is not valid JSON"),
    ] {
        let why = DecisionFile::parse(text).unwrap_err().to_string();
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn a_gate_that_the_copy_leaves_open_has_no_decision() {
    for status in ["pending", "timeout", "paused"] {
        let gate = gate(status);
        let none = DecisionFile::decided_in("r1", &gate, std::slice::from_ref(&gate), &[]);
        assert!(
            matches!(none, Err(NoDecision::NotDecided(..))),
            "{status}: {none:?}"
        );
    }
}

/// Names and comments are untrusted, and a person pastes the commands into a shell.
#[test]
fn the_commands_keep_names_and_comments_in_their_quotes() {
    let file = DecisionFile {
        comment: Some("it's $(rm -rf ~)".into()),
        on_behalf_of: Some("ops team".into()),
        by: "--as".into(),
        ..file()
    };
    assert_eq!(
        file.command("../a run"),
        r"prosescope approve '../a run' deploy --comment 'it'\''s $(rm -rf ~)' --as='--as' --for 'ops team'"
    );
    assert_eq!(
        file.import_command("-r"),
        "prosescope gate import -- deploy.decision.json '-r'"
    );
    let no = DecisionFile {
        decision: Verdict::Rejected,
        comment: Some("-".into()),
        by: "lee".into(),
        on_behalf_of: None,
        ..file
    };
    let command = no.command("r1");
    assert_eq!(command, "prosescope reject r1 deploy --reason='-' --as lee");
}
