use std::rc::Rc;

use rusqlite::Connection;

use crate::model::schema::STATE_SQL;
use crate::pages::session::{Options, Session, pages};
use crate::pages::view::{NodeWork, Received};
use crate::read::sqlite::MemorySource;

/// Opens a run of this program with rows of `execution` (id, text, status, begin, end, error, metadata) and `bindings`
/// (name, frame, kind, created, updated, value), and with any further SQL.
fn session(program: &str, rows: &str, bindings: &str, more: &str) -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute(
        "INSERT INTO run (id, program_source) VALUES ('r', ?1)",
        [program],
    )
    .unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO execution (id, statement_text, status, started_at, completed_at, error_message, metadata) VALUES {rows};
         INSERT INTO bindings (name, execution_id, kind, created_at, updated_at, value) VALUES {bindings};
         {more}"
    ))
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let files = [("state.db".to_owned(), bytes)];
    let source = Rc::new(MemorySource::new("run", files));
    Session::open(source, "", &Options::default()).unwrap()
}

fn work(session: &Session, row: i64) -> NodeWork {
    let node = session.node_of_row(row).unwrap();
    pages::node_detail(session, node).unwrap().work
}

/// Describes each input: the name, whether its present value is the received one, and the shown value.
fn given(work: &NodeWork) -> Vec<String> {
    let line = |g: &crate::pages::view::GivenName| {
        let value = g.value.as_ref().map_or("-", |value| &value.text);
        format!("{} {:?} {value}", g.name, g.seen)
    };
    work.context.iter().map(line).collect()
}

const TWICE: &str = "let draft = session \"Write\"\n  prompt: \"Write of the sea\"\nlet review = session \"Review\"\n  context: draft\ndraft = session \"Again\"\n  context: { draft, review }\n";

#[test]
fn a_value_that_was_replaced_is_never_shown_as_the_one_that_was_given() {
    let time = |t: &str| format!("'2026-01-15 10:{t}:00'");
    let (t0, t1, t2, t3) = (time("00"), time("01"), time("02"), time("03"));
    let rows = format!(
        "(1, 'let draft = session \"Write\"', 'completed', {t0}, {t1}, NULL, NULL),
         (2, 'let review = session \"Review\"', 'completed', {t1}, {t2}, NULL, NULL),
         (3, 'draft = session \"Again\"', 'completed', {t2}, {t3}, NULL, NULL)"
    );
    let bindings =
        "('draft', NULL, 'let', '2026-01-15 10:00:50', '2026-01-15 10:02:50', 'the second'),
         ('review', NULL, 'let', '2026-01-15 10:01:50', '2026-01-15 10:01:50', 'good')";
    let run = session(TWICE, &rows, bindings, "");
    let first = work(&run, 1);
    assert_eq!(first.prompt.unwrap().text, "Write\n\nWrite of the sea");
    assert!(first.answers[0].binding.overwritten);
    assert_eq!(first.answers[0].value, None);
    let note = first.answers[0].note.as_deref();
    assert_eq!(
        note,
        Some("Another write replaced the value, and the earlier value was not kept.")
    );
    let by = first.answers[0].replaced_by.as_ref();
    assert_eq!(by.and_then(|by| by.id), Some(3));
    assert_eq!(given(&work(&run, 2)), ["draft Replaced -"]);
    assert_eq!(
        work(&run, 2).context[0].note.as_deref(),
        Some(
            "#3 wrote the name later (draft = session \"Again\"); the value that the statement received was not kept."
        )
    );
    let last = work(&run, 3);
    assert_eq!(given(&last), ["draft Replaced -", "review Same good"]);
    assert_eq!(last.answers[0].value.as_ref().unwrap().text, "the second");
    // For a replaced value no writer is shown, because the last writer did not write the received value.
    let wrote = last
        .context
        .iter()
        .map(|given| given.written_by.as_ref().and_then(|by| by.id));
    assert_eq!(wrote.collect::<Vec<_>>(), [None, Some(2)]);

    // A store of Prosescope keeps the values that were replaced.
    let history = "INSERT INTO x_binding_history (name, created_at, updated_at, replaced_at, value) VALUES
        ('draft', '2026-01-15 10:00:50', '2026-01-15 10:00:50', '2026-01-15 10:02:50', 'the first');";
    let run = session(TWICE, &rows, bindings, history);
    assert_eq!(given(&work(&run, 2)), ["draft Replaced the first"]);
    let first = work(&run, 1);
    assert_eq!(first.answers[0].value.as_ref().unwrap().text, "the first");
}

#[test]
fn without_times_the_order_of_the_statements_says_what_was_given() {
    let rows = "(1, 'let draft = session \"Write\"', 'completed', NULL, NULL, NULL, NULL),
         (2, 'let review = session \"Review\"', 'completed', NULL, NULL, NULL, NULL)";
    let bindings =
        "('draft', NULL, 'let', NULL, NULL, 'one'), ('review', NULL, 'let', NULL, NULL, 'good')";
    let run = session(TWICE, rows, bindings, "");
    let review = work(&run, 2);
    assert_eq!(given(&review), ["draft Same one"]);
    assert!(review.context[0].inferred);
}

#[test]
fn a_value_of_which_nobody_knows_when_it_was_written_is_not_called_the_one() {
    let program = "let review = session \"Review\"\n  context: { notes, gone }\n";
    let rows = "(1, 'let review = session \"Review\"', 'completed', NULL, NULL, NULL, NULL)";
    let bindings = "('notes', NULL, 'let', NULL, NULL, 'by hand')";
    let work = work(&session(program, rows, bindings, ""), 1);
    assert_eq!(given(&work), ["gone Nothing -", "notes Unknown by hand"]);
    assert!(work.context[1].note.is_some());
    assert_eq!(
        work.answer_note.as_deref(),
        Some("The statement completed, but no value of review is recorded in its frame.")
    );
}

/// Of a statement that has not begun, the values that it would receive are those of now, whoever wrote them.
#[test]
fn what_has_not_begun_receives_the_present_values_without_doubt() {
    let program = "let review = session \"Review\"\n  context: notes\n";
    let rows = "(1, 'let review = session \"Review\"', 'pending', NULL, NULL, NULL, NULL)";
    let bindings = "('notes', NULL, 'let', NULL, NULL, 'by hand')";
    let work = work(&session(program, rows, bindings, ""), 1);
    assert_eq!(given(&work), ["notes Same by hand"]);
    let notes = &work.context[0];
    assert!(!notes.inferred && notes.note.is_none(), "{notes:?}");
}

#[test]
fn names_mean_what_they_mean_in_the_frame_of_the_statement() {
    let program =
        "block p(part):\n  let x = session \"In\"\n    context: { part, style, x }\ndo p(style)\n";
    let rows = "(1, 'do p(style)', 'started', '2026-01-15 10:00:00', NULL, NULL, '{\"block\":\"p\",\"depth\":1}');
        INSERT INTO execution (id, parent_id, statement_text, status, started_at) VALUES
        (2, 1, 'let x = session \"In\"', 'executing', '2026-01-15 10:01:00')";
    let early = "'2026-01-15 09:00:00', '2026-01-15 09:00:00'";
    let bindings = format!(
        "('style', NULL, 'let', {early}, 'outer'), ('style', 1, 'let', {early}, 'inner'), ('x', NULL, 'let', {early}, 'root')"
    );
    let run = session(program, rows, &bindings, "");
    let inside = work(&run, 2);
    assert_eq!(
        given(&inside),
        ["part Same outer", "style Same inner", "x Same root"]
    );
    assert_eq!(
        inside.context[0].why,
        "a parameter of block p, called by execution 1: `style`"
    );
    assert_eq!(
        inside.context[1].binding.as_ref().unwrap().execution_id,
        Some(1)
    );
    // The argument of a call is resolved outside of the call.
    assert_eq!(given(&work(&run, 1)), ["style Same outer"]);
    assert_eq!(
        inside.answer_note.as_deref(),
        Some("No value is recorded yet.")
    );
}

/// No record has the value of a loop's item, but the frame of the call records the value that was passed.
#[test]
fn the_argument_of_a_call_is_what_its_frame_received() {
    let program =
        "block p(part):\n  session \"In\"\nfor piece in pieces:\n  do p(piece)\n  do p(\"x\")\n";
    let rows = "(1, 'for piece in pieces:', 'executing', NULL, NULL, NULL, '{\"loop_id\":\"l1\"}');
        INSERT INTO execution (id, parent_id, statement_text, status, metadata) VALUES
        (2, 1, 'do p(piece)', 'completed', '{\"block\":\"p\",\"depth\":1}'),
        (3, 1, 'do p(piece)', 'completed', '{\"block\":\"p\",\"depth\":1}')";
    let bindings = "('part', 2, 'input', NULL, NULL, 'one')";
    let run = session(program, rows, bindings, "");
    let call = work(&run, 2);
    assert_eq!(given(&call), ["piece Same one"]);
    assert_eq!(
        call.context[0].why,
        "the call passed the value as the parameter part"
    );
    assert_eq!(given(&work(&run, 3)), ["piece Unknown -"]);
}

#[test]
fn a_binding_that_did_not_exist_yet_is_passed_over() {
    let program = "block p():\n  session \"In\"\n    context: style\n  let style = session \"Style\"\ndo p()\n";
    let rows = "(1, 'do p()', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:09:00', NULL, '{\"block\":\"p\",\"depth\":1}');
        INSERT INTO execution (id, parent_id, statement_text, status, started_at, completed_at) VALUES
        (2, 1, 'session \"In\"', 'completed', '2026-01-15 10:01:00', '2026-01-15 10:02:00'),
        (3, 1, 'let style = session \"Style\"', 'completed', '2026-01-15 10:03:00', '2026-01-15 10:04:00')";
    let bindings = "('style', NULL, 'let', '2026-01-15 09:00:00', '2026-01-15 09:00:00', 'outer'),
        ('style', 1, 'let', '2026-01-15 10:03:30', '2026-01-15 10:03:30', 'inner')";
    let run = session(program, rows, bindings, "");
    assert_eq!(given(&work(&run, 2)), ["style Same outer"]);
    assert_eq!(
        work(&run, 2).context[0].why,
        "nearer bindings were written later"
    );
}

#[test]
fn attempts_are_told_row_by_row() {
    let program = "let x = session \"Try\"\n  retry: 3\n";
    let rows =
        "(1, 'let x = session \"Try\"', 'executing', '2026-01-15 10:00:00', NULL, NULL, NULL),
        (2, 'let x = session \"Try\"', 'retry', NULL, NULL, 'it fell', '{\"attempt\":2,\"max\":3}'),
        (3, 'let x = session \"Try\"', 'completed', NULL, '2026-01-15 10:05:00', NULL, NULL)";
    let bindings = "('x', NULL, 'let', NULL, NULL, 'v')";
    let told = work(&session(program, rows, bindings, ""), 1);
    let line = |a: &crate::pages::view::AttemptView| {
        format!(
            "{} #{} {} {}",
            a.number,
            a.id,
            a.status,
            a.error.as_deref().unwrap_or("-")
        )
    };
    let lines: Vec<String> = told.attempts.iter().map(line).collect();
    assert_eq!(lines, ["1 #1 failed it fell", "2 #2 completed -"]);
    assert_eq!(told.attempts_note, None);

    let rows = "(1, 'let x = session \"Try\"', 'completed', NULL, NULL, NULL, '{\"retry_attempt\":3,\"max_retries\":3}')";
    let told = work(&session(program, rows, bindings, ""), 1);
    assert_eq!(told.attempts.len(), 1);
    assert_eq!(
        told.attempts_note.as_deref(),
        Some(
            "There were 3 attempts; the rows record one attempt, and the results of the others were not kept."
        )
    );
}

#[test]
fn an_excerpt_is_bounded_and_says_so() {
    let program = "let x = session \"Long\"\n";
    let rows = "(1, 'let x = session \"Long\"', 'completed', NULL, NULL, NULL, NULL)";
    let lines = "replace(hex(zeroblob(40)), '0', 'line' || char(10))";
    let long = "replace(hex(zeroblob(20000)), '0', 'ä')";
    for (value, cut) in [
        (lines, true),
        (long, true),
        ("'short' || char(10)", false),
        ("x'00010203'", false),
    ] {
        let run = session(
            program,
            rows,
            &format!("('x', NULL, 'let', NULL, NULL, {value})"),
            "",
        );
        let value = work(&run, 1).answers[0].value.clone().unwrap();
        assert_eq!(value.cut, cut, "{value:?}");
        assert!(
            value.text.len() <= 1_200 && value.text.lines().count() <= 10,
            "{value:?}"
        );
    }
    assert_eq!(Received::default(), Received::Unknown);
}

/// 2,000 statements begin with the same words. A prompt that is recorded completely must not match the beginning of
/// another prompt.
#[test]
fn a_prompt_that_is_recorded_whole_is_shown_and_no_other_one() {
    let program: String = (1..2_000)
        .map(|n| format!("session \"Step {n}\"\n"))
        .collect();
    let program = format!("{program}let poem = session: poet\n  prompt: \"Sing of {{thing}}\"\n");
    let rows = "(1, 'session \"Step 40000\"', 'completed', NULL, NULL, NULL, NULL),
        (2, 'session \"Step 400\"', 'completed', NULL, NULL, NULL, NULL),
        (3, 'session \"Step 15…\"', 'completed', NULL, NULL, NULL, NULL),
        (4, 'session: poet \"Sing of the sea\"', 'completed', NULL, NULL, NULL, NULL)";
    let run = session(&program, rows, "('x', NULL, 'let', NULL, NULL, '1')", "");
    let told = |row: i64| {
        let node = run.node_of_row(row).unwrap();
        let detail = pages::node_detail(&run, node).unwrap();
        let work = detail.work;
        let guesses = [&work.prompt_note, &work.context_note];
        let guesses = guesses
            .into_iter()
            .flatten()
            .filter(|note| note.contains("guess"));
        (
            work.prompt.map(|prompt| prompt.text).unwrap_or_default(),
            work.prompt_note.clone().unwrap_or_default(),
            guesses.count(),
            detail.row.line,
        )
    };
    let (prompt, note, guesses, line) = told(1);
    assert_eq!(
        (&*prompt, &*note, guesses, line),
        ("Step 40000", "As recorded.", 0, None)
    );
    assert_eq!(
        told(2),
        ("Step 400".to_owned(), String::new(), 0, Some(400))
    );
    // The row's text is shortened, so its line is a guess. The page mentions the guess only once.
    let (prompt, note, guesses, line) = told(3);
    assert_eq!(
        (&*prompt, guesses, line),
        ("Step 15", 1, Some(15)),
        "{note}"
    );
    // Only the statement's line is a guess; its prompt is recorded.
    let (prompt, note, guesses, line) = told(4);
    assert_eq!((&*prompt, &*note), ("Sing of the sea", "As recorded."));
    assert_eq!((guesses, line), (1, Some(2_000)));
}

#[test]
fn a_parameter_has_the_value_that_the_call_passed() {
    let program = "let sea = session \"Sea\"\nblock f(task, why):\n  session \"Do {task} for {why}\"\n\ndo f(\"field\", sea)\n";
    let rows = "(1, 'let sea = session \"Sea\"', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:01:00', NULL, NULL),
        (2, 'do f(\"field\", sea)', 'executing', '2026-01-15 10:02:00', NULL, NULL, '{\"block\": \"f\"}'),
        (3, 'session \"Do {task} for {why}\"', 'executing', '2026-01-15 10:03:00', NULL, NULL, NULL)";
    let bindings = "('sea', NULL, 'let', '2026-01-15 10:00:50', '2026-01-15 10:00:50', 'blue')";
    let within = "UPDATE execution SET parent_id = 2 WHERE id = 3";
    let run = session(program, rows, bindings, within);
    let work = work(&run, 3);
    assert_eq!(given(&work), ["task Same field", "why Same blue"]);
    let why: Vec<&str> = work.context.iter().map(|name| &*name.why).collect();
    let called = "a parameter of block f, called by execution 2";
    assert_eq!(why, [called.to_owned(), format!("{called}: `sea`")]);
}
