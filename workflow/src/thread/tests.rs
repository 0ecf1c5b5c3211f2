use super::*;
use crate::context::{self, Said};
use crate::page::page;
use crate::{Json, Workflow, WorkflowView};

const MINUTE: i64 = 60_000;

fn said(role: &str, content: &str, minute: Option<i64>) -> Message {
    Message {
        role: Some(role.into()),
        content: Some(RecordedText {
            text: content.into(),
            ..RecordedText::default()
        }),
        at: minute.map(|at| Stamp::At(at * MINUTE)),
        ..Message::default()
    }
}

fn run(id: &str, input: &str, minute: Option<i64>) -> Turn {
    Turn {
        id: id.into(),
        status: "completed".into(),
        user_input: Some(input.into()),
        created_at: minute.map(|at| Stamp::At(at * MINUTE)),
        ..Turn::default()
    }
}

/// Returns a thread in short words: `m0` a message, `r1` a run, `(r1)` a run at an unknown position, `q:text` a
/// question, `q!:text` a question without a recorded answer.
fn told(messages: &[Message], runs: &[Turn]) -> String {
    let word = |part: ThreadItem| match part {
        ThreadItem::Message { at } => format!("m{at}"),
        ThreadItem::Run {
            at,
            is_placed: true,
        } => format!("r{at}"),
        ThreadItem::Run { at, .. } => format!("(r{at})"),
        ThreadItem::Question {
            text, is_answered, ..
        } => format!("q{}:{}", if is_answered { "" } else { "!" }, text.text),
    };
    let words: Vec<String> = thread(messages, runs).into_iter().map(word).collect();
    words.join(" ")
}

#[test]
fn what_our_commands_record_says_where_it_belongs() {
    let mut context = Json::empty();
    let mut say = |minute, role, content, run_id, question: Option<&str>| {
        let said = Said {
            role,
            content,
            run_id,
            question: question.map(str::to_owned),
        };
        let longer = context::append(&context, said, minute * MINUTE, 0).unwrap();
        context = longer.context;
    };
    say(1, "user", "Go on", "a", None);
    say(3, "user", "Go on", "a", Some("Which?"));
    say(5, "user", "Yes", "a", Some("Sure?"));
    say(6, "assistant", "Done.", "a", None);
    say(7, "user", "Go on", "b", None);
    let asked = r#"{"pending_input":{"question":"And now?","asked_at":"1970-01-01T00:08:00Z"}}"#;
    let runs = vec![
        Turn {
            updated_at: Some(Stamp::At(6 * MINUTE)),
            ..run("a", "Go on", Some(1))
        },
        Turn {
            status: "waiting_for_input".into(),
            state: Json::of_column(asked),
            updated_at: Some(Stamp::At(8 * MINUTE)),
            ..run("b", "Go on", Some(7))
        },
    ];
    let shown = page(WorkflowView {
        workflow: Workflow {
            context,
            ..Workflow::default()
        },
        runs: runs.clone(),
    });
    assert_eq!(
        told(&shown.messages, &runs),
        "m0 r0 q:Which? m1 q:Sure? m2 m3 m4 r1"
    );
    assert_eq!(shown.title.as_deref(), Some("Go on"));
    assert_eq!(shown.asks[0].question.as_deref(), Some("And now?"));
    assert_eq!(shown.asks[0].at, Some(Stamp::At(8 * MINUTE)));
    assert_eq!(shown.runs[0].took_ms, Some(5 * MINUTE));
    assert_eq!(shown.runs[1].took_ms, None, "it has not ended");
}

#[test]
fn a_run_without_its_message_is_placed_by_time_or_not_at_all() {
    let timed = [
        said("user", "late", Some(30)),
        said("user", "later", Some(50)),
    ];
    let runs = [
        run("a", "dropped", Some(10)),
        run("b", "never kept", Some(40)),
    ];
    assert_eq!(told(&timed, &runs), "r0 m0 r1 m1");
    let untimed = [said("user", "late", None)];
    assert_eq!(told(&untimed, &runs), "m0 (r0) (r1)");
    // A run is not placed by its input, even if a message has the same text.
    let same = [run("a", "late", None)];
    assert_eq!(told(&untimed, &same), "m0 (r0)");
    assert_eq!(told(&[], &runs), "r0 r1", "their own order is known");
}

#[test]
fn a_question_that_a_run_still_holds_stands_after_the_run() {
    let messages = [said("user", "one", Some(1)), said("user", "first", Some(3))];
    let with = |status: &str| {
        let state = r#"{"pending_input":{"question":"Which?","asked_at":"1970-01-01T00:02:00Z"}}"#;
        let asked = Turn {
            status: status.into(),
            state: Json::of_column(state),
            ..run("a", "one", Some(1))
        };
        told(&messages, &[asked])
    };
    assert_eq!(with("completed"), "m0 r0 q!:Which? m1");
    assert_eq!(with("cancelled"), "m0 r0 q!:Which? m1");
    // A question that still waits is not part of the thread, because the page shows it at the end.
    assert_eq!(with("waiting_for_input"), "m0 r0 m1");
}

#[test]
fn a_title_is_the_first_message_as_one_short_line() {
    let of = |text: &str| title(&[], &[run("a", text, None)]).unwrap_or_default();
    assert_eq!(of("  Compare\n\nthe quotes "), "Compare the quotes");
    let long = of(&"words that go on ".repeat(20));
    assert!(
        long.ends_with("words…")
            || long.ends_with("on…")
            || long.ends_with("go…")
            || long.ends_with("that…"),
        "{long}"
    );
    assert!(long.chars().count() <= TITLE + 1);
    assert_eq!(of(&"ü".repeat(200)).chars().count(), TITLE + 1);
    assert_eq!(title(&[], &[]), None);
    let only_said = [said("assistant", "Hello", None), said("user", "Hi", None)];
    assert_eq!(title(&only_said, &[]).as_deref(), Some("Hi"));
}

#[test]
fn a_question_of_another_form_is_kept_among_the_other_members() {
    let context = r#"{"tail":[{"role":"user","content":"a","question":{"n":1},"run_id":7}]}"#;
    let shown = page(WorkflowView {
        workflow: Workflow {
            context: Json::of_column(context),
            ..Workflow::default()
        },
        ..WorkflowView::default()
    });
    let names: Vec<&str> = shown.messages[0]
        .more
        .iter()
        .map(|more| more.name.as_str())
        .collect();
    assert_eq!(names, ["question", "run_id"]);
    assert_eq!(shown.messages[0].question, None);
}
