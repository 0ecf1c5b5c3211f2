//! Tests the limits on reading: files that were made very long or very numerous (errata R4, R5).

use std::cell::RefCell;

use super::*;
use crate::model::database::{Database, Limits};
use crate::model::source::{FileEntry, Source, SourceError};
use crate::read::decode::folder::bindings::head_of;

/// A source whose files claim to be a terabyte long. The source records which parts were requested.
struct Endless {
    files: Vec<FileEntry>,
    asked: RefCell<Vec<(String, u64)>>,
}

impl Source for Endless {
    fn label(&self) -> String {
        "endless".to_owned()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let end = offset + len as u64;
        self.asked.borrow_mut().push((path.to_owned(), end));
        Ok(vec![b'x'; len.min(100 << 20)])
    }

    fn database(&self, path: &str, _: &Limits) -> Result<Box<dyn Database>, SourceError> {
        Err(SourceError::NotFound(path.to_owned()))
    }
}

#[test]
fn of_files_without_an_end_a_bounded_part_is_read() {
    const MB: u64 = 1 << 20;
    let most = [
        (".prose/runs/r/agents/a/a-001.md", 64 << 10),
        (".prose/runs/r/agents/a/memory.md", 512),
        (".prose/runs/r/bindings/b.md", MB),
        (".prose/runs/r/gates/audit.jsonl", 64 * MB),
        (".prose/runs/r/gates/g.pending.json", MB),
        (".prose/runs/r/program.prose", 8 * MB),
        (".prose/runs/r/receipts.jsonl", 32 * MB),
        (".prose/runs/r/run.json", MB),
        (".prose/runs/r/state.md", 8 * MB),
        (".prose/runs/r/x_events.jsonl", 64 * MB),
    ];
    let entry = |path: &str| FileEntry {
        path: path.to_owned(),
        len: 1 << 40,
        modified: None,
    };
    let source = Endless {
        files: most.iter().map(|(path, _)| entry(path)).collect(),
        asked: RefCell::default(),
    };
    decode(&source, ".prose/runs/r/");
    let asked = source.asked.into_inner();
    for (path, most) in most {
        let end = asked
            .iter()
            .filter(|(of, _)| of == path)
            .map(|(_, end)| end)
            .max();
        // The reader may request one byte more than the limit, to see whether the file continues.
        assert!(
            end.is_some_and(|end| (1..=most + 1).contains(end)),
            "{path}: {end:?}"
        );
    }
}

#[test]
fn a_header_that_does_not_end_is_looked_for_in_the_first_megabyte() {
    let mut asked = 0;
    head_of("a", 1 << 40, |most| {
        asked = asked.max(most);
        // The header of this binding never ends, so its value never begins.
        Some(
            b"# a\n\nkind: let\n"
                .iter()
                .copied()
                .chain(b"k: v\n".iter().copied().cycle())
                .take(most.min(8 << 20))
                .collect(),
        )
    });
    assert!((1..=1 << 20).contains(&asked), "{asked}");
}

#[test]
fn of_very_many_bindings_and_segments_the_first_are_read_and_the_rest_is_said() {
    let bindings = (0..=100_000).map(|n| (format!("bindings/b{n:06}.md"), Vec::new()));
    let run = decode(&MemorySource::new("many", bindings), "");
    assert_eq!(run.bindings.len(), 100_000);
    assert!(rules(&run).contains(&"bindings-cut"), "{:?}", rules(&run));

    let text = b"# Segment 001\n\ntimestamp: 2026-01-15T14:32:15Z\nprompt: p\n\n---\n\ns".to_vec();
    let segments = (1..=20_001).map(|n| (format!("agents/a/a-{n:03}.md"), text.clone()));
    let run = decode(&MemorySource::new("many", segments), "");
    assert_eq!(run.agents[0].segments.len(), 20_001);
    assert!(rules(&run).contains(&"segments-cut"), "{:?}", rules(&run));
    let read = run.agents[0].segments.iter().filter(|s| s.prompt.is_some());
    assert_eq!(read.count(), 20_000);
    // The run lists fifty issues one by one, and one more issue reports the rest.
    let told = rules(&run)
        .into_iter()
        .filter(|rule| *rule == "segment-number");
    assert_eq!(told.count(), 51);
}

#[test]
fn of_very_many_fields_the_first_are_kept() {
    let fields: String = (0..1_000).map(|n| format!("x_{n}: v\n")).collect();
    let file = format!("# a\n\nkind: let\n{fields}\n---\n\nvalue");
    let run = run(&[("state.md", STATE), ("bindings/a.md", &file)]);
    assert_eq!(run.bindings[0].fields.len(), 100);
    let facts: Vec<String> = (0..1_000).map(|n| format!("\"x_{n}\": 1")).collect();
    let record = format!("{{\"run_id\": \"r\", {}}}", facts.join(", "));
    let run = super::run(&[("run.json", &record)]);
    assert_eq!(run.facts.len(), 50);
}

#[test]
fn of_very_long_logs_and_programs_the_first_lines_are_read_and_the_rest_is_said() {
    let file =
        |path: &str, line: &str, lines: usize| (path.to_owned(), line.repeat(lines).into_bytes());
    let run = |files: Vec<(String, Vec<u8>)>| decode(&MemorySource::new("long", files), "");

    let many = run(vec![file("program.prose", "# a\n", 100_001)]);
    let lines = many
        .program
        .source
        .as_deref()
        .map(|text| text.lines().count());
    assert_eq!(lines, Some(100_000));
    assert!(rules(&many).contains(&"file-cut"), "{:?}", rules(&many));
    let all = run(vec![file("program.prose", "# a\n", 100_000)]);
    assert!(!rules(&all).contains(&"file-cut"), "{:?}", rules(&all));

    // The logs share one limit: room taken by the first log is not available to the second log.
    let logs = vec![
        file("gates/audit.jsonl", "{\"gate_id\":\"g\"}\n", 200_000),
        file("x_events.jsonl", "{}\n", 200_000),
    ];
    let many = run(logs);
    assert_eq!(many.audit.len(), 200_000);
    assert!(
        (1..100_000).contains(&many.executions.len()),
        "{}",
        many.executions.len()
    );
    assert!(
        rules(&many).contains(&"too-many-rows"),
        "{:?}",
        rules(&many)
    );
}
