//! Tests of workflows in a SQLite file: created on first use, read without a trace.

#[path = "../../core/tests/stores/workflows.rs"]
mod conformance;

use prosescope_store::{WorkflowReader, WorkflowStore};
use prosescope_test_support::zip::{Entry, zip};
use prosescope_workflow::{
    Append, Ask, Finish, Horizon, Input, Json, NewEvent, Start, WorkflowFilter, events, list,
    record, show,
};

const NOW: i64 = 1_768_487_452_123;

fn start(input: &str) -> Start {
    Start {
        new_workflow: "0199c0de-0000-7000-8000-000000000001".to_owned(),
        run: "0199c0de-0000-7000-8000-000000000002".to_owned(),
        input: input.to_owned(),
        ..Start::default()
    }
}

#[test]
fn a_conversation_is_recorded_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").join("workflows.db");
    let mut store = WorkflowStore::set_up(&path).unwrap();
    let begun = record(&mut store, &start("Find it's \"source\""), None, NOW).unwrap();
    assert!(begun.created && begun.seq == 1);
    let again = record(&mut store, &start("Find it's \"source\""), None, NOW).unwrap();
    assert!(again.already, "the same command again changes nothing");

    let ask = Ask {
        run: begun.run_id.clone(),
        question: "Which one?".to_owned(),
        payload: None,
        owner: None,
    };
    record(&mut store, &ask, None, NOW + 1).unwrap();
    let listed = list(&store, &WorkflowFilter::default()).unwrap();
    assert_eq!(listed.workflows[0].question.as_deref(), Some("Which one?"));

    let note = |text: &str| NewEvent {
        run: Some(begun.run_id.clone()),
        text: text.to_owned(),
        ..NewEvent::default()
    };
    let append = Append {
        workflow: begun.workflow_id.clone(),
        notes: vec![note("one"), note("two")],
    };
    let appended = record(&mut store, &append, None, NOW + 2).unwrap();
    // The question is the first event.
    assert_eq!(appended.ids, [2, 3]);
    let input = Input {
        workflow: begun.workflow_id.clone(),
        text: "The first".to_owned(),
        ..Input::default()
    };
    assert_eq!(
        record(&mut store, &input, None, NOW + 3).unwrap().seq,
        Some(2)
    );
    let finish = Finish {
        run: begun.run_id,
        output: Json::parse("{\"answer\": 42}").unwrap(),
        message: Some("42".to_owned()),
        ..Finish::default()
    };
    record(&mut store, &finish, None, NOW + 4).unwrap();
    drop(store);

    let before = std::fs::read(&path).unwrap();
    let reader = WorkflowReader::open(&path).unwrap();
    let view = show(&reader, &begun.workflow_id).unwrap().unwrap();
    let context = view.workflow.context.value();
    assert_eq!(context["tail"][0]["content"], "Find it's \"source\"");
    assert_eq!(context["tail"][2]["role"], "assistant");
    assert_eq!(context["meta"]["next_seq"], 4);
    assert_eq!(view.runs[0].status, "completed");
    assert_eq!(
        view.workflow.updated_at.unwrap().to_string(),
        "2026-01-15T14:30:52.127Z"
    );
    let mut horizon = Horizon::default();
    horizon.advance(&reader).unwrap();
    let read = events(&reader, &horizon, &begun.workflow_id, 2, 10).unwrap();
    assert_eq!((read.events.len(), read.cursor), (3, 5));
    drop(reader);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn every_action_in_every_status_does_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = WorkflowStore::set_up(&folder.path().join("workflows.db")).unwrap();
    assert_eq!(conformance::lifecycle(&mut store), 18 * 16);
}

#[test]
fn what_every_store_promises_holds() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = WorkflowStore::set_up(&folder.path().join("workflows.db")).unwrap();
    conformance::lifecycle(&mut store);
    conformance::promises(&mut store);
}

#[test]
fn a_cursor_beyond_all_events_is_refused_and_pruned_events_still_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.db");
    let mut store = WorkflowStore::set_up(&path).unwrap();
    let of = conformance::start(1).new_workflow;
    record(&mut store, &conformance::start(1), None, NOW).unwrap();
    let note = |text: &str| NewEvent {
        text: text.to_owned(),
        ..NewEvent::default()
    };
    let append = Append {
        workflow: of.clone(),
        notes: ["a", "b"].map(note).to_vec(),
    };
    record(&mut store, &append, None, NOW).unwrap();
    let mut horizon = Horizon::default();
    let newest = horizon.advance(&store).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();

    other.execute("DELETE FROM workflow_events", []).unwrap();
    assert_eq!(horizon.advance(&store).unwrap(), newest, "ids never return");
    assert!(events(&store, &horizon, &of, newest, 10).is_ok());

    // Without its counter, the table is in the state that restoring an older copy may leave.
    other.execute("DELETE FROM sqlite_sequence", []).unwrap();
    assert_eq!(horizon.advance(&store).unwrap(), 0);
    let refused = events(&store, &horizon, &of, newest, 10).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("the table of events was emptied"),
        "{refused}"
    );
}

/// A shared file that is not a workflow database is opened by another reader, so this one must not unpack it.
#[test]
fn of_a_shared_file_only_the_database_is_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("workflows.db");
    let mut store = WorkflowStore::set_up(&database).unwrap();
    record(&mut store, &start("Find it"), None, NOW).unwrap();
    drop(store);
    let bytes = std::fs::read(&database).unwrap();
    // Unpacking this entry would fail, so the test also shows that it is not unpacked.
    let damaged = Entry {
        crc: 1,
        ..Entry::stored("r/state.md", b"# Execution State\n")
    };
    let shared = folder.path().join("shared.zip");
    let packed = [damaged.clone(), Entry::stored("workflows.db", &bytes)];
    std::fs::write(&shared, zip(&packed)).unwrap();
    let reader = WorkflowReader::open(&shared).unwrap();
    let listed = list(&reader, &WorkflowFilter::default()).unwrap();
    assert_eq!(listed.workflows.len(), 1);
    std::fs::write(&shared, zip(&[damaged])).unwrap();
    let refused = WorkflowReader::open(&shared).unwrap_err();
    assert!(
        refused.to_string().contains("no database of workflows"),
        "{refused}"
    );
}
