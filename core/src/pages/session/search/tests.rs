use std::rc::Rc;

use rusqlite::{Connection, params};

use super::{Needle, Search};
use crate::model::schema::STATE_SQL;
use crate::pages::session::{Options, Session};
use crate::pages::view::{SearchHit, SearchedRun};
use crate::read::sqlite::MemorySource;

/// How many bytes of values a step reads.
const STEP: usize = 1 << 20;

const PROGRAM: &str = "let draft = session \"Write\"\n  prompt: \"\"\"\n    Write of whales\n  \"\"\"\nsession \"Never reached: whales\"\n";

fn open(files: impl IntoIterator<Item = (&'static str, Vec<u8>)>) -> Session {
    let files = files
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text));
    let source = Rc::new(MemorySource::new("run", files));
    Session::open(source, "", &Options::default()).unwrap()
}

/// Opens a run in SQLite with this value of `draft`, and the word "whale" in every part.
fn session(value: &[u8], text: bool) -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute(
        "INSERT INTO run (id, program_source) VALUES ('r', ?1)",
        [PROGRAM],
    )
    .unwrap();
    conn.execute_batch(
        "INSERT INTO execution (id, statement_text, status, error_message) VALUES
            (1, 'let draft = session \"Write\"', 'failed', 'the whale fled');
         INSERT INTO agents (name, scope, memory) VALUES ('ahab', 'execution', 'one leg' || char(10) || 'the white whale');
         INSERT INTO gates (id, run_id, prompt, allow, status) VALUES ('go', 'r', 'Hunt the whale?', '[\"user\"]', 'pending');
         INSERT INTO bindings (name, kind, value, attachment_path) VALUES ('log', 'let', 'a summary', 'attachments/whale.md');",
    )
    .unwrap();
    let insert = "INSERT INTO bindings (name, kind, value) VALUES ('draft', 'let', ";
    let cast = if text { "CAST(?1 AS TEXT))" } else { "?1)" };
    conn.execute(&format!("{insert}{cast}"), params![value])
        .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let attached = b"day one\nno whale\n".to_vec();
    open([("state.db", bytes), ("attachments/whale.md", attached)])
}

/// Runs a search to its end, and counts the steps.
fn search(session: &Session, text: &str) -> (SearchedRun, u32) {
    let mut search = Search::new(session, &Needle::new(text).unwrap());
    let mut steps = 1;
    while search.step(session) {
        steps += 1;
    }
    (search.found("r"), steps)
}

fn hits(found: &SearchedRun) -> Vec<String> {
    let line = |hit: &SearchHit| {
        let marked: String = {
            let (from, to) = (hit.range.0 as usize, hit.range.1 as usize);
            hit.text.chars().skip(from).take(to - from).collect()
        };
        format!("{} | {}: {} | {marked}", hit.place, hit.text_line, hit.text)
    };
    let group = |group: &crate::pages::view::HitGroup| {
        let head = format!("{:?} +{}", group.kind, group.more);
        std::iter::once(head)
            .chain(group.hits.iter().map(line))
            .collect::<Vec<_>>()
    };
    found.groups.iter().flat_map(group).collect()
}

#[test]
fn everything_that_a_run_holds_is_searched() {
    let session = session("Of Whales\nand the whale".as_bytes(), true);
    let (found, _) = search(&session, "whale");
    assert_eq!(
        hits(&found),
        [
            "Statements +0",
            "line 5 session \"Never reached: whales\" | 1: session \"Never reached: whales\" | whale",
            "Errors +0",
            "#1 let draft = session \"Write\" | 1: the whale fled | whale",
            "Prompts +0",
            "line 1 let draft = session \"Write\" | 1: Write of whales | whale",
            "Values +0",
            "log, attachment | 2: no whale | whale",
            "draft | 1: Of Whales | Whale",
            "draft | 2: and the whale | whale",
            "Memories +0",
            "memory of ahab | 2: the white whale | whale",
            "Gates +0",
            "gate go | 1: Hunt the whale? | whale",
            "Files +0",
            "file | 1: attachments/whale.md | whale",
        ]
    );
    assert!(found.done);
    assert_eq!(found.read, found.of);
    assert_eq!(found.of, 9 + 17 + 23 + 23);
    // A capital letter makes the search distinguish case.
    let (found, _) = search(&session, "Whale");
    assert_eq!(hits(&found), ["Values +0", "draft | 1: Of Whales | Whale"]);
}

#[test]
fn a_large_value_is_read_in_steps_and_a_match_across_two_is_found() {
    let mut value = vec![b'-'; 3 * STEP];
    for at in [STEP - 3, 2 * STEP - 1, 3 * STEP - 5] {
        value[at..at + 5].copy_from_slice("wål!".as_bytes());
        value[at - 100] = b'\n';
    }
    let session = session(&value, true);
    let (found, steps) = search(&session, "wål");
    let values = found.groups.first().unwrap();
    let offsets: Vec<u64> = values.hits.iter().map(|hit| hit.offset).collect();
    let expected = [STEP - 3, 2 * STEP - 1, 3 * STEP - 5].map(|at| at as u64);
    assert_eq!(offsets, expected);
    assert!(values.hits.iter().all(|hit| hit.text.len() < 200));
    assert!(steps > 3, "{steps}");

    // A search that is stopped early reports its progress and the hits so far.
    let mut search = Search::new(&session, &Needle::new("wål").unwrap());
    while search.progress().0 == 0 {
        search.step(&session);
    }
    let (read, of) = search.progress();
    assert!(read < of && read <= 2 * STEP as u64, "{read} of {of}");
    assert!(!search.found("r").done);
}

#[test]
fn what_is_no_text_is_skipped_and_said() {
    let session = session(
        &[b'w', 0, 1, 2, 3, b'w', b'h', b'a', b'l', b'e', 4, 5],
        false,
    );
    let (found, _) = search(&session, "wha");
    assert!(!hits(&found).iter().any(|hit| hit.starts_with("draft")));
    let skipped: Vec<_> = found
        .skipped
        .iter()
        .map(|s| (&*s.place, s.len, s.failed))
        .collect();
    assert_eq!(skipped, [("draft", 12, false)]);
    assert_eq!(found.read, found.of);
}

#[test]
fn of_many_lines_the_first_are_listed_and_the_others_counted() {
    let session = session("a hit\n".repeat(300).as_bytes(), true);
    let (found, _) = search(&session, "hit");
    let values = found.groups.first().unwrap();
    assert_eq!((values.hits.len(), values.more), (5, 295));
    let lines: Vec<u64> = values.hits.iter().map(|hit| hit.text_line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5]);
}

#[test]
fn a_folder_is_searched_as_a_database_is() {
    let state = "# Execution State\n\nrun: 20260101-000000-abcdef\nprogram: p.prose\n\n## Execution Trace\n\n```prose\nlet draft = session \"Write\"  # (complete)\n```\n";
    let binding = "# draft\n\nkind: let\n\nsource:\n```prose\nlet draft = session \"Write\"\n```\n\n---\n\nthe sea\nand the whale\n";
    let session = open([
        ("program.prose", PROGRAM.as_bytes().to_vec()),
        ("state.md", state.as_bytes().to_vec()),
        ("bindings/draft.md", binding.as_bytes().to_vec()),
    ]);
    let (found, _) = search(&session, "the whale");
    assert_eq!(
        hits(&found),
        ["Values +0", "draft | 2: and the whale | the whale"]
    );
    assert_eq!(
        found.groups.first().unwrap().hits.first().unwrap().binding,
        Some(0)
    );
    assert_eq!(hits(&search(&session, "not there").0), [""; 0]);
}
