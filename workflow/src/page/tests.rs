use super::*;

fn view(status: &str, context: &str, runs: Vec<Turn>) -> WorkflowView {
    WorkflowView {
        workflow: Workflow {
            id: "w1".into(),
            status: status.into(),
            context: Json::of_column(context),
            ..Workflow::default()
        },
        runs,
    }
}

fn waiting(id: &str, state: &str) -> Turn {
    Turn {
        id: id.into(),
        status: "WAITING_FOR_INPUT".into(),
        state: Json::of_column(state),
        ..Turn::default()
    }
}

#[test]
fn one_waiting_run_is_answered_by_its_workflow_and_several_by_name() {
    let question = r#"{"pending_input":{"question":"Which region?"}}"#;
    let one = page(view("ACTIVE", "{}", vec![waiting("r 1", question)]));
    assert_eq!(one.status, "active");
    assert_eq!(one.runs[0].status, "waiting_for_input");
    assert_eq!(one.asks[0].question.as_deref(), Some("Which region?"));
    let command = one.asks[0].command.as_deref();
    assert_eq!(command, Some("prosescope workflow input w1 --text …"));
    let runs = vec![waiting("r 1", question), waiting("r2", "{}")];
    let two = page(view("paused", "{}", runs));
    let command = two.asks[0].command.as_deref();
    assert_eq!(
        command,
        Some("prosescope workflow input w1 --run 'r 1' --text …")
    );
    assert_eq!(two.asks[1].question, None);
    // In these statuses an answer is refused, so the page shows no command (errata M8).
    for status in ["error", "cancelled", "archived"] {
        let refused = page(view(status, "{}", vec![waiting("r", question)]));
        assert_eq!(refused.asks[0].command, None, "{status}");
    }
}

#[test]
fn a_context_of_any_form_is_shown_whole() {
    let text = |text: &str| RecordedText {
        text: text.into(),
        ..RecordedText::default()
    };
    let ours = r#"{"summary":"s","tail":[{"seq":1,"role":"user","content":"a","at":"2026-01-02T03:04:05Z","x":12345678901234567890123},"loose"],"meta":{"next_seq":2},"mood":"good"}"#;
    let shown = page(view("active", ours, Vec::new()));
    assert_eq!(shown.summary, Some(text("s")));
    let [first, second] = shown.messages.as_slice() else {
        panic!("{:?}", shown.messages)
    };
    assert_eq!(first.seq.as_deref(), Some("1"));
    assert_eq!(first.role.as_deref(), Some("user"));
    assert_eq!(first.at, Some(Stamp::parse("2026-01-02T03:04:05Z")));
    assert_eq!(first.more[0].value.text, "12345678901234567890123");
    assert_eq!(second.content, Some(text("loose")));
    let names: Vec<&str> = shown.context.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["meta", "mood"]);
    // The first context is not JSON; in the second, `tail` is not a list.
    let odd = page(view("active", "no json {", Vec::new()));
    assert_eq!(odd.context[0].value, text("no json {"));
    let odd = page(view("active", r#"{"tail":7}"#, Vec::new()));
    assert_eq!(odd.context[0].name, "tail");
    assert!(odd.context[0].value.json && odd.messages.is_empty());
}

#[test]
fn steps_are_found_in_an_object_and_in_a_list() {
    let step = r#"{"text":"Paid","run_id":"r1","at":"2026-01-02T03:04:05Z","cost":3}"#;
    for (column, more) in [
        (format!(r#"{{"steps":[{step}],"v":1}}"#), 1),
        (format!("[{step}]"), 0),
    ] {
        let (kept, rest) = steps(&Json::of_column(&column));
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].run.as_deref(), Some("r1"));
        assert_eq!(kept[0].more[0].name, "cost");
        assert_eq!(rest.len(), more);
    }
    let (kept, rest) = steps(&Json::of_column("7"));
    assert!(kept.is_empty());
    assert_eq!(rest[0].value.text, "7");
}

#[test]
fn a_long_text_is_cut_and_says_from_how_many_bytes() {
    let long = "ü".repeat(MOST);
    let cut = plain(&long);
    assert_eq!(cut.cut_from, Some(2 * MOST as u64));
    assert!(cut.text.len() <= MOST);
}
